"""The fields of a Framework as the API server itself describes them: its OpenAPI for the Pod template, ours for what is around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Path
from fcompile.model.fields import Field, Type
from fcompile.schema.types import FRAMEWORK_TYPES

ROOT = "Framework"
TEMPLATE = "PodTemplateSpec"
_SCALARS = {"Quantity": "quantity", "IntOrString": "int-or-string", "FieldsV1": "any", "Time": "string", "MicroTime": "string"}
_QUOTED = re.compile(r"""["'`“]([^"'`“”\s]{1,40})["'`”]""")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,10}(?!\w|\.\d)")


class Node(NamedTuple):
    """A value in a Framework and what the API says of it."""

    path: Path
    owner: str
    """The object type that has the field."""
    name: str
    """The field, or the field whose list or map the value is an entry of."""
    field: Field
    value: Any
    is_entry: bool


class Api:
    """The object types of one API server."""

    def __init__(self, document: dict[str, Any]) -> None:
        """`document` is what the server has under /openapi/v3/api/v1."""
        schemas: dict[str, Any] = document["components"]["schemas"]
        self.types: dict[str, Type] = {_short(name): _type(schema) for name, schema in schemas.items() if "properties" in schema}
        self.template_types = frozenset(self._reachable(TEMPLATE))
        self.types |= {**FRAMEWORK_TYPES, "FrameworkMetadata": self.types["ObjectMeta"]}

    def _reachable(self, name: str) -> Iterator[str]:
        seen, waiting = {name}, [name]
        while waiting:
            yield (current := waiting.pop())
            below = {field.ref for field in self.types[current].values() if field.ref} - seen
            seen |= below
            waiting += sorted(below)

    def nodes(self, value: Any, type_name: str = ROOT, path: Path = ()) -> Iterator[Node]:
        """Every value below an object of the type whose field the API knows."""
        for name, item in value.items() if isinstance(value, dict) else ():
            field = self.types[type_name].get(name)
            if field is not None:
                yield from self._node(item, field, type_name, name, (*path, name))

    def _node(self, value: Any, field: Field, owner: str, name: str, path: Path, is_entry: bool = False) -> Iterator[Node]:
        yield Node(path, owner, name, field, value, is_entry)
        if field.kind == "object":
            yield from self.nodes(value, field.ref, path)
        entries: tuple[tuple[str | int, Any], ...] = ()
        if field.kind == "list" and isinstance(value, list):
            entries = tuple(enumerate(value))
        elif field.kind == "map" and isinstance(value, dict):
            entries = tuple(value.items())
        for key, item in entries:
            yield from self._node(item, entry_field(field), owner, name, (*path, key), True)


def entry_field(field: Field) -> Field:
    """What a list's items or a map's values are."""
    return field._replace(kind=field.items, items="")


def hints(field: Field) -> list[Any]:
    """Values that the description of a field speaks of: words in quotes, and numbers with their neighbours."""
    if field.kind in ("integer", "int-or-string", "number"):
        return [int(number) + step for number in _NUMBER.findall(field.description) for step in (-1, 0, 1)]
    return [*field.enum, *dict.fromkeys(_QUOTED.findall(field.description))] if field.kind == "string" else []


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _type(schema: dict[str, Any]) -> Type:
    required = schema.get("required", ())
    return {name: _field(item)._replace(required=name in required) for name, item in schema["properties"].items()}


def _field(schema: dict[str, Any]) -> Field:
    about = {"description": schema.get("description", ""), "enum": tuple(schema.get("enum", ()))}
    referred = next((part["$ref"] for part in (schema, *schema.get("allOf", ())) if "$ref" in part), None)
    if referred is not None:
        name = _short(referred)
        return Field(_SCALARS[name], **about) if name in _SCALARS else Field("object", ref=name, **about)
    kind = {"array": "list", "object": "map"}.get(schema.get("type", ""), schema.get("type", "any"))
    if kind in ("list", "map"):
        item = _field(schema.get("items") or schema.get("additionalProperties") or {"type": "string"})
        return Field(kind, items=item.kind, ref=item.ref, description=about["description"], enum=item.enum)
    return Field(kind, **about)
