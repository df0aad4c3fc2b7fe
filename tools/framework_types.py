"""Write `fcompile/schema/framework_types.json`, the field tables of the Framework's own types, from `fcompile/declare/framework.py`.

`--check`: write nothing, exit with 1 if the file is out of date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcompile.declare.fields import Also  # noqa: E402
from fcompile.declare.framework import Framework  # noqa: E402
from fcompile.model.fields import Field, Type  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

FILE = ROOT / "fcompile" / "schema" / "framework_types.json"
_KINDS: dict[Any, str] = {str: "string", int: "integer", bool: "boolean", Any: "any"}
_BOUNDS = {Ge: ("minimum", "ge"), Le: ("maximum", "le"), MaxLen: ("max_items", "max_length")}


def main() -> int:
    """Write or check the file; returns the exit code."""
    return write_or_check(__doc__, FILE, rendered)


def rendered() -> str:
    """Return the file's text."""
    types = []
    for name, fields in tables().items():
        rows = [f'"{field}": {json.dumps(_row(form), ensure_ascii=False)}' for field, form in fields.items()]
        types.append(f'"{name}": {{\n' + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(types) + "\n}\n"


def tables() -> dict[str, Type]:
    """Return the table of each type, in the order in which a reader meets them."""
    return {model.__name__: table(model) for model in models(Framework)}


def models(top: type[BaseModel]) -> list[type[BaseModel]]:
    """Return a model and those below it, each once."""
    found = {top: None}
    for field in top.model_fields.values():
        for inner in _models_in(field.annotation):
            found |= dict.fromkeys(models(inner))
    return list(found)


def table(model: type[BaseModel]) -> Type:
    """Return the table of a model's fields."""
    return {name: _field(info) for name, info in model.model_fields.items()}


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _field(info: FieldInfo) -> Field:
    found: dict[str, Any] = {"required": info.is_required(), "default": info.default if not info.is_required() else None}
    found |= {"description": " ".join((info.description or "").split())}
    of_types: list[Any] = []
    types = list(_alternatives(info.annotation, of_types))
    assert found["description"], info
    if types == [int, str]:
        found["kind"] = "int-or-string"
    else:
        (only,) = types
        found |= _shape(only)
    for one in [*of_types, *info.metadata]:  # what is said of the field comes after what is said of its type
        found |= _said(one)
    return Field(**found)


def _alternatives(annotation: Any, metadata: list[Any]) -> Iterator[Any]:
    """Yield the types that a value may have, null aside; collects what is said of them on the way."""
    origin = get_origin(annotation)
    if origin is Annotated:
        metadata += annotation.__metadata__
        yield from _alternatives(annotation.__origin__, metadata)
    elif origin in (Union, UnionType):
        for one in get_args(annotation):
            yield from _alternatives(one, metadata)
    elif annotation is not NoneType:
        yield annotation


def _shape(annotation: Any) -> dict[str, Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"kind": "string", "enum": arguments}
    if annotation == dict[str, Any]:
        return {"kind": "object"}
    if origin in (list, dict):
        items = _shape(arguments[-1])
        return {"kind": "list" if origin is list else "map", "items": items.pop("kind"), **items}
    if annotation in _KINDS:
        return {"kind": _KINDS[annotation]}
    assert issubclass(annotation, BaseModel), annotation
    return {"kind": "object", "ref": annotation.__name__}


def _said(metadata: Any) -> dict[str, Any]:
    """Return what metadata says of a field."""
    if isinstance(metadata, Also):
        return {name: value for name, value in vars(metadata).items() if value or value == {}}
    if type(metadata) in _BOUNDS:
        name, bound = _BOUNDS[type(metadata)]
        return {name: getattr(metadata, bound)}
    assert isinstance(metadata, FieldInfo), metadata
    return {name: value for inner in metadata.metadata for name, value in _said(inner).items()}


def _row(field: Field) -> dict[str, Any]:
    """Return what of a field differs from the defaults."""
    return {name: value for name, value in field._asdict().items() if value != Field._field_defaults.get(name)}


if __name__ == "__main__":
    sys.exit(main())
