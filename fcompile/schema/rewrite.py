"""A traversal of a value along the tables of its type, for those who rewrite the objects in it."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_not
from typing import Any

from fcompile.model.fields import Field
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

Rewrite = Callable[[dict[str, Any], str], dict[str, Any]]
"""Takes an object, and the name of its type. Returns another one, or the same where nothing changes."""


def rewritten(value: dict[str, Any], type_name: str, rewrite: Rewrite) -> dict[str, Any]:
    """Return an object in which this object, and before it every object in it, is as `rewrite` makes it.

    The types are the newest: what is reviewed must not depend on the version that is checked against. The input is not changed, and
    unchanged parts are not copied.
    """
    fields = types(NEWEST)[type_name]
    changed = {}
    for name, item in value.items():
        # Most values by far are strings, which hold no object.
        if type(item) is not str and (field := fields.get(name)) is not None:
            made = _value(item, field, rewrite)
            if made is not item:
                changed[name] = made
    return rewrite({**value, **changed} if changed else value, type_name)


def _value(value: Any, field: Field, rewrite: Rewrite) -> Any:
    if field.kind == "object" and isinstance(value, dict):
        return rewritten(value, field.ref, rewrite)
    if field.kind == "list" and field.items == "object" and isinstance(value, list):
        made = [rewritten(item, field.ref, rewrite) if isinstance(item, dict) else item for item in value]
        return made if any(map(is_not, made, value)) else value
    return value
