"""What is seen of Pods and ConfigMaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fcontroller.decide import observed
from fcontroller.decide.status import from_time

AT = "2027-01-15T08:00:30Z"


def pod(phase: str = "Running", **metadata: Any) -> observed.Pod:
    status = {"phase": phase, "podIP": "10.0.0.1", "hostIP": "10.0.0.2"}
    return observed.pod({"metadata": {"uid": "u", "name": "p", **metadata}, "spec": {"nodeName": "n"}, "status": status})


def test_where_a_pod_is() -> None:
    seen = pod()
    assert (seen.uid, seen.phase, seen.node_name, seen.ip, seen.host_ip) == ("u", "Running", "n", "10.0.0.1", "10.0.0.2")
    bare = observed.pod({"metadata": {"uid": "u"}, "spec": {}, "status": None})
    assert (bare.phase, bare.node_name, bare.ip, bare.host_ip, bare.finished, bare.marked) == ("", "", "", "", None, False)


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded", "Failed", "Unknown"])
def test_when_it_has_finished(phase: str) -> None:
    assert (pod(phase).finished is not None) == (phase in ("Succeeded", "Failed"))


def test_what_else_becomes_of_a_pod_that_has_finished_is_not_seen() -> None:
    """The same end with another address, or another condition, is told to nobody."""
    ended = {"terminated": {"exitCode": 1, "finishedAt": AT, "containerID": "one"}}
    status: dict[str, Any] = {"phase": "Failed", "containerStatuses": [{"name": "main", "ready": True, "state": ended}], "conditions": []}
    value = {"metadata": {"uid": "u", "name": "p"}, "spec": {"nodeName": "n"}, "status": status}
    first = observed.pod(value)
    status["conditions"].append({"type": "Ready", "status": "False"})
    status["containerStatuses"][0]["ready"], value["metadata"]["resourceVersion"] = False, "2"
    assert observed.pod(value) == first
    ended["terminated"]["exitCode"] = 2
    assert observed.pod(value) != first


def ended(name: str, message: str) -> Any:
    return {"name": name, "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": message, "finishedAt": AT}}}


LONG = "m" * 1_000_000
ABSURD: dict[str, Any] = {
    "a message": {"phase": "Failed", "message": LONG},
    "control characters": {"phase": "Failed", "message": "\x1b" * 100_000, "containerStatuses": [ended("a", "\x1b" * 100_000)] * 10},
    "what a container said": {"phase": "Failed", "containerStatuses": [ended("main", LONG)]},
    "a name": {"phase": "Failed", "initContainerStatuses": [ended(LONG, "")]},
    "containers": {"phase": "Failed", "containerStatuses": [ended(f"c-{number}", "") for number in range(6_000)]},
    "a phase": {"phase": LONG},
    "an address": {"phase": "Running", "hostIP": LONG},
    "why it goes": {"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "r", "message": LONG}]},
    "what it waits for": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": LONG, "message": LONG}]},
}


@pytest.mark.parametrize("status", ABSURD.values(), ids=ABSURD)
def test_little_is_kept_of_what_no_kubelet_writes(status: Any) -> None:
    """The API server takes a megabyte from whoever may write pods/status, for each Pod: 1,500 would be more than the memory."""
    value = {"metadata": {"uid": "u", "name": "p", "deletionTimestamp": AT}, "spec": {"nodeName": ""}, "status": status}
    assert len(repr(observed.pod(value))) < 40_000


def test_little_is_kept_of_a_node_that_is_none() -> None:
    """The API server takes a megabyte from whoever may create pods/binding."""
    value = {"metadata": {"uid": "u", "name": "p"}, "spec": {"nodeName": LONG}, "status": {"phase": "Running"}}
    assert observed.pod(value).node_name == LONG[:253]


def test_all_is_kept_that_a_kubelet_may_write() -> None:
    said = [ended(f"c-{number}", "错" * 1_365) for number in range(3)]
    value = {"metadata": {"uid": "u", "name": "p"}, "spec": {}, "status": {"phase": "Failed", "containerStatuses": said}}
    kept = observed.read_end(observed.pod(value).finished or b"").containers
    assert [ended(one.name, one.message) for one in kept] == said
    assert {(one.code, one.reason, one.finished_at) for one in kept} == {(1, "Error", AT)}


@pytest.mark.parametrize(
    ("metadata", "start", "grace", "marked"),
    [
        ({}, None, 0, False),
        ({"deletionTimestamp": AT, "deletionGracePeriodSeconds": 30}, "2027-01-15T08:00:00Z", 30, False),
        ({"deletionTimestamp": AT, "deletionGracePeriodSeconds": 0}, AT, 0, True),
        ({"deletionTimestamp": AT}, AT, 0, True),
        ({"deletionTimestamp": AT, "deletionGracePeriodSeconds": 0, "finalizers": ["a"]}, AT, 0, False),
        ({"deletionGracePeriodSeconds": 0}, None, 0, False),
    ],
)
def test_since_when_it_goes(metadata: Any, start: str | None, grace: int, marked: bool) -> None:
    """It is only marked when it could be gone, and nothing holds it: an ordinary DELETE ends that."""
    seen = pod(**metadata)
    assert (seen.deletion_start, seen.grace, seen.marked) == (from_time(start), grace, marked)


@pytest.mark.parametrize(
    ("owners", "uid"),
    [
        (None, ""),
        ([], ""),
        ([{"uid": "a"}], ""),
        ([{"uid": "a", "controller": False}], ""),
        ([{"uid": "a"}, {"uid": "b", "controller": True}], "b"),
    ],
)
def test_whose_it_is(owners: Any, uid: str) -> None:
    assert pod(ownerReferences=owners).controller == uid
    found = observed.config_map({"metadata": {"uid": "u", "ownerReferences": owners}})
    assert (found.uid, found.controller, found.deletion_start, found.awaits_collector) == ("u", uid, None, False)


@pytest.mark.parametrize("read", [observed.pod, observed.config_map])
def test_little_is_kept_of_a_controller_that_is_none(read: Callable[[Any], observed.Pod | observed.ConfigMap]) -> None:
    """With a megabyte of each, whoever may create 300 Pods or ConfigMaps could fill the memory, and so stop the controller for all."""
    owner = {"apiVersion": "example.com/v1", "kind": "Any", "name": "a", "uid": "\U0001f600" + "x" * 1_000_000, "controller": True}
    seen = read({"metadata": {"uid": "u", "name": "p", "ownerReferences": [owner]}, "spec": {}, "status": {}})
    assert 0 < len(seen.controller) < 1000


def test_how_many_owners_it_has() -> None:
    """None where the attempt's ConfigMap does not own it any more as it did."""
    made = {"apiVersion": "v1", "kind": "ConfigMap", "name": "p-attempt", "uid": "b", "controller": True, "blockOwnerDeletion": True}
    assert [pod(name="p-a-0", ownerReferences=owners).owners for owners in ([], [made], [{"uid": "a"}, made])] == [0, 1, 2]
    for field in made.keys() - {"uid"}:
        assert pod(name="p-a-0", ownerReferences=[{"uid": "a"}, {**made, field: "another"}]).owners == 0


