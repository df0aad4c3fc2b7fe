"""Row 9: a Framework that was changed and changed back is what it would be if nothing had happened."""

from __future__ import annotations

import random

import pytest

from fcontroller.api import Json
from tests.decide.world import role_spec as role
from tests.safety import tally
from tests.safety.scenarios import NEVER_DONE
from tests.safety.world import World, policy

BATCHES = 10


@pytest.mark.parametrize("batch", range(BATCHES))
def test_there_and_back(batch: int) -> None:
    chance = random.Random(batch)
    for _ in range(-(-tally.wanted("ways back") // BATCHES)):
        here, there = spec(chance), spec(chance)
        with World() as calm:
            calm.make(here)
            calm.settle(3)
            expected = in_order(calm.end())
        with World() as world:
            world.make(here)
            world.settle(3)
            world.apply(there)
            # On the way nothing, something, or all may have been done.
            world.run(chance.choice([0, 0.01, 0.05, 0.3, 0.6, 2, 10]))
            if chance.random() < 0.2:
                world.restart()
            world.apply(here)
            world.settle(3)
            assert in_order(world.end()) == expected, (here, there)
        tally.add("ways back")


def spec(chance: random.Random) -> Json:
    """Some roles whose Pods run for ever, and some that are done: a Framework that never completes by itself."""
    names = ["keeper", *chance.sample(["a", "b", "c"], chance.randrange(4))]
    return {"retryPolicy": _retry(chance), "taskRoles": [_role(chance, name) for name in names]}


def _role(chance: random.Random, name: str) -> Json:
    rules = NEVER_DONE if name == "keeper" else chance.choice([NEVER_DONE, policy(9, 9), policy(9, -1)])
    task = {"retryPolicy": _retry(chance), "podGracefulDeletionTimeoutSec": chance.choice([None, 5, 600])}
    # What has completed stays, so how a role's Pods end must not depend on when they were made.
    ends = "0.2" if name == "c" else "forever"
    return role(name, chance.randint(1, 3), run=ends, frameworkAttemptCompletionPolicy=rules, task=task)


def _retry(chance: random.Random) -> Json:
    return {"fancyRetryPolicy": chance.random() < 0.5, "maxRetryCount": chance.choice([0, 1, 3])}


def in_order(end: Json) -> Json:
    """Roles that go and come again are in another order in the status."""
    for status in end["statuses"].values():
        status["attemptStatus"]["taskRoleStatuses"].sort(key=lambda item: item["name"])
    return end
