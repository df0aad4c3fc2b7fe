"""Frameworks that were stored under upstream's CRD live on under ours, and back again (docs/upstream-crd.md)."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import urllib3

from fcompile.emit import yaml
from fcompile.load import values
from tests import laws
from tests.cluster import Cluster
from tests.cluster.cluster import apply_crd
from tests.drift import upstream
from tests.drift.objects import Object, address, create, differences, listed, minor, own, request

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
Stored = dict[str, Object]


def _eventually(done: Callable[[], bool]) -> None:
    """The API server takes a moment to use another definition."""
    for _ in range(1200):
        if done():
            return
        time.sleep(0.1)
    raise AssertionError("the API server does not use the definition")


def _path(value: Object, *more: str) -> str:
    return "/".join((address(value), value["metadata"]["name"], *more))


def _answers_to_a_typo(cluster: Cluster, value: Object) -> int:
    """201 from upstream's definition, which lets anything into a Pod template, 400 from ours; others while neither is ready."""
    typo = copy.deepcopy({**own(value), "metadata": {"name": "typo", "namespace": value["metadata"]["namespace"]}})
    typo["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["typo"] = 5
    try:
        return cluster.api.request("POST", address(value), typo, {"dryRun": "All", "fieldValidation": "Strict"})[0]
    except urllib3.exceptions.ProtocolError:  # it hangs up while it changes
        return 0


def _to_ours(cluster: Cluster, value: Object) -> None:
    apply_crd(cluster)
    _eventually(lambda: _answers_to_a_typo(cluster, value) == 400)


def _to_upstreams(cluster: Cluster, value: Object) -> None:
    cluster.kubectl("replace", "-f", "-", input=upstream.CRD)
    _eventually(lambda: _answers_to_a_typo(cluster, value) == 201)


def _put_upstreams(cluster: Cluster) -> None:
    """As upstream's controller does: without kubectl, so without its annotation."""
    (definition,) = values(upstream.CRD.encode())
    status, answer = request(cluster, "POST", CRD, definition)
    assert status == 201, answer


@pytest.fixture
def switched(own_cluster: Cluster) -> Iterator[tuple[Cluster, Stored, Stored]]:
    """Frameworks in every state: as they were stored under upstream's definition, and as they are read after the switch to ours."""
    _put_upstreams(own_cluster)
    with own_cluster.namespace() as namespace:
        frameworks = upstream.stored(namespace)
        _eventually(lambda: request(own_cluster, "GET", address(frameworks[0]))[0] == 200)
        create(own_cluster, frameworks)
        before = listed(own_cluster, frameworks[0])
        _to_ours(own_cluster, frameworks[0])
        yield own_cluster, before, listed(own_cluster, frameworks[0])
        for name in before:
            request(own_cluster, "DELETE", _path(before[name]))
    assert request(own_cluster, "DELETE", f"{CRD}/frameworks.frameworkcontroller.microsoft.com")[0] == 200
    _eventually(lambda: request(own_cluster, "GET", address(frameworks[0]))[0] == 404)


def test_switch_and_back(switched: tuple[Cluster, Stored, Stored]) -> None:
    cluster, before, after = switched
    assert len(before) == len(upstream.STATES) + 10
    _nothing_lost(before, after)
    _reads_as_valid(cluster, before)
    if not _takes_what_was_wrong_before(cluster):
        request(cluster, "DELETE", _path(after.pop("invalidpod")))
    _spec_can_be_changed(cluster, after)
    _status_can_be_written(cluster, after)
    _whole_object_leaves_the_status(cluster, after)
    ours = listed(cluster, next(iter(after.values())))

    _to_upstreams(cluster, next(iter(after.values())))
    back = listed(cluster, next(iter(after.values())))
    assert back == ours
    _upstream_writes_again(cluster, back)


def _nothing_lost(before: Stored, after: Stored) -> None:
    assert list(before) == list(after)
    for name, was in before.items():
        # Upstream's client writes nulls in the spec for what is not set; ours drops them, which is the same.
        assert [one for one in differences(was, after[name]) if one[1] is not None] == []
        assert was.get("status") == after[name].get("status")
    compressed = after["compressed"]
    assert len(upstream.task_statuses(compressed)[0]["taskStatuses"]) == 2_000


def _reads_as_valid(cluster: Cluster, before: Stored) -> None:
    """`fcompile` takes them as kubectl prints them, and would change nothing but what a default adds."""
    namespace = next(iter(before.values()))["metadata"]["namespace"]
    valid = [name for name in before if name != "invalidpod"]  # which was recorded because its Pod is not
    text = cluster.kubectl("get", "frameworks", *valid, "-n", namespace, "-o", "yaml").stdout.encode()
    done = laws.run(["validate", "--format=json", "-"], text)
    assert done.code == 0, done.out
    built = laws.run(["build", "-"], text)
    assert built.code == 0, built.err
    applied = cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", input=built.out.decode())
    assert applied.stdout.count("serverside-applied") == len(valid)


def _takes_what_was_wrong_before(cluster: Cluster) -> bool:
    """Whether the API server checks only what a change touches (CRDValidationRatcheting)."""
    return minor(cluster) >= 30


def _spec_can_be_changed(cluster: Cluster, after: Stored) -> None:
    for value in after.values():
        roles = [{**role, "taskNumber": role["taskNumber"] + 1} for role in value["spec"]["taskRoles"]]
        status, answer = request(cluster, "PATCH", _path(value), {"spec": {"executionType": "Stop", "taskRoles": roles}})
        assert status == 200, answer["message"]
        assert answer.get("status") == value.get("status")
        assert answer["spec"]["executionType"] == "Stop"
        assert [role["taskNumber"] for role in answer["spec"]["taskRoles"]] == [role["taskNumber"] for role in roles]


def _status_can_be_written(cluster: Cluster, after: Stored) -> None:
    for name in after:
        _, current = request(cluster, "GET", _path(after[name]))
        written: dict[str, Any] = {
            **(current.get("status") or {}),
            "state": "AttemptRunning",
            "conditions": [{"type": "x", "status": "True"}],
        }
        status, answer = request(cluster, "PUT", _path(current, "status"), {**current, "spec": {}, "status": written})
        assert status == 200, answer
        assert answer["status"] == written
        assert answer["spec"] == current["spec"]


def _whole_object_leaves_the_status(cluster: Cluster, after: Stored) -> None:
    """What becomes of upstream's controller when it still runs: its writes are accepted, and its status is not in them."""
    _, current = request(cluster, "GET", _path(after["succeed"]))
    status, answer = request(cluster, "PUT", _path(current), {**current, "status": {"state": "Completed"}})
    assert status == 200, answer
    assert answer["status"] == current["status"]


def _upstream_writes_again(cluster: Cluster, back: Stored) -> None:
    for value in back.values():
        status, answer = request(cluster, "PUT", _path(value), {**value, "status": {"state": "Completed"}})
        assert status == 200, answer
        assert answer["status"] == {"state": "Completed"}
        assert answer["spec"] == value["spec"]


def test_what_upstreams_definition_does_not_know_is_gone_while_it_is_there(switched: tuple[Cluster, Stored, Stored]) -> None:
    cluster, _, after = switched
    sample = after["succeed"]
    value = {**own(sample), "metadata": {"name": "extended", "namespace": sample["metadata"]["namespace"]}}
    value["spec"] = {**value["spec"], "managedBy": "kueue.x-k8s.io/multikueue"}
    value["spec"]["taskRoles"] = [{**role, "service": {"ports": [{"port": 80}]}} for role in value["spec"]["taskRoles"]]
    (ours,) = create(cluster, [value])
    assert ours["spec"]["taskRoles"][0]["service"]["publishNotReadyAddresses"] is True

    _to_upstreams(cluster, sample)
    _, read = request(cluster, "GET", _path(value))
    assert "managedBy" not in read["spec"]
    assert "service" not in read["spec"]["taskRoles"][0]

    # Not yet in what is stored: that is rewritten by the next change only.
    _to_ours(cluster, sample)
    _, again = request(cluster, "GET", _path(value))
    assert again["spec"] == ours["spec"]
    request(cluster, "DELETE", _path(value))


def test_what_ours_does_not_know_is_found_beforehand(switched: tuple[Cluster, Stored, Stored]) -> None:
    """Upstream's definition keeps any field of a Pod template; ours drops what no Kubernetes has. `validate` names it before."""
    cluster, _, after = switched
    sample = after["succeed"]
    _to_upstreams(cluster, sample)
    value = {**own(sample), "metadata": {"name": "misspelt", "namespace": sample["metadata"]["namespace"]}}
    value["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["ActiveDeadlineSeconds"] = 5
    (stored,) = create(cluster, [value])
    text = yaml.dump(stored)
    found = laws.run(["validate", "-"], text.encode())
    assert found.code == 1
    assert b"did you mean `activeDeadlineSeconds`?" in found.out

    _to_ours(cluster, sample)
    _, read = request(cluster, "GET", _path(value))
    assert "ActiveDeadlineSeconds" not in str(read["spec"])
    request(cluster, "DELETE", _path(value))


# What upstream's definition lets in and ours refuses when it is new.
REFUSED: dict[str, Callable[[Object], Any]] = {
    "tworoles": lambda spec: spec["taskRoles"].append(spec["taskRoles"][0]),
    "nopod": lambda spec: spec["taskRoles"][0]["task"].pop("pod"),
    "nocontainer": lambda spec: spec["taskRoles"][0]["task"]["pod"]["spec"].pop("containers"),
    "wrongtype": lambda spec: spec["taskRoles"][0]["task"]["pod"]["spec"].update(hostname=5),
    "wrongvalue": lambda spec: spec["taskRoles"][0]["task"]["pod"]["spec"].update(restartPolicy="Sometimes"),
}


def test_what_ours_would_refuse_can_still_be_stopped_and_deleted(switched: tuple[Cluster, Stored, Stored]) -> None:
    cluster, _, after = switched
    if not _takes_what_was_wrong_before(cluster):
        pytest.skip("before Kubernetes 1.30 nothing of it can be changed")
    sample = after["succeed"]
    refused = [_spoilt(sample, name) for name in REFUSED]
    for value in refused:
        assert request(cluster, "POST", address(value), value)[0] == 422, value["metadata"]["name"]
    _to_upstreams(cluster, sample)
    create(cluster, refused)
    _to_ours(cluster, sample)
    for value in refused:
        status, answer = request(cluster, "PATCH", _path(value), {"spec": {"executionType": "Stop"}})
        assert (status, answer["spec"]["executionType"]) == (200, "Stop"), answer
        assert request(cluster, "PATCH", _path(value, "status"), {"status": {"state": "Completed"}})[0] == 200
        assert request(cluster, "DELETE", _path(value))[0] == 200


def _spoilt(sample: Object, name: str) -> Object:
    value = copy.deepcopy({**own(sample), "metadata": {"name": name, "namespace": sample["metadata"]["namespace"]}})
    REFUSED[name](value["spec"])
    return value
