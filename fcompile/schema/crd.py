"""The CustomResourceDefinition of Framework: what an API server checks, defaults, keeps and shows.

Its schema is printed from the tables that the structure check walks. A Pod template is in it with every field of one Kubernetes version,
so that a misspelt field is refused and a known one never lost; `docs/adr/0004` says what that means for newer fields.
"""

from __future__ import annotations

from typing import Any

from fcompile.emit import yaml
from fcompile.model.fields import Field, Type
from fcompile.model.formats import FORMATS
from fcompile.model.names import GROUP, KIND, PLURAL, RESOURCE
from fcompile.model.quantities import NO_DIGITS
from fcompile.model.quantities import PATTERN as QUANTITY
from fcompile.schema.crd_relaxed import relax_pod
from fcompile.schema.crd_rules import rules
from fcompile.schema.json_schema import PLACEHOLDER, Schema, bounds
from fcompile.schema.types import FRAMEWORK_TYPES, refuses_null, types

POD_VERSION_ANNOTATION = f"{GROUP}/pod-template-of"
"""On the CRD: the Kubernetes version whose Pod fields are in it."""
COLUMNS = (
    ("State", "string", ".status.state", 0, "Where the Framework is in its life."),
    ("Attempt", "integer", ".status.retryPolicyStatus.totalRetriedCount", 0, "How often it was tried again: the id of its attempt."),
    ("Running", "integer", ".status.taskCounts.running", 0, "Tasks whose Pod runs."),
    ("Completed", "integer", ".status.taskCounts.completed", 0, "Tasks that are done for good."),
    ("Tasks", "integer", ".status.taskCounts.total", 0, "All tasks."),
    ("Code", "integer", ".status.attemptStatus.completionStatus.code", 0, "The completion code of the attempt."),
    ("Phrase", "string", ".status.attemptStatus.completionStatus.phrase", 0, "The completion code in words."),
    ("Type", "string", ".status.attemptStatus.completionStatus.type.name", 1, "Succeeded or Failed."),
    ("Execution", "string", ".spec.executionType", 1, "Create, Start or Stop."),
    ("Age", "date", ".metadata.creationTimestamp", 0, ""),
)
"""Name, type, JSONPath, priority (1: only with `-o wide`), description."""

# Lists in which the API server refuses two items of the same keys in every version. In others (env, ports, …) it takes them.
MAPS = {
    ("FrameworkSpec", "taskRoles"),
    ("TaskRoleService", "ports"),
    ("PodSpec", "containers"),
    ("PodSpec", "initContainers"),
    ("PodSpec", "volumes"),
    ("Container", "volumeMounts"),
    ("Container", "volumeDevices"),
}
_EMPTY = {"x-kubernetes-preserve-unknown-fields": True, "maxLength": 0, "maxItems": 0, "maxProperties": 0, "minimum": 0, "maximum": 0}
"""Of a field that may not be used: what is empty is the same as left out."""
_PREFIX_LENGTH = "(?=[^/]{1,253}/)"
_LOOKS_AROUND = ("(?=", "(?!", "(?<")
"""What the API server's regular expressions do not have."""


