"""The order of keys in what `build` prints: it follows from the content alone, whatever the order in the source."""

from __future__ import annotations

from typing import Any

USER_MAPS = frozenset(
    [
        "annotations",
        "labels",
        "matchLabels",
        "nodeSelector",
        "data",
        "binaryData",
        "stringData",
        "limits",
        "requests",
        "capacity",
        "allocatable",
        "overhead",
        "hard",
        "used",
        "default",
        "defaultRequest",
        "max",
        "min",
        "maxLimitRequestRatio",
        "volumeAttributes",
        "parameters",
    ]
)
"""Fields that hold a map whose keys the user chooses: `name` means nothing there, so they are sorted plainly."""

_OBJECT_FIRST = ("apiVersion", "kind", "metadata", "name", "namespace")
_FIRST = ("name", "namespace")


def ordered(value: Any) -> Any:
    """A copy of `value` in canonical order.

    An object begins with `apiVersion`, `kind` and `metadata`, so does whatever refers to one; any mapping with a `name` begins
    with it and its `namespace`; all other keys are sorted by code point. Lists keep their order.
    """
    if isinstance(value, dict):
        return _mapping(value)
    if isinstance(value, list):
        return [ordered(item) for item in value]
    return value


def _mapping(mapping: dict[str, Any]) -> dict[str, Any]:
    first = _OBJECT_FIRST if "apiVersion" in mapping and "kind" in mapping else _FIRST if "name" in mapping else ()
    keys = [key for key in first if key in mapping]
    keys += sorted(mapping.keys() - first)
    return {key: _entry(key, mapping[key]) for key in keys}


def _entry(key: str, value: Any) -> Any:
    if key in USER_MAPS and isinstance(value, dict):
        return {name: ordered(value[name]) for name in sorted(value)}
    return ordered(value)
