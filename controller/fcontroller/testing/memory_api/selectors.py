"""Label selectors: labels that must be there, and values that some of them must have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fcontroller.testing.memory_api.values import Object

Selects = Callable[[Object], bool]

_TERM = re.compile("([^ ,!=()]+)(?:=([^ ,!=()]*))?")


def selector(query: Mapping[str, str]) -> Selects:
    """Return the test for the objects that a query selects. Raises NotImplementedError for other forms."""
    text = query.get("labelSelector", "")
    terms = [_TERM.fullmatch(term) for term in text.split(",") if text]
    if None in terms:
        raise NotImplementedError(f"labelSelector={text}")
    wanted = [(term[1], term[2]) for term in terms if term]
    return lambda value: _has(value["metadata"].get("labels") or {}, wanted)


def _has(labels: Mapping[str, str], wanted: list[tuple[str, str | None]]) -> bool:
    return all([name in labels if value is None else labels.get(name) == value for name, value in wanted])
