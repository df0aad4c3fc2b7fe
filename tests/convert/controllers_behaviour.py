"""What happens to a JobSet, a TrainJob or an MPIJob of mpi-operator, and what comes of it: the cases and situations that were observed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.convert.behaviour import Situation

Json = dict[str, Any]
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
SETTINGS = {"limit": "backoffLimit", "ttl": "ttlSecondsAfterFinished", "deadline": "activeDeadlineSeconds", "clean": "cleanPodPolicy"}


class Case(NamedTuple):
    """A job whose behaviour is asked for."""

    make: Callable[[str, Json], Json]
    """Makes it, of a restart policy and of settings."""
    leader: str
    """The role that decides: of its task 0 the table says *the first*."""
    workers: str

    def job(self, situation: Situation) -> Json:
        """Return the job as it is given to both."""
        return self.make(situation.policy, situation.run_policy or {})

    def first(self, roles: dict[str, int]) -> tuple[str, int]:
        """Return the task that decides."""
        assert self.leader in roles
        return self.leader, 0

    def worker(self, index: int, roles: dict[str, int]) -> tuple[str, int]:
        """Return the task that a worker is."""
        assert self.workers in roles
        return self.workers, index


def _container(name: str) -> Json:
    return {"name": name, "image": "a", "command": ["/usr/sbin/sshd", "-De"]}


def _replicated(name: str, count: int, policy: str, settings: Json, container: str = "node", **labels: str) -> Json:
    limit = {"backoffLimit": settings["limit"]} if "limit" in settings else {}
    pod = {"spec": {"restartPolicy": policy, "containers": [_container(container)]}}
    spec = {**limit, "parallelism": count, "completions": count, "template": pod}
    return {"name": name, "template": {**({"metadata": {"labels": labels}} if labels else {}), "spec": spec}}


def _of_set(settings: Json) -> Json:
    restarts = {"failurePolicy": {"maxRestarts": settings["restarts"]}} if "restarts" in settings else {}
    return {**restarts, **({"ttlSecondsAfterFinished": settings["ttl"]} if "ttl" in settings else {})}


def _jobset(policy: str, settings: Json, **spec: Any) -> Json:
    jobs = [_replicated("driver", 1, policy, settings), _replicated("worker", 2, policy, settings)]
    whole = {**spec, **_of_set(settings), "replicatedJobs": jobs}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "job"}, "spec": whole}


def _trainjob(settings: Json, jobs: list[Json], policy: Json, **spec: Any) -> Json:
    deadline = {"activeDeadlineSeconds": settings["deadline"]} if "deadline" in settings else {}
    version = "trainer.kubeflow.org/v1alpha1"
    runtime = {"mlPolicy": policy, "template": {"spec": {**spec, **_of_set(settings), "replicatedJobs": jobs}}}
    job = {"runtimeRef": {"kind": "TrainingRuntime", "name": "job"}, "trainer": {"numNodes": 2}, **deadline}
    items = [{"kind": "TrainJob", "spec": job}, {"kind": "TrainingRuntime", "spec": runtime}]
    return {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": version, "metadata": {"name": "job"}, **one} for one in items]}


def _torch(policy: str, settings: Json) -> Json:
    return _trainjob(settings, [_replicated("node", 1, policy, settings, **{STEP: "trainer"})], {"torch": {}})


def _mpi(policy: str, settings: Json) -> Json:
    jobs = [_replicated("node", 1, policy, settings), _replicated("launcher", 1, policy, settings, **{STEP: "trainer"})]
    return _trainjob(settings, jobs, {"mpi": {}}, successPolicy={"operator": "All", "targetReplicatedJobs": ["launcher"]})


def _mpijob(policy: str, settings: Json) -> Json:
    run = {SETTINGS[key]: value for key, value in settings.items()}
    replicas = {
        kind: {"replicas": count, "restartPolicy": policy, "template": {"spec": {"containers": [_container("mpi")]}}}
        for kind, count in (("Launcher", 1), ("Worker", 2))
    }
    spec = {**({"runPolicy": run} if run else {}), "mpiReplicaSpecs": replicas}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "job"}, "spec": spec}


CASES = {
    "JobSet": Case(_jobset, "driver", "worker"),
    "JobSet with Any": Case(lambda policy, settings: _jobset(policy, settings, successPolicy={"operator": "Any"}), "driver", "worker"),
    "JobSet whose driver decides": Case(
        lambda policy, settings: _jobset(policy, settings, successPolicy={"operator": "All", "targetReplicatedJobs": ["driver"]}),
        "driver",
        "worker",
    ),
    "TrainJob": Case(_torch, "node", "node"),
    "TrainJob with MPI": Case(_mpi, "launcher", "node"),
    "MPIJob of mpi-operator": Case(_mpijob, "launcher", "worker"),
}
_LIMIT = ("backoffLimit", "replicatedJobs", "runtimeRef", "Launcher")
"""The fields at which the retries are told: those of a runtime are told at `runtimeRef`."""
_FAILS = (("exit", "other", 1),)
_FIRST_FAILS = (("exit", "first", 1),)
SITUATIONS = {
    "the first ends with 0": Situation("Never", (("exit", "first", 0),)),
    "the others end with 0": Situation("Never", (("exit", "others", 0),)),
    "all end with 0": Situation("Never", (("exit", "all", 0),)),
    "`Never`: a worker fails with 1": Situation("Never", _FAILS),
    "`Never`: the first fails with 1": Situation("Never", _FIRST_FAILS),
    "`Never`: a worker is evicted": Situation("Never", (("evict", "other", 0),), told=("Worker",)),
    "`OnFailure`: a worker fails with 1": Situation("OnFailure", _FAILS),
    "`OnFailure`: the first fails with 1, then ends with 0": Situation("OnFailure", (*_FIRST_FAILS, ("exit", "first", 0))),
    "`OnFailure`: a worker is evicted": Situation("OnFailure", (("evict", "other", 0),), told=("Worker",)),
    "`OnFailure`: the first is evicted": Situation("OnFailure", (("evict", "first", 0),)),
    "`OnFailure`: a worker fails with 1, seven times": Situation("OnFailure", (("restart", "other", 7),), told=_LIMIT),
    "`backoffLimit: 0`, `Never`: a worker fails with 1": Situation("Never", _FAILS, {"limit": 0}),
    "`backoffLimit: 0`, `Never`: the first fails with 1": Situation("Never", _FIRST_FAILS, {"limit": 0}),
    "`backoffLimit: 1`, `Never`: a worker fails with 1, twice": Situation("Never", _FAILS * 2, {"limit": 1}),
    "`backoffLimit: 1`, `Never`: each worker fails with 1, once": Situation(
        "Never", (("exit", "worker-0", 1), *_FAILS), {"limit": 1}, _LIMIT
    ),
    "`backoffLimit: 0`, `OnFailure`: a worker fails with 1": Situation("OnFailure", _FAILS, {"limit": 0}, _LIMIT),
    "`maxRestarts: 1`, `backoffLimit: 0`: a worker fails with 1": Situation(
        "Never", _FAILS, {"limit": 0, "restarts": 1}, ("failurePolicy", "runtimeRef")
    ),
    "`activeDeadlineSeconds: 8`: 30 seconds pass": Situation("Never", (("wait", "", 30),), {"deadline": 8}),
    "`ttlSecondsAfterFinished: 8`: all end with 0, and 20 seconds pass": Situation(
        "Never", (("exit", "all", 0), ("wait", "", 20)), {"ttl": 8}, ("ttlSecondsAfterFinished", "runtimeRef")
    ),
    "`backoffLimit: 0`: a worker ends with 0, then another fails with 1": Situation(
        "Never", (("exit", "worker-0", 0), *_FAILS), {"limit": 0}
    ),
    **{
        f"`cleanPodPolicy: {policy}`: worker 1 ends with 0, then the first": Situation(
            "Never", (("exit", "other", 0), ("exit", "first", 0)), {"clean": policy}
        )
        for policy in ("None", "Running", "All")
    },
}
