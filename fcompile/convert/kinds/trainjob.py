"""TrainJob of Trainer v2 with its runtime beside it: merged, given the variables of its policy, and made roles as a JobSet is."""

from __future__ import annotations

import shlex
from copy import deepcopy
from typing import Any

from fcompile.convert.fields import Fields
from fcompile.convert.jobset_labels import replace_labels
from fcompile.convert.kinds.trainer_mpi import convert_mpi_policy
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.lifetime import keep_finished_pods, set_deadline, set_time_to_live
from fcompile.convert.made import Made
from fcompile.convert.merge import Patched
from fcompile.convert.metadata import read_metadata
from fcompile.convert.names import host
from fcompile.convert.replicated_jobs import (
    ReplicatedJob,
    apply_success_policy,
    finish,
    hosts_of,
    read_parts,
    require_no_order,
    run_once_first,
    tell_failure_policy,
    tell_network,
    tell_rest,
)
from fcompile.convert.run_policy import read_run_policy
from fcompile.convert.runtimes import KINDS, Runtimes
from fcompile.convert.shape import NAMED_BYTES, require_room
from fcompile.convert.texts import tell_placeholders
from fcompile.convert.trainer import INDEX, PORT, add_port, cpus, gpus, upsert
from fcompile.diagnostics.problem import Path
from fcompile.model.framework import MAX_TASKS
from fcompile.model.values import mapping, text

RUNTIME: Path = ("spec", "runtimeRef")
"""Stands for every field of the runtime, which is another document."""
OPERATOR = "trainer.kubeflow.org/trainjob-controller"
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_POLICIES = ("torch", "mpi", "jax", "xgboost", "flux")
_TUNE = ["tune", "run"]


def convert_trainjob(source: dict[str, Any], runtimes: Runtimes) -> Made:
    """Convert a TrainJob whose runtime is among the other objects. Raises Refusal."""
    ledger = Ledger()
    draft = read_metadata(source, ledger)
    spec = Fields(source, ()).below("spec")
    name = source["metadata"]["name"]
    policy = {key: spec.value[key] for key in ("suspend", "managedBy") if key in spec}
    read_run_policy(Fields(policy, spec.path), draft, ledger, OPERATOR)
    set_deadline(spec, draft, ledger)
    set_time_to_live(spec, draft, ledger)
    keep_finished_pods(draft)
    runtime = _patched(spec, _runtime(spec, draft.namespace, runtimes), ledger)
    jobs = runtime.below("template").below("spec")
    ledger.converted(RUNTIME, "spec.taskRoles")
    tell_placeholders(jobs.value, jobs.path, ledger, RUNTIME)
    parts = read_parts(jobs, RUNTIME)
    trainer = next((part for part in parts if part.labels.get(_STEP) == "trainer"), None)
    if trainer is None:
        raise Refusal(RUNTIME, f"no job of the runtime has the label {_STEP}: trainer")
    chosen, nodes = _policy(runtime, spec)
    _claims(jobs, parts, ledger)
    _trainer(spec, trainer, parts, ledger)
    _initializers(spec, parts, ledger)
    if chosen != "mpi":
        trainer.role.task_number = nodes
    replace_labels(name, parts, ledger, RUNTIME)
    parts = run_once_first(parts, RUNTIME, draft)
    apply_success_policy(jobs, parts, RUNTIME)
    hosts = hosts_of(name, draft, parts, jobs.below("network").text("subdomain"))
    if chosen == "mpi":
        draft.beside.append(convert_mpi_policy(runtime.below("mlPolicy").below("mpi"), spec, parts, nodes, draft, RUNTIME))
    else:
        require_no_order(jobs, parts, RUNTIME)
    if chosen != "mpi" and "trainer" in spec:
        _variables(chosen, spec, trainer, nodes, host(draft.name, trainer.role.name, 0))
    if "podGroupPolicy" in runtime:
        why, remedy = "Framework has no such field yet", "use a scheduler that gangs by labels of Pods, or leave it"
        ledger.different(RUNTIME, "not yet there: podGroupPolicy of the runtime: its Pods are scheduled one by one", why, remedy)
    if "ttlSecondsAfterFinished" in jobs:
        what, why = "ttlSecondsAfterFinished of the runtime is left out", "it deletes the JobSet, and the TrainJob stays"
        ledger.different(RUNTIME, what, why, "write `spec.ttlSecondsAfterFinished` to have the Framework deleted")
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
    found = runtimes.spec(kind, name, namespace, RUNTIME)
    if found is not None:
        return found
    command = f"kubectl get {kind.lower()} {shlex.quote(name)} -o yaml"
    raise Refusal(RUNTIME, f"its runtime is not in the input: put {kind} `{name}` beside it, as `{command}` prints it")


def _patched(spec: Fields, runtime: dict[str, Any], ledger: Ledger) -> Fields:
    """Return the spec of the runtime with the patches of the TrainJob, in their order."""
    patched = Patched(runtime)
    for number, item in enumerate(spec.items("runtimePatches")):
        path = (*spec.at("runtimePatches"), number)
        if not isinstance(item, dict):
            raise Refusal(path, "it must be a mapping")
        patch = Fields(item, path).below("trainingRuntimeSpec")
        patched.apply(patch.value, patch.path)
        ledger.converted(patch.path, "spec.taskRoles")
        ledger.dropped((*path, "manager"), "it says who wrote the patch")
    try:
        return _checked(Fields(patched.value, RUNTIME))
    except Refusal as refusal:
        raise Refusal(RUNTIME, f"the runtime: {refusal.reason}") from None


