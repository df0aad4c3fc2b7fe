"""JAXJob: workers, the first of which is the coordinator."""

from __future__ import annotations

from typing import Any

from fcompile.convert.containers import add_variables
from fcompile.convert.job import read_job
from fcompile.convert.made import Made

CONTAINER, PORT, NUMBER = "jax", "jaxjob-port", 6666


def convert_jax(source: dict[str, Any]) -> Made:
    """Convert a JAXJob. Raises Refusal."""
    job = read_job(source, "jaxReplicaSpecs", ("Worker",), "Never")
    port = job.add_ports(("Worker",), CONTAINER, PORT, NUMBER)["Worker"]
    (part,) = job.add_role("Worker", serves=CONTAINER)
    variables = [
        ("PYTHONUNBUFFERED", "1"),
        ("COORDINATOR_PORT", str(port)),
        ("COORDINATOR_ADDRESS", job.host("Worker", 0)),
        ("NUM_PROCESSES", str(job.total)),
        ("PROCESS_ID", part.index()),
    ]
    add_variables(part.role, [*variables], job.ledger)
    return job.finish()
