"""The replicated jobs of a JobSet as roles: Trainer v2 makes a JobSet of each TrainJob, and people write them by hand."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.field_variables import field_variables
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.metadata import tell_acted_upon
from fcompile.convert.names import Hosts, Task
from fcompile.convert.retries import COUNT_RESTARTS, NOT_COUNTED, made_anew
from fcompile.convert.shape import NAMED_BYTES, refuse_misspelt, require_containers, require_room, require_shape, require_size
from fcompile.convert.texts import rewrite_texts
from fcompile.diagnostics.problem import Path, field_path
from fcompile.model.framework import MAX_ROLES, MAX_TASKS
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, text

JOB_TRIES = 6
"""Of a Job of Kubernetes that does not say how many."""
INDEX_FIELDS = tuple(f"metadata.{kind}['batch.kubernetes.io/job-completion-index']" for kind in ("annotations", "labels"))
_LONGEST_NAME = 63
"""Of a replicated job: it is a part of its Jobs' names."""
_INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
"""Kubernetes gives it to every container of an indexed Job, and a JobSet's Jobs are indexed unless they say otherwise."""
_DEADLINE = "activeDeadlineSeconds"
LIMITS = ("backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes")
_OF_JOB = {"template", "parallelism", "completions", "completionMode", _DEADLINE, *LIMITS}
_LEFT_OUT_OF_JOB = {
    "managedBy",
    "manualSelector",
    "podFailurePolicy",
    "podReplacementPolicy",
    "selector",
    "successPolicy",
    "suspend",
    "ttlSecondsAfterFinished",
}
_NOTHING = ("a role has nothing like it", "look whether the job needs it")
_INSTEAD = {
    "podFailurePolicy": (
        "which failures are tried again is a setting of the controller, its podFailureSpec",
        "write `fancyRetryPolicy: true` into the role's `retryPolicy`, and look at podFailureSpec",
    )
}
"""What a role has in the place of a field, and what to do."""
_LEFT_OUT_OF_SET = {"volumeClaimPolicies"}
_ENDLESS = ("RestartJobSetAndIgnoreMaxRestarts", "RestartJobAndIgnoreMaxRestarts")
"""Of the rules of a failurePolicy: they restart however often that was done."""
_OF_SET = {
    "replicatedJobs",
    "network",
    "successPolicy",
    "failurePolicy",
    "suspend",
    "managedBy",
    "ttlSecondsAfterFinished",
    "startupPolicy",
    "coordinator",
}


STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label that says what a replicated job does for its TrainJob."""
_PLACE = lazy(r"(?<= at )spec\.\S+")


@dataclass(eq=False)
class ReplicatedJob:
    """One of the Jobs that a replicated job is."""

    name: str
    """Of the replicated job."""
    fields: Fields
    role: RoleDraft
    labels: dict[str, Any]
    needs: dict[str, str]
    """The jobs that it waits for, and until they are what: Ready or Complete."""
    indexed: bool
    group: str
    number: int = 0
    """Among the Jobs of the replicated job."""
    copies: int = 1
    """How many Jobs that is."""

    def container(self, name: str, kind: str = "containers") -> dict[str, Any] | None:
        """Return the container of a name, or the init container."""
        return next((one for one in self.role.template["spec"].get(kind) or () if one.get("name") == name), None)


def read_parts(spec: Fields, source: Path | None = None) -> list[ReplicatedJob]:
    """Return the replicated jobs. Raises Refusal for what no role can say.

    :param source: what stands for every field of it in the source, where the fields are not in the source themselves.
    """
    refuse_misspelt(spec, _OF_SET | _LEFT_OUT_OF_SET, source=source)
    parts = []
    for fields in spec.mappings("replicatedJobs", "a replicated job", source):
        copies = fields.count("replicas", 1, MAX_ROLES) or 1
        part = replace(_part(fields, source), copies=copies)
        require_size([part.role] * copies if copies > 1 else [], source or fields.at("replicas"))
        parts.append(part)
    if not parts:
        raise Refusal(source or spec.path, "there are no replicated jobs")
    first = {name for part in parts for name, status in part.needs.items() if status == "Complete"}
    count = sum(part.copies for part in parts)
    if count - len(first.intersection(part.name for part in parts)) > MAX_ROLES:  # before each has a template of its own
        why = f"there are {count:,} replicated jobs, and a Framework has at most {MAX_ROLES} roles"
        raise Refusal(source or spec.at("replicatedJobs"), why)
    return [one for part in parts for one in _copies(part)]


def _copies(one: ReplicatedJob) -> list[ReplicatedJob]:
    """Return the Jobs of a replicated job: each is a role of its own, since a role has one index."""
    if one.copies == 1:
        return [one]
    made = []
    for number in range(one.copies):
        role = replace(one.role, name=f"{one.role.name}{number}", template=deepcopy(one.role.template), ports=[])
        made.append(replace(one, role=role, needs=dict(one.needs), number=number))
    return made


def _part(fields: Fields, source: Path | None) -> ReplicatedJob:
    name = fields.text("name")
    if not name:
        raise Refusal(source or fields.path, "a replicated job has no name")
    if len(name) > _LONGEST_NAME:
        raise Refusal(source or fields.at("name"), f"a replicated job's name has at most {_LONGEST_NAME} characters")
    role = "".join(letter for letter in name if letter.isascii() and letter.isalnum()).lower()
    job = fields.below("template").below("spec")
    refuse_misspelt(job, _OF_JOB | _LEFT_OUT_OF_JOB, source=source)
    pods = job.count("parallelism", 0, MAX_TASKS)
    completions = job.count("completions", 0, MAX_TASKS)
    indexed = job.text("completionMode") != "NonIndexed"
    at_once = 1 if pods is None else pods
    if completions not in (None, at_once):
        why = f"a role runs all of its tasks at once, and these are {completions:,} of which {at_once:,} run: make `parallelism` the same"
        raise Refusal(source or job.at("completions"), why, instead=None if source else at_once)
    if completions is None and pods is not None and indexed:
        why = "Kubernetes refuses such a Job: with `parallelism` it must have `completions` too, unless its completionMode is NonIndexed"
        raise Refusal(source or job.at("parallelism"), why)
    template = job.below("template")
    inner = template.below("spec")
    require_shape(inner)
    require_containers(template, source)
    metadata = {kind: dict(found) for kind in ("labels", "annotations") if (found := template.below("metadata").below(kind).value)}
    made: dict[str, Any] = {**({"metadata": metadata} if metadata else {}), "spec": deepcopy(inner.value)}
    made["spec"].setdefault("restartPolicy", "OnFailure")
    where = source or fields.path
    draft = RoleDraft(role, at_once, made, where, source or template.path)
    _require_limits(job, indexed=indexed, source=source)
    tries = [limit for limit in (job.count("backoffLimit"), job.count("backoffLimitPerIndex")) if limit is not None]
    draft.max_retry_count, draft.ports = min(tries, default=JOB_TRIES), []
    needs = {}
    for one in fields.items("dependsOn"):
        if not isinstance(one, dict) or one.get("status") not in ("Ready", "Complete") or not isinstance(one.get("name"), str):
            raise Refusal(source or fields.at("dependsOn"), "it must have a name, and the status Ready or Complete")
        needs[one["name"]] = str(one["status"])
    labels = fields.below("template").below("metadata").below("labels").value
    return ReplicatedJob(name, fields, draft, labels, needs, indexed, fields.text("groupName") or "default")


def _require_limits(job: Fields, *, indexed: bool, source: Path | None) -> None:
    """Raise Refusal for limits that Kubernetes does not take."""
    why = "Kubernetes refuses such a Job"
    if "backoffLimitPerIndex" in job and not indexed:
        raise Refusal(source or job.at("backoffLimitPerIndex"), f"{why}: its completionMode must be Indexed")
    if "maxFailedIndexes" in job and "backoffLimitPerIndex" not in job:
        raise Refusal(source or job.at("maxFailedIndexes"), f"{why}: it must have `backoffLimitPerIndex` too")


def mounted(spec: dict[str, Any]) -> set[str]:
    """Return the names of the volumes that the containers mount."""
    return {
        str(mount.get("name"))
        for kind in ("initContainers", "containers")
        for container in spec.get(kind) or ()
        for mount in container.get("volumeMounts") or ()
        if isinstance(mount, dict)
    }


def hosts_of(job: str, draft: Draft, parts: list[ReplicatedJob], subdomain: str | None = None) -> Hosts:
    """Return the names of all Pods: `JOB-PART-NUMBER-INDEX.JOB`."""

    def task(part: ReplicatedJob, index: int) -> Task | None:
        return Task(part.role.name, index) if index < part.role.task_number else None

    prefixes = {f"{job}-{part.name}-{part.number}-": partial(task, part) for part in parts}
    return Hosts(draft.name, draft.namespace, prefixes, job=job, subdomain=subdomain or job)


def finish(parts: list[ReplicatedJob], hosts: Hosts, draft: Draft, ledger: Ledger, source: Path | None) -> None:
    """Give the draft its roles, with the names and indices that tasks have here."""
    require_size((part.role for part in parts), source or ("spec", "replicatedJobs"))
    seen: dict[str, str] = {}
    for part in parts:
        if seen.setdefault(part.role.name, part.name) != part.name:
            where = source or part.fields.path
            raise Refusal(where, f"`{part.name}` and `{seen[part.role.name]}` would both be the role `{part.role.name}`: rename one")
        own = Ledger() if source else ledger
        _own_host_names(part, own)
        if part.indexed:
            add_index(part.role.template["spec"], "{{FC_TASK_INDEX}}")
        replace_index(part.role, "{{FC_TASK_INDEX}}")
        _rewrite(part, hosts, draft, own)
        _tell_limits(part, ledger, source)
        for entry in own.differences if source else ():
            path = part.role.in_source(entry.path[len(part.role.template_source) :])
            ledger.different(path, entry.what, entry.why, entry.remedy)
        draft.roles.append(part.role)


def _rewrite(part: ReplicatedJob, hosts: Hosts, draft: Draft, ledger: Ledger) -> None:
    """Rewrite the names of tasks, and let what is noted of a text say where it is in the source."""
    noted = len(draft.remarks)
    rewrite_texts(part.role, hosts, draft, ledger)
    source = len(part.role.template_source)
    places = {field_path(path): field_path(part.role.in_source(path[source:])) for path in ledger.paths} if part.role.origin else {}
    for place, remark in enumerate(draft.remarks[noted:], noted):
        draft.remarks[place] = _PLACE.sub(lambda match: places.get(match[0], match[0]), remark)


def _own_host_names(part: ReplicatedJob, ledger: Ledger) -> None:
    """Leave out a host name and a subdomain of the user's: others are written over them, and here no task would be known by its name."""
    for key in ("hostname", "subdomain"):
        if part.role.template["spec"].pop(key, None) is not None:
            ledger.dropped((*part.role.template_source, "spec", key), "the JobSet and its Jobs write their own over it")


