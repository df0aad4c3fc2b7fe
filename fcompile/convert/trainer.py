"""What Trainer's policies go by: variables, the port of the trainer, and the processors of a node."""

from __future__ import annotations

from typing import Any

from fcompile.convert.ledger import Refusal
from fcompile.model import names
from fcompile.model.quantities import NANO, nanos
from fcompile.model.values import mapping, text

PORT = 29500
INDEX = names.placeholder(names.TASK_INDEX)


def upsert(container: dict[str, Any], variables: list[Any]) -> None:
    """Set variables of a container: one of the same name is replaced in its place."""
    found = [dict(one) for one in container.get("env") or () if isinstance(one, dict)]
    places: dict[str | None, int] = {}
    for place, one in enumerate(found):
        places.setdefault(text(one, "name"), place)
    for variable in variables:
        if not isinstance(variable, dict):
            raise Refusal(("spec",), "a variable must be a mapping")
        place = places.setdefault(text(variable, "name"), len(found))
        found[place : place + 1] = [dict(variable)]
    if found:
        container["env"] = found


def add_port(container: dict[str, Any]) -> None:
    """Give a container the trainer's port, unless it has it."""
    ports = container.get("ports") or []
    if not any(isinstance(port, dict) and port.get("containerPort") == PORT for port in ports):
        container["ports"] = [*ports, {"containerPort": PORT}]


def gpus(resources: dict[str, Any]) -> int:
    """Return the GPUs that a node asks for."""
    for kind in ("requests", "limits"):
        for name, amount in mapping(resources, kind).items():
            if "gpu" in name.lower() and (count := _amount(amount)):
                return count
    return 0


def cpus(resources: dict[str, Any]) -> int:
    """Return the CPUs that a node asks for, rounded up."""
    return _amount(mapping(resources, "requests").get("cpu")) or _amount(mapping(resources, "limits").get("cpu"))


def _amount(written: Any) -> int:
    """Return a quantity as a whole number, rounded up; 0 for what is none."""
    return -(-(nanos(written) or 0) // NANO)
