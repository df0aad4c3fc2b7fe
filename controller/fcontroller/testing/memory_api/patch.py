"""JSON patch (RFC 6902), as a real server has it."""

from __future__ import annotations

from typing import Any

from fcontroller.testing.memory_api.answers import Refusal, bad_request
from fcontroller.testing.memory_api.values import Object, copied, same


def patched(target: Object, patch: Any) -> Any:
    """Return an object after a patch, all of it or nothing. It shares nothing with either."""
    if not isinstance(patch, list):
        raise bad_request("the patch is not a list of operations")
    document = {"": copied(target)}
    try:
        for operation in patch:
            _operate(document, operation)
    except (LookupError, TypeError, ValueError):
        raise Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {}) from None
    return document[""]


def _operate(document: Object, operation: Any) -> None:
    """Carry out one operation; raises LookupError, TypeError or ValueError when that is impossible."""
    path: str = operation["path"]
    if path and not path.startswith("/"):
        raise ValueError(path)
    *way, last = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
    holder: Any = document
    for step in way:
        holder = holder[_key(holder, step)]
    match operation["op"]:
        case "test":
            if not same(holder[_key(holder, last)], operation["value"]):
                raise ValueError(path)
        case "add":
            _add(holder, last, copied(operation["value"]))
        case "replace":
            # Unlike RFC 6902, and like the real server, this also adds a field that is missing, where its parent exists.
            holder[_key(holder, last)] = copied(operation["value"])
        case "remove":
            del holder[_key(holder, last)]
        case other:
            raise ValueError(other)


def _key(holder: Any, step: str) -> str | int:
    return int(step) if isinstance(holder, list) else step


def _add(holder: Any, name: str, value: Any) -> None:
    if isinstance(holder, list):
        at = len(holder) if name == "-" else int(name)
        if not 0 <= at <= len(holder):
            raise IndexError(name)
        holder.insert(at, value)
    else:
        holder[name] = value