def _tell_limits(part: ReplicatedJob, ledger: Ledger, source: Path | None) -> None:
    """Take down where the limits of a Job count in another way than the retries of a task. Where there is none, Kubernetes has one."""
    job = part.fields.below("template").below("spec")
    tasks, retries = part.role.task_number, part.role.max_retry_count
    if part.number:
        return
    each, most = job.count("backoffLimitPerIndex"), job.count("maxFailedIndexes")
    limit = job.count("backoffLimit") if each is not None or "backoffLimit" in job else JOB_TRIES
    path = source or (job.at("backoffLimit") if "backoffLimit" in job else part.fields.path)
    anew = made_anew(retries, f"the Pod of each task of `{part.role.name}`")
    if limit is not None and part.role.template["spec"]["restartPolicy"] != "Never":
        why = f"a Job ends after {limit} failures and restarts of all of its Pods"
        remedy = f"{COUNT_RESTARTS}: then each failure counts{', for its own task' if tasks > 1 else ''}"
        ledger.different(path, f"{anew}; {NOT_COUNTED}", why, remedy)
    elif limit is not None and retries * tasks > limit:
        remedy = f"write `maxRetryCount: {limit // tasks}` into the role: then all of its tasks together keep within the {limit} of the Job"
        ledger.different(path, anew, "a Job counts the failures of all of its Pods together", remedy)
    if each is not None and tasks > 1 and most != 0:
        path = source or job.at("backoffLimitPerIndex" if most is None else "maxFailedIndexes")
        what = f"when one task of `{part.role.name}` has failed for good, the others end too"
        many = "" if most is None else f", or more than {most} have failed"
        why = f"the Job goes on until all of its Pods have ended{many}, and fails then"
        count = -1 if most is None or most >= tasks else most + 1
        remedy = (
            f"write `minFailedTaskCount: {count}` into the role where the others are to go on: it succeeds then with those that have failed"
        )
        ledger.different(path, what, why, remedy)


def tell_network(spec: Fields, ledger: Ledger, source: Path | None) -> None:
    """Take down what becomes of the names of the Pods."""
    network = spec.below("network")
    for key in network.each():
        if key != "subdomain" and network.flag(key) is False:
            what, why = f"{key} counts as true", "the Services of roles make names that resolve before Pods are ready"
            ledger.different(source or network.at(key), what, why, "take `service` out of the roles where no name may be there")
        elif source is None:
            ledger.converted(network.at(key), "the Services of the roles")


