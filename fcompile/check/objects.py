"""The objects of a document, and which of them are Frameworks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.problem import Path
from fcompile.model import names
from fcompile.model.values import sequence, text


def frameworks_in(value: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the Frameworks of a document with their paths: the document itself, or the items of a `List` or `FrameworkList`."""
    for path, item in objects_in(value):
        if is_framework(item):
            yield path, item


def objects_in(value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the objects of a document with their paths: itself, or the items of a list of any kind, and of lists in it.

    An item that says neither its version nor its kind has those of its list, as kubectl reads it: `FrameworkList` of Frameworks.
    """
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if is_list(item):
            waiting.extend(((*path, "items", index), _named(item["items"][index], item)) for index in reversed(range(len(item["items"]))))
        else:
            yield path, item


def _named(item: Any, listed: dict[str, Any]) -> Any:
    """Return an item of a list with the list's version and kind where it says neither."""
    kind = listed["kind"].removesuffix("List")
    if not kind or not isinstance(item, dict) or text(item, "apiVersion") or text(item, "kind"):
        return item
    named = {"apiVersion": listed.get("apiVersion"), "kind": kind}
    return {**named, **item, **named}


def all_objects_in(value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the objects of a document like `objects_in`, and those in the `items` of objects that are no lists."""
    waiting: deque[tuple[Path, Any]] = deque([((), value)])
    while waiting:
        above, holder = waiting.popleft()
        for path, item in objects_in(holder):
            yield (*above, *path), item
            waiting.extend(((*above, *path, "items", index), one) for index, one in enumerate(sequence(item, "items")))


def is_list(value: Any) -> bool:
    """Return whether an object is a list of objects, of any kind."""
    return isinstance(value, dict) and isinstance(value.get("items"), list) and (text(value, "kind") or "").endswith("List")


def is_framework(value: Any) -> bool:
    """Return whether an object is a Framework of the API group, in any version of it (a wrong version is reported, not passed over)."""
    group = (text(value, "apiVersion") or "").partition("/")[0]
    return group == names.GROUP and text(value, "kind") == names.KIND
