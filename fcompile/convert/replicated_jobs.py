"""The replicated jobs of a JobSet as roles: Trainer v2 makes a JobSet of each TrainJob, and people write them by hand."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from fcompile.check.rules.framework.sizes import ETCD_BYTES
from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.field_variables import field_variables
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.names import Hosts, Task
from fcompile.convert.shape import NAMED_BYTES, refuse_misspelt, require_shape, require_size
from fcompile.convert.texts import rewrite_texts
from fcompile.diagnostics.problem import Path
from fcompile.model.framework import MAX_ROLES, MAX_TASKS

JOB_TRIES = 6
"""Of a Job of Kubernetes that does not say how many."""
INDEX_FIELDS = tuple(f"metadata.{kind}['batch.kubernetes.io/job-completion-index']" for kind in ("annotations", "labels"))
_LONGEST_NAME = 63
"""Of a replicated job: it is a part of its Jobs' names."""
_INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
"""Kubernetes gives it to every container of an indexed Job, and a JobSet's Jobs are indexed unless they say otherwise."""
_OF_JOB = {"template", "parallelism", "completions", "backoffLimit", "completionMode"}
_OF_SET = {
    "replicatedJobs",
    "network",
    "successPolicy",
    "failurePolicy",
    "suspend",
    "managedBy",
    "ttlSecondsAfterFinished",
    "startupPolicy",
}


@dataclass
class ReplicatedJob:
    """A replicated job."""

    name: str
    fields: Fields
    role: RoleDraft
    labels: dict[str, Any]
    needs: dict[str, str]
    """The jobs that it waits for, and until they are what: Ready or Complete."""
    indexed: bool

    def container(self, name: str) -> dict[str, Any] | None:
        """Return the container of a name."""
        return next((one for one in self.role.template["spec"]["containers"] if one.get("name") == name), None)


def read_parts(spec: Fields, source: Path | None = None) -> list[ReplicatedJob]:
    """Return the replicated jobs. Raises Refusal for what no role can say.

    :param source: what stands for every field of it in the source, where the fields are not in the source themselves.
    """
    parts = []
    for number, item in enumerate(spec.items("replicatedJobs")):
        path = (*spec.at("replicatedJobs"), number)
        if not isinstance(item, dict):
            raise Refusal(source or path, "a replicated job must be a mapping")
        parts.append(_part(Fields(item, path), source))
    if not parts:
        refuse_misspelt(spec, "replicatedJobs", source)
        raise Refusal(source or spec.path, "there are no replicated jobs")
    return parts


def _part(fields: Fields, source: Path | None) -> ReplicatedJob:
    name = fields.text("name")
    if not name:
        raise Refusal(source or fields.path, "a replicated job has no name")
    if len(name) > _LONGEST_NAME:
        raise Refusal(source or fields.at("name"), f"a replicated job's name has at most {_LONGEST_NAME} characters")
    role = "".join(letter for letter in name if letter.isascii() and letter.isalnum()).lower()
    if fields.count("replicas", 0) not in (None, 1):
        raise Refusal(source or fields.at("replicas"), "a role has one index, and these Pods have two: of the Job and in it")
    job = fields.below("template").below("spec")
    pods = job.count("parallelism", 0, MAX_TASKS)
    completions = job.count("completions", 0, MAX_TASKS)
    if completions not in (None, 1 if pods is None else pods):
        raise Refusal(source or job.at("completions"), "a role runs as many tasks at once as it has")
    template = job.below("template")
    inner = template.below("spec")
    require_shape(inner)
    if not inner.items("containers"):
        raise Refusal(source or inner.at("containers"), "its Pods have no containers")
    metadata = {kind: dict(found) for kind in ("labels", "annotations") if (found := template.below("metadata").below(kind).value)}
    made: dict[str, Any] = {**({"metadata": metadata} if metadata else {}), "spec": deepcopy(inner.value)}
    made["spec"].setdefault("restartPolicy", "OnFailure")
    tries = job.count("backoffLimit")
    where = source or fields.path
    draft = RoleDraft(role, 1 if pods is None else pods, made, where, source or template.path)
    draft.max_retry_count, draft.ports = JOB_TRIES if tries is None else tries, []
    needs = {}
    for one in fields.items("dependsOn"):
        if not isinstance(one, dict) or one.get("status") not in ("Ready", "Complete") or not isinstance(one.get("name"), str):
            raise Refusal(source or fields.at("dependsOn"), "it must have a name, and the status Ready or Complete")
        needs[one["name"]] = str(one["status"])
    labels = fields.below("template").below("metadata").below("labels").value
    return ReplicatedJob(name, fields, draft, labels, needs, job.text("completionMode") != "NonIndexed")


