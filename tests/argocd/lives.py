"""Frameworks at every point of their lives, as the controller's own code leaves them, and what Argo CD is to make of each.

tools/argocd_plugin.py writes these as the test data that Argo CD's repository wants beside its Lua.
"""

from __future__ import annotations

import base64
import copy
import gzip
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.model.names import PAUSE_ANNOTATION, RESTART_ANNOTATION
from fcontroller.decide import states
from fcontroller.decide.conditions import (
    INTENT_REVIEWED,
    PODS_CREATED,
    PODS_STARTED,
    SERVICES_MADE,
    set_condition,
    set_services,
    set_up_to_date,
)
from fcontroller.decide.status_json import to_json
from tests.decide.world import SETTINGS, START, World, from_json, role_spec

Json = dict[str, Any]
FOREVER = {"retryPolicy": {"maxRetryCount": -2}}


class Life(NamedTuple):
    name: str
    framework: Json
    health: str
    message: str


def lives() -> Iterator[Life]:
    """Every state of a Framework, in every way that makes a difference to its health."""
    for made in (
        _a_batch_job(),
        _failures(),
        _retries(),
        _servers(),
        _stopped(),
        _late(),
        _before_anything(),
        _paused(),
        _not_reviewed(),
        _waiting(),
        _as_upstream_writes_it(),
    ):
        yield from made


def _a_batch_job() -> Iterator[Life]:
    world = World({"taskRoles": [role_spec("worker", 2, run="5")]}, SETTINGS)
    world.run(60)
    starting = World({"taskRoles": [role_spec("worker", 2)]}, SETTINGS)
    starting.hidden_config_map = True
    starting.run(5)
    ended = "Succeeded: All 2 of 2 tasks are completed, and no completion policy was met"
    leaving = ended + "; its objects are deleted"
    yield Life("batch-AttemptCreationPending", _at(world, "AttemptCreationPending"), "Progressing", "waits to be started")
    yield Life("batch-AttemptCreationRequested", _at(starting, "AttemptCreationRequested"), "Progressing", "starts")
    yield Life("batch-AttemptPreparing", _at(world, "AttemptPreparing"), "Progressing", "0 of 2 tasks run")
    yield Life("batch-AttemptRunning", _at(world, "AttemptRunning"), "Progressing", "2 of 2 tasks run")
    pending = _at(world, "AttemptDeletionPending")
    requested = _moved(pending, states.FRAMEWORK_DELETED)
    leaves = _moved(requested, states.FRAMEWORK_GOES)
    for framework in (pending, requested, leaves, _moved(leaves, states.FRAMEWORK_GONE)):
        yield Life(f"batch-{framework['status']['state']}", framework, "Progressing", leaving)
    yield Life("batch-Completed", _at(world, "Completed"), "Healthy", ended)


def _failures() -> Iterator[Life]:
    world = World({"taskRoles": [role_spec("worker", 2, run="5", exits="3")]}, SETTINGS)
    world.run(60)
    framework = _at(world, "Completed")
    diagnostics = framework["status"]["attemptStatus"]["completionStatus"]["diagnostics"]
    yield Life("failed", framework, "Degraded", f"ContainerUnrecognizedFailed (code 3): {diagnostics}")


def _retries() -> Iterator[Life]:
    spec = {"retryPolicy": {"maxRetryCount": 1}, "taskRoles": [role_spec("worker", 2, run="5", exits="3,0")]}
    world = World(spec, SETTINGS)
    world.run(60)
    yield Life("retried-running", _at(world, "AttemptRunning", -1), "Progressing", "attempt 2: 0 of 2 tasks run")
    message = "attempt 2: Succeeded: All 2 of 2 tasks are completed, and no completion policy was met"
    yield Life("retried-succeeded", _at(world, "Completed"), "Healthy", message)
    world = World({"retryPolicy": {"fancyRetryPolicy": True}, "taskRoles": [role_spec("worker", 2, run="5", exits="201,0")]}, SETTINGS)
    world.run(30)
    waiting = [status for status in world.history if status["retryPolicyStatus"]["retryDelaySec"] is not None]
    diagnostics = waiting[-1]["attemptStatus"]["completionStatus"]["diagnostics"]
    message = f"ContainerTransientConflictFailed (code 201): {diagnostics}; is tried again"
    yield Life("retry-delayed", _framework(world, waiting[-1]), "Progressing", message)


