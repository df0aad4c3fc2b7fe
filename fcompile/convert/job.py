"""A job of training-operator on its way to a Framework: what all of its kinds have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fcompile.convert.containers import add_port, container_named, replace_labels_of_operator, service_ports
from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import LEFT_OUT, Ledger
from fcompile.convert.lifetime import set_clean_pod_policy, set_deadline, set_time_to_live
from fcompile.convert.made import Made
from fcompile.convert.metadata import read_metadata
from fcompile.convert.names import Hosts, Task, host
from fcompile.convert.replicas import Replica, read_replicas
from fcompile.convert.retries import set_retries, tell_backoff
from fcompile.convert.run_policy import RUN_POLICY, read_run_policy
from fcompile.convert.shape import refuse_misspelt, require_size
from fcompile.convert.texts import rewrite_texts, tell_labels
from fcompile.model import names

TRAINING_OPERATOR = "kubeflow.org/training-operator"
MPI_OPERATOR = "kubeflow.org/mpi-operator"
_LEADERS = ("Master", "Chief", "Launcher")
_OF_SPEC: dict[str, tuple[str, ...]] = {
    "pytorchReplicaSpecs": ("elasticPolicy", "nprocPerNode"),
    "tfReplicaSpecs": ("successPolicy", "enableDynamicWorker"),
    "mpiReplicaSpecs": ("slotsPerWorker", "cleanPodPolicy", "mainContainer"),
    "jaxReplicaSpecs": (),
    "xgbReplicaSpecs": (),
    "paddleReplicaSpecs": ("elasticPolicy",),
}
"""The fields that a kind has beside its replicas and the run policy."""
_OF_MPI_OPERATOR = ("slotsPerWorker", "runLauncherAsWorker", "sshAuthMountPath", "launcherCreationPolicy", "mpiImplementation")
_FIRST_LEADS = ("PyTorchJob", "TFJob", "JAXJob")
"""The kinds in which, without a leader, the operator gives the role of one to worker 0."""
_LATE = "the operator looks at the clock only when something else happens to the job, and may let it run on for hours"
_TIME = "look whether such jobs have run for longer, and give them the time that they need"


@dataclass
class Part:
    """A role, and the first of the replicas that are its tasks."""

    role: RoleDraft
    first: int
    fixed: bool
    """It has one task and will not have more."""

    def index(self, add: int = 0) -> str:
        """Return the index among all replicas of the type, plus a number, as it stands in the template."""
        total = self.first + add
        if self.fixed:
            return str(total)
        return names.placeholder(f"{names.TASK_INDEX}+{total}" if total else names.TASK_INDEX)


@dataclass
class Job:
    """A job that is being converted."""

    name: str
    kind: str
    """MPI_OPERATOR for those of mpi-operator, which go by other rules."""
    draft: Draft
    ledger: Ledger
    spec: Fields
    replicas: dict[str, Replica]
    limit: int | None
    """Its backoffLimit."""
    limit_path: tuple[str, ...]
    parts: dict[str, list[Part]] = field(default_factory=dict)
    """By type."""
    single: dict[str, Task] = field(default_factory=dict)
    """The tasks whose names have no index."""
    subdomain: str | None = None
    """Of the names of all tasks."""

    @property
    def total(self) -> int:
        """Return how many replicas there are in all."""
        return sum(replica.count for replica in self.replicas.values())

    def add_role(self, kind: str, *, serves: str | None = None, split_first: bool = False) -> list[Part]:
        """Make a role of the replicas of a type, or two: the first replica alone, and the others.

        :param serves: the container whose ports the Service has; None: there is no Service.
        """
        replica = self.replicas[kind]
        if split_first and replica.count > 1:
            drafts = [(replica.draft(f"{replica.role}0", 1), 0, True), (replica.draft(count=replica.count - 1), 1, False)]
        else:
            drafts = [(replica.draft(), 0, kind in _LEADERS and replica.count == 1)]
        parts = [Part(role, first, fixed) for role, first, fixed in drafts]
        for part in parts:
            part.role.ports = None if serves is None else service_ports(replica, container_named(replica, serves))
            self.draft.roles.append(part.role)
            set_retries(part.role, self.kind, replica, self.limit, self.draft, self.ledger)
        self.parts[kind] = parts
        return parts

    def add_ports(self, types: tuple[str, ...], container: str, port: str, number: int) -> dict[str, int]:
        """Give all replicas the port that the operator gives them. Return its number for each type that there is, in the order of `types`.

        To be called before their roles are made.
        """
        found = {kind: self.replicas[kind] for kind in types if kind in self.replicas}
        return {kind: add_port(replica, container_named(replica, container), port, number) for kind, replica in found.items()}

    def host(self, kind: str, index: int) -> str:
        """Return the DNS name of a replica, within its namespace."""
        task = self._task(kind, index)
        return f"{kind.lower()}-{index}" if task is None else host(self.draft.name, task.role, task.number)

    def hosts(self) -> Hosts:
        """Return the names of all replicas."""
        tasks: dict[str, Callable[[int], Task | None]] = {self._prefix(kind): partial(self._task, kind) for kind in self.parts}
        return Hosts(self.draft.name, self.draft.namespace, tasks, job=self.name, single=self.single, subdomain=self.subdomain)

    def finish(self) -> Made:
        """Rewrite the user's texts, take down what is left to tell, and return what came of the job."""
        require_size(self.draft.roles, self.spec.path)
        hosts = self.hosts()
        for kind, parts in self.parts.items():
            replica = self.replicas[kind]
            for part in parts:
                replace_labels_of_operator(part.role, self._labels(kind, part), self.ledger)
                rewrite_texts(part.role, hosts, self.draft, self.ledger, part.first)
                _own_host_names(part.role, self.ledger)
            tell_labels(replica.template, replica.template_path, self.ledger)
        if self.kind != MPI_OPERATOR:  # there it is of the launcher alone
            tell_backoff(self.kind, self.replicas, self.limit, self.limit_path, self.draft, self.ledger)
        return Made(self.draft, self.ledger, hosts)

    def _labels(self, kind: str, part: Part) -> dict[str, str | None]:
        """Return the labels that the operator gives to Pods; empty: to these it gives none. None: it is another one in each Pod."""
        role, index = self.replicas[kind].role, "" if kind == "Launcher" else part.index()
        if self.kind == MPI_OPERATOR:
            own = {"operator-name": "mpi-operator", "job-role": role, "replica-type": "", "replica-index": index}
        else:
            own = {"operator-name": f"{self.kind.lower()}-controller", "replica-type": role, "replica-index": index}
        return {"job-name": self.name, "job-role": self._job_role(kind, part), **own}

    def _job_role(self, kind: str, part: Part) -> str | None:
        leader = next((one for one in _LEADERS if one in self.replicas), None)
        if leader is not None or self.kind not in _FIRST_LEADS or part.first:
            return "master" if kind == leader else ""
        return "master" if part.role.task_number <= 1 else None

    def _prefix(self, kind: str) -> str:
        return f"{self.name}-{kind.lower()}-"

    def _task(self, kind: str, index: int) -> Task | None:
        for part in self.parts[kind]:
            if part.first <= index < part.first + part.role.task_number:
                return Task(part.role.name, index - part.first)
        return None


