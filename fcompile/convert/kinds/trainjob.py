"""TrainJob of Trainer v2 with its runtime beside it: merged, given the variables of its policy, and made roles as a JobSet is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from fcompile.convert.draft import Draft
from fcompile.convert.fields import Fields
from fcompile.convert.jobset_labels import replace_labels
from fcompile.convert.kinds.trainer_mpi import convert_mpi_policy
from fcompile.convert.ledger import Elsewhere, Ledger, Refusal
from fcompile.convert.lifetime import keep_finished_pods, set_deadline, set_time_to_live
from fcompile.convert.made import Made
from fcompile.convert.merge import Patched
from fcompile.convert.metadata import read_metadata
from fcompile.convert.names import host
from fcompile.convert.origins import Origins, with_names
from fcompile.convert.replicated_jobs import (
    STEP,
    ReplicatedJob,
    add_claims,
    apply_success_policy,
    finish,
    hosts_of,
    read_parts,
    require_no_order,
    tell_failure_policy,
    tell_metadata,
    tell_network,
    tell_rest,
)
from fcompile.convert.run_first import run_once_first
from fcompile.convert.run_policy import GANG, read_run_policy
from fcompile.convert.runtimes import KINDS, Runtimes
from fcompile.convert.shape import refuse_misspelt
from fcompile.convert.texts import tell_placeholders
from fcompile.convert.trainer import INDEX, PORT, add_port, cpus, gpus, upsert
from fcompile.diagnostics.problem import Path, field_path
from fcompile.model.framework import MAX_TASKS
from fcompile.model.values import at, mapping

RUNTIME: Path = ("spec", "runtimeRef")
"""Stands for every field of the runtime, which is another document."""
OPERATOR = "trainer.kubeflow.org/trainjob-controller"
_POLICIES = ("torch", "mpi", "jax", "xgboost", "flux")
_STEPS = ("trainer", "dataset-initializer", "model-initializer")
_TUNE = ["tune", "run"]
_OF_SPEC = (
    *("runtimeRef", "initializer", "trainer", "runtimePatches", "suspend", "managedBy"),
    *("activeDeadlineSeconds", "ttlSecondsAfterFinished", "labels", "annotations"),
)
_OF_TRAINER = ("image", "command", "args", "env", "numNodes", "resourcesPerNode", "numProcPerNode")
_CONTAINER = dict.fromkeys(("name", "env", "volumeMounts", "securityContext"))
_POD: dict[str, Any] = {
    **dict.fromkeys(("serviceAccountName", "volumes", "imagePullSecrets", "securityContext", "nodeSelector", "affinity")),
    **dict.fromkeys(("tolerations", "schedulingGates", "terminationGracePeriodSeconds")),
    "containers": _CONTAINER,
    "initContainers": _CONTAINER,
}
_METADATA = dict.fromkeys(("labels", "annotations"))
_JOB: dict[str, Any] = {"name": None, "template": {"metadata": _METADATA, "spec": {"template": {"metadata": _METADATA, "spec": _POD}}}}
_PATCHED: dict[str, Any] = {"template": {"metadata": _METADATA, "spec": {"replicatedJobs": _JOB}}}
"""The fields that a patch of a runtime has. None: with all that is below."""


def convert_trainjob(source: dict[str, Any], runtimes: Runtimes) -> Made:
    """Convert a TrainJob whose runtime is among the other objects. Raises Refusal."""
    ledger = Ledger()
    draft = read_metadata(source, ledger)
    spec = Fields(source, ()).below("spec")
    name = source["metadata"]["name"]
    for key in ("podSpecOverrides", "podTemplateOverrides"):
        if key in spec:
            why = "is of an earlier Trainer, which goes by other rules in more than this"
            remedy = "write what it says of each of its `targetJobs` into `runtimePatches`, as the `template` of that job's Pods"
            raise Refusal(spec.at(key), f"`{key}` {why}: {remedy}")
    refuse_misspelt(spec, _OF_SPEC)
    refuse_misspelt(spec.below("trainer"), _OF_TRAINER)
    policy = {key: spec.value[key] for key in ("suspend", "managedBy") if key in spec}
    read_run_policy(Fields(policy, spec.path), draft, ledger, OPERATOR)
    set_deadline(spec, draft, ledger)
    set_time_to_live(spec, draft, ledger)
    keep_finished_pods(draft)
    origins = Origins()
    found = _runtime(spec, draft.namespace, runtimes)
    runtime = Fields(_patched(spec, runtimes.spec(found, RUNTIME), origins, ledger), RUNTIME)
    with _refused_in_the_source(origins, runtime, found):
        return _convert(name, spec, _checked(runtime), found, origins, draft, ledger)


def _convert(name: str, spec: Fields, runtime: Fields, written: dict[str, Any], origins: Origins, draft: Draft, ledger: Ledger) -> Made:
    """Convert a TrainJob with the spec of its runtime, to which the patches have been applied.

    :param written: the runtime as it is in the input.
    """
    jobs = runtime.below("template").below("spec")
    ledger.converted(RUNTIME, "spec.taskRoles")
    tell_placeholders(jobs.value, jobs.path, ledger, RUNTIME)
    chosen = _policy(runtime)
    asked = spec.below("trainer").count("numNodes", 1, MAX_TASKS)
    _count(runtime, asked, chosen)
    parts = read_parts(jobs, RUNTIME)
    trainer = next((part for part in parts if _is_trainer(part)), None)
    if trainer is None:
        raise Refusal(RUNTIME, f"no job of the runtime has the label {STEP}: trainer")
    add_claims(jobs, parts, ledger, RUNTIME)
    mpi = runtime.below("mlPolicy").below("mpi")
    # The jobs that get what the TrainJob says of its nodes.
    nodes = [part for part in parts if _is_trainer(part) or (mpi.flag("runLauncherAsNode") and part.name == "node")]
    sized = nodes if "mlPolicy" in runtime else []
    _trainer(spec, trainer, sized, ledger)
    _initializers(spec, parts, ledger)
    _add_origins(spec, trainer, nodes, sized, parts, origins)
    before = list(dict.fromkeys(name for part in parts for name, status in part.needs.items() if status == "Complete"))
    in_runtime = Origins()
    in_runtime.add((), mapping(written, "spec"), ("spec",))
    for part in parts:
        part.role.origin = partial(_origin, part, before, origins)
        part.role.elsewhere = partial(_in_runtime, part, before, written, in_runtime)
    replace_labels(name, parts, jobs, ledger, RUNTIME)
    injected = _injected(runtime, parts)
    parts = run_once_first(parts, RUNTIME, draft, ledger)
    apply_success_policy(jobs, parts, RUNTIME)
    hosts = hosts_of(name, draft, parts, jobs.below("network").text("subdomain"))
    own = spec.below("trainer").items("env")
    if chosen == "mpi":
        draft.beside.append(convert_mpi_policy(mpi, spec, parts, _resources(spec, parts), draft, RUNTIME))
    else:
        require_no_order(jobs, parts, RUNTIME)
        if chosen == "torch":
            _upsert(nodes, own)  # the operator's variables may refer to these, and with the others it is the other way round
        variables = _variables(chosen, trainer, _resources(spec, parts), spec, host(draft.name, trainer.role.name, 0))
        if variables and "trainer" in spec and (container := trainer.container("node")) is not None:
            upsert(container, variables)
            add_port(container)
            trainer.role.ports = [{"port": PORT}]
            _tell_first(trainer, jobs, ledger)
        for container in injected:
            upsert(container, variables)
    _upsert(nodes, own)  # the operator does it once more at the end
    _tell_torch(runtime, spec, ledger)
    if "podGroupPolicy" in runtime:
        why = "Framework has no such field yet"
        ledger.different(RUNTIME, "not yet there: podGroupPolicy of the runtime: its Pods are scheduled one by one", why, GANG)
    if "ttlSecondsAfterFinished" in jobs:
        what, why = "ttlSecondsAfterFinished of the runtime is left out", "it deletes the JobSet, and the TrainJob stays"
        ledger.different(RUNTIME, what, why, "write `spec.ttlSecondsAfterFinished` to have the Framework deleted")
    tell_metadata(runtime.below("template").below("metadata"), ledger, RUNTIME)
    tell_network(jobs, ledger, RUNTIME)
    tell_failure_policy(jobs, ledger, RUNTIME)
    tell_rest(jobs, ledger, RUNTIME, told=frozenset({"volumeClaimPolicies"}))
    finish(parts, hosts, draft, ledger, RUNTIME)
    return Made(draft, ledger, hosts)


def _runtime(spec: Fields, namespace: str | None, runtimes: Runtimes) -> dict[str, Any]:
    reference = spec.below("runtimeRef")
    kind, name = reference.text("kind") or "ClusterTrainingRuntime", reference.text("name") or ""
    if kind not in KINDS:
        raise Refusal((*RUNTIME, "kind"), f"there is no such kind of runtimes: it must be {' or '.join(KINDS)}")
    found = runtimes.find(kind, name, namespace)
    if found is not None:
        return found
    command = f"kubectl get {kind.lower()} {shlex.quote(name)} -o yaml"
    raise Refusal(RUNTIME, f"its runtime is not in the input: put {kind} `{name}` beside it, as `{command}` prints it")


def _patched(spec: Fields, runtime: dict[str, Any], origins: Origins, ledger: Ledger) -> dict[str, Any]:
    """Return the spec of the runtime with the patches of the TrainJob, in their order."""
    patched = Patched(runtime)
    for item in spec.mappings("runtimePatches"):
        patch = item.below("trainingRuntimeSpec")
        known = _known(patch.value, _PATCHED, patch.path, ledger)
        patched.apply(known, patch.path)
        origins.add((), known, patch.path)
        ledger.converted(patch.path, "spec.taskRoles")
        ledger.dropped(item.at("manager"), "it says who wrote the patch")
    made: dict[str, Any] = patched.value
    return made


@contextmanager
def _refused_in_the_source(origins: Origins, runtime: Fields, written: dict[str, Any]) -> Iterator[None]:
    """Let what is wrong in a patch be told in the patch, and what is wrong in the runtime, another document, where it is named.

    :param written: the runtime as it is in the input.
    """
    try:
        yield
    except Refusal as refusal:
        steps = refusal.path[len(RUNTIME) :]
        if not steps or refusal.path[: len(RUNTIME)] != RUNTIME:
            raise
        found = origins.find(with_names(steps, runtime.value), at(runtime.value, steps))
        if found is not None:
            raise Refusal(found, refusal.reason, refusal.meant, refusal.instead) from None
        reason = f"the runtime, at {field_path(('spec', *steps))}: {refusal.reason}"
        raise Refusal(RUNTIME, reason, elsewhere=Elsewhere(written, ("spec", *steps))) from None


def _template_of(name: str) -> Path:
    """Return where in a runtime the Pods of a replicated job are, with its name."""
    return ("template", "spec", "replicatedJobs", name, "template", "spec", "template")


def _add_origins(
    spec: Fields,
    trainer: ReplicatedJob,
    nodes: list[ReplicatedJob],
    sized: list[ReplicatedJob],
    parts: list[ReplicatedJob],
    origins: Origins,
) -> None:
    """Take down what of the Pods the TrainJob says itself."""
    fields = spec.below("trainer")
    said = [(trainer, "image", "image"), (trainer, "command", "command"), (trainer, "args", "args")]
    said += [(part, "env", "env") for part in nodes] + [(part, "resourcesPerNode", "resources") for part in sized]
    for part, key, field in said:
        if key in fields:
            origins.add((*_template_of(part.name), "spec", "containers", "node", field), fields.value[key], fields.at(key))
    for kind in ("dataset", "model"):
        asked = spec.below("initializer").below(kind)
        for name in [part.name for part in parts if part.labels.get(STEP) == f"{kind}-initializer" and "env" in asked]:
            container = (*_template_of(name), "spec", "containers", f"{kind}-initializer", "env")
            origins.add(container, asked.value["env"], asked.at("env"))


def _origin(part: ReplicatedJob, before: list[str], origins: Origins, steps: Path) -> Path | None:
    """Return where a field of a role's Pods stands in what was merged; None: in none of that.

    :param before: the jobs whose containers and volumes are in these Pods too.
    """
    named, value = with_names(steps, part.role.template), at(part.role.template, steps)
    found = origins.find((*_template_of(part.name), *named), value)
    for name in before if found is None else ():
        there = ("spec", "containers", *named[2:]) if named[:2] == ("spec", "initContainers") else named
        found = found or origins.find((*_template_of(name), *there), value)
    return found


def _in_runtime(part: ReplicatedJob, before: list[str], runtime: dict[str, Any], origins: Origins, steps: Path) -> Elsewhere | None:
    """Return where a field of a role's Pods stands in the runtime.

    :param origins: those of the runtime alone.
    """
    found = _origin(part, before, origins, steps)
    return None if found is None else Elsewhere(runtime, found)


def _known(patch: Any, fields: dict[str, Any] | None, path: Path, ledger: Ledger) -> Any:
    """Return a patch without what the API server leaves out: fields that no patch has, and null."""
    if isinstance(patch, list):
        return [_known(item, fields, (*path, number), ledger) for number, item in enumerate(patch)]
    if not isinstance(patch, dict):
        return patch
    made = {}
    for key, item in patch.items():
        if item is None:
            ledger.dropped((*path, key), "null: the API server leaves it out, and what the runtime has stays")
        elif fields is None or key in fields or str(key).startswith("$"):
            made[key] = _known(item, None if fields is None else fields.get(key), (*path, key), ledger)
        else:
            ledger.dropped((*path, key), "a patch of a runtime has no such field: the API server leaves it out")
    return made


def _checked(runtime: Fields) -> Fields:
    for key in ("mlPolicy", "template", "podGroupPolicy"):
        runtime.below(key)
    runtime.below("template").below("spec").items("replicatedJobs")
    return runtime


def _policy(runtime: Fields) -> str:
    """Return the name of the policy, empty for none."""
    policy = runtime.below("mlPolicy")
    found = [name for name in _POLICIES if name in policy]
    if len(found) > 1:
        raise Refusal(RUNTIME, f"the runtime has more than one policy: {', '.join(found)}")
    if found == ["flux"]:
        raise Refusal(RUNTIME, "the policy `flux` makes a cluster of brokers in the Pods, which has no equivalent")
    return found[0] if found else ""


def _count(runtime: Fields, asked: int | None, policy: str) -> None:
    """Give each job of the runtime as many Pods as the operator does: `completions` goes by `parallelism` there.

    :param asked: how many nodes the TrainJob asks for.
    """
    limits = runtime.below("mlPolicy")
    shares = limits.below("mpi").flag("runLauncherAsNode") or False
    jobs = runtime.below("template").below("spec")
    for part in jobs.mappings("replicatedJobs", "a replicated job"):
        fields = part.below("template")
        step = fields.below("metadata").below("labels").text(STEP)
        job = fields.below("spec")
        count = job.count("parallelism", 0, MAX_TASKS)
        if step == "trainer" and "mlPolicy" in runtime:
            count = limits.count("numNodes", 1, MAX_TASKS)
        if asked is not None and policy == "mpi" and part.value.get("name") == "node":
            count = asked - 1 if shares else asked
        elif asked is not None and policy != "mpi" and step == "trainer":
            count = asked
        job.value["parallelism"] = job.value["completions"] = max(count or 1, 1)
        if step in _STEPS:
            part.value["replicas"] = 1


def _is_trainer(part: ReplicatedJob) -> bool:
    return part.labels.get(STEP) == "trainer"


def _trainer(spec: Fields, trainer: ReplicatedJob, nodes: list[ReplicatedJob], ledger: Ledger) -> None:
    """Put what the TrainJob says of its trainer into the container `node`.

    :param nodes: the jobs that get the resources of a node.
    """
    fields = spec.below("trainer")
    targets = {"image": "image", "command": "command", "args": "args", "resourcesPerNode": "resources", "env": "env"}
    for key in fields.each():
        if key in ("numNodes", "numProcPerNode"):
            ledger.converted(fields.at(key), "taskNumber" if key == "numNodes" else "the variables of the policy")
        elif key == "resourcesPerNode" and not nodes:
            ledger.dropped(fields.at(key), "the operator goes by it only where the runtime has an `mlPolicy`")
        elif key in targets:
            ledger.converted(fields.at(key), f"{targets[key]} of the container `node`")
    if fields.items("command") == _TUNE:
        raise Refusal(fields.at("command"), "the operator writes the rest of `tune run` itself: write the whole command")
    container = trainer.container("node")
    if container is None:
        raise Refusal(RUNTIME, "the trainer of the runtime has no container `node`")
    image = fields.text("image")
    if image is not None:
        container["image"] = image
    for key in ("command", "args"):
        if key in fields:
            container[key] = fields.items(key)
    asked = fields.below("resourcesPerNode")
    for node in [part.container("node") for part in nodes if asked.value]:
        if node is not None:
            kept = mapping(node, "resources")
            amounts = {kind: {**mapping(kept, kind), **asked.below(kind).value} for kind in ("limits", "requests")}
            node["resources"] = {kind: found for kind, found in amounts.items() if found}


def _resources(spec: Fields, parts: list[ReplicatedJob]) -> dict[str, Any]:
    """Return the resources by which the operator counts processors: those of the TrainJob alone, where it has any."""
    asked = spec.below("trainer")
    if "resourcesPerNode" in asked:
        return asked.below("resourcesPerNode").value
    containers = (part.container("node") for part in parts if part.name == "node" or _is_trainer(part))
    return mapping(next((one for one in containers if one is not None), {}), "resources")


def _upsert(nodes: list[ReplicatedJob], variables: list[Any]) -> None:
    for container in [part.container("node") for part in nodes]:
        if container is not None:
            upsert(container, variables)


def _initializers(spec: Fields, parts: list[ReplicatedJob], ledger: Ledger) -> None:
    """Put what the TrainJob says of its data and model into the containers that fetch them."""
    asked = spec.below("initializer")
    for kind in ("dataset", "model"):
        if kind not in asked:
            continue
        fields, name = asked.below(kind), f"{kind}-initializer"
        ledger.converted(fields.path, f"an init container `{name}`")
        containers = [found for part in parts if part.labels.get(STEP) == name and (found := part.container(name)) is not None]
        if not containers:
            raise Refusal(fields.path, f"the runtime has no job with the label {STEP}: {name}, and a container of that name")
        for container in containers:
            storage = fields.text("storageUri")
            upsert(container, [*([{"name": "STORAGE_URI", "value": storage}] if storage is not None else []), *fields.items("env")])
            secret = fields.below("secretRef").text("name")
            if secret is not None:
                container["envFrom"] = [*(container.get("envFrom") or ()), {"secretRef": {"name": secret}}]


def _variables(policy: str, trainer: ReplicatedJob, resources: dict[str, Any], spec: Fields, first: str) -> list[dict[str, str]]:
    """Return the variables that the policy gives to the trainer.

    :param first: the name of its first Pod.
    """
    nodes = trainer.role.task_number
    made: list[tuple[str, str]] = []
    if policy == "torch":
        asked = spec.below("trainer").count("numProcPerNode", 1)
        automatic = "auto" if gpus(resources) else str(max(1, cpus(resources)))
        made = [("PET_NNODES", str(nodes)), ("PET_NPROC_PER_NODE", automatic if asked is None else str(asked)), ("PET_NODE_RANK", INDEX)]
        made += [("PET_MASTER_ADDR", first), ("PET_MASTER_PORT", str(PORT))]
    elif policy == "jax":
        made = [("JAX_NUM_PROCESSES", str(nodes)), ("JAX_PROCESS_ID", INDEX), ("JAX_COORDINATOR_ADDRESS", f"{first}:{PORT}")]
    elif policy == "xgboost":
        workers = nodes * max(1, gpus(resources))
        made = [("DMLC_TRACKER_URI", first), ("DMLC_TRACKER_PORT", str(PORT)), ("DMLC_TASK_ID", INDEX), ("DMLC_NUM_WORKER", str(workers))]
    return [{"name": name, "value": value} for name, value in made]


def _tell_first(trainer: ReplicatedJob, jobs: Fields, ledger: Ledger) -> None:
    """Take down that the Pods meet at their first one, where with the operator they would not."""
    why = ""
    if trainer.name != "node" or jobs.below("network").text("subdomain"):
        why = "the operator writes `JOB-node-0-0.JOB`, also where that is the name of no Pod of theirs"
    elif not trainer.indexed:
        why = "the operator reads an index that Pods of a NonIndexed Job do not have"
    if why:
        ledger.different(RUNTIME, f"the Pods of `{trainer.name}` know their index, and their first one", why, "nothing: here they meet")


def _tell_torch(runtime: Fields, spec: Fields, ledger: Ledger) -> None:
    """Take down what of the policy of an earlier Trainer counts for nothing."""
    torch = runtime.below("mlPolicy").below("torch")
    for key in torch.each():
        processes = key == "numProcPerNode"
        if key == "envInjection" or (processes and (torch.value[key] == "auto" or key in spec.below("trainer"))):
            continue
        remedy = "write `spec.trainer.numProcPerNode`" if processes else "look whether the job needs it"
        ledger.different(RUNTIME, f"`{key}` of the policy `torch` is left out", "only earlier versions of Trainer go by it", remedy)


def _injected(runtime: Fields, parts: list[ReplicatedJob]) -> list[dict[str, Any]]:
    """Return the other containers that get the variables of torch."""
    containers = []
    for item in runtime.below("mlPolicy").below("torch").below("envInjection").items("targets"):
        target = Fields(item if isinstance(item, dict) else {}, RUNTIME)
        part = next((part for part in parts if part.name == target.text("jobName")), None)
        for name in target.items("containerNames"):
            found = None if part is None else part.container(name) or part.container(name, "initContainers")
            if found is None:
                raise Refusal(RUNTIME, f"`envInjection` names a container `{name}` that the runtime does not have")
            containers.append(found)
    return containers
