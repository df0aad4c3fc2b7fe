"""What is left out of the expected manifests is what the documentation says, and nothing else."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fcompile import expand
from fcompile.emit.json import canonical
from fcompile.lower.environment import ClusterValues
from fcompile.pipeline.compiled import Compiled, compile_framework
from tests.check.frameworks import framework, role

CLUSTER = ClusterValues("framework-uid", 3, "configmap-uid", "role-uid", "task-uid", 2)


def compiled(*roles: dict[str, Any], name: str = "train") -> Compiled:
    return compile_framework(framework(*roles, name=name), "ns")


def test_the_documentation_has_the_whole_list(repository: Path) -> None:
    page = (repository / "docs" / "expected-manifests.md").read_text(encoding="utf-8")
    table = page.split("This is the whole list:")[1].split("What an API server adds")[0]
    rows = [line.replace("`", "") for line in table.splitlines() if line.startswith("| ") and not line.startswith(("| kind", "| ---"))]
    listed = []
    for kind, field, which, why in expand.LEFT_OUT:
        joined = ", ".join(which)
        what = field if not which else f"{field} {joined}" if joined.startswith("of ") else f"{field}: {joined}"
        listed.append(f"| {kind} | {what} | {why} |")
    assert rows == listed


def test_the_difference_between_reviewed_and_created_is_the_list() -> None:
    spec = {
        "initContainers": [{"name": "i", "image": "b"}],
        "containers": [{"name": "c", "image": "b", "env": [{"name": "A", "value": "1"}]}],
    }
    (made,) = compiled(role(spec=spec)).intent.roles
    reviewed, created = expand.pod(made, "ns", 1), expand.pod(made, "ns", 1, CLUSTER)
    annotations = set(next(which for kind, field, which, _ in expand.LEFT_OUT if (kind, field) == ("Pod", "metadata.annotations")))
    variables = {name for kind, field, which, _ in expand.LEFT_OUT if kind == "Pod" and field.startswith("env") for name in which}
    assert set(created["metadata"]["annotations"]) - set(reviewed["metadata"]["annotations"]) == annotations
    for kind in ("initContainers", "containers"):
        for before, after in zip(reviewed["spec"][kind], created["spec"][kind], strict=True):
            assert {one["name"] for one in after["env"]} - {one["name"] for one in before["env"]} == variables
            after["env"] = [one for one in after["env"] if one["name"] not in variables]
            assert after == before
    for name in annotations:
        del created["metadata"]["annotations"][name]
    assert created == reviewed


def test_values_of_the_cluster_do_not_leak_into_the_intent() -> None:
    (made,) = compiled(role()).intent.roles
    before = json.dumps(made.pod)
    expand.pod(made, "ns", 0, CLUSTER)
    assert json.dumps(made.pod) == before


def test_attempt_and_instance_ids() -> None:
    (made,) = compiled(role()).intent.roles
    environment = {one["name"]: one.get("value") for one in expand.pod(made, "ns", 0, CLUSTER)["spec"]["containers"][0]["env"]}
    assert environment["FC_FRAMEWORK_ATTEMPT_INSTANCE_UID"] == "3_configmap-uid"
    assert environment["FC_TASK_ATTEMPT_INSTANCE_UID"] == "2_$(FC_POD_UID)"


def test_the_intent_does_not_grow_with_the_tasks() -> None:
    few, many = (len(json.dumps(compiled(role(count=count)).intent.document())) for count in (1, 10_000))
    assert many - few == len("10000") - len("1")


@pytest.mark.parametrize(
    "change",
    [{"count": 9}, {"failed": 2}, {"retry": 3}],
)
def test_counts_and_policies_do_not_change_the_digest(change: dict[str, int]) -> None:
    assert compiled(role(**change)).intent.digest == compiled(role()).intent.digest  # type: ignore[arg-type]


def test_neither_do_the_namespace_and_the_order_of_roles() -> None:
    one = compile_framework(framework(role("a"), role("b")), "x")
    other = compile_framework(framework(role("b"), role("a")), "y")
    assert one.intent.digest == other.intent.digest


@pytest.mark.parametrize(
    "change",
    [{"spec": {"restartPolicy": "OnFailure"}}, {"metadata": {"labels": {"a": "b"}}}, {"service": {}}, {"name": "other"}],
)
def test_what_a_pod_will_be_changes_the_digest(change: dict[str, Any]) -> None:
    assert compiled(role(**change)).intent.digest != compiled(role()).intent.digest


def test_a_service_gives_its_tasks_names_unless_they_have_some() -> None:
    (made,) = compiled(role(service={"ports": [{"name": "a", "port": 1}]})).intent.roles
    spec = expand.pod(made, "ns", 3)["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("worker-3", "train-worker")
    service = expand.service(made, "ns")
    assert service is not None
    assert service["metadata"]["name"] == "train-worker"
    assert service["spec"]["selector"] == {"FC_FRAMEWORK_NAME": "train", "FC_TASKROLE_NAME": "worker"}
    assert service["spec"]["clusterIP"] == "None"
    (own,) = compiled(role(service={}, spec={"hostname": "h", "subdomain": "s"})).intent.roles
    spec = expand.pod(own, "ns", 3)["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("h", "s")


def test_a_large_intent_is_not_in_the_expected_manifests() -> None:
    script = [{"name": "c", "image": "b", "args": ["x" * 600_000]}]
    intent = compiled(role(spec={"containers": script})).intent
    made = expand.config_map(intent, "ns")
    assert made["data"] == {"digest": intent.digest}
    assert len(gzip.compress(json.dumps(intent.document()).encode())) < 1_048_576


@pytest.mark.parametrize(("room", "plain"), [(0, True), (-1, False)])
def test_up_to_which_size_the_intent_is_in_the_expected_manifests(room: int, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    intent = compiled(role()).intent
    monkeypatch.setattr(expand, "PLAIN_INTENT_BYTES", len(canonical(intent.document())) + room)
    assert ("intent.json" in expand.config_map(intent, "ns")["data"]) is plain
