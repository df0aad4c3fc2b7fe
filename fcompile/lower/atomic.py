"""What the API server compares as a whole, as the API server stores it.

A server-side diff goes field by field, but some lists and objects are atomic: a difference anywhere in one is a conflict over all of it.
So there, unlike elsewhere in a Pod, an empty value that the server drops or a default that it fills in would show as a difference.
"""

from __future__ import annotations

from operator import is_not
from typing import Any

from fcompile.model.fields import Field
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

# The types that are atomic themselves or only items of atomic lists. An empty text, list or map in these fields means the same as none.
_DROPPED: dict[str, tuple[str, ...]] = {
    "ConfigMapProjection": ("items",),
    "DownwardAPIProjection": ("items",),
    "EnvFromSource": ("prefix",),
    "LabelSelector": ("matchExpressions", "matchLabels"),
    "LabelSelectorRequirement": ("values",),
    "NodeSelectorRequirement": ("values",),
    "NodeSelectorTerm": ("matchExpressions", "matchFields"),
    "ObjectFieldSelector": ("apiVersion",),
    "PodAffinityTerm": ("matchLabelKeys", "mismatchLabelKeys", "namespaces"),
    "PodCertificateProjection": ("certificateChainPath", "credentialBundlePath", "keyPath", "userAnnotations"),
    "ResourceFieldSelector": ("containerName",),
    "SecretProjection": ("items",),
    "ServiceAccountTokenProjection": ("audience",),
    "Toleration": ("effect", "key", "operator", "value"),
}
_EMPTY: tuple[Any, ...] = ("", [], {})
_FILLED: dict[str, dict[str, Any]] = {
    "FileKeySelector": {"optional": False},
    "ObjectFieldSelector": {"apiVersion": "v1"},
    "ResourceFieldSelector": {"divisor": "0"},
    "ServiceAccountTokenProjection": {"expirationSeconds": 3600},
}


def as_stored(value: dict[str, Any], type_name: str) -> dict[str, Any]:
    """Return the object with its atomic parts as the API server stores them. The input is not changed; what is so already is not copied."""
    fields = types(NEWEST)[type_name]
    changed = {}
    for name, item in value.items():
        field = fields.get(name)
        made = item if field is None else _value(item, field)
        if made is not item:
            changed[name] = made
    made = {**value, **changed} if changed else value
    dropped = {name for name in _DROPPED.get(type_name, ()) if name in made and made[name] in _EMPTY}
    if dropped:
        made = {name: item for name, item in made.items() if name not in dropped}
    lacking = {name: item for name, item in _FILLED.get(type_name, {}).items() if name not in made}
    return {**made, **lacking} if lacking else made


def _value(value: Any, field: Field) -> Any:
    if field.kind == "object" and isinstance(value, dict):
        return as_stored(value, field.ref)
    if field.kind == "list" and field.items == "object" and isinstance(value, list):
        made = [as_stored(item, field.ref) if isinstance(item, dict) else item for item in value]
        return made if any(map(is_not, made, value)) else value
    return value
