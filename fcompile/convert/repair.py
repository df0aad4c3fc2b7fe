"""Looking past a mistake: a job without the field that is wrong, so that its other mistakes are told in the same run."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from fcompile.convert.ledger import Refusal
from fcompile.model.values import at

_NAME = "a"


def repaired(source: dict[str, Any], refusal: Refusal) -> dict[str, Any] | None:
    """Return a copy of a job in which what it is refused for is not there, or what was meant; None where nothing sensible is left."""
    *way, last = refusal.path or ("",)
    holder = at(source, tuple(way))
    if refusal.path in (("metadata",), ("metadata", "name"), ("metadata", "generateName")) and isinstance(source.get("metadata"), dict):
        return {**source, "metadata": {**source["metadata"], "name": _NAME}}
    if not way or not isinstance(holder, dict) or last not in holder:
        return None
    if (type(holder[last]) is int and refusal.instead is not None) or holder[last] == str(refusal.instead):
        return filled(source, refusal)  # a number that does not fit, or in quotes
    made = deepcopy(source)
    found = at(made, tuple(way)).pop(last)
    if refusal.meant is not None:
        at(made, tuple(way)).setdefault(refusal.meant, found)
    return made


def filled(source: dict[str, Any], refusal: Refusal) -> dict[str, Any]:
    """Return a copy of a job in which a value that can stand there is in the place of the one that was taken out."""
    made = deepcopy(source)
    holder = at(made, refusal.path[:-1])
    if isinstance(holder, dict):
        holder[refusal.path[-1]] = refusal.instead
    return made