FRAMEWORK = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "name": "train", "uid": "f", "controller": True}


@pytest.mark.parametrize(
    ("owner", "finalizers", "awaits"),
    [
        (FRAMEWORK, ["a.com/b", "foregroundDeletion"], True),
        (FRAMEWORK, ["a.com/b"], False),
        (FRAMEWORK, None, False),
        ({**FRAMEWORK, "controller": False}, ["foregroundDeletion"], False),
        ({**FRAMEWORK, "apiVersion": "frameworkcontroller.example.com/v1"}, ["foregroundDeletion"], False),
        ({**FRAMEWORK, "kind": "Other"}, ["foregroundDeletion"], False),
        ({**FRAMEWORK, "name": "other"}, ["foregroundDeletion"], False),
    ],
)
def test_what_awaits_the_garbage_collector(owner: Any, finalizers: Any, awaits: bool) -> None:
    metadata = {"name": "train-attempt", "uid": "u", "deletionTimestamp": AT, "finalizers": finalizers, "ownerReferences": [owner]}
    going = observed.config_map({"metadata": metadata})
    assert (going.deletion_start, going.awaits_collector) == (from_time(AT), awaits)


DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "makes room for n/train"}


@pytest.mark.parametrize(
    ("conditions", "metadata", "why"),
    [
        ([{"type": "Ready", "status": "False"}, DISRUPTED], {"deletionTimestamp": AT}, "PreemptionByScheduler: makes room for n/train"),
        ([DISRUPTED], {}, ""),
        ([{**DISRUPTED, "status": "False"}], {"deletionTimestamp": AT}, ""),
        ([{"type": "DisruptionTarget", "status": "True"}], {"deletionTimestamp": AT}, ": "),
        (None, {"deletionTimestamp": AT}, ""),
    ],
)
def test_why_it_goes(conditions: Any, metadata: Any, why: str) -> None:
    seen = observed.pod({"metadata": {"uid": "u", **metadata}, "spec": {}, "status": {"phase": "Running", "conditions": conditions}})
    assert seen.disruption == why
