"""The JSON Schema of a Framework for editors: completion, hover texts, and the mistakes that a schema can express.

It says what the structure check says, as far as draft-07 and one field at a time can: the tables are the same. A string with
a placeholder fits every form.
"""

from __future__ import annotations

import json
from typing import Any

from fcompile.model.fields import Field, Type
from fcompile.model.formats import FORMATS
from fcompile.model.quantities import PATTERN
from fcompile.schema.json_schema import PLACEHOLDER, Schema, bounds
from fcompile.schema.types import FRAMEWORK_TYPES, types

ROOT = "Framework"
META_TYPES = ("LabelSelector", "LabelSelectorRequirement", "ObjectMeta", "OwnerReference", "ManagedFieldsEntry")
TYPES = {
    "string": ["string"],
    "integer": ["integer"],
    "boolean": ["boolean"],
    "quantity": ["string", "number"],
    "int-or-string": ["string", "integer"],
}


def editor_schema(version: int) -> Schema:
    """Return the schema (draft-07) of a Framework whose Pods are for Kubernetes 1.`version`."""
    definitions: dict[str, Schema] = {}
    todo = [ROOT]
    while todo:
        name = todo.pop()
        if name not in definitions:
            fields = types(version)[name]
            definitions[name] = _object(name, fields, version)
            todo += [field.ref for field in fields.values() if field.ref]
    root = definitions.pop(ROOT)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Framework",
        "description": f"A Framework of FrameworkController, its Pods for Kubernetes 1.{version}.",
        **{**root, "type": "object"},
        "definitions": dict(sorted(definitions.items())),
    }


def _object(name: str, fields: Type, version: int) -> Schema:
    schema: Schema = {"type": ["object", "null"], "additionalProperties": False}
    needed = [field for field, form in fields.items() if form.required]
    if needed:
        schema["required"] = needed
    schema["properties"] = {field: _field(name, field, form, version) for field, form in fields.items()}
    return schema


def _field(owner: str, name: str, field: Field, version: int) -> Schema:
    own = owner in FRAMEWORK_TYPES
    schema = {"type": "null"} if field.forbidden else _value(field, version, own)
    if own:
        schema["description"] = field.description
        if field.default is not None:
            schema["default"] = field.default
    elif field.forbidden:
        schema["description"] = f"Cannot be set here: {field.forbidden}."
    else:
        schema["markdownDescription"] = f"[{owner}.{name}]({_reference(owner, version)})"
    return schema


def _reference(owner: str, version: int) -> str:
    """Return the address of the page where Kubernetes describes a type."""
    if owner == "ClaimMetadata":
        owner = "ObjectMeta"
    group = "meta" if owner in META_TYPES else "core"
    return f"https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.{version}/#{owner.lower()}-v1-{group}"


def _value(field: Field, version: int, own: bool, item: bool = False) -> Schema:
    """Return the schema of a field without its description. `item`: the field stands for an item of a list or map."""
    if field.kind == "object":
        return _reference_to(field.ref, field.required)
    if field.kind == "list":
        return _list(field, version, own)
    if field.kind == "map":
        return _map(field, version, own)
    if field.kind == "any":
        return {}
    schema: Schema = {"type": TYPES[field.kind] + ([] if field.required and not item else ["null"])}
    if field.enum:
        # An empty string means the same as none, but completion should not offer it.
        schema["enum"] = [*field.enum, *([] if field.required and not item else [None])]
    else:
        schema.update(_strings(field, own, item))
    schema.update(bounds(field))
    return schema


def _reference_to(type_name: str, required: bool) -> Schema:
    reference = {"$ref": f"#/definitions/{type_name}"}
    # Types allow null, which is the same as leaving the field out: here it may not be left out.
    return {"allOf": [reference, {"type": "object"}]} if required else {"allOf": [reference]}


def _list(field: Field, version: int, own: bool) -> Schema:
    if field.items == "object":
        items = _reference_to(field.ref, any(form.required for form in types(version)[field.ref].values()))
    else:
        items = _value(field._replace(kind=field.items), version, own, item=True)
    return {"type": ["array"] if field.required else ["array", "null"], "items": items, **bounds(field)}


def _map(field: Field, version: int, own: bool) -> Schema:
    items = _value(field._replace(kind=field.items), version, own, item=True)
    schema: Schema = {"type": ["object", "null"], "additionalProperties": items}
    if field.keys:
        schema["propertyNames"] = {"pattern": _pattern(field.keys, own, "")}
    return schema


def _strings(field: Field, own: bool, item: bool) -> Schema:
    """Return the constraints of a string."""
    if field.kind == "quantity":
        return {"pattern": f"^(?:{PATTERN})$|{PLACEHOLDER}"}
    schema: Schema = {}
    if field.kind == "string" and field.required and not item:
        schema["minLength"] = 1
    if field.kind in ("string", "int-or-string") and field.format:
        optional = field.kind == "string" and not (item or field.required or field.nonempty)
        pattern = _pattern(field.format, own, "^$|" if optional else "")
        if pattern:
            schema["pattern"] = pattern
    return schema


def _pattern(name: str, own: bool, also: str) -> str:
    """Return the pattern of a form, with `also` before it; empty when the form has none."""
    form = FORMATS[name]
    if not form.pattern:
        return ""
    length = rf"(?=[\s\S]{{0,{form.max_length}}}$)" if form.max_length else ""
    return f"{also}^{length}(?:{form.pattern})$" + ("" if own else f"|{PLACEHOLDER}")


def rendered(version: int) -> str:
    """Return the schema as text with a line for each field, so that a change can be reviewed."""
    schema = editor_schema(version)
    definitions = schema.pop("definitions")
    lines = [f"  {json.dumps(key)}: {_text(value)}," for key, value in schema.items() if key != "properties"]
    types_text = ",\n".join(f"    {json.dumps(name)}: {_type_text(definition)}" for name, definition in definitions.items())
    properties = _properties_text(schema["properties"], "    ")
    return "{\n" + "\n".join(lines) + f'\n  "properties": {properties},\n  "definitions": {{\n{types_text}\n  }}\n}}\n'


def _type_text(definition: Schema) -> str:
    head = ", ".join(f"{json.dumps(key)}: {_text(value)}" for key, value in definition.items() if key != "properties")
    return f'{{{head}, "properties": {_properties_text(definition["properties"], "      ")}}}'


def _properties_text(properties: dict[str, Schema], indent: str) -> str:
    return "{\n" + ",\n".join(f"{indent}{json.dumps(name)}: {_text(value)}" for name, value in properties.items()) + "}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
