"""Quantities as the API server writes them.

A server-side diff compares texts: `1024Mi` in the expected manifest and `1Gi` in the live object would be a conflict. And two Frameworks
that ask for the same have the same digest.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_not
from typing import Any

from fcompile.model.fields import Field
from fcompile.model.quantities import NANO, canonical
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

_THOUSANDTH = NANO // 1000
"""What the API server rounds the amounts of a list of resources to."""


def canonical_quantities(value: dict[str, Any], type_name: str) -> dict[str, Any]:
    """Return the object with its quantities in canonical form. The input is not changed; what holds none is not copied.

    One with a placeholder in it stays as it is.
    """
    return _object(value, type_name, canonical)


def has_symbolic_quantity(value: dict[str, Any], type_name: str) -> bool:
    """Return whether a quantity of the object has a placeholder in it, so that its form is not known before that is replaced."""
    found = []

    def look(text: str, unit: int = 1) -> str:
        found.append("{{FC_" in text)
        return text

    _object(value, type_name, look)
    return any(found)


_Write = Callable[..., str]
"""Takes the text of a quantity and, unless it is 1, the unit that it is rounded to."""


def _object(value: dict[str, Any], type_name: str, write: _Write) -> dict[str, Any]:
    fields = types(NEWEST)[type_name]
    changed = {}
    for name, item in value.items():
        field = fields.get(name)
        made = item if field is None else _value(item, field, write)
        if made is not item:
            changed[name] = made
    return {**value, **changed} if changed else value


def _value(value: Any, field: Field, write: _Write) -> Any:
    kind = field.kind
    if kind == "quantity":
        return write(value) if isinstance(value, str) else value
    if kind == "object" and isinstance(value, dict):
        return _object(value, field.ref, write)
    if kind == "map" and field.items == "quantity" and isinstance(value, dict):
        return {key: write(amount, _THOUSANDTH) if isinstance(amount, str) else amount for key, amount in value.items()}
    if kind == "list" and field.items == "object" and isinstance(value, list):
        made = [_object(item, field.ref, write) if isinstance(item, dict) else item for item in value]
        return made if any(map(is_not, made, value)) else value
    return value
