"""Frameworks in lists that nobody reads as such, so that no other rule looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.objects import all_objects_in, is_framework, is_list
from fcompile.check.rules.framework.misspelt_kind import misspelt_kind
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model.values import sequence, text

FRAMEWORK_IN_UNREAD_LIST = error_rule(
    code="FC164",
    name="framework-in-unread-list",
    summary="A Framework stands in a list that kubectl does not read as a list of objects.",
    why=(
        "kubectl refuses a list at the top of a document, a list within a list, a `List` without a list in `items`, and an unknown kind; "
        "it takes any other object with `items` for a list. Nothing in it is checked here."
    ),
    remedy="Put the Framework into a document of its own, or into `items` of the outermost `kind: List`.",
)


def unread_lists(document: Any) -> Iterator[Finding]:
    """Yield the first Framework, or what is meant as one, of each list in a document that kubectl does not read."""
    if not sequence(document, "items"):
        yield from _without_items(document)
        return
    told: set[Path] = set()
    for path, item in all_objects_in(document):
        if path[:-2] not in told and (message := _unread(document, path)) and _is_meant(item):
            told.add(path[:-2])
            yield Finding(FRAMEWORK_IN_UNREAD_LIST, path, message, part="key")


def _is_meant(item: Any) -> bool:
    return is_framework(item) or any(misspelt_kind(item))


def _without_items(document: Any) -> Iterator[Finding]:
    """Yield the first Framework of each list of a document that is a list itself, or says that it is one and has no items."""
    holders: list[tuple[Path, Any, str]] = []
    if isinstance(document, list):
        holders = [((), document, "kubectl reads no list at the top of a document: make it `items` of a `kind: List`")]
    elif isinstance(document, dict) and (text(document, "kind") or "").endswith("List"):
        if _is_meant(document.get("items")):
            yield Finding(FRAMEWORK_IN_UNREAD_LIST, ("items",), "`items` holds one object, not a list: begin it with `- `", part="key")
        holders = [((key,), items, f"a list has its objects in `items`, not in `{key}`") for key, items in document.items()]
    for path, items, message in holders:
        if isinstance(items, list) and (first := next((index for index, item in enumerate(items) if _is_meant(item)), None)) is not None:
            yield Finding(FRAMEWORK_IN_UNREAD_LIST, (*path, first), message, part="key")


def _unread(document: Any, path: Path) -> str:
    """Return why kubectl does not read the object at a path of `items` as one of its own; empty if it does."""
    holder = document
    for index in path[1::2]:
        if not is_list(holder):
            kind = text(holder, "kind")
            said = f"the kind `{kind}`" if kind else "an object without a kind"
            return f"a Framework stands in `items` of {said}, which is not a list: write kind: List"
        holder = holder["items"][index]
    return "kubectl refuses a list within a list: put its items into the outer one" if len(path) > 2 else ""
