"""What is said of Pods that do not start."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide import observed, states
from fcontroller.decide.conditions import set_started
from fcontroller.decide.observed import Wait
from fcontroller.decide.status import Status
from fcontroller.decide.waiting import may_wait, waiting
from tests.decide.test_conditions import said
from tests.decide.world import SETTINGS, START, World, role_spec

NODES = "0/5 nodes are available: 5 Insufficient nvidia.com/gpu."
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": NODES}
NO_MORE = "its node makes its volumes and network ready, or pulls an image: the Pod's Events may say more"


def container(name: str = "main", started: bool = False, **state: Any) -> dict[str, Any]:
    return {"name": name, "started": started, "state": state}


def waits(reason: str, message: str | None = None, name: str = "main") -> dict[str, Any]:
    return container(name, waiting={"reason": reason, **({"message": message} if message else {})})


def wait_of(status: dict[str, Any], node: str = "", **spec: Any) -> Wait | None:
    spec |= {"nodeName": node} if node else {}
    return observed.pod({"metadata": {"uid": "u"}, "spec": spec, "status": {"phase": "Pending", **status}}).waits


@pytest.mark.parametrize(
    ("status", "wait"),
    [
        ({"conditions": [{"type": "Ready", "status": "False"}, UNSCHEDULABLE]}, Wait("Unschedulable", NODES)),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "gates"}]},
            Wait("SchedulingGated", "gates"),
        ),
        ({"conditions": [{"type": "PodScheduled", "status": "False"}]}, Wait("Pending", "it has no node yet")),
        ({"conditions": None}, Wait("Pending", "no scheduler has said anything about it yet")),
    ],
)
def test_a_pod_without_a_node(status: dict[str, Any], wait: Wait) -> None:
    assert wait_of(status) == wait


@pytest.mark.parametrize(
    ("status", "wait"),
    [
        ({}, Wait("Pending", "its node has said nothing about it yet")),
        ({"containerStatuses": None}, Wait("Pending", "its node has said nothing about it yet")),
        ({"containerStatuses": [waits("ContainerCreating")]}, Wait("ContainerCreating", NO_MORE)),
        ({"containerStatuses": [waits("ErrImagePull", "not found")]}, Wait("ImagePullBackOff", "container main: not found")),
        ({"containerStatuses": [waits("ImagePullBackOff", "waits")]}, Wait("ImagePullBackOff", "container main: waits")),
        ({"containerStatuses": [waits("InvalidImageName")]}, Wait("InvalidImageName", "container main: no more is said about it")),
        (
            {"containerStatuses": [container(running={}), waits("CreateContainerConfigError", "no secret a", "b")]},
            Wait("CreateContainerConfigError", "container b: no secret a"),
        ),
        (
            {"initContainerStatuses": [container("barrier", running={})], "containerStatuses": [waits("PodInitializing")]},
            Wait("PodInitializing", "init container barrier runs"),
        ),
        (
            {
                "initContainerStatuses": [waits("CrashLoopBackOff", "back-off 10s", "init")],
                "containerStatuses": [waits("PodInitializing")],
            },
            Wait("CrashLoopBackOff", "container init: back-off 10s"),
        ),
        (
            {
                "initContainerStatuses": [container("proxy", started=True, running={}), container("init", running={})],
                "containerStatuses": [waits("PodInitializing")],
            },
            Wait("PodInitializing", "init container init runs"),
        ),
        (
            {
                "initContainerStatuses": [container("proxy", started=True, running={}), container("init", terminated={"exitCode": 0})],
                "containerStatuses": [waits("PodInitializing")],
            },
            Wait("ContainerCreating", NO_MORE),
        ),
        (
            {"initContainerStatuses": [container("proxy", running={})], "containerStatuses": [waits("PodInitializing")]},
            Wait("PodInitializing", "init container proxy runs"),
        ),
        ({"conditions": [UNSCHEDULABLE], "containerStatuses": [waits("ContainerCreating")]}, Wait("ContainerCreating", NO_MORE)),
    ],
)
def test_a_pod_with_a_node(status: dict[str, Any], wait: Wait) -> None:
    assert wait_of(status, "node", initContainers=[{"name": "proxy", "restartPolicy": "Always"}, {"name": "init"}]) == wait


@pytest.mark.parametrize("phase", ["", "Running", "Succeeded", "Failed", "Unknown"])
def test_a_pod_that_does_not_wait(phase: str) -> None:
    assert wait_of({"phase": phase, "conditions": [UNSCHEDULABLE]}) is None


def test_what_is_kept_of_it_is_bounded() -> None:
    found = wait_of({"containerStatuses": [waits("R" * 1000, "m" * 1000)]}, "node")
    assert found is not None
    assert (len(found.reason), len(found.message), found.message[-1]) == (300, 300, "…")


def framework(**counts: int) -> World:
    """One whose Pods are made, and have not started."""
    world = World({"taskRoles": [role_spec(name, count) for name, count in counts.items()]}, SETTINGS)
    world.run(0.05)
    assert world.status is not None
    return world


def told(world: World, reasons: dict[tuple[str, int], Wait], after: float = 60) -> tuple[str, str]:
    context = world.look()
    pods = {key: pod._replace(waits=reasons.get(key)) for key, pod in context.pods.items()}
    return waiting(context.status, pods, world.now + after)


def test_the_reasons_of_all_together() -> None:
    world, full = framework(ps=1, worker=3), Wait("Unschedulable", "no room")
    everywhere = {("ps", 0): full, ("worker", 0): full, ("worker", 1): full, ("worker", 2): full}
    assert told(world, everywhere) == (
        "Unschedulable",
        "4 of 4 tasks wait for their Pods to start (1 of role ps, 3 of role worker). Unschedulable, 4 Pods, as `f-ps-0`: no room",
    )
    assert told(world, {("worker", 2): full})[1] == (
        "1 of 4 tasks wait for their Pods to start (1 of role worker). Unschedulable, Pod `f-worker-2`: no room"
    )
    assert told(world, {}) == told(world, everywhere, 8) == ("", "")


def test_a_failure_comes_before_what_all_others_wait_for() -> None:
    """As with a barrier, which all Pods have, and one image that is not there."""
    barrier, full, pulls = Wait("PodInitializing", "barrier runs"), Wait("Unschedulable", "no room"), Wait("ImagePullBackOff", "not found")
    found = {("worker", 0): barrier, ("worker", 1): barrier, ("worker", 2): full, ("worker", 3): Wait("Pending", "a"), ("ps", 0): pulls}
    reason, message = told(framework(worker=4, ps=1), found)
    assert reason == "ImagePullBackOff"
    assert message.partition("). ")[2] == (
        "ImagePullBackOff, Pod `f-ps-0`: not found; Unschedulable, Pod `f-worker-2`: no room; Pending, Pod `f-worker-3`: a; and 1 more"
    )
    pulls_too = {**found, ("worker", 1): Wait("Other", "b"), ("worker", 0): Wait("Other", "b")}
    assert told(framework(worker=4, ps=1), pulls_too)[0] == "Other", "of failures, the commonest"


def test_many_roles_are_not_all_named() -> None:
    world = framework(a=1, b=1, c=1, d=1, e=1)
    _, message = told(world, {key: Wait("Pending", "x") for key in world.pods})
    assert "(1 of role a, 1 of role b, 1 of role c, and 2 more)" in message


def test_tasks_that_do_not_count() -> None:
    world, full = framework(a=3), Wait("Unschedulable", "no room")
    assert world.status is not None
    tasks, everywhere = world.status.roles[0].tasks, {("a", index): full for index in range(3)}
    tasks[0].state = states.RUNNING
    tasks[1].attempt.object_uid = "another"
    assert told(world, everywhere)[1].startswith("1 of 3 tasks")
    tasks[2].transition_time = START + 3600  # By a clock that was ahead: nobody knows since when it waits.
    assert told(world, everywhere)[1].startswith("1 of 3 tasks")
    tasks[2].deletion_pending = True
    assert told(world, everywhere) == ("", "")


def test_when_nothing_can_wait() -> None:
    world = framework(a=2)
    status = world.status
    assert status is not None
    assert may_wait(status)
    status.state = states.RUNNING
    assert may_wait(status)
    status.roles[0].running = 1
    assert may_wait(status)
    status.roles[0].deletion_pending = 1
    assert not may_wait(status)
    status.roles[0].deletion_pending, status.roles[0].succeeded = 0, 1
    assert not may_wait(status)
    status.roles[0].running = 0
    assert may_wait(status)
    status.state = states.DELETION_PENDING
    assert not may_wait(status)


@pytest.mark.parametrize(("reason", "kept"), [("Unschedulable", "Unschedulable"), ("No Room!", "Waiting"), ("1", "Waiting")])
def test_a_reason_that_the_api_server_would_not_take(reason: str, kept: str) -> None:
    assert conditions(("PREPARING", reason)) == [("False", kept, "m")]


def conditions(*steps: tuple[str, str]) -> list[tuple[str, str, str]]:
    """The condition after each state of the Framework, and reason for which Pods wait then."""
    status, found = Status("f-attempt", 0), []
    for state, reason in steps:
        status.state = getattr(states, state)
        set_started(status, reason, "m" if reason else "", 1, 10)
        if status.others:
            it = said(status, "PodsStarted")
            found.append((it["status"], it["reason"], it["message"]))
    return found


def test_how_the_condition_goes_on() -> None:
    waits, started = ("False", "Pending", "m"), ("True", "Started", "No Pod waits to start")
    over = ("True", "NotNeeded", "No Pod is to start any more. Before: m")
    assert conditions(("PREPARING", ""), ("RUNNING", ""), ("COMPLETED", "")) == []
    assert conditions(("PREPARING", "Pending"), ("RUNNING", ""), ("COMPLETED", "")) == [waits, started, started]
    ended = [("PREPARING", "Pending"), ("DELETION_PENDING", ""), ("COMPLETED", "")]
    assert conditions(*ended) == [waits, over, over]
    assert conditions(*ended, ("CREATION_PENDING", ""), ("PREPARING", ""), ("RUNNING", "Pending")) == [
        waits,
        over,
        over,
        over,
        started,
        waits,
    ]
    assert conditions(*ended, ("PREPARING", "Pending")) == [waits, over, over, waits]
