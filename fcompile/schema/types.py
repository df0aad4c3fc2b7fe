"""Every object type of a Framework and its Pod templates under one name, for the code that walks them."""

from __future__ import annotations

from functools import cache

from fcompile.model.fields import Field, Type
from fcompile.model.formats import accepts
from fcompile.schema.pod_schemas import field_of, pod_type, rows_in

FRAMEWORK_TYPES: dict[str, Type] = {
    name: {field: field_of(row) for field, row in fields.items()} for name, fields in rows_in("framework_types.json").items()
}
"""The Framework's own types by name, as tools/framework_types.py writes them; a `ref` that is not here names a Pod type."""


class _Types(dict[str, Type]):
    """Reads a Pod type when it is asked for: a file uses a few of the hundred."""

    def __init__(self, version: int) -> None:
        super().__init__(FRAMEWORK_TYPES)
        self.version = version

    def __missing__(self, name: str) -> Type:
        self[name] = found = pod_type(name, self.version)
        return found


@cache
def types(version: int) -> dict[str, Type]:
    """Return the types by name for Kubernetes 1.`version`. Those of Pods come in when `[name]` asks for them."""
    return _Types(version)


def refuses_null(field: Field, version: int) -> bool:
    """Return whether a list refuses a null item: the API server reads it as an empty one, which may lack what an item needs."""
    if field.ref:
        return any(form.required for form in types(version)[field.ref].values())
    if field.enum:
        return "" not in field.enum
    return field.items == "string" and bool(field.format) and not accepts(field.format)("")