def run_once_first(parts: list[ReplicatedJob], source: Path, draft: Draft) -> list[ReplicatedJob]:
    """Return the parts without those that only run before others: these become init containers of the others. Raises Refusal."""
    by_name = {part.name: part for part in parts}
    left = ETCD_BYTES // NAMED_BYTES
    first = {name for part in parts for name, status in part.needs.items() if status == "Complete"}
    before: dict[str, _Before] = {}
    for part in parts:
        earlier: list[_Before] = []
        mounted = _mounted(part.role.template["spec"])
        for name, status in reversed(list(part.needs.items())):
            if name not in by_name:
                raise Refusal(source, f"`{part.name}` waits for `{name}`, and there is no such job")
            if status == "Complete":
                if name not in before:
                    before[name] = _Before(by_name[name])  # only now: others may have been put before it
                other = before[name]
                left -= len(other.containers) + len(other.volumes)
                if left < 0:
                    raise Refusal(
                        source, f"as init containers, `{name}` and others would be more than {ETCD_BYTES:,} bytes: etcd takes no more"
                    )
                if _own_volume(part, other, mounted, source):
                    draft.remarks.append(
                        f"What `{name}` fetches is in an emptyDir: `{part.name}` finds it only here, where they are one Pod"
                    )
                draft.remarks.append(f"`{name}` runs as an init container of `{part.name}`, once more in each new Pod")
                del part.needs[name]
                earlier.append(other)
        if earlier:
            _put_before(part, earlier[::-1])
    return [part for part in parts if part.name not in first]


class _Before:
    """A job that runs first, and what becomes of it in the Pods of others."""

    def __init__(self, part: ReplicatedJob) -> None:
        self.part = part
        spec = part.role.template["spec"]
        if part.indexed:
            _add_index(spec, "0")
        self.containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
        self.volumes: dict[Any, dict[str, Any]] = {one.get("name"): one for one in spec.get("volumes") or ()}
        self.mounted = _mounted(spec)


def _own_volume(part: ReplicatedJob, other: _Before, mounted: set[str], source: Path) -> bool:
    """Return whether the operator's Pods would each have a volume of their own, by which one that runs first gives something to the part.

    Raises Refusal where an init container would not do the same: it needs a volume that the two share.
    """
    said = f"`{other.part.name}` runs once before `{part.name}`"
    if other.part.role.task_number != 1 or other.part.needs:
        raise Refusal(source, f"{said}, with more than one Pod or after others: that is no init container")
    shared = mounted & other.mounted
    if not shared:
        raise Refusal(source, f"{said} and shares no volume with it: as an init container it would do nothing")
    kinds = [other.volumes[name] for name in shared if name in other.volumes]
    if part.role.task_number > 1 and not all("emptyDir" in one or "ephemeral" in one for one in kinds):
        why = f"as an init container it would run in each of {part.role.task_number} Pods, and write into one volume"
        raise Refusal(source, f"{said}: {why}. Use one node, or a volume of each Pod (emptyDir)")
    return any("emptyDir" in one for one in kinds)


def _put_before(part: ReplicatedJob, earlier: list[_Before]) -> None:
    """Make init containers of jobs that run first, in their order."""
    spec = part.role.template["spec"]
    volumes: dict[Any, dict[str, Any]] = {}
    for other in earlier:
        volumes |= other.volumes
    volumes |= {one.get("name"): one for one in spec.get("volumes") or ()}
    if volumes:
        spec["volumes"] = list(volumes.values())
    spec["initContainers"] = [*(one for other in earlier for one in other.containers), *(spec.get("initContainers") or ())]


def _mounted(spec: dict[str, Any]) -> set[str]:
    """Return the names of the volumes that the containers mount."""
    return {
        str(mount.get("name"))
        for container in spec.get("containers") or ()
        for mount in container.get("volumeMounts") or ()
        if isinstance(mount, dict)
    }


def hosts_of(job: str, draft: Draft, parts: list[ReplicatedJob], subdomain: str | None = None) -> Hosts:
    """Return the names of all Pods: `JOB-PART-0-INDEX.JOB`."""

    def task(part: ReplicatedJob, index: int) -> Task | None:
        return Task(part.role.name, index) if index < part.role.task_number else None

    prefixes = {f"{job}-{part.name}-0-": partial(task, part) for part in parts}
    return Hosts(draft.name, draft.namespace, prefixes, subdomain=subdomain or job)


def finish(parts: list[ReplicatedJob], hosts: Hosts, draft: Draft, ledger: Ledger, source: Path | None) -> None:
    """Give the draft its roles, with the names and indices that tasks have here."""
    if len(parts) > MAX_ROLES:
        raise Refusal(
            source or ("spec", "replicatedJobs"), f"there are {len(parts):,} replicated jobs, and a Framework has at most {MAX_ROLES} roles"
        )
    require_size((part.role for part in parts), source or ("spec", "replicatedJobs"))
    seen: dict[str, str] = {}
    for part in parts:
        if seen.setdefault(part.role.name, part.name) != part.name:
            where = source or part.fields.path
            raise Refusal(where, f"`{part.name}` and `{seen[part.role.name]}` would both be the role `{part.role.name}`: rename one")
        own = Ledger() if source else ledger
        if part.indexed:
            _add_index(part.role.template["spec"], "{{FC_TASK_INDEX}}")
        _replace_index(part.role)
        rewrite_texts(part.role, hosts, own)
        _tell_backoff(part, ledger, source)
        if source and own.differs:
            what = "the name of a Pod is put together when it runs, and will be none"
            ledger.different(
                source, what, "tasks have other names here", f"write the form {{role}}-{{index}}.{hosts.framework}-{{role}} there"
            )
        draft.roles.append(part.role)


