"""The fields of a Pod template in every Kubernetes version that we know, from `pod_schemas.json` (made by `tools/pod_schemas.py`).

The file holds, by type and field, the attributes of a `Field` that are not the default, and with `since` and `until` the first and the
last version that has it, where not all have. A list in the place of a field holds its forms in different versions, a list in the place
of a value of `enum` the value with the first (and last) version that has it.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from fcompile.model.fields import Field, Type

OLDEST = 25
NEWEST = 37
DEFAULT_VERSION = 36
"""The newest Kubernetes that the whole product is tried on."""
VERSIONS = range(OLDEST, NEWEST + 1)
POD_TEMPLATE = "PodTemplateSpec"


@cache
def pod_type(name: str, version: int) -> Type:
    """Return the fields of a type in Kubernetes 1.`version`. Raises KeyError for a type that is in no version."""
    if version != NEWEST and not any(map(_changes, _rows()[name].values())):
        return pod_type(name, NEWEST)
    fields = {}
    for field, row in _rows()[name].items():
        found = _at(row, version)
        if found is not None:
            fields[field] = field_of(found, version)
    return fields


def versions_with(name: str, field: str) -> tuple[int, int] | None:
    """Return the first and the last version in which a type has the field, or None when it never had it."""
    row = _rows().get(name, {}).get(field)
    if row is None:
        return None
    forms = row if isinstance(row, list) else [row]
    return forms[0].get("since", OLDEST), forms[-1].get("until", NEWEST)


def values_by_version(name: str, field: str) -> dict[str, tuple[int, int]]:
    """Return the values that a field has in some version, with the first and the last version that has them."""
    row = _rows().get(name, {}).get(field, {})
    found = {}
    for form in row if isinstance(row, list) else [row]:
        for value in form.get("enum", ()):
            text, since, until = (*value, NEWEST)[:3] if isinstance(value, list) else (value, OLDEST, NEWEST)
            found[text] = (since, until)
    return found


def _changes(row: Any) -> bool:
    """Return whether a field differs between versions."""
    return isinstance(row, list) or "since" in row or "until" in row or any(isinstance(value, list) for value in row.get("enum", ()))


def _at(row: Any, version: int) -> dict[str, Any] | None:
    """Return the form that a field has in a version, or None."""
    for form in row if isinstance(row, list) else (row,):
        if form.get("since", OLDEST) <= version <= form.get("until", NEWEST):
            found: dict[str, Any] = form
            return found
    return None


def field_of(row: dict[str, Any], version: int = NEWEST) -> Field:
    """Return the field that a form of a row describes."""
    if "enum" in row:
        values = tuple(value[0] if isinstance(value, list) else value for value in row["enum"] if _has(value, version))
        row = {**row, "enum": values}
    if "map_keys" in row:
        row = {**row, "map_keys": tuple(row["map_keys"])}
    return Field(**{name: value for name, value in row.items() if name not in ("since", "until")})


def _has(value: Any, version: int) -> bool:
    if not isinstance(value, list):
        return True
    since, until = (*value[1:], NEWEST)[:2]
    return bool(since <= version <= until)


@cache
def _rows() -> dict[str, dict[str, Any]]:
    return rows_in("pod_schemas.json")


def rows_in(file: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a file in this folder, by type and field."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as opened:
        rows: dict[str, dict[str, Any]] = json.load(opened)
    return rows