def read_job(
    source: dict[str, Any],
    specs: str,
    types: tuple[str, ...],
    default_policy: str,
    *,
    operator: str = TRAINING_OPERATOR,
    default_count: int | dict[str, int] = 1,
) -> Job:
    """Read what all kinds of jobs have: metadata, run policy and replicas. Raises Refusal."""
    ledger = Ledger()
    draft = read_metadata(source, ledger)
    spec = Fields(source, ()).below("spec")
    policy = spec.below("runPolicy")
    if "runPolicy" in spec and not policy.value:
        ledger.dropped(policy.path, "it is empty")
    limit = read_run_policy(policy, draft, ledger, operator)
    if operator == TRAINING_OPERATOR:
        set_deadline(policy, draft, ledger, why=_LATE, remedy=_TIME)
        set_time_to_live(policy, draft, ledger)
        set_clean_pod_policy([policy, spec] if specs == "mpiReplicaSpecs" else [policy], draft, ledger)
    known = _OF_MPI_OPERATOR if operator == MPI_OPERATOR else _OF_SPEC[specs]
    refuse_misspelt(spec, (specs, "runPolicy", *known), {key: f"spec.runPolicy.{key}" for key in RUN_POLICY})
    refuse_misspelt(policy, RUN_POLICY)
    replicas = read_replicas(spec.below(specs), types, ledger, default_policy, default_count)
    path = tuple(str(step) for step in policy.at("backoffLimit"))
    kind = source["kind"] if operator == TRAINING_OPERATOR else operator
    return Job(source["metadata"]["name"], kind, draft, ledger, spec, replicas, limit, path)


def _own_host_names(role: RoleDraft, ledger: Ledger) -> None:
    """Leave out a host name and a subdomain of the user's: with them no task would be known by its name."""
    for key in ("hostname", "subdomain"):
        if role.ports is not None and role.template["spec"].pop(key, None):
            ledger.different(
                (*role.template_source, "spec", key),
                LEFT_OUT,
                "the role's Service makes tasks known by the host name and subdomain that they get",
                f"use the name {{role}}-{{index}} of the role `{role.name}`",
            )
