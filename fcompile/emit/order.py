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
_LAST = "task"
"""A role's Pod template is long, so the other fields of the role come before it."""


def ordered(value: Any) -> Any:
    """Return a copy of `value` in canonical order.

    An object begins with `apiVersion`, `kind` and `metadata`, and so does a reference to one; any mapping with a `name` begins
    with it and its `namespace`; all other keys are sorted by code point, but `task` comes last. Lists keep their order.
    """
    if isinstance(value, dict):
        return _mapping(value)
    if isinstance(value, list):
        return [ordered(item) if isinstance(item, (dict, list)) else item for item in value]
    return value


def _mapping(mapping: dict[str, Any]) -> dict[str, Any]:
    first = _OBJECT_FIRST if "apiVersion" in mapping and "kind" in mapping else _FIRST if "name" in mapping else ()
    keys = sorted(mapping)
    if first:
        keys = [key for key in first if key in mapping] + [key for key in keys if key not in first]
    if _LAST in mapping:
        keys.remove(_LAST)
        keys.append(_LAST)
    copy = {}
    for key in keys:
        value = mapping[key]
        if isinstance(value, dict) and key in USER_MAPS:
            value = {name: ordered(value[name]) for name in sorted(value)}
        elif isinstance(value, (dict, list)):
            value = ordered(value)
        copy[key] = value
    return copy
