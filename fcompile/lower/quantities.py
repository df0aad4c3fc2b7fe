"""Quantities as the API server writes them.

A server-side diff compares texts: `1024Mi` in the expected manifest and `1Gi` in the live object would be a conflict. And two Frameworks
that ask for the same have the same digest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from fcompile.model.quantities import NANO, canonical
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.rewrite import rewritten
from fcompile.schema.types import types

_THOUSANDTH = NANO // 1000
"""What the API server rounds the amounts of a list of resources to."""


def canonical_quantities(value: dict[str, Any], type_name: str) -> dict[str, Any]:
    """Return the object with its quantities in canonical form. The input is not changed; an object without quantities is not copied.

    A quantity with a placeholder stays as it is.
    """
    return rewritten(value, type_name, partial(_written, canonical))


def has_symbolic_quantity(value: dict[str, Any], type_name: str) -> bool:
    """Return whether a quantity of the object has a placeholder in it: its canonical form is only known after that is replaced."""
    found = []

    def look(text: str, unit: int = 1) -> str:
        found.append("{{FC_" in text)
        return text

    rewritten(value, type_name, partial(_written, look))
    return any(found)


_Write = Callable[..., str]
"""Takes the text of a quantity and, unless it is 1, the unit that it is rounded to."""


def _written(write: _Write, value: dict[str, Any], type_name: str) -> dict[str, Any]:
    """Return an object with its own quantities as `write` writes them."""
    changed: dict[str, Any] = {}
    for name, kind in _quantities(type_name):
        item = value.get(name)
        if kind == "quantity" and isinstance(item, str):
            changed[name] = write(item)
        elif kind == "map" and isinstance(item, dict):
            changed[name] = {key: write(amount, _THOUSANDTH) if isinstance(amount, str) else amount for key, amount in item.items()}
    return {**value, **changed} if changed else value


@cache
def _quantities(type_name: str) -> tuple[tuple[str, str], ...]:
    """Return the fields of a type that are quantities, or maps of them, each with which of the two it is."""
    return tuple((name, field.kind) for name, field in types(NEWEST)[type_name].items() if "quantity" in (field.kind, field.items))