def _checked(runtime: Fields) -> Fields:
    for key in ("mlPolicy", "template", "podGroupPolicy"):
        runtime.below(key)
    runtime.below("template").below("spec").items("replicatedJobs")
    return runtime


def _policy(runtime: Fields, spec: Fields) -> tuple[str, int]:
    """Return the name of the policy, empty for none, and the number of nodes."""
    policy = runtime.below("mlPolicy")
    found = [name for name in _POLICIES if name in policy]
    if len(found) > 1:
        raise Refusal(RUNTIME, f"the runtime has more than one policy: {', '.join(found)}")
    if found == ["flux"]:
        raise Refusal(RUNTIME, "the policy `flux` makes a cluster of brokers in the Pods, which has no equivalent")
    if "envInjection" in policy.below("torch"):
        raise Refusal(RUNTIME, "`envInjection` of the runtime is not known here: write the variables into the containers")
    asked = spec.below("trainer").count("numNodes", 1, MAX_TASKS)
    nodes = policy.count("numNodes", 1, MAX_TASKS) if asked is None else asked
    return found[0] if found else "", 1 if nodes is None else nodes


def _claims(jobs: Fields, parts: list[ReplicatedJob], ledger: Ledger) -> None:
    """Give Pods volumes of their own in the place of claims that the JobSet makes."""
    volumes = []
    for policy in jobs.items("volumeClaimPolicies"):
        for template in Fields(policy if isinstance(policy, dict) else {}, RUNTIME).items("templates"):
            name = text(mapping(template, "metadata"), "name") or ""
            claim = {"spec": deepcopy(mapping(template, "spec"))}
            volumes.append({"name": name, "ephemeral": {"volumeClaimTemplate": claim}})
            what = f"each Pod has a volume `{name}` of its own, which goes with the Pod"
            why = "the JobSet makes one claim for all of its Pods"
            ledger.different(RUNTIME, what, why, "make a PersistentVolumeClaim, and name it in the Pods, where results must stay")
    require_room(len(volumes) * len(parts), NAMED_BYTES, RUNTIME)
    for part in parts if volumes else ():
        spec = part.role.template["spec"]
        spec["volumes"] = [*(spec.get("volumes") or ()), *volumes]


def _trainer(spec: Fields, trainer: ReplicatedJob, parts: list[ReplicatedJob], ledger: Ledger) -> None:
    """Put what the TrainJob says of its trainer into the container `node`."""
    fields = spec.below("trainer")
    targets = {"image": "image", "command": "command", "args": "args", "resourcesPerNode": "resources", "env": "env"}
    for key in fields.each():
        if key in ("numNodes", "numProcPerNode"):
            ledger.converted(fields.at(key), "taskNumber" if key == "numNodes" else "the variables of the policy")
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
    if "resourcesPerNode" in fields:
        for part in parts:
            node = part.container("node")
            if node is not None and (part is trainer or part.name == "node"):
                node["resources"] = deepcopy(fields.below("resourcesPerNode").value)
    upsert(container, fields.items("env"))


def _initializers(spec: Fields, parts: list[ReplicatedJob], ledger: Ledger) -> None:
    """Put what the TrainJob says of its data and model into the containers that fetch them."""
    asked = spec.below("initializer")
    for kind in ("dataset", "model"):
        if kind not in asked:
            continue
        fields, name = asked.below(kind), f"{kind}-initializer"
        ledger.converted(fields.path, f"an init container `{name}`")
        containers = [found for part in parts if part.labels.get(_STEP) == name and (found := part.container(name)) is not None]
        if not containers:
            raise Refusal(fields.path, f"the runtime has no job with the label {_STEP}: {name}, and a container of that name")
        for container in containers:
            storage = fields.text("storageUri")
            upsert(container, [*([{"name": "STORAGE_URI", "value": storage}] if storage is not None else []), *fields.items("env")])
            secret = fields.below("secretRef").text("name")
            if secret is not None:
                container["envFrom"] = [*(container.get("envFrom") or ()), {"secretRef": {"name": secret}}]


def _variables(policy: str, spec: Fields, trainer: ReplicatedJob, nodes: int, first: str) -> None:
    container = trainer.container("node")
    if container is None or not policy:
        return
    if policy == "torch":
        asked = spec.below("trainer").count("numProcPerNode", 1)
        automatic = "auto" if gpus(container) else str(max(1, cpus(container)))
        made = [("PET_NNODES", str(nodes)), ("PET_NPROC_PER_NODE", automatic if asked is None else str(asked)), ("PET_NODE_RANK", INDEX)]
        made += [("PET_MASTER_ADDR", first), ("PET_MASTER_PORT", str(PORT))]
    elif policy == "jax":
        made = [("JAX_NUM_PROCESSES", str(nodes)), ("JAX_PROCESS_ID", INDEX), ("JAX_COORDINATOR_ADDRESS", f"{first}:{PORT}")]
    else:
        workers = nodes * max(1, gpus(container))
        made = [("DMLC_TRACKER_URI", first), ("DMLC_TRACKER_PORT", str(PORT)), ("DMLC_TASK_ID", INDEX), ("DMLC_NUM_WORKER", str(workers))]
    upsert(container, [{"name": name, "value": value} for name, value in made])
    add_port(container)
    trainer.role.ports = [{"port": PORT}]