def add_claims(spec: Fields, parts: list[ReplicatedJob], ledger: Ledger, source: Path | None) -> None:
    """Give Pods volumes of their own in the place of claims that the JobSet makes. Raises Refusal for too many."""
    pods = [part.role.template["spec"] for part in parts]
    of_volume: dict[str, list[int]] = {}
    for number, pod in enumerate(pods):
        for name in mounted(pod):
            of_volume.setdefault(name, []).append(number)
    added: list[list[dict[str, Any]]] = [[] for _ in pods]
    count = 0
    for number, policy in enumerate(spec.items("volumeClaimPolicies")):
        path = source or (*spec.at("volumeClaimPolicies"), number)
        for template in Fields(policy if isinstance(policy, dict) else {}, path).items("templates"):
            name = text(mapping(template, "metadata"), "name") or ""
            volume = {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": deepcopy(mapping(template, "spec"))}}}
            count += len(of_volume.get(name, ()))
            require_room(count, NAMED_BYTES, path)
            for place in of_volume.get(name, ()):
                added[place].append(volume)
            what = f"each Pod has a volume `{name}` of its own, which goes with the Pod"
            why = "the JobSet makes one claim for all of its Pods"
            ledger.different(path, what, why, "make a PersistentVolumeClaim, and name it in the Pods, where results must stay")
    for pod, volumes in zip(pods, added, strict=True):
        if volumes:
            pod["volumes"] = [*(pod.get("volumes") or ()), *volumes]


def tell_metadata(metadata: Fields, ledger: Ledger, source: Path | None, *, of_pods: bool = False) -> None:
    """Take down the labels and annotations of a template that somebody acts upon there, and nobody here."""
    for kind in ("labels", "annotations"):
        held = metadata.below(kind)
        for key, value in held.value.items():
            if key != STEP:
                tell_acted_upon(key, str(value), source or held.at(key), ledger, of_pods=of_pods)


def add_index(spec: dict[str, Any], index: str) -> None:
    """Give all containers the index that Kubernetes gives to those of an indexed Job."""
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind) or ():
            env = container.get("env") or []
            if not any(variable.get("name") == _INDEX_VARIABLE for variable in env):
                container["env"] = [*env, {"name": _INDEX_VARIABLE, "value": index}]


def replace_index(role: RoleDraft, index: str) -> None:
    """Let variables that read the index of the Job have the task's."""
    for variable in field_variables(role):
        if variable.field in INDEX_FIELDS:
            variable.become(index)


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
    policy = spec.below("failurePolicy")
    endless = any(isinstance(rule, dict) and rule.get("action") in _ENDLESS for rule in policy.items("rules"))
    restarts = -1 if endless else policy.count("maxRestarts") or 0
    if restarts == 0:
        ledger.dropped(source or spec.at("failurePolicy"), "it restarts nothing: after a failure nothing is run again here either")
        return
    what = f"after a failure the whole Framework is not run again{'' if source is None else ', as the failurePolicy of the runtime says'}"
    why = "a JobSet makes all of its Jobs anew, by rules that a Framework does not have"
    remedy = f"write `spec.retryPolicy.maxRetryCount: {restarts}` to run all of it again"
    ledger.different(source or spec.at("failurePolicy"), what, why, f"{remedy} after each failure, whichever it is" if endless else remedy)


def tell_rest(spec: Fields, ledger: Ledger, source: Path | None, *, told: frozenset[str] = frozenset()) -> None:
    """Take down what of a JobSet is left out.

    :param told: fields of which the caller has told what becomes of them.
    """
    for key in spec.each():
        if key not in _OF_SET and key not in told:
            ledger.different(source or spec.at(key), f"{key} is left out", "Framework has nothing like it", "look whether the job needs it")
    for number, item in enumerate(spec.items("replicatedJobs")):
        fields = Fields(item, (*spec.at("replicatedJobs"), number))
        template = fields.below("template")
        job = template.below("spec")
        tell_metadata(template.below("metadata"), ledger, source)
        tell_metadata(job.below("template").below("metadata"), ledger, source, of_pods=True)
        _tell_deadline(fields, job, ledger, source)
        for key in job.each():
            if key == "podReplacementPolicy" and job.text(key) == "Failed":
                ledger.dropped(source or job.at(key), "a task has one Pod at a time here as well")
            elif key not in _OF_JOB:
                ledger.different(source or job.at(key), f"{key} of a Job is left out", *_INSTEAD.get(key, _NOTHING))


def _tell_deadline(fields: Fields, job: Fields, ledger: Ledger, source: Path | None) -> None:
    """Take down what becomes of the deadline of one Job: that of a Framework is for all of its roles."""
    seconds = job.count(_DEADLINE)
    if seconds is None:
        return
    field = f"{_DEADLINE}: {max(seconds, 1)}"
    what = f"no deadline ends the role of `{fields.text('name')}` {seconds:,} s after its start"
    why = "a JobSet fails when one of its Jobs takes too long, and a role has no deadline of its own"
    remedy = f"write `{field}` in `spec`: it ends all roles; or in the role's `task.pod.spec`: it counts for each Pod, from its start"
    ledger.different(source or job.at(_DEADLINE), what, why, remedy)
