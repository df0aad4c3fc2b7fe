"""A controller that dies before or after any single write or action comes to the same end, and never makes two Pods of one task."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decide.test_as_upstream import compared
from tests.decide.world import SETTINGS, World, role_spec

RETRY = {"fancyRetryPolicy": True, "maxRetryCount": 1}


def two_attempts(world: World) -> None:
    """A task is tried again, then the Framework."""
    world.run(60)


def rescaled(world: World) -> None:
    world.run(3)
    world.set_spec({"taskRoles": [role_spec("a", 1), role_spec("c", 2)]})
    world.run(1.3)
    world.set_spec({"taskRoles": [role_spec("a", 3), role_spec("c", 1)]})
    world.run(60)


def stopped(world: World) -> None:
    world.run(3)
    world.set_spec({"executionType": "Stop", "taskRoles": [role_spec("a", 2)]})
    world.run(60)


def paused(world: World) -> None:
    """A Pod fails meanwhile, another one goes, and the scale changes there and back."""
    world.run(3)
    world.paused = True
    world.run(3)
    world.finish(world.pods["a", 0], 200)
    world.delete_pod(("a", 1))
    world.set_spec({**world.spec["spec"], "taskRoles": [role_spec("a", 1, task={"retryPolicy": RETRY})]})
    world.run(3)
    world.set_spec({**world.spec["spec"], "taskRoles": [role_spec("a", 3, task={"retryPolicy": RETRY})]})
    world.run(3)
    world.paused = False
    world.run(60)


def restarted(world: World) -> None:
    for value in ("a", "b"):
        world.run(3)
        world.restart = value
        world.run(60)


def kept(world: World) -> None:
    """A finished Pod stays, its index goes and is used again, and two Pods outlive the last attempt."""
    world.run(12)
    world.finish(world.pods["b", 1], 1)
    world.run(2)
    world.set_spec({**world.spec["spec"], "taskRoles": [world.spec["spec"]["taskRoles"][0], {**KEPT, "taskNumber": 1}]})
    world.run(1.3)
    world.set_spec({**world.spec["spec"], "taskRoles": [world.spec["spec"]["taskRoles"][0], {**KEPT, "taskNumber": 3}]})
    world.run(3)
    world.finish(world.pods["b", 1], 1)
    world.finish(world.pods["b", 2], 0)
    world.run(60)


KEPT = role_spec("b", 3, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})
LIVES: dict[str, Any] = {
    "retries": (
        {
            "retryPolicy": RETRY,
            "taskRoles": [role_spec("a", 2, run="1", exits="200,1,1,0", task={"retryPolicy": RETRY}), role_spec("b", 1)],
        },
        two_attempts,
    ),
    "rescales": ({"taskRoles": [role_spec("a", 2), role_spec("b", 2)]}, rescaled),
    "pauses": ({"taskRoles": [role_spec("a", 3, task={"retryPolicy": RETRY})]}, paused),
    "restarts": ({"taskRoles": [role_spec("a", 2)]}, restarted),
    "keeps": (
        {"retryPolicy": RETRY, "cleanPodPolicy": "Running", "taskRoles": [role_spec("a", 2, run="9", exits="1,1,0"), KEPT]},
        kept,
    ),
    "deadline": (
        {"retryPolicy": RETRY, "activeDeadlineSeconds": 35, "taskRoles": [role_spec("a", 2, run="9", exits="200")]},
        two_attempts,
    ),
    "stops": ({"taskRoles": [role_spec("a", 2)]}, stopped),
}


def end(name: str, crash_after: int) -> tuple[World, Any]:
    spec, live = LIVES[name]
    world = World(spec, SETTINGS)
    world.crash_after = crash_after
    live(world)
    return world, compared(world.stored)


def owners(world: World) -> Any:
    """Which Pods there are, and whether they are the Framework's own."""
    return {key: pod["metadata"]["ownerReferences"][0]["uid"] == "framework" for key, pod in world.pods.items()}


@pytest.mark.parametrize("name", LIVES)
def test_every_place_to_die(name: str) -> None:
    world, expected = end(name, 0)
    places = -world.crash_after
    assert places > 20
    for place in range(1, places + 1):
        crashed, ended = end(name, place)
        assert ended == expected, place
        assert owners(crashed) == owners(world), place
