"""Jobs and documents that were made to cost far more than they weigh: each took minutes, or all memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.fields import Fields
from fcompile.convert.jobset_labels import replace_labels
from fcompile.convert.ledger import Ledger
from fcompile.convert.names import Hosts
from fcompile.convert.replicated_jobs import ReplicatedJob
from fcompile.convert.report import FORMATS, report
from fcompile.convert.texts import rewrite_texts
from tests.convert.operator import convert
from tests.laws import no_hang

OWN_NAME = {"fieldRef": {"fieldPath": "metadata.name"}}
STEP = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}


def _jax(*command: str, env: list[dict[str, Any]] | None = None) -> str:
    container = {"name": "jax", "image": "x", "command": list(command), "env": env or []}
    worker = {"replicas": 4, "template": {"spec": {"containers": [container]}}}
    return _object("kubeflow.org/v1", "JAXJob", "pax", spec={"jaxReplicaSpecs": {"Worker": worker}})


def _torch(*command: str) -> str:
    replica = {"template": {"spec": {"containers": [{"name": "pytorch", "image": "x", "command": list(command)}]}}}
    specs = {"Master": replica, "Worker": replica}
    return _object("kubeflow.org/v1", "PyTorchJob", "pt", spec={"pytorchReplicaSpecs": specs})


def _object(version: str, kind: str, name: str, **more: Any) -> str:
    return json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": name}, **more})


def _beside(**more: Any) -> str:
    return f"{_jax()}\n---\n{_object('v1', 'ConfigMap', 'other', **more)}"


def _part(name: str, spec: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "template": {"spec": {"template": {"spec": {"containers": [{"name": "node", "image": "x"}], **(spec or {})}}}},
        **more,
    }


def _jobset(*parts: dict[str, Any]) -> str:
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", "js", spec={"replicatedJobs": list(parts)})


def _patched(variables: int, patches: int) -> str:
    node = _part("node")
    node["template"]["metadata"] = {"labels": STEP}
    names = [{"name": f"a{number}", "value": "tj-node-0-0"} for number in range(variables)]
    node["template"]["spec"]["template"]["spec"]["containers"][0]["env"] = names
    runtime = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}}
    labelled = {"name": "node", "template": {"metadata": {"labels": {"a": "b"}}}}
    patch = {"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [labelled]}}}}
    spec = {"runtimeRef": {"name": "rt"}, "runtimePatches": [patch] * patches}
    version = "trainer.kubeflow.org/v1alpha1"
    return f"{_object(version, 'ClusterTrainingRuntime', 'rt', spec=runtime)}\n---\n{_object(version, 'TrainJob', 'tj', spec=spec)}"


ATTACKS: dict[str, Callable[[], str]] = {
    "a list of names": lambda: _jax("sh", "-c", 'in ["pax-worker-1" ' * 20_000),
    "names that are searched for": lambda: _jax("sh", "-c", "grep pax-worker-1 " * 20_000),
    "a pattern that does not end": lambda: _jax("sh", "-c", ("case " + "pax-worker-1|" * 200) * 120),
    "a template that does not end": lambda: _jax("sh", "-c", "{{" + " .Values" * 100_000),
    "a variable of bytes without a meaning": lambda: _jax(env=[{"name": "A", "value": "pax-worker-1," + "\0" * 200_000}]),
    "a long word that stands for others": lambda: _jax(
        env=[{"name": "A", "value": "long" + "x" * 200_000}, *({"name": f"A{number}", "value": "y " * 101} for number in range(2_000))]
    ),
    "endpoints of variables": lambda: _torch("torchrun", "--rdzv_backend=c10d " + f"--rdzv_endpoint={'$a' * 140} " * 1_200),
    "types of one command": lambda: _beside(spec={"containers": [{"command": ["kubectl", "get", "jaxjob," * 16_000 + "!"]}]}),
    "kinds in quotes": lambda: _beside(data={"a": "'jaxjobs'" * 400_000}),
    "copies of many jobs": lambda: _jobset(*(_part(f"a{number}", replicas=500) for number in range(1_000))),
    "patches of many": lambda: _patched(3_000, 1_500),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_read_soon(name: str) -> None:
    written = ATTACKS[name]()
    assert len(written) < 8_000_000
    with no_hang():
        conversion = convert(written)
        for form in FORMATS:
            assert sum(map(len, report(conversion, form))) < 1_000_000
    assert conversion.jobs


def test_many_variables_of_the_name_of_a_pod_are_found_soon() -> None:
    own = [{"name": f"A{number}", "valueFrom": OWN_NAME} for number in range(7_000)]
    env = [*own, *({"name": f"B{number}", "value": "x"} for number in range(20_000)), {"name": "C", "value": "$(A6999)"}]
    role = RoleDraft("a", 1, {"spec": {"containers": [{"env": env, "args": ["echo A0"] * 20_000 + ["ping $A6999"]}]}}, (), ())
    ledger = Ledger()
    with no_hang():
        rewrite_texts(role, Hosts("pt", None, {}), Draft("pt", None), ledger)
    assert [entry.path[2:] for entry in ledger.differences] == [(0, "args", 20_000), (0, "env", 27_000, "value")]


def test_many_jobs_know_their_places_soon() -> None:
    """As jobs that run before others they are no roles, and may be more than a Framework has of these."""
    parts = [ReplicatedJob(f"a{place}", Fields({}, ()), _reading_its_place(), {}, {}, True, "default") for place in range(40_000)]
    with no_hang():
        replace_labels("js", parts, Fields({}, ()), Ledger(), None)
    (variable,) = parts[-1].role.template["spec"]["containers"][0]["env"]
    assert variable["value"] == "39999"


def _reading_its_place() -> RoleDraft:
    field = {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/job-group-index']"}}
    return RoleDraft("a", 1, {"spec": {"containers": [{"env": [{"name": "A", "valueFrom": field}]}]}}, (), ())


def test_of_many_fields_that_are_lost_ten_are_named() -> None:
    mounts = {"volumes": [{"name": "data", "emptyDir": {}}]}
    first = _part("first", {**mounts, **{f"{'k' * 1_000}{number}": 1 for number in range(500)}})
    others = [_part(f"p{number}", mounts, dependsOn=[{"name": "first", "status": "Complete"}]) for number in range(20)]
    for part in (first, *others):
        part["template"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    (account,) = convert(_jobset(first, *others)).jobs
    lost = [entry.what for entry in account.different if "left out, since" in entry.what]
    assert len(lost) == 20
    assert all("… and 490 more of `first`: left out" in what and len(what) < 6_000 for what in lost)


@pytest.mark.parametrize("verb", [[], {}, {"a": None}, None, 1, 1.5, ["get"]])
def test_a_rule_with_verbs_of_another_type_stops_nothing(verb: Any) -> None:
    frameworks = {"apiGroups": ["frameworkcontroller.microsoft.com"], "resources": ["frameworks"], "verbs": [verb]}
    jobs = {"apiGroups": ["kubeflow.org"], "resources": ["jaxjobs"], "verbs": ["get"]}
    account = convert(f"{_jax()}\n---\n{_object('rbac.authorization.k8s.io/v1', 'Role', 'r', rules=[frameworks, jobs])}").accounts[1]
    assert [entry.what for entry in account.different] == ["it is about `jaxjobs` of kubeflow.org, and converted jobs are none"]
