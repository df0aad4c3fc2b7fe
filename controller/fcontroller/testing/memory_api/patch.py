"""Patches: JSON merge patch (RFC 7396) and JSON patch (RFC 6902)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fcontroller.testing.memory_api.answers import Refusal, bad_request
from fcontroller.testing.memory_api.values import Object, copied, same, without_nulls

Copy = Callable[[Any], Any]
Apply = Callable[[Object, Any, Copy], Any]


def patched(content_type: str, custom: bool) -> Apply:
    """Return what applies a patch of a content type to an object, which stays as it is; raises Refusal when there is none.

    It takes the object, the patch, and how to copy values of the patch.

    :param custom: the object is a custom resource: the refusal is in other words.
    """
    apply = _BY_TYPE.get(content_type.partition(";")[0].strip())
    if apply is None and custom:
        message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(_BY_TYPE)}"
        raise Refusal(415, "UnsupportedMediaType", message)
    if apply is None:
        raise Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return apply


def merged(target: Any, patch: Any, copy: Copy) -> Any:
    """Return the target after a JSON merge patch; what it does not touch is shared with the target."""
    if not isinstance(patch, dict):
        # A real server takes the nulls out of the objects in a list too, unless the list takes the place of an object.
        return copy(patch) if isinstance(target, dict) else without_nulls(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value, copy)
    return result


def operated(target: Object, patch: Any, copy: Copy) -> Any:
    """Return the target after a JSON patch: all of it is carried out, or none."""
    if not isinstance(patch, list):
        raise bad_request("the patch is not a list of operations")
    document = {"": copied(target)}
    try:
        for operation in patch:
            _operate(document, operation, copy)
    except (LookupError, TypeError, ValueError):
        raise Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {}) from None
    return document[""]


def _operate(document: Object, operation: Any, copy: Copy) -> None:
    """Carry out one operation. Raises LookupError, TypeError or ValueError when it cannot be done."""
    name, path = operation["op"], operation["path"]
    if name == "test":
        if not same(_at(document, path), operation["value"]):
            raise ValueError(path)
    elif name == "add":
        _add(document, path, copy(operation["value"]))
    elif name == "replace":
        _replace(document, path, copy(operation["value"]))
    elif name == "remove":
        _remove(document, path)
    elif name in ("copy", "move"):
        value = copied(_at(document, operation["from"]))
        if name == "move":
            _remove(document, operation["from"])
        _add(document, path, value)
    else:
        raise ValueError(name)


def _steps(path: str) -> list[str]:
    if path and not path.startswith("/"):
        raise ValueError(path)
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]


def _step(value: Any, step: str) -> Any:
    return value[int(step)] if isinstance(value, list) else value[step]


def _at(document: Any, path: str) -> Any:
    for step in _steps(path):
        document = _step(document, step)
    return document


def _place(document: Any, path: str) -> tuple[Any, str]:
    """Return what holds the value that a path leads to, and under which name."""
    *way, last = _steps(path)
    for step in way:
        document = _step(document, step)
    return document, last


def _add(document: Object, path: str, value: Any) -> None:
    holder, name = _place(document, path)
    if isinstance(holder, list):
        at = len(holder) if name == "-" else int(name)
        if not 0 <= at <= len(holder):
            raise IndexError(name)
        holder.insert(at, value)
    else:
        holder[name] = value


def _replace(document: Object, path: str, value: Any) -> None:
    """Replace a field, also one that is not there, unlike RFC 6902, as long as there is an object that it can be in."""
    holder, name = _place(document, path)
    holder[int(name) if isinstance(holder, list) else name] = value


def _remove(document: Object, path: str) -> None:
    holder, name = _place(document, path)
    if isinstance(holder, list):
        holder.pop(int(name))
    else:
        del holder[name]


_BY_TYPE: dict[str, Apply] = {"application/json-patch+json": operated, "application/merge-patch+json": merged}
