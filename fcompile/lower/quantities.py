"""Quantities as the API server writes them.

A server-side diff compares texts: `1024Mi` in the expected manifest and `1Gi` in the live object would be a conflict. And two Frameworks
that ask for the same have the same digest.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fcompile.model.fields import Field
from fcompile.model.quantities import NANO, canonical
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

_THOUSANDTH = NANO // 1000
"""What the API server rounds the amounts of a list of resources to."""


def canonical_quantities(value: dict[str, Any], type_name: str) -> dict[str, Any]:
    """The object with its quantities in canonical form. The input is not changed; what holds none is not copied."""
    changed = {}
    for name, field in _leading_to_quantities(type_name).items():
        item = value.get(name)
        made = _value(item, field)
        if made is not item:
            changed[name] = made
    return {**value, **changed} if changed else value


def _value(value: Any, field: Field) -> Any:
    if field.kind == "quantity":
        return canonical(value) if isinstance(value, str) else value
    if isinstance(value, dict) and field.kind == "object":
        return canonical_quantities(value, field.ref)
    if isinstance(value, dict) and field.kind == "map":
        return {key: canonical(amount, _THOUSANDTH) if isinstance(amount, str) else amount for key, amount in value.items()}
    if isinstance(value, list):
        return [canonical_quantities(item, field.ref) if isinstance(item, dict) else item for item in value]
    return value


@cache
def _leading_to_quantities(type_name: str) -> dict[str, Field]:
    """The fields of a type that are quantities or hold some."""
    return {name: field for name, field in types(NEWEST)[type_name].items() if _leads(field)}


def _leads(field: Field) -> bool:
    if "quantity" in (field.kind, field.items):
        return True
    return bool(field.ref) and bool(_leading_to_quantities(field.ref))
