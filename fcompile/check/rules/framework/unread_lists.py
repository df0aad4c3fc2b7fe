"""Frameworks in lists that nobody reads as such, so that no other rule looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.rules.framework.misspelt_kind import misspelt_kind
from fcompile.check.selection import all_objects_in, is_framework, is_list
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model.values import sequence, text

FRAMEWORK_IN_UNREAD_LIST = error_rule(
    code="FC164",
    name="framework-in-unread-list",
    summary="A Framework stands in a list within a list, or in `items` of an object that is not a list.",
    why=(
        "kubectl refuses a list within a list and an unknown kind, and takes any other object with `items` for a list. "
        "Nothing in it is checked here."
    ),
    remedy="Put the Framework into the outer list, or into a document of its own, or write `kind: List`.",
)


def unread_lists(document: Any) -> Iterator[Finding]:
    """Yield the first Framework, or what is meant as one, of each list in a document that kubectl does not read."""
    if not sequence(document, "items"):
        return
    told: set[Path] = set()
    for path, item in all_objects_in(document):
        if path[:-2] not in told and (message := _unread(document, path)) and (is_framework(item) or any(misspelt_kind(item))):
            told.add(path[:-2])
            yield Finding(FRAMEWORK_IN_UNREAD_LIST, path, message, part="key")


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
