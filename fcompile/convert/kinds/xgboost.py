"""XGBoostJob: a master (the tracker) and workers; LightGBM goes by the same variables."""

from __future__ import annotations

from typing import Any

from fcompile.convert.containers import Variable, add_variables
from fcompile.convert.job import read_job
from fcompile.convert.ledger import Refusal
from fcompile.convert.made import Made
from fcompile.convert.shape import require_room

_TYPES = ("Master", "Worker")
CONTAINER, PORT, NUMBER = "xgboost", "xgboostjob-port", 9999


def convert_xgboost(source: dict[str, Any]) -> Made:
    """Convert an XGBoostJob. Raises Refusal."""
    job = read_job(source, "xgbReplicaSpecs", _TYPES, "Never")
    if "Master" not in job.replicas or job.replicas["Master"].count != 1:
        raise Refusal(job.spec.at("xgbReplicaSpecs"), "the operator takes a job with one Master only")
    ports = job.add_ports(_TYPES, CONTAINER, PORT, NUMBER)
    for kind in ports:
        job.add_role(kind, serves=CONTAINER)
    job.parts["Master"][0].role.min_succeeded = 1
    containers = sum(len(replica.containers) for replica in job.replicas.values())
    if "Worker" in job.replicas:
        require_room(job.replicas["Worker"].count * containers, len(f"{job.host('Worker', 0)},"), job.spec.path)
    workers = [job.host("Worker", index) for index in range(job.total - 1)]
    for kind, (part,) in job.parts.items():
        variables: list[Variable] = [
            ("MASTER_PORT", str(ports["Master"])),
            ("MASTER_ADDR", job.host("Master", 0)),
            ("WORLD_SIZE", str(job.total)),
            ("RANK", part.index(1 if kind == "Worker" else 0)),
            ("PYTHONUNBUFFERED", "1"),
        ]
        if workers:
            variables += [("WORKER_PORT", str(ports["Worker"])), ("WORKER_ADDRS", ",".join(workers))]
        add_variables(part.role, variables, job.ledger)
    return job.finish()
