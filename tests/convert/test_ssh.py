"""MPIJobs of training-operator ran by `kubectl exec`: what a login by ssh does not have, or cannot do, is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.convert.operator import convert

WORKER = "spec.mpiReplicaSpecs.Worker.template.spec"
LAUNCHER = WORKER.replace("Worker", "Launcher")


def _job(version: str, *, worker: Any = None, launcher: Any = None, **container: Any) -> dict[str, Any]:
    def template(pod: Any, **more: Any) -> dict[str, Any]:
        return {"template": {"spec": {"containers": [{"name": "mpi", "image": "h:1", **more}], **(pod or {})}}}

    replicas = {"Launcher": {"replicas": 1, **template(launcher)}, "Worker": {"replicas": 2, **template(worker, **container)}}
    spec = {"runPolicy": {"cleanPodPolicy": "Running"}, "mpiReplicaSpecs": replicas}
    return {"apiVersion": f"kubeflow.org/{version}", "kind": "MPIJob", "metadata": {"name": "hv"}, "spec": spec}


def _told(job: dict[str, Any]) -> dict[str, str]:
    """Return what is to be done about what is different, by its field within the templates."""
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    return {".".join(map(str, entry.path)): f"{entry.what} {entry.remedy}" for entry in account.different if "template" in entry.path}


ENV = [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "DB", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]
FROM = [{"secretRef": {"name": "aws"}}]
DROP = "containers.0.securityContext.capabilities.drop"
NOT_ROOT = {"runAsUser": 1000}


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"env": ENV}, f"{WORKER}.containers.0.env", "mpirun -x"),
        ({"envFrom": FROM}, f"{WORKER}.containers.0.envFrom", "mpirun -x"),
        ({"securityContext": NOT_ROOT}, f"{WORKER}.containers.0.securityContext.runAsUser", "root"),
        ({"worker": {"securityContext": NOT_ROOT}}, f"{WORKER}.securityContext.runAsUser", "root"),
        ({"worker": {"securityContext": {"runAsNonRoot": True}}}, f"{WORKER}.securityContext.runAsNonRoot", "root"),
        ({"securityContext": {"capabilities": {"drop": ["ALL"]}}}, f"{WORKER}.{DROP}", "add SETGID, SETUID, SYS_CHROOT to"),
        ({"securityContext": {"capabilities": {"drop": ["CAP_SETUID", "KILL"]}}}, f"{WORKER}.{DROP}", "add SETUID to"),
        ({"launcher": {"securityContext": NOT_ROOT}}, f"{LAUNCHER}.securityContext.runAsUser", "root"),
        ({"worker": {"hostNetwork": True}}, f"{WORKER}.hostNetwork", "port 22"),
        ({"launcher": {"hostNetwork": True}}, f"{LAUNCHER}.hostNetwork", "ClusterFirstWithHostNet"),
        ({"launcher": {"dnsPolicy": "Default"}}, f"{LAUNCHER}.dnsPolicy", "`dnsPolicy: ClusterFirst`"),
    ],
)
def test_what_ssh_cannot_do_is_told_where_the_operator_ran_kubectl_exec(change: dict[str, Any], field: str, said: str) -> None:
    told = _told(_job("v1", **change))
    assert list(told) == [field]
    assert said in told[field]
    assert _told(_job("v2beta1", **change)) == {}, "mpi-operator runs ssh too"


@pytest.mark.parametrize(
    "change",
    [
        {"env": [], "envFrom": []},
        {"securityContext": {"capabilities": {"drop": ["ALL"], "add": ["SETGID", "SETUID", "SYS_CHROOT"]}}},
        {"securityContext": {"capabilities": {"drop": ["KILL"]}}},
        {"securityContext": {"runAsUser": 0}, "worker": {"securityContext": {**NOT_ROOT, "runAsNonRoot": True}}},
        {"worker": {"securityContext": {"runAsUser": 0}}, "launcher": {"securityContext": {"fsGroup": 1}}},
        {"worker": {"hostNetwork": False}, "launcher": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}},
    ],
)
def test_what_ssh_can_do_is_not_told(change: dict[str, Any]) -> None:
    assert _told(_job("v1", **change)) == {}


def test_a_container_that_is_reached_by_nobody_may_have_variables_and_a_user() -> None:
    job = _job("v1")
    sidecar = {"name": "side", "image": "s:1", "env": ENV, "securityContext": NOT_ROOT}
    job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"].append(sidecar)
    assert _told(job) == {}


def test_images_whose_logins_find_their_programs_are_asked_for() -> None:
    (account,) = convert(json.dumps(_job("v1"))).jobs
    (entry,) = [entry for entry in account.different if entry.path[-1] == "Launcher"]
    assert "PATH" in entry.remedy
