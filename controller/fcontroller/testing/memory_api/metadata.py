"""The rules of metadata: what clients may write, and what the server keeps."""

from __future__ import annotations

from typing import Any

from fcontroller.testing.memory_api.values import Object

_WRITTEN = ("labels", "annotations", "finalizers", "ownerReferences")


def created(given: Object, namespace: str, uid: str, time: str) -> Object:
    """Return the metadata of a new object, without a resourceVersion."""
    result = {"name": given.get("name") or "", "uid": uid, "creationTimestamp": time}
    if namespace:
        result["namespace"] = namespace
    _write(result, given)
    return result


def updated(given: Object, old: Object) -> Object:
    """Return the metadata of an overwritten object: labels, annotations, finalizers and owners as the client says, the rest as it was."""
    result = {name: value for name, value in old.items() if name not in _WRITTEN}
    _write(result, given)
    return result


def _write(result: Object, given: Object) -> None:
    for name in _WRITTEN:
        if value := given.get(name):
            result[name] = value
    if owners := result.get("ownerReferences"):
        result["ownerReferences"] = _distinct(owners)


def _distinct(owners: list[Any]) -> list[Any]:
    """Drop owners that are given a second time in the same words."""
    return [owner for at, owner in enumerate(owners) if owner not in owners[:at]] if len(owners) > 1 else owners
