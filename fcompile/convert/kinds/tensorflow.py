"""TFJob: chief, parameter servers, workers and evaluators, which know each other from TF_CONFIG."""

from __future__ import annotations

import json
from typing import Any

from fcompile.convert.containers import add_variables
from fcompile.convert.job import Job, Part, read_job
from fcompile.convert.ledger import Refusal
from fcompile.convert.made import Made
from fcompile.convert.shape import require_room
from fcompile.model import names

CONTAINER, PORT, NUMBER = "tensorflow", "tfjob-port", 2222
TYPES = ("Chief", "Master", "PS", "Worker", "Evaluator")
_INDEX = "<index>"
"""Stands for the task's index until the JSON is written: a sum with it is no JSON."""


def convert_tensorflow(source: dict[str, Any]) -> Made:
    """Convert a TFJob. Raises Refusal."""
    job = read_job(source, "tfReplicaSpecs", TYPES, "Never")
    if "Chief" in job.replicas and "Master" in job.replicas:
        raise Refusal((*job.replicas["Master"].path,), "the operator takes a Chief or a Master, not both")
    ports = job.add_ports(TYPES, CONTAINER, PORT, NUMBER)
    chief = next((kind for kind in ("Chief", "Master") if kind in job.replicas), None)
    all_workers = _success_policy(job)
    for kind in ports:
        job.add_role(kind, serves=CONTAINER, split_first=kind == "Worker" and chief is None and not all_workers)
    _decide(job, chief, all_workers)
    dynamic = job.spec.flag("enableDynamicWorker") or False
    if "enableDynamicWorker" in job.spec:
        to = "TF_CONFIG, minFailedTaskCount of the workers" if dynamic else "the form of TF_CONFIG"
        job.ledger.converted(job.spec.at("enableDynamicWorker"), to)
    if job.total != 1:
        named = [kind for kind in job.replicas if kind == "PS" or not dynamic]
        configs = sum(len(parts) for kind, parts in job.parts.items() if kind == "Worker" or not dynamic)
        least = sum(job.replicas[kind].count * len(f'"{_address(job, kind, 0, ports[kind])}",') for kind in named)
        require_room(configs, least, job.spec.path)
        addresses = {kind: _addresses(job, kind, ports) for kind in named}
        for kind, parts in job.parts.items():
            for part in parts:
                config = _sparse(job, kind, part, ports, addresses) if dynamic else _dense(kind, part, addresses)
                add_variables(part.role, [("TF_CONFIG", config)], job.ledger, only=CONTAINER)
    if dynamic and "Worker" in job.parts and job.replicas["Worker"].policy != "ExitCode":
        for part in job.parts["Worker"]:
            part.role.min_failed = -1
    return job.finish()


def _success_policy(job: Job) -> bool:
    policy = job.spec.text("successPolicy")
    if policy not in (None, "", "AllWorkers"):
        raise Refusal(job.spec.at("successPolicy"), "it must be empty or AllWorkers")
    if policy is not None:
        job.ledger.converted(job.spec.at("successPolicy"), "frameworkAttemptCompletionPolicy")
    return policy == "AllWorkers"


def _decide(job: Job, chief: str | None, all_workers: bool) -> None:
    """Set which role's end is the end of the job."""
    if chief is not None:
        role = job.parts[chief][0].role
        role.min_succeeded = max(role.task_number, 1)
        return
    parts = job.parts.get("Worker", [])
    if not parts:
        what, why = (
            "it succeeds when all of its Pods have",
            "with neither a Chief nor a Worker, the operator never ends a job that does not fail",
        )
        job.ledger.different(job.spec.at("tfReplicaSpecs"), what, why, "nothing, where the job is to end")
        return
    role = parts[0].role
    role.min_succeeded = max(role.task_number, 1)
    if len(parts) > 1 and not all_workers:
        what = "worker 0 is a role of its own, `worker0`; worker 1 and the others are the tasks 0, 1, … of the role `worker`"
        why = "without a Chief the end of worker 0 is the end of the job, and a Framework decides by roles"
        path = job.replicas["Worker"].path
        job.ledger.different(path, what, why, "nothing, if the program goes by TF_CONFIG: it has the names and indices that go together")
        job.draft.comment(f"Different: {what}: {why}.", job.draft.role_path(role))


def _address(job: Job, kind: str, index: int, port: int) -> str:
    return f"{job.host(kind, index)}.{names.placeholder(names.FRAMEWORK_NAMESPACE)}.svc:{port}"


def _addresses(job: Job, kind: str, ports: dict[str, int]) -> list[str]:
    return [_address(job, kind, index, ports[kind]) for index in range(job.replicas[kind].count)]


def _dense(kind: str, part: Part, addresses: dict[str, list[str]]) -> str:
    cluster = {one.lower(): addresses[one] for one in sorted(addresses, key=str.lower)}
    return _written({"cluster": cluster, "task": {"type": kind.lower(), "index": _INDEX}, "environment": "cloud"}, part)


def _sparse(job: Job, kind: str, part: Part, ports: dict[str, int], addresses: dict[str, list[str]]) -> str:
    """Return the configuration of enableDynamicWorker: each task knows itself, and the workers the parameter servers."""
    index = "0" if part.fixed else names.placeholder(names.TASK_INDEX)
    own = f"{part.role.name}-{index}.{names.service_name(job.draft.name, part.role.name)}"
    own = f"{own}.{names.placeholder(names.FRAMEWORK_NAMESPACE)}.svc:{ports[kind]}"
    worker = {part.index(): own} if kind == "Worker" else {}
    servers: list[str] | None = [own] if kind == "PS" else []
    if kind == "Worker":
        servers = addresses.get("PS")
    return _written({"cluster": {"worker": worker, "ps": servers}, "task": {"type": kind.lower(), "index": _INDEX}}, part)


def _written(config: dict[str, Any], part: Part) -> str:
    return json.dumps(config, separators=(",", ":"), ensure_ascii=False).replace(f'"{_INDEX}"', part.index())