def crd(version: int) -> dict[str, Any]:
    """Return the CustomResourceDefinition whose Pod templates are for Kubernetes 1.`version`."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": RESOURCE, "annotations": {POD_VERSION_ANNOTATION: f"1.{version}"}},
        "spec": {
            "group": GROUP,
            "names": {
                "plural": PLURAL,
                "singular": KIND.lower(),
                "kind": KIND,
                "listKind": f"{KIND}List",
                "shortNames": ["fw"],
                "categories": ["all"],
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [_column(*column) for column in COLUMNS],
                    "schema": {"openAPIV3Schema": _Printer(version).root()},
                }
            ],
        },
    }


def rendered(version: int) -> str:
    """Return the CustomResourceDefinition as YAML."""
    return yaml.dump(crd(version))


def _column(name: str, kind: str, path: str, priority: int, description: str) -> dict[str, Any]:
    column: dict[str, Any] = {"name": name, "type": kind, "jsonPath": path}
    return {**column, **({"priority": priority} if priority else {}), **({"description": description} if description else {})}


class _Printer:
    """Writes each type out wherever it is used, since a CRD has no references."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.types = types(version)

    def root(self) -> Schema:
        fields = self.types["Framework"]
        schema = self.object("Framework", {name: field for name, field in fields.items() if name in ("spec", "status")})
        schema["description"] = "A distributed job or service: roles of equal tasks, each of which runs one Pod."
        properties = schema["properties"]
        properties["status"] = {"type": "object", **properties["status"]}
        # The API server checks metadata itself; of it, a CRD may only narrow the names.
        schema["properties"] = {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {
                "type": "object",
                "properties": {
                    "name": self.value(self.types["FrameworkMetadata"]["name"], "", "", True),
                    "generateName": {"type": "string", "maxLength": 0},
                },
            },
            **properties,
        }
        return schema

    def object(self, name: str, fields: Type) -> Schema:
        own = name in FRAMEWORK_TYPES
        schema: Schema = {"type": "object"}
        needed = [field for field, form in fields.items() if form.required]
        if needed:
            schema["required"] = needed
        schema.update(rules(name, fields, self.version))
        schema["properties"] = {
            field: {**({"description": form.description} if own else {}), **self.value(form, name, field, own)}
            for field, form in fields.items()
        }
        if name == "PodSpec":
            relax_pod(schema, self.version)
        return schema

    def value(self, field: Field, owner: str, name: str, own: bool, item: bool = False) -> Schema:
        """Return the schema of a field, or of the items of a list or map."""
        schema = self._shape(field, owner, name, own, item)
        if field.default is not None and not item:
            schema["default"] = field.default
        return schema

    def _shape(self, field: Field, owner: str, name: str, own: bool, item: bool) -> Schema:
        if field.forbidden:
            return dict(_EMPTY)
        if field.kind == "object":
            return self.object(field.ref, self.types[field.ref])
        if field.kind == "list":
            return self._list(field, owner, name, own)
        if field.kind == "map":
            entry = self._item(field, own)
            # A null that is not allowed is taken out without a word, and what is stored is not what was reviewed.
            return {"type": "object", "additionalProperties": entry if own else {**entry, "nullable": True}}
        if field.kind == "any":
            return {"x-kubernetes-preserve-unknown-fields": True}
        if field.kind == "quantity":
            # `cpu: 0.5` is a quantity too, and `x-kubernetes-int-or-string` would refuse it.
            return {"x-kubernetes-preserve-unknown-fields": True, "pattern": rf"^ *(?:{QUANTITY}|{NO_DIGITS}) *$|{PLACEHOLDER}"}
        if field.kind == "int-or-string":
            return {"x-kubernetes-int-or-string": True, **_string(field, own, item), **_bounds(field)}
        schema = {"type": field.kind, **_bounds(field)}
        return {**schema, **_string(field, own, item)} if field.kind == "string" else schema

    def _list(self, field: Field, owner: str, name: str, own: bool) -> Schema:
        schema: Schema = {"type": "array", **bounds(field)}
        if (owner, name) in MAPS:
            schema["x-kubernetes-list-type"] = "map"
            schema["x-kubernetes-list-map-keys"] = list(field.map_keys)
        items = self._item(field, own)
        return {**schema, "items": items if own or refuses_null(field, self.version) else {**items, "nullable": True}}

    def _item(self, field: Field, own: bool) -> Schema:
        return self.value(field._replace(kind=field.items), "", "", own, item=True)


def _string(field: Field, own: bool, item: bool) -> Schema:
    """Return the constraints of a string. An empty string means the same as none, except as an item or in a required field."""
    empty = not (item or field.required or field.nonempty or field.format == "date-time")
    if field.enum:
        return {"enum": [*([""] if empty else []), *field.enum]}
    schema: Schema = {"minLength": 1} if field.required and not item else {}
    form = FORMATS[field.format] if field.format else None
    # The API server itself checks the length of a key's prefix.
    asked = form.pattern.replace(_PREFIX_LENGTH, "") if form else ""
    if form is None or not asked or any(look in asked for look in _LOOKS_AROUND):
        return schema
    pattern = f"^(?:{asked})$"
    if own and form.max_length:
        schema["maxLength"] = form.max_length
    # No placeholder's value can be part of a time.
    filled_in = "" if own or field.format == "date-time" else f"|{PLACEHOLDER}"
    return {**schema, "pattern": ("^$|" if empty else "") + pattern + filled_in}


def _bounds(field: Field) -> Schema:
    form = {"format": field.format} if field.kind == "integer" and field.format in ("int32", "int64") else {}
    return {**form, **bounds(field)}