def _servers() -> Iterator[Life]:
    world = World({"taskRoles": [role_spec("server", 2, task=FOREVER), role_spec("unused", 0)]}, SETTINGS)
    world.run(5)
    yield Life("serving", _at(world, "AttemptRunning", -1), "Healthy", "2 of 2 tasks run")
    status = from_json(_at(world, "AttemptRunning", -1)["status"])
    status.note_template(*next(status.tasks()), "before")
    set_up_to_date(status, 2, START)
    (condition,) = to_json(status)["conditions"]
    framework = _framework(world, to_json(status))
    yield Life("serving-before-an-edit", framework, "Healthy", f"2 of 2 tasks run; {condition['message']}")
    world.finish(world.pods["server", 0], 1)
    world.settle()
    yield Life("serving-task-retried", _at(world, "AttemptRunning", -1), "Progressing", "1 of 2 tasks run")
    world = World({"retryPolicy": {"maxRetryCount": -2}, "taskRoles": [role_spec("server", 1)]}, SETTINGS)
    world.run(5)
    yield Life("serving-by-framework", _at(world, "AttemptRunning", -1), "Healthy", "1 of 1 tasks run")
    batch = World({"taskRoles": [role_spec("server", 1, task=FOREVER), role_spec("worker", 1)]}, SETTINGS)
    batch.run(5)
    yield Life("served-batch", _at(batch, "AttemptRunning", -1), "Progressing", "2 of 2 tasks run")


def _stopped() -> Iterator[Life]:
    world = World({"taskRoles": [role_spec("worker", 2)]}, SETTINGS)
    world.run(5)
    world.set_spec({"executionType": "Stop", "taskRoles": [role_spec("worker", 2)]})
    running = _at(world, "AttemptRunning", -1)
    yield Life("stop-asked", running, "Progressing", "is being stopped")
    world.run(30)
    pending = _at(world, "AttemptDeletionPending")
    for framework in (pending, _moved(pending, states.FRAMEWORK_GONE)):
        yield Life(f"stop-{framework['status']['state']}", framework, "Progressing", "is being stopped")
    yield Life("stopped", _at(world, "Completed"), "Suspended", "stopped, as executionType says")


def _late() -> Iterator[Life]:
    """Its deadline passes while one task runs, and the Pod of another one stays."""
    roles = [role_spec("worker", 2, frameworkAttemptCompletionPolicy={"minFailedTaskCount": 2})]
    world = World({"activeDeadlineSeconds": 20, "cleanPodPolicy": "Running", "taskRoles": roles}, SETTINGS)
    world.run(5)
    world.finish(world.pods["worker", 0], 3)
    world.run(60)
    ended = "ActiveDeadlineExceeded (code -240): The Framework may take 20 s from when its first attempt began (activeDeadlineSeconds)"
    yield Life("late-AttemptRunning", _at(world, "AttemptRunning", -1), "Progressing", "1 of 2 tasks run, 1 completed")
    yield Life("late-AttemptDeletionPending", _at(world, "AttemptDeletionPending", -1), "Progressing", f"{ended}; its objects are deleted")
    yield Life("late", _at(world, "Completed"), "Degraded", ended)


def _before_anything() -> Iterator[Life]:
    roles = [role_spec("worker", 2)]
    world = World({"executionType": "Create", "taskRoles": roles}, SETTINGS)
    message = "waits to be started: executionType is Create"
    yield Life("created-new", _framework(world, None), "Suspended", message)
    world.run(5)
    yield Life("created", _at(world, "AttemptCreationPending"), "Suspended", message)
    yield Life("new", _framework(World({"taskRoles": roles}, SETTINGS), None), "Progressing", "waits for the controller")
    elsewhere = World({"managedBy": "kueue.x-k8s.io/multikueue", "taskRoles": roles}, SETTINGS)
    yield Life("managed-elsewhere", _framework(elsewhere, None), "Progressing", "waits for kueue.x-k8s.io/multikueue")


