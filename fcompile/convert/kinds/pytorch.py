"""PyTorchJob: a master and workers, or workers that find each other (elastic)."""

from __future__ import annotations

from typing import Any

from fcompile.convert.containers import Variable, add_variables
from fcompile.convert.fields import Fields
from fcompile.convert.job import Job, Part, read_job
from fcompile.convert.ledger import Refusal
from fcompile.convert.made import Made
from fcompile.convert.rendezvous import settle_rendezvous
from fcompile.convert.shape import refuse_misspelt

_TYPES = ("Master", "Worker")
CONTAINER, PORT, NUMBER = "pytorch", "pytorchjob-port", 23456
_ELASTIC = {
    "minReplicas": "PET_NNODES",
    "maxReplicas": "PET_NNODES",
    "rdzvHost": "PET_RDZV_ENDPOINT",
    "rdzvPort": "PET_RDZV_ENDPOINT",
    "rdzvBackend": "PET_RDZV_BACKEND",
    "rdzvId": "PET_RDZV_ID",
    "rdzvConf": "PET_RDZV_CONF",
    "maxRestarts": "PET_MAX_RESTARTS",
    "nProcPerNode": "PET_NPROC_PER_NODE",
    "standalone": "PET_STANDALONE",
}
"""The fields of an elastic policy, each with its variable."""
_NO_WAITING = (
    "The operator's init container `init-pytorch`, which waits until the master's name resolves, is left out: a worker that does not find "
    "it is started again"
)


def convert_pytorch(source: dict[str, Any]) -> Made:
    """Convert a PyTorchJob. Raises Refusal."""
    job = read_job(source, "pytorchReplicaSpecs", _TYPES, "OnFailure")
    master = job.replicas.get("Master")
    if master is not None and master.count != 1:
        raise Refusal((*master.path, "replicas"), "the operator takes one Master only")
    elastic = job.spec.below("elasticPolicy") if "elasticPolicy" in job.spec else None
    if elastic is not None:
        refuse_misspelt(elastic, (*_ELASTIC, "metrics"))
    if elastic is not None and "Worker" not in job.replicas:
        raise Refusal(elastic.path, "an elastic job needs a Worker: the operator cannot run it without one")
    ports = job.add_ports(_TYPES, CONTAINER, PORT, NUMBER)
    for kind in ports:
        job.add_role(kind, serves=CONTAINER)
    if master is not None:
        job.parts["Master"][0].role.min_succeeded = 1
        if "Worker" in job.replicas:
            _tell_waiting(job)
    elif elastic is not None:
        job.parts["Worker"][0].role.min_succeeded = 1
    nproc = _nproc(job, elastic)
    rendezvous = [] if elastic is None else _elastic(job, elastic, ports["Worker"])
    for kind, parts in job.parts.items():
        for part in parts:
            add_variables(part.role, _variables(job, kind, part, ports, nproc, rendezvous), job.ledger)
    settle_rendezvous(job, elastic)
    return job.finish()


def _tell_waiting(job: Job) -> None:
    """Take down that no worker waits for the master's name, which resolves as soon as the master's Pod has an address."""
    worker = job.replicas["Worker"]
    if worker.policy in ("Always", "OnFailure"):
        job.draft.remarks.append(_NO_WAITING)
        return
    what = "a worker that runs before the master has a Pod with an address may fail, and so end the job"
    why = "the operator's init container `init-pytorch` asks for the master's name up to 100 times, and there is none here"
    remedy = "make `fcontroller barrier` an init container of the role `worker`, or write `restartPolicy: OnFailure`"
    job.ledger.different((*worker.path, "restartPolicy"), what, why, remedy)


def _nproc(job: Job, elastic: Fields | None) -> str | None:
    """Return the processes of a node, as the operator fills them in; None: the elastic policy says so."""
    found = job.spec.text("nprocPerNode")
    if found is not None:
        job.ledger.converted(job.spec.at("nprocPerNode"), "PET_NPROC_PER_NODE, WORLD_SIZE")
        return found
    return "auto" if elastic is None or "nProcPerNode" not in elastic else None


def _variables(job: Job, kind: str, part: Part, ports: dict[str, int], nproc: str | None, rendezvous: list[Variable]) -> list[Variable]:
    made: list[Variable] = [("PYTHONUNBUFFERED", "1")]
    if "Master" in job.replicas:
        master = job.host("Master", 0)
        rank = part.index(1 if kind == "Worker" else 0)
        made += [("MASTER_PORT", str(ports["Master"])), ("PET_MASTER_PORT", str(ports["Master"]))]
        made += [("MASTER_ADDR", master), ("PET_MASTER_ADDR", master)]
        made += [("WORLD_SIZE", str(job.total * _number(nproc))), ("RANK", rank), ("PET_NODE_RANK", rank)]
    if nproc is not None:
        made.append(("PET_NPROC_PER_NODE", nproc))
    return made + (rendezvous or [("PET_NNODES", str(job.total))])


def _number(nproc: str | None) -> int:
    """Return how many processes a node counts as: 1 unless it is a number."""
    try:
        return 1 if nproc is None or not nproc.isascii() or "_" in nproc or nproc != nproc.strip() else int(nproc)
    except ValueError:
        return 1


def _elastic(job: Job, policy: Fields, port: int) -> list[Variable]:
    workers = job.replicas["Worker"].count
    low, high = policy.count("minReplicas"), policy.count("maxReplicas")
    low, high = (high if low is None else low), (low if high is None else high)
    given, backend = policy.text("rdzvHost"), policy.text("rdzvBackend")
    endpoint = job.host("Worker", 0) if given is None else job.hosts().rewrite(given)
    number = policy.count("rdzvPort", 1, 65535)
    made: list[Variable] = [
        ("PET_RDZV_ENDPOINT", f"{endpoint}:{port if number is None else number}"),
        ("PET_RDZV_BACKEND", "c10d" if backend is None else backend),
        ("PET_NNODES", f"{workers if low is None else low}:{workers if high is None else high}"),
    ]
    for key, name in (("maxRestarts", "PET_MAX_RESTARTS"), ("nProcPerNode", "PET_NPROC_PER_NODE")):
        count = policy.count(key)
        if count is not None:
            made.append((name, str(count)))
    identity = policy.text("rdzvId")
    if identity is not None:
        made.append(("PET_RDZV_ID", identity))
    if policy.items("rdzvConf"):
        pairs = [Fields(item, (*policy.at("rdzvConf"), at)) for at, item in enumerate(policy.items("rdzvConf")) if isinstance(item, dict)]
        made.append(("PET_RDZV_CONF", ",".join(f"{pair.text('key') or ''}={pair.text('value') or ''}" for pair in pairs)))
    if policy.flag("standalone"):
        made.append(("PET_STANDALONE", ""))
    _tell(job, policy)
    return made


def _tell(job: Job, policy: Fields) -> None:
    for key in policy.each():
        if key in _ELASTIC:
            job.ledger.converted(policy.at(key), f"the variable {_ELASTIC[key]}")
    tell_metrics(job, policy)


def tell_metrics(job: Job, policy: Fields) -> None:
    """Take down that nothing scales a Framework by metrics."""
    if "metrics" in policy:
        what, why = "nothing scales it by metrics", "the operator makes a HorizontalPodAutoscaler, and a Framework has no scale subresource"
        job.ledger.different(policy.at("metrics"), what, why, "change `taskNumber` of the role `worker` by hand, or by a program")
        job.draft.comment(f"Different: {what}: the operator's elasticPolicy.metrics has no equivalent.", ("spec", "taskRoles"))
