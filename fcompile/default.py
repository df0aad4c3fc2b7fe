"""Filling in every default: the Framework as it will be stored.

The defaults are those of the field tables (`schema/framework_types.json`), which are the DEFAULT rows of FrameworkController's manual. In
the Pod templates only what identifies an item of a list gets one (a port's `protocol`, …), since the API server merges lists by it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Path
from fcompile.emit.scalars import json_number
from fcompile.model.fields import Field
from fcompile.model.framework import SERVER_SET
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Defaulted(NamedTuple):
    """A Framework with every default filled in; `filled` are the fields that were not there before, in the order of the output."""

    framework: dict[str, Any]
    filled: tuple[Path, ...]


def default(framework: dict[str, Any]) -> Defaulted:
    """Return the Framework with its defaults, and without what only a server sets. The input is not changed.

    Idempotent. An explicit null means the same as leaving a field out, and is left out; so does an empty text where there is a
    default. As the value of a map's entry null is an empty text, or the quantity 0. A quantity that is a number becomes a string,
    a whole number in decimal notation (`1.0`) an integer, as the API server would read them.
    """
    filled: list[Path] = []
    value = {key: item for key, item in framework.items() if key != "status"}
    if isinstance(value.get("metadata"), dict):
        value["metadata"] = _own_metadata(value["metadata"])
    return Defaulted(_Filler(filled).object(value, "Framework", ()), tuple(filled))


def _own_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    own = {key: item for key, item in metadata.items() if key not in SERVER_SET}
    annotations = own.get("annotations")
    if isinstance(annotations, dict):
        own["annotations"] = {key: item for key, item in annotations.items() if key != LAST_APPLIED}
    # The API server drops empty labels, annotations, finalizers and owners; kept here, they would differ from it for ever.
    return {key: item for key, item in own.items() if item not in ({}, [])}


class _Filler:
    def __init__(self, filled: list[Path]) -> None:
        # Always the newest types: what is reviewed must not depend on the version that is checked against.
        self.types = types(NEWEST)
        self.filled = filled

    def object(self, value: dict[str, Any], type_name: str, path: Path) -> dict[str, Any]:
        fields = self.types[type_name]
        result: dict[str, Any] = {}
        for name, item in value.items():
            if item is None:
                continue
            field = fields.get(name)
            if item != "" or field is None or field.default is None:
                # Most values by far are strings: a call for each of them would take most of the time.
                result[name] = item if field is None or type(item) is str else self.value(item, field, field.kind, (*path, name))
        for name, field in _with_defaults(type_name):
            if name not in result:
                self.filled.append((*path, name))
                result[name] = self.value(field.default, field, field.kind, (*path, name))
        return result

    def value(self, value: Any, field: Field, kind: str, path: Path) -> Any:
        if isinstance(value, dict):
            if kind == "object":
                return self.object(value, field.ref, path)
            if kind == "map":
                return {key: self.value(_entry(entry, field), field, field.items, (*path, key)) for key, entry in value.items()}
        elif isinstance(value, list) and kind == "list":
            return [self.value(entry, field, field.items, (*path, index)) for index, entry in enumerate(value)]
        return _scalar(value, kind)


@cache
def _with_defaults(type_name: str) -> tuple[tuple[str, Field], ...]:
    """Return the fields of a type that have a default."""
    return tuple((name, field) for name, field in types(NEWEST)[type_name].items() if field.default is not None)


def _entry(value: Any, field: Field) -> Any:
    """Return the value of an entry of a map. The API server reads null as an empty one; `kubectl apply` would take the entry out."""
    return ("0" if field.items == "quantity" else "") if value is None else value


def _scalar(value: Any, kind: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if kind == "quantity":
        return json_number(value)
    if kind in ("integer", "int-or-string", "any") and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