def _paused() -> Iterator[Life]:
    world = World({"taskRoles": [role_spec("worker", 2)]}, SETTINGS)
    world.run(5)
    asked = _at(world, "AttemptRunning", -1)
    world.paused = True
    world.run(5)
    paused = _at(world, "AttemptRunning", -1)
    for framework in (asked, paused):
        framework["metadata"]["annotations"] = {PAUSE_ANNOTATION: "true"}
    (condition,) = paused["status"]["conditions"]
    yield Life("pause-asked", asked, "Progressing", "2 of 2 tasks run")
    yield Life("paused", paused, "Suspended", condition["message"])
    others = copy.deepcopy(paused)
    others["metadata"]["annotations"]["example.com/a"] = "b"
    yield Life("paused-beside-others", others, "Suspended", condition["message"])
    stopping = copy.deepcopy(paused)
    stopping["spec"]["executionType"] = "Stop"
    yield Life("paused-stop-asked", stopping, "Progressing", "is being stopped")
    world.paused = False
    world.run(1)
    yield Life("resumed", _at(world, "AttemptRunning", -1), "Progressing", "2 of 2 tasks run")


def _not_reviewed() -> Iterator[Life]:
    world = World({"taskRoles": [role_spec("worker", 2)]}, SETTINGS)
    world.run(5)
    for name, state, index in (("unreviewed-waiting", "AttemptCreationPending", 0), ("unreviewed-running", "AttemptRunning", -1)):
        for value, health, message in (
            (False, "Degraded", "What would run is not what was reviewed"),
            (True, "Progressing", "waits to be started" if index == 0 else "2 of 2 tasks run"),
        ):
            framework = _at(world, state, index)
            status = from_json(framework["status"])
            set_condition(status, INTENT_REVIEWED, value, "Digest", "What would run is not what was reviewed", 1, START)
            yield Life(name if not value else name.removeprefix("un"), {**framework, "status": to_json(status)}, health, message)
    framework = _at(world, "AttemptRunning", -1)
    status = from_json(framework["status"])
    set_services(status, ["lab-worker"], "", 1, START)
    (condition,) = (one for one in to_json(status)["conditions"] if one["type"] == SERVICES_MADE)
    yield Life("service-taken", {**framework, "status": to_json(status)}, "Degraded", condition["message"])


def _waiting() -> Iterator[Life]:
    """For Pods that do not start, or that the API server refuses."""
    message = "2 of 3 tasks wait for their Pods to start (2 of role worker). Unschedulable, 2 Pods, as `lab-worker-1`: no node has room"
    world = World({"taskRoles": [role_spec("worker", 3)]}, SETTINGS)
    world.run(5)
    framework = _at(world, "AttemptPreparing")
    for name, kind, say in (("pods-wait", PODS_STARTED, message), ("pods-refused", PODS_CREATED, "role worker: exceeded quota: gpus")):
        status = from_json(framework["status"])
        set_condition(status, kind, False, "Any", say, 1, START)
        yield Life(name, {**framework, "status": to_json(status)}, "Progressing", f"0 of 3 tasks run; {say}")
        set_condition(status, kind, True, "Any", "No Pod waits to start", 1, START)
        yield Life(f"{name}-no-more", {**framework, "status": to_json(status)}, "Progressing", "0 of 3 tasks run")


def _as_upstream_writes_it() -> Iterator[Life]:
    """Without counts of tasks; compressed when there are many."""
    for name, policy, health in (("batch", {}, "Progressing"), ("serving", FOREVER, "Healthy")):
        world = World({"taskRoles": [role_spec("worker", 2, task=policy)]}, SETTINGS)
        world.run(5)
        framework = _at(world, "AttemptRunning", -1)
        del framework["status"]["taskCounts"]
        yield Life(f"upstream-{name}", framework, health, "2 of 2 tasks run")
        packed = copy.deepcopy(framework)
        attempt = packed["status"]["attemptStatus"]
        text = json.dumps(attempt["taskRoleStatuses"]).encode()
        attempt |= {"taskRoleStatuses": None, "taskRoleStatusesCompressed": base64.b64encode(gzip.compress(text, mtime=0)).decode()}
        yield Life(f"upstream-{name}-compressed", packed, health, "tasks run")


def _at(world: World, state: str, index: int = 0) -> Json:
    """The Framework when it was in that state, at first or (-1) at last."""
    return _framework(world, [status for status in world.history if status["state"] == state][index])


def _framework(world: World, status: Json | None) -> Json:
    framework = copy.deepcopy(world.spec)
    framework["metadata"] |= {"name": "lab", "namespace": "research", "uid": "2c0a1c2e-5d5b-4f0e-9d0a-000000000001", "generation": 1}
    return framework if status is None else {**framework, "status": copy.deepcopy(status)}


