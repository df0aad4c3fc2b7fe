"""Lists and objects that are atomic to the API server, in the form in which it stores them.

A server-side diff goes field by field, but some lists and objects are atomic: a difference anywhere in one is a conflict over all of it.
So there, unlike elsewhere in a Pod, an empty value that the server drops or a default that it fills in would show as a difference.
"""

from __future__ import annotations

from typing import Any

from fcompile.schema.rewrite import rewritten

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
    """Return the object with its atomic parts as the API server stores them. The input is not changed; unchanged parts are not copied."""
    return rewritten(value, type_name, _as_stored)


def _as_stored(value: dict[str, Any], type_name: str) -> dict[str, Any]:
    dropped = {name for name in _DROPPED.get(type_name, ()) if name in value and value[name] in _EMPTY}
    kept = {name: item for name, item in value.items() if name not in dropped} if dropped else value
    lacking = {name: item for name, item in _FILLED.get(type_name, {}).items() if name not in kept}
    return {**kept, **lacking} if lacking else kept
