"""What happens to a job, and what comes of it: for the operator as it was observed, for us as it is played in a world of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, Protocol

from fcontroller.api import Json, path_of
from tests.convert.operator import DATA, convert
from tests.reading import documents
from tests.safety.world import NAMESPACE, World

Observed = dict[str, dict[str, str]]
FIRST = ("Master", "Chief", "Launcher")


def observed(name: str) -> Observed:
    """Return what came of each situation with a controller, by case."""
    found: Observed = json.loads((DATA / "behaviour" / f"{name}.json").read_text("utf-8"))["observed"]
    return found


class Case(NamedTuple):
    """A job of training-operator whose behaviour is asked for."""

    kind: str
    specs: str
    container: str
    replicas: dict[str, int]
    spec: dict[str, Any] | None = None

    def job(self, situation: Situation) -> Json:
        """Return the job as it is given to both."""
        container = {"name": self.container, "image": "a", "command": ["/usr/sbin/sshd", "-De"]}
        policy, template = situation.policy, {"spec": {"containers": [container]}}
        replicas = {kind: {"replicas": count, "restartPolicy": policy, "template": template} for kind, count in self.replicas.items()}
        run = {"runPolicy": situation.run_policy} if situation.run_policy else {}
        spec = {**(self.spec or {}), **run, self.specs: replicas}
        return {"apiVersion": "kubeflow.org/v1", "kind": self.kind, "metadata": {"name": "job"}, "spec": spec}

    def first(self, roles: dict[str, int]) -> tuple[str, int]:
        """Return the task that decides, and of a job without one worker 0."""
        leader = next((kind.lower() for kind in FIRST if kind in self.replicas), None)
        return (leader, 0) if leader else self.worker(0, roles)

    def worker(self, index: int, roles: dict[str, int]) -> tuple[str, int]:
        """Return the task that a worker is."""
        if "worker0" not in roles:
            return "worker", index
        return ("worker", index - 1) if index else ("worker0", 0)


class AnyCase(Protocol):
    """A job whose behaviour is asked for."""

    def job(self, situation: Situation) -> Json:
        """Return the job as it is given to both."""

    def first(self, roles: dict[str, int]) -> tuple[str, int]:
        """Return the task that decides, by its role and index. The roles come with the number of their tasks."""

    def worker(self, index: int, roles: dict[str, int]) -> tuple[str, int]:
        """Return the task that a worker is: there are two."""


class Situation(NamedTuple):
    """What is done to the Pods of a job, once all of them run."""

    policy: str
    steps: tuple[tuple[str, str, int], ...]
    """What is done, to which (`first`: the Master, Chief or Launcher, else worker 0; `other`: worker 1; `others`, `all`), and a number: the
    exit code, or seconds."""
    run_policy: dict[str, Any] | None = None
    told: tuple[str, ...] = ()
    """The fields at which `convert` tells that it comes to another end."""


_PS = {"PS": 1, "Worker": 2}
CASES = {
    "PyTorchJob": Case("PyTorchJob", "pytorchReplicaSpecs", "pytorch", {"Master": 1, "Worker": 2}),
    "TFJob": Case("TFJob", "tfReplicaSpecs", "tensorflow", {"Chief": 1, "Worker": 2}),
    "MPIJob": Case("MPIJob", "mpiReplicaSpecs", "mpi", {"Launcher": 1, "Worker": 2}),
    "JAXJob": Case("JAXJob", "jaxReplicaSpecs", "jax", {"Worker": 2}),
    "XGBoostJob": Case("XGBoostJob", "xgbReplicaSpecs", "xgboost", {"Master": 1, "Worker": 2}),
    "PaddleJob": Case("PaddleJob", "paddleReplicaSpecs", "paddle", {"Master": 1, "Worker": 2}),
    "PyTorchJob without Master": Case("PyTorchJob", "pytorchReplicaSpecs", "pytorch", {"Worker": 2}),
    "elastic PyTorchJob": Case(
        "PyTorchJob", "pytorchReplicaSpecs", "pytorch", {"Worker": 2}, {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}}
    ),
    "TFJob without Chief": Case("TFJob", "tfReplicaSpecs", "tensorflow", _PS),
    "TFJob with AllWorkers": Case("TFJob", "tfReplicaSpecs", "tensorflow", {"Worker": 2}, {"successPolicy": "AllWorkers"}),
    "TFJob with enableDynamicWorker": Case("TFJob", "tfReplicaSpecs", "tensorflow", _PS, {"enableDynamicWorker": True}),
    "PaddleJob without Master": Case("PaddleJob", "paddleReplicaSpecs", "paddle", {"Worker": 2}),
}
_ENDS = (("exit", "all", 0),)
SITUATIONS = {
    "the first ends with 0": Situation("Never", (("exit", "first", 0),)),
    "the others end with 0": Situation("Never", (("exit", "others", 0),)),
    "all end with 0": Situation("Never", _ENDS),
    "`Never`: a worker fails with 1": Situation("Never", (("exit", "other", 1),)),
    "`Never`: the first fails with 1": Situation("Never", (("exit", "first", 1),)),
    "`OnFailure`: a worker fails with 1": Situation("OnFailure", (("exit", "other", 1),)),
    "`OnFailure`: the first fails with 1, then ends with 0": Situation("OnFailure", (("exit", "first", 1), ("exit", "first", 0))),
    "`Always`: the first ends with 0": Situation("Always", (("exit", "first", 0),)),
    "`ExitCode`: a worker fails with 1": Situation("ExitCode", (("exit", "other", 1),), told=("restartPolicy",)),
    "`ExitCode`: a worker fails with 130": Situation("ExitCode", (("exit", "other", 130),), told=("restartPolicy",)),
    "`ExitCode`: a worker fails with 137": Situation("ExitCode", (("exit", "other", 137),), told=("restartPolicy",)),
    "`ExitCode`: the first fails with 130": Situation("ExitCode", (("exit", "first", 130),), told=("restartPolicy",)),
    "`Never`: a worker is evicted": Situation("Never", (("evict", "other", 0),)),
    "`OnFailure`: a worker is evicted": Situation("OnFailure", (("evict", "other", 0),)),
    "`OnFailure`: the first is evicted": Situation("OnFailure", (("evict", "first", 0),)),
    "`Always`: a worker is evicted": Situation("Always", (("evict", "other", 0),)),
    "`ExitCode`: a worker is evicted": Situation("ExitCode", (("evict", "other", 0),), told=("restartPolicy",)),
    "`backoffLimit: 1`, `OnFailure`: a worker fails once": Situation(
        "OnFailure", (("exit", "other", 1),), {"backoffLimit": 1}, ("backoffLimit",)
    ),
    "`backoffLimit: 1`, `OnFailure`: a worker is evicted twice": Situation(
        "OnFailure", (("evict", "other", 0),) * 2, {"backoffLimit": 1}, ("backoffLimit",)
    ),
    "`backoffLimit: 1`, `ExitCode`: a worker fails with 137, three times": Situation(
        "ExitCode", (("exit", "other", 137),) * 3, {"backoffLimit": 1}, ("restartPolicy",)
    ),
    "`activeDeadlineSeconds: 8`: 30 seconds pass": Situation(
        "Never", (("wait", "", 30),), {"activeDeadlineSeconds": 8}, ("activeDeadlineSeconds",)
    ),
    "`activeDeadlineSeconds: 8`: 25 seconds pass, and a worker ends with 0": Situation(
        "Never", (("wait", "", 25), ("exit", "other", 0)), {"activeDeadlineSeconds": 8}, ("activeDeadlineSeconds",)
    ),
    "`ttlSecondsAfterFinished: 8`: all end with 0, and 20 seconds pass": Situation(
        "Never", (*_ENDS, ("wait", "", 20)), {"ttlSecondsAfterFinished": 8}, ("ttlSecondsAfterFinished",)
    ),
    "`ttlSecondsAfterFinished: 8`: a worker fails, and 20 seconds pass": Situation(
        "Never", (("exit", "other", 1), ("wait", "", 20)), {"ttlSecondsAfterFinished": 8}, ("ttlSecondsAfterFinished",)
    ),
    "`ttlSecondsAfterFinished: 0`: all end with 0": Situation(
        "Never", (*_ENDS, ("wait", "", 10)), {"ttlSecondsAfterFinished": 0}, ("ttlSecondsAfterFinished",)
    ),
    **{
        f"`cleanPodPolicy: {policy}`: worker 1 ends with 0, then the first": Situation(
            "Never", (("exit", "other", 0), ("exit", "first", 0)), {"cleanPodPolicy": policy}
        )
        for policy in ("None", "Running", "All")
    },
    **{
        f"`cleanPodPolicy: {policy}`: worker 0 ends with 0, then worker 1 fails": Situation(
            "Never", (("exit", "worker-0", 0), ("exit", "other", 1)), {"cleanPodPolicy": policy}
        )
        for policy in ("None", "Running", "All")
    },
}


def words(state: str, phases: dict[str, str], made: int, *, restarted: bool) -> str:
    """Return what has come of a job.

    :param state: `Running`, `Restarting`, `Succeeded`, `Failed`; empty: it is deleted.
    :param phases: of the Pods that there are.
    :param made: how often the Pod to which something was done was made in all.
    """
    if not state:
        return "it is deleted"
    if state not in ("Succeeded", "Failed"):
        anew = "a Pod is made anew" if made == 2 else f"a Pod is made anew {made - 1}×"
        done = anew if made > 1 else "the container is started again" if restarted else ""
        stuck = "stays Restarting, and no Pod is made anew" if state == "Restarting" else "goes on"
        return f"{stuck}; {done}" if done else stuck
    if not phases:
        return f"{state}; no Pod is left"
    running = "Running" in phases.values()
    return f"{state}; Pods stay, and those that run go on" if running else f"{state}; the Pods that have ended stay"


class _Play:
    """A converted job in a world of its own."""

    def __init__(self, world: World, case: AnyCase, situation: Situation) -> None:
        self._world, self._case, self._policy = world, case, situation.policy
        framework = json.loads(_framework(json.dumps(case.job(situation))))
        self._name: str = framework["metadata"]["name"]
        self._counts: dict[str, int] = {role["name"]: role["taskNumber"] for role in framework["spec"]["taskRoles"]}
        self._touched = ""
        self._restarted = False
        world.make(framework["spec"], self._name)
        world.until(lambda: self._phases() == ["Running"] * sum(self._counts.values()))

    def _phases(self) -> list[str]:
        return [pod["status"].get("phase", "") for pod in self._world.all("pods").values()]

    def do(self, what: str, whom: str, number: int) -> None:
        """Do one step, and let come of it what will."""
        if what == "wait":
            self._world.run(number)
            return
        done: dict[str, Callable[[Json], None]] = {
            "exit": lambda pod: self._exit(pod, number),
            "restart": lambda pod: self._restart(pod, number),
            "evict": self._evict,
        }
        for role, index in self._meant(whom):
            self._touched = f"{self._name}-{role}-{index}"
            pod = self._world.all("pods").get(self._touched)
            if pod is not None and pod["status"]["phase"] == "Running":
                done[what](pod)
        self._world.run(6)

    def outcome(self) -> str:
        """Return what has come of it."""
        self._world.settle()
        status = self._world.status(self._name)
        phases = {name: pod["status"]["phase"] for name, pod in self._world.all("pods").items()}
        if not status:
            assert not phases
            return words("", {}, 1, restarted=False)
        end = status["attemptStatus"]["completionStatus"]
        state = end["type"]["name"] if status["state"] == "Completed" else "Running"
        role, _, index = self._touched.removeprefix(f"{self._name}-").rpartition("-")
        made = 1 + int(self._world.task(role, int(index), self._name)["attemptStatus"]["id"]) if self._touched else 1
        return words(state, phases, made, restarted=self._restarted)

    def _meant(self, whom: str) -> Iterator[tuple[str, int]]:
        """Yield the tasks that are meant, the first of all last."""
        first = self._case.first(self._counts)
        workers = [self._case.worker(index, self._counts) for index in range(2)]
        others = [task for task in workers if task != first]
        named = {"first": [first], "other": workers[1:], "others": others, "all": [*others, first], "worker-0": workers[:1]}
        yield from named[whom]

    def _exit(self, pod: Json, code: int) -> None:
        if self._policy == "Always" or (self._policy == "OnFailure" and code):
            self._restart(pod, 1)
        else:
            assert self._world.kubelet.finish(pod, code)

    def _restart(self, pod: Json, times: int) -> None:
        self._restarted = True
        statuses = [{**one, "restartCount": one["restartCount"] + times} for one in pod["status"]["containerStatuses"]]
        self._write(pod, {**pod["status"], "containerStatuses": statuses})

    def _evict(self, pod: Json) -> None:
        self._write(pod, {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"})
        self._world.kubelet.alive.pop(pod["metadata"]["uid"])

    def _write(self, pod: Json, status: Json) -> None:
        path = f"{path_of('pods', NAMESPACE, pod['metadata']['name'])}/status"
        assert self._world.server.write("PATCH", path, [{"op": "add", "path": "/status", "value": status}]).ok


@cache
def _framework(job: str) -> str:
    """Return the Framework that a job is converted to, as JSON. Most situations are of the same job."""
    return json.dumps(next(one.value for one in documents(_converted(job).text().encode(), "job") if one.value["kind"] == "Framework"))


_converted = cache(convert)


def played(case: AnyCase, situation: Situation) -> str:
    """Return what comes of a situation with us."""
    with World() as world:
        play = _Play(world, case, situation)
        for step in situation.steps:
            play.do(*step)
        return play.outcome()


def told(case: AnyCase, situation: Situation, *, same_end: bool) -> str:
    """Return the field at which `convert` tells what is different; the empty string when it does not.

    :param same_end: the job comes to the same end, and only what becomes of its Pods is different.
    """
    (account,) = _converted(json.dumps(case.job(situation))).jobs
    fields = {next(step for step in reversed(entry.path) if isinstance(step, str)) for entry in account.different}
    named = (*(("cleanPodPolicy",) if same_end else ()), *situation.told)
    return next((f"`{field}`" for field in named if field in fields), "")


def table(cases: Mapping[str, AnyCase], situations: Mapping[str, Situation], observed: Observed) -> Iterator[str]:
    """Yield the rows of a table in docs/kubeflow-behaviour.md."""
    for name, situation in situations.items():
        rows: dict[tuple[str, str, str], list[str]] = {}
        for kind, theirs in observed[name].items():
            case = cases[kind]
            ours = played(case, situation)
            same = ours in (theirs, theirs.partition(" (")[0])
            where = "" if same else told(case, situation, same_end=_end(theirs) == _end(ours) != "goes on")
            rows.setdefault((theirs, "the same" if same else ours, where), []).append(kind)
        for cells, kinds in rows.items():
            whom = _of(kinds, list(cases)) if observed[name].keys() == cases.keys() else ", ".join(kinds)
            yield f"| {' | '.join((name, whom, *cells))} |"


def _end(text: str) -> str:
    return text.partition(";")[0]


def _of(kinds: list[str], of: list[str]) -> str:
    others = [kind for kind in of if kind not in kinds]
    if not others:
        return "all"
    return f"all but {', '.join(others)}" if len(others) < len(kinds) else ", ".join(kinds)
