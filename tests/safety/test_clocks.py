"""Deadlines under clocks that are wrong, jump and are put right: one that comes early has ended what may run."""

from __future__ import annotations

import random

import pytest

from tests.decide.world import role_spec as role
from tests.safety.world import World, policy

SECONDS = 300
OFTEN = {"fancyRetryPolicy": True, "maxRetryCount": -1}
WRONG = (0, 0, -86400, -3600, -100, -30, 30, 100, 3600, 86400)


@pytest.mark.parametrize("batch", range(4))
def test_no_clock_lets_a_deadline_come_early(batch: int) -> None:
    for seed in range(25):
        one_life(random.Random(f"{batch} {seed}"))


def one_life(chance: random.Random) -> None:
    with World(start=False) as world:
        world.tells_time, world.slow = True, chance.choice(WRONG)
        world.start()
        roles = [
            role("a", 2, run=chance.choice(["forever", "20"]), exits="1", task={"retryPolicy": OFTEN}),
            role("b", 1, run="7", frameworkAttemptCompletionPolicy=policy(-1, -1)),
        ]
        world.make({"activeDeadlineSeconds": SECONDS, "retryPolicy": OFTEN, "cleanPodPolicy": "Running", "taskRoles": roles})
        world.until(lambda: "f-attempt" in world.all("configmaps"), 30, 0.05)
        began = world.loop.passed
        while world.loop.passed < began + SECONDS - 1:
            world.run(min(chance.choice([1, 10, 60]), began + SECONDS - 1 - world.loop.passed))
            assert (world.status()["attemptStatus"]["completionStatus"] or {}).get("code") != -240
            if chance.random() < 0.2:
                world.slow = chance.choice(WRONG)
            if chance.random() < 0.1:
                world.restart()
        world.slow = 0
        # Late by no more than what it takes to look at a clock that was put right, and to see that a time is in the future.
        world.until(lambda: world.status()["state"] == "Completed", 2 * SECONDS)
        assert world.status()["attemptStatus"]["completionStatus"]["code"] == -240