def _tell_backoff(part: ReplicatedJob, ledger: Ledger, source: Path | None) -> None:
    """Take down what becomes of a `backoffLimit` that is more than a retry of the one Pod."""
    job = part.fields.below("template").below("spec")
    limit, restarts = job.count("backoffLimit"), part.role.template["spec"]["restartPolicy"] != "Never"
    if limit is None or not (restarts or (limit and part.role.task_number > 1)):
        return
    what = f"the Pod of each task of `{part.role.name}` may be made anew {limit}×; restarts of containers within a Pod are not counted"
    remedy = "to end a job whose containers fail again and again, write `restartPolicy: Never` in `task.pod.spec`: then each failure counts"
    ledger.different(source or job.at("backoffLimit"), what, "a Job adds up the failures and restarts of all of its Pods", remedy)


def tell_network(spec: Fields, ledger: Ledger, source: Path | None) -> None:
    """Take down what becomes of the names of the Pods."""
    network = spec.below("network")
    for key in network.each():
        if key != "subdomain" and network.flag(key) is False:
            what, why = f"{key} counts as true", "the Services of roles make names that resolve before Pods are ready"
            ledger.different(source or network.at(key), what, why, "take `service` out of the roles where no name may be there")
        elif source is None:
            ledger.converted(network.at(key), "the Services of the roles")


def _add_index(spec: dict[str, Any], index: str) -> None:
    """Give all containers the index that Kubernetes gives to those of an indexed Job."""
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind) or ():
            env = container.get("env") or []
            if not any(variable.get("name") == _INDEX_VARIABLE for variable in env):
                container["env"] = [*env, {"name": _INDEX_VARIABLE, "value": index}]


def _replace_index(role: RoleDraft) -> None:
    """Let variables that read the index of the Job have the task's."""
    for variable in field_variables(role):
        if variable.field in INDEX_FIELDS:
            variable.become("{{FC_TASK_INDEX}}")


def apply_success_policy(spec: Fields, parts: list[ReplicatedJob], source: Path | None) -> None:
    """Set whose end is the end of all. Raises Refusal for what the policies of roles cannot say."""
    policy = spec.below("successPolicy")
    targets = policy.items("targetReplicatedJobs")
    operator = policy.text("operator") or "All"
    wanted = {target for target in targets if isinstance(target, str)}
    chosen = [part for part in parts if not targets or part.name in wanted]
    if operator == "Any":
        for part in chosen:
            part.role.min_succeeded = max(part.role.task_number, 1)  # a Job has succeeded when all of its Pods have
    elif targets and len(chosen) == 1:
        chosen[0].role.min_succeeded = max(chosen[0].role.task_number, 1)
    elif targets and len(chosen) != len(parts):
        raise Refusal(
            source or policy.path, "several of the jobs must succeed and others need not: a Framework ends by one role, or by all"
        )


def require_no_order(spec: Fields, parts: list[ReplicatedJob], source: Path | None) -> None:
    """Raise Refusal where jobs are started one after the other."""
    order = spec.below("startupPolicy").text("startupPolicyOrder") or "AnyOrder"
    if any(part.needs for part in parts) or (order != "AnyOrder" and len(parts) > 1):
        why = "jobs that wait until others are ready have no equivalent: all roles start at once"
        raise Refusal(source or spec.at("replicatedJobs"), why)


def tell_failure_policy(spec: Fields, ledger: Ledger, source: Path | None) -> None:
    """Take down what becomes of the runs of the whole JobSet."""
    if "failurePolicy" not in spec:
        return
    restarts = spec.below("failurePolicy").count("maxRestarts") or 0
    what = f"after a failure the whole Framework is not run again{'' if source is None else ', as the failurePolicy of the runtime says'}"
    why = "a JobSet makes all of its Jobs anew, by rules that a Framework does not have"
    remedy = f"write `spec.retryPolicy.maxRetryCount: {restarts}` to run all of it again"
    ledger.different(source or spec.at("failurePolicy"), what, why, remedy)


def tell_rest(spec: Fields, ledger: Ledger, source: Path | None, *, told: frozenset[str] = frozenset()) -> None:
    """Take down what of a JobSet is left out.

    :param told: fields of which the caller has told what becomes of them.
    """
    for key in spec.each():
        if key not in _OF_SET and key not in told:
            ledger.different(source or spec.at(key), f"{key} is left out", "Framework has nothing like it", "look whether the job needs it")
    for number, item in enumerate(spec.items("replicatedJobs")):
        job = Fields(item, (*spec.at("replicatedJobs"), number)).below("template").below("spec")
        for key in job.each():
            if key not in _OF_JOB:
                ledger.different(
                    source or job.at(key), f"{key} of a Job is left out", "a role has nothing like it", "look whether the job needs it"
                )