def _moved(framework: Json, transition: states.Transition) -> Json:
    """The Framework after a transition that the world never stops after."""
    status = from_json(framework["status"])
    status.transition(transition, START)
    return {**framework, "status": to_json(status)}


class Act(NamedTuple):
    """An action on the Framework of a life: what becomes of its spec, or (`error`) what is said instead."""

    life: str
    action: str
    parameters: dict[str, str]
    spec: Json
    error: str = ""
    annotations: dict[str, str | None] = {}  # noqa: RUF012
    """Those that are set, or (None) taken away."""


SOME_TIME = "0001-01-01T00:00:00Z"
"""Stands for the time, as in the tests of Argo CD's repository."""
ACTS = (
    Act("created", "start", {}, {"executionType": "Start"}),
    Act("batch-AttemptRunning", "start", {}, {}, "a Framework can be started once, while its executionType is Create"),
    Act("created", "stop", {}, {"executionType": "Stop"}),
    Act("batch-AttemptRunning", "stop", {}, {"executionType": "Stop"}),
    Act("batch-AttemptRunning", "scale", {"worker": "7"}, {"taskNumber": 7}),
    Act("batch-AttemptRunning", "scale", {"worker": "0"}, {"taskNumber": 0}),
    Act("batch-AttemptRunning", "scale", {"worker": ""}, {}, "write a number of tasks for at least one role"),
    Act("batch-AttemptRunning", "scale", {"worker": "many"}, {}, "role worker: write a whole number from 0 to 10000, not many"),
    Act("batch-AttemptRunning", "scale", {"worker": "1.5"}, {}, "role worker: write a whole number from 0 to 10000, not 1.5"),
    Act("batch-AttemptRunning", "scale", {"worker": "-1"}, {}, "role worker: write a whole number from 0 to 10000, not -1"),
    Act("batch-AttemptRunning", "scale", {"worker": "10001"}, {}, "role worker: write a whole number from 0 to 10000, not 10001"),
    Act("batch-AttemptRunning", "pause", {}, {}, annotations={PAUSE_ANNOTATION: "true"}),
    Act("paused-beside-others", "resume", {}, {}, annotations={PAUSE_ANNOTATION: None}),
    Act("paused", "resume", {}, {}, annotations={PAUSE_ANNOTATION: None}),
    Act("batch-AttemptRunning", "restart", {}, {}, annotations={RESTART_ANNOTATION: SOME_TIME}),
    Act("paused", "restart", {}, {}, annotations={RESTART_ANNOTATION: SOME_TIME}),
    Act("batch-AttemptRunning", "scale", {"worker": "nan"}, {}, "role worker: write a whole number from 0 to 10000, not nan"),
)
DISABLED = {
    "new": {"start", "resume", "restart"},
    "created": {"resume", "restart"},
    "batch-AttemptCreationPending": {"start", "resume", "restart"},
    "batch-AttemptRunning": {"start", "resume"},
    "paused": {"start", "pause"},
    "paused-stop-asked": {"start", "stop", "scale", "pause", "restart"},
    "stop-asked": {"start", "stop", "scale", "pause", "resume", "restart"},
    "batch-Completed": {"start", "stop", "scale", "pause", "resume", "restart"},
    "stopped": {"start", "stop", "scale", "pause", "resume", "restart"},
}
"""By life: the actions that it does not allow."""
LOOKS = {
    "start": "fa fa-fw fa-play",
    "stop": "fa fa-fw fa-stop",
    "scale": "fa fa-fw fa-plus-circle",
    "pause": "fa fa-fw fa-pause",
    "resume": "fa fa-fw fa-forward",
    "restart": "fa fa-fw fa-redo",
}


def outcome(act: Act, framework: Json) -> Json:
    """The Framework after an action, as Lua gives it back: without nulls."""
    made: Json = without_nulls(framework)
    changed = dict(act.spec)
    if "taskNumber" in changed:
        made["spec"]["taskRoles"][0]["taskNumber"] = changed.pop("taskNumber")
    made["spec"] |= changed
    annotations = {**made["metadata"].get("annotations", {}), **act.annotations}
    made["metadata"]["annotations"] = {key: value for key, value in annotations.items() if value is not None}
    if not made["metadata"]["annotations"]:
        del made["metadata"]["annotations"]
    return made


def without_nulls(value: Any) -> Any:
    """A copy without the fields that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
