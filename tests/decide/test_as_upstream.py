"""The same end states as FrameworkController's own, whether or not the controller dies after every write."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from fcontroller.decide import codes
from tests.decide.world import SETTINGS, Refused, World, role_spec

SCENARIOS: dict[str, Any] = {
    scenario["name"]: scenario
    for scenario in json.loads((Path(__file__).parent / "data" / "upstream_scenarios.json").read_text("utf-8"))["scenarios"]
}
LEFT_OUT = {
    *("startTime", "runTime", "completionTime", "transitionTime", "instanceUID", "configMapUID", "podUID", "activeStartTime"),
    *("podIP", "podHostIP", "podNodeName", "message", "reason", "diagnostics", "taskCounts", "conditions", "intent"),
}


def compared(value: Any) -> Any:
    """What was recorded of a status."""
    if isinstance(value, dict):
        return {key: compared(item) for key, item in value.items() if key not in LEFT_OUT}
    return [compared(item) for item in value] if isinstance(value, list) else value


def refuse(_: object) -> None:
    raise Refused(codes.POD_CREATION_PERMANENT.ended("ports[0].containerPort: must be between 1 and 65535"))


def scaled(world: World, spec: Any, count: int) -> None:
    changed = copy.deepcopy(spec)
    changed["taskRoles"][0]["taskNumber"] = count
    world.set_spec(changed)


def do(what: str, world: World, spec: Any) -> None:
    """What somebody does while the Framework runs, in the words of the record."""
    if what == "taskNumber of a: 3 → 1 after 2 s, → 4 after 4 s":
        world.at(2, lambda: scaled(world, spec, 1))
        world.at(4, lambda: scaled(world, spec, 4))
    elif what == "the attempt ConfigMap is deleted (foreground) by somebody else after 2 s":
        world.at(2, world.delete_config_map)
    elif what == "executionType: Stop after 2 s":
        world.at(2, lambda: world.set_spec({**spec, "executionType": "Stop"}))
    else:
        assert what == "nothing"


@pytest.mark.parametrize("restarts", [False, True], ids=["alive", "dies after every write"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_end_is_the_same(name: str, restarts: bool) -> None:
    scenario = SCENARIOS[name]
    spec = scenario["spec"]
    world = World(spec, SETTINGS, name, restarts)
    do(scenario["then"], world, spec)
    if name == "invalidpod":
        world.admit = refuse
    world.run(1000)
    assert compared(world.stored) == scenario["end_status"]


def test_a_whole_object_has_the_same_fields_and_nulls() -> None:
    world = World({"taskRoles": [role_spec("a", 1)]}, SETTINGS, "bare")
    world.run(0.01)
    assert world.stored is not None
    attempt = world.stored["attemptStatus"]
    assert sorted(world.stored) == [
        *("attemptStatus", "completionTime", "intent", "retryPolicyStatus", "runTime", "startTime", "state", "taskCounts", "transitionTime")
    ]
    assert sorted(attempt) == [
        *("completionStatus", "completionTime", "configMapName", "configMapUID", "id", "instanceUID", "runTime", "startTime"),
        "taskRoleStatuses",
    ]
    assert attempt["instanceUID"] == f"0_{attempt['configMapUID']}"
    (role,) = attempt["taskRoleStatuses"]
    assert sorted(role) == ["instanceUID", "name", "podGracefulDeletionTimeoutSec", "taskStatuses"]
    (task,) = role["taskStatuses"]
    assert sorted(task) == [
        *("attemptStatus", "completionTime", "deletionPending", "index", "instanceUID", "retryPolicyStatus", "runTime", "startTime"),
        *("state", "transitionTime"),
    ]
    assert sorted(task["attemptStatus"]) == [
        *("completionStatus", "completionTime", "id", "instanceUID", "podHostIP", "podIP", "podName", "podNodeName", "podUID"),
        *("runTime", "startTime"),
    ]
    assert (task["state"], task["attemptStatus"]["podIP"], task["runTime"]) == ("AttemptPreparing", "", None)
