"""Where the CRD must not be stricter than the API server: fields that are taken out of a Pod before anybody looks at them."""

from __future__ import annotations

from fcompile.model import gates
from fcompile.model.dropped import Tree, dropped_by
from fcompile.schema.json_schema import Schema

_OF_TYPES = frozenset(
    (
        "type",
        "format",
        "nullable",
        "properties",
        "items",
        "additionalProperties",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
    )
)


def relax_pod(spec: Schema, version: int) -> None:
    """Reduce the schema of fields that Kubernetes 1.`version` takes out of a `PodSpec` to their types."""
    of_spec, of_container = dropped_by(version)
    _relax(spec, of_spec)
    for kind in ("containers", "initContainers"):
        _relax(spec["properties"][kind]["items"], of_container)
    if version < gates.SPREAD_SELECTORS:
        _relax(spec, {"topologySpreadConstraints": {"labelSelector": None}})


def _relax(schema: Schema, tree: Tree) -> None:
    properties = schema["properties"]
    for field, below in tree.items():
        if field not in properties:
            continue
        if isinstance(below, dict):
            _relax(properties[field].get("items", properties[field]), below)
        else:
            properties[field] = _only_types(properties[field])


def _only_types(schema: Schema) -> Schema:
    kept = {key: value for key, value in schema.items() if key in _OF_TYPES}
    if "format" in kept and kept["format"] not in ("int32", "int64"):
        del kept["format"]
    if "properties" in kept:
        kept["properties"] = {name: _only_types(value) for name, value in kept["properties"].items()}
    for inner in ("items", "additionalProperties"):
        if inner in kept:
            kept[inner] = {**_only_types(kept[inner]), "nullable": True}
    return kept
