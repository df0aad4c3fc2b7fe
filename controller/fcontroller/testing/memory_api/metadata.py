"""The rules of metadata: what clients may write, what the server keeps, what is refused."""

from __future__ import annotations

from typing import Any

from fcontroller.testing.memory_api.answers import Problem
from fcontroller.testing.memory_api.values import Object

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_PLAIN_FINALIZERS = (FOREGROUND, ORPHAN, "kubernetes")
_WRITTEN = ("labels", "annotations", "finalizers", "ownerReferences")
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")


def created(given: Object, namespace: str, uid: str, time: str) -> Object:
    """Return the metadata of a new object, but for the resourceVersion."""
    result = {"name": given.get("name") or "", "uid": uid, "creationTimestamp": time}
    if namespace:
        result["namespace"] = namespace
    _write(result, given)
    return result


def updated(given: Object, old: Object) -> Object:
    """Return the metadata of an overwritten object: the client's labels, annotations, finalizers and owners, and else the old one's."""
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
    """Return the owners without those that are given twice in the same words."""
    return [owner for at, owner in enumerate(owners) if owner not in owners[:at]] if len(owners) > 1 else owners


def problems(new: Object, lax: bool) -> list[Problem]:
    """Return what is wrong with the metadata that a client gives, whatever was there before.

    :param lax: finalizers may have any name.
    """
    found = []
    if not new["name"]:
        found.append(Problem("FieldValueRequired", "metadata.name", "Required value: name or generateName is required"))
    if "ownerReferences" in new:
        found += _owner_problems(new["ownerReferences"])
    if "finalizers" in new:
        found += _finalizer_problems(new["finalizers"], lax)
    return found


def change_problems(new: Object, given: Object, old: Object) -> list[Problem]:
    """Return what is wrong with a change.

    :param new: what is to be stored.
    :param given: what the client sent.
    :param old: what is stored.
    """
    found = []
    if "deletionTimestamp" in old:
        extra = sorted(set(new.get("finalizers", ())) - set(old.get("finalizers", ())))
        if extra:
            listed = "[]string{" + ", ".join(f'"{name}"' for name in extra) + "}"
            message = f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {listed}"
            found.append(Problem("FieldValueForbidden", "metadata.finalizers", message))
    if given.get("uid") and given["uid"] != old["uid"]:
        found.append(_immutable("uid", given["uid"]))
    for name in _DELETION:
        # Once it is being deleted the time cannot be changed, and a client's is ignored.
        ignored = name == "deletionTimestamp" and name in old
        if given.get(name) is not None and given[name] != old.get(name) and not ignored:
            found.append(_immutable(name, given[name]))
    return found


def _immutable(name: str, value: Any) -> Problem:
    shown = f'"{value}"' if isinstance(value, str) else value
    return Problem("FieldValueInvalid", f"metadata.{name}", f"Invalid value: {shown}: field is immutable")


def _finalizer_problems(finalizers: list[str], lax: bool) -> list[Problem]:
    found = []
    for at, name in enumerate(finalizers):
        if not lax and "/" not in name and name not in _PLAIN_FINALIZERS:
            message = f'Invalid value: "{name}": name is neither a standard finalizer name nor is it fully qualified'
            found.append(Problem("FieldValueInvalid", f"metadata.finalizers[{at}]", message))
    if FOREGROUND in finalizers and ORPHAN in finalizers:
        listed = "[" + ",".join(f'"{name}"' for name in finalizers) + "]"
        message = f"Invalid value: {listed}: finalizer {ORPHAN} and {FOREGROUND} cannot be both set"
        found.append(Problem("FieldValueInvalid", "metadata.finalizers", message))
    return found


def _owner_problems(owners: list[Object]) -> list[Problem]:
    found = []
    controllers: list[str] = []
    for at, owner in enumerate(owners):
        for name, message in (("apiVersion", "version must not be empty"), ("kind", _EMPTY), ("name", _EMPTY), ("uid", _EMPTY)):
            if not owner.get(name):
                found.append(Problem("FieldValueInvalid", f"metadata.ownerReferences[{at}].{name}", f'Invalid value: "": {message}'))
        if owner.get("controller"):
            controllers.append(f"{owner.get('kind')}/{owner.get('name')}")
    for other in controllers[1:]:
        message = (
            f"Invalid value: {len(owners)} owners: Only one reference can have Controller set to true. "
            f'Found "true" in references for {controllers[0]} and {other}'
        )
        found.append(Problem("FieldValueInvalid", "metadata.ownerReferences", message))
    return found


_EMPTY = "must not be empty"
