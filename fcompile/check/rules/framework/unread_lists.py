"""Frameworks in lists that nobody reads as such, so that no other rule looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.rules.framework.misspelt_kind import misspelt_kind
from fcompile.check.selection import all_objects_in, is_framework, is_list
from fcompile.diagnostics.problem import Finding, Path, Severity, rule
from fcompile.model.values import sequence, text

FRAMEWORK_IN_UNREAD_LIST = rule(
    code="FC164",
    name="framework-in-unread-list",
    severity=Severity.ERROR,
    summary="A Framework stands in a list within a list, or in `items` of an object that is no list.",
    why=(
        "kubectl refuses a list within a list and an unknown kind, and takes any other object with `items` for a list. "
        "Nothing in it is checked here."
    ),
    remedy="Put the Framework into the outer list, or into a document of its own, or write `kind: List`.",
)


def unread_lists(value: Any, path: Path) -> Iterator[Finding]:
    """Yield the first Framework that is in the `items` of an object, which is no Framework itself.

    :param path: where the object is in its document.
    """
    if not sequence(value, "items"):
        return
    found = next((step for step, item in all_objects_in(value) if step and (is_framework(item) or any(misspelt_kind(item)))), None)
    if found is None:
        return
    if path and is_list(value):
        message = "kubectl refuses a list within a list: put its items into the outer one"
    else:
        kind = text(value, "kind")
        holder = f"the kind `{kind}`" if kind else "an object without a kind"
        message = f"a Framework stands in `items` of {holder}, which is no list: write kind: List"
    yield Finding(FRAMEWORK_IN_UNREAD_LIST, found, message, part="key")
