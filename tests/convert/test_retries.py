"""How often a task is tried again, and what is said where the operator or Kubernetes counts in another way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.convert.ledger import Entry, Outcome
from tests.convert.operator import convert

JOB = ("spec", "replicatedJobs", 0, "template", "spec")
NEVER = {"restartPolicy": "Never", "containers": [{"name": "p", "image": "p:1"}]}


def _set(pods: int, pod: dict[str, Any] | None = None, **job: Any) -> dict[str, Any]:
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": {**NEVER, **(pod or {})}}, **job}
    jobs = [{"name": "wk", "template": {"spec": spec}}]
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a"}, "spec": {"replicatedJobs": jobs}}


def _made(job: dict[str, Any]) -> tuple[dict[str, int], dict[str, Entry]]:
    """Return the retries of each role, and what is different, by the last step of its path."""
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    return {role.name: role.max_retry_count for role in account.made.roles}, {str(entry.path[-1]): entry for entry in account.different}


@pytest.mark.parametrize(
    ("pods", "limits", "retries", "told"),
    [
        (1, {"backoffLimitPerIndex": 1}, 1, None),
        (1, {"backoffLimitPerIndex": 9}, 9, None),
        (1, {"backoffLimitPerIndex": 9, "backoffLimit": 2}, 2, None),
        (3, {"backoffLimitPerIndex": 0, "maxFailedIndexes": 0}, 0, None),
        (3, {"backoffLimitPerIndex": 1, "maxFailedIndexes": 0}, 1, None),
        (3, {"backoffLimitPerIndex": 1, "maxFailedIndexes": 0, "backoffLimit": 3}, 1, None),
        (3, {"backoffLimitPerIndex": 1, "maxFailedIndexes": 0, "backoffLimit": 2}, 1, "backoffLimit"),
        (3, {"backoffLimitPerIndex": 1}, 1, "backoffLimitPerIndex"),
        (3, {"backoffLimitPerIndex": 1, "maxFailedIndexes": 2}, 1, "maxFailedIndexes"),
    ],
)
def test_a_limit_for_each_index_is_the_one_of_a_task(pods: int, limits: dict[str, Any], retries: int, told: str | None) -> None:
    found, different = _made(_set(pods, **limits))
    assert found == {"wk": retries}
    assert sorted(different) == ([told] if told else [])


def test_a_job_with_a_limit_for_each_index_goes_on_when_one_has_failed() -> None:
    _, different = _made(_set(3, backoffLimitPerIndex=1))
    assert "the others" in different["backoffLimitPerIndex"].what
    assert "minFailedTaskCount: -1" in different["backoffLimitPerIndex"].remedy
    _, different = _made(_set(3, backoffLimitPerIndex=1, maxFailedIndexes=2))
    assert "minFailedTaskCount: 3" in different["maxFailedIndexes"].remedy


def test_the_limit_for_each_index_in_a_runtime_is_told_at_its_reference() -> None:
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "node", "image": "a"}]}}
    jobs = [{"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"backoffLimitPerIndex": 2, "template": template}}}]
    runtime = {"mlPolicy": {"numNodes": 2, "torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}}
    items = [
        {"kind": "TrainJob", "metadata": {"name": "tj"}, "spec": {"runtimeRef": {"name": "r"}}},
        {"kind": "ClusterTrainingRuntime", "metadata": {"name": "r"}, "spec": runtime},
    ]
    found, different = _made(
        {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "trainer.kubeflow.org/v1alpha1"} | one for one in items]}
    )
    assert found == {"node": 2}
    assert sorted(different) == ["runtimeRef"]


@pytest.mark.parametrize(
    ("job", "field"),
    [
        ({"backoffLimitPerIndex": 1, "completionMode": "NonIndexed"}, "backoffLimitPerIndex"),
        ({"maxFailedIndexes": 1}, "maxFailedIndexes"),
    ],
)
def test_limits_that_kubernetes_refuses_are_refused(job: dict[str, Any], field: str) -> None:
    (reason,) = convert(json.dumps(_set(2, **job))).refused[0].reasons
    assert reason.path == (*JOB, field)
    assert "Kubernetes refuses" in reason.text


@pytest.mark.parametrize(("pods", "limit", "fewer"), [(2, 3, 1), (4, 8, 2), (7, None, 0)])
def test_a_limit_of_all_pods_is_told_with_the_retries_of_a_task_that_keep_within_it(pods: int, limit: int | None, fewer: int) -> None:
    limits: dict[str, Any] = {} if limit is None else {"backoffLimit": limit}
    _, different = _made(_set(pods, **limits))
    (entry,) = different.values()
    assert "container" not in entry.what, "containers are not restarted"
    assert "`restartPolicy: Never`" not in entry.remedy, "it is there"
    assert f"`maxRetryCount: {fewer}`" in entry.remedy


def test_containers_that_are_restarted_are_told_with_the_policy_that_counts_them() -> None:
    for pods, told in ((1, "each failure counts"), (2, "each failure counts, for its own task")):
        _, different = _made(_set(pods, {"restartPolicy": "OnFailure"}, backoffLimit=3))
        (entry,) = different.values()
        assert "restarts of containers" in entry.what
        assert entry.remedy.endswith(told)


def test_restarts_of_containers_are_counted_nowhere_beside_a_limit_for_each_index() -> None:
    limits: dict[str, Any] = {"backoffLimitPerIndex": 1, "maxFailedIndexes": 0}
    assert _made(_set(2, {"restartPolicy": "OnFailure"}, **limits)) == ({"wk": 1}, {})
    _, different = _made(_set(2, {"restartPolicy": "OnFailure"}, **limits, backoffLimit=5))
    assert "restarts of containers" in different["backoffLimit"].what


def test_pods_are_replaced_one_by_one_here_as_there() -> None:
    _, different = _made(_set(1, podReplacementPolicy="Failed"))
    assert different == {}
    _, different = _made(_set(1, podFailurePolicy={"rules": []}))
    assert "podFailureSpec" in different["podFailurePolicy"].why
    assert "fancyRetryPolicy" in different["podFailurePolicy"].remedy


def _mpi(version: str, policy: str | None, limit: int) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "mpi", "image": "a", "command": ["/usr/sbin/sshd", "-De"]}]}}
    said = {} if policy is None else {"restartPolicy": policy}
    replicas = {kind: {"replicas": 1, "template": template, **said} for kind in ("Launcher", "Worker")}
    spec = {"runPolicy": {"backoffLimit": limit, "cleanPodPolicy": "Running"}, "mpiReplicaSpecs": replicas}
    return {"apiVersion": f"kubeflow.org/{version}", "kind": "MPIJob", "metadata": {"name": "a"}, "spec": spec}


def test_the_backoff_limit_of_mpi_operator_is_that_of_the_launchers_job() -> None:
    retries, different = _made(_mpi("v2beta1", "Never", 4))
    assert retries["launcher"] == 4
    assert "backoffLimit" not in different
    (account,) = convert(json.dumps(_mpi("v2beta1", "Never", 4))).jobs
    (entry,) = [entry for entry in account.entries if entry.path[-1:] == ("backoffLimit",)]
    assert entry.outcome is Outcome.CONVERTED
    assert "launcher" in entry.what
    for policy in (None, "OnFailure"):
        _, different = _made(_mpi("v2beta1", policy, 4))
        assert different["backoffLimit"].why == "the launcher is a Job of Kubernetes there, which counts them too"
        assert "`restartPolicy: Never`" in different["backoffLimit"].remedy


@pytest.mark.parametrize(("limit", "retries"), [(0, 0), (1, 0), (3, 2)])
def test_the_backoff_limit_of_training_operator_is_told_with_the_retries_that_come_nearest(limit: int, retries: int) -> None:
    _, different = _made(_mpi("v1", "OnFailure", limit))
    assert f"`maxRetryCount: {retries}`" in different["backoffLimit"].remedy


def _torch(worker: str | None, master: str | None = None) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "pytorch", "image": "a"}]}}
    said = {"Master": master, "Worker": worker}
    replicas = {
        kind: {"replicas": 1, "template": template, **({} if policy is None else {"restartPolicy": policy})}
        for kind, policy in said.items()
    }
    spec = {"runPolicy": {"cleanPodPolicy": "Running"}, "pytorchReplicaSpecs": replicas}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize("policy", ["Never", "ExitCode"])
def test_a_worker_that_may_fail_before_its_master_is_there_is_told(policy: str) -> None:
    (account,) = convert(json.dumps(_torch(policy))).jobs
    (entry,) = [entry for entry in account.different if "before the master" in entry.what]
    assert entry.path == ("spec", "pytorchReplicaSpecs", "Worker", "restartPolicy")
    assert "init-pytorch" in entry.why
    assert "`fcontroller barrier`" in entry.remedy
    assert account.made is not None
    assert not any("init-pytorch" in remark for remark in account.made.remarks), "it is said once"


@pytest.mark.parametrize("policy", [None, "OnFailure", "Always"])
def test_a_worker_that_is_started_again_until_its_master_is_there_is_noted(policy: str | None) -> None:
    (account,) = convert(json.dumps(_torch(policy, "Never"))).jobs
    assert account.made is not None
    assert not any("before the master" in entry.what for entry in account.different)
    (remark,) = [remark for remark in account.made.remarks if "init-pytorch" in remark]
    assert "started again" in remark
    job = _torch("Never")
    del job["spec"]["pytorchReplicaSpecs"]["Worker"]
    assert "init-pytorch" not in str(convert(json.dumps(job)).jobs[0])
