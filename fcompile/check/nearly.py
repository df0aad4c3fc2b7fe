"""Objects that are meant to be Frameworks and are none, because `apiVersion` or `kind` is misspelt: nothing else would look at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.suggestions import edits
from fcompile.check.values import mapping, text
from fcompile.diagnostics.problem import Finding, Fix, Severity, rule
from fcompile.model import names

NEARLY_A_FRAMEWORK = rule(
    "FC163",
    "nearly-a-framework",
    Severity.ERROR,
    "An object is meant to be a Framework, but its `apiVersion` or `kind` is misspelt or missing.",
    "The cluster has no such kind and refuses the object, and nothing in it is checked here. Correct the name.",
)
_VERSION = f"{names.GROUP}/v1"
_LISTS = f"{names.KIND}List"
_MISSPELT = 3
"""Letters that are wrong."""


def nearly(value: Any) -> Iterator[Finding]:
    """`value` is an object of a document that is no Framework."""
    version, kind = text(value, "apiVersion") or "", text(value, "kind")
    group = version.partition("/")[0]
    if group == names.GROUP:
        if kind is not None and kind != _LISTS:
            message = f"`kind` is `{kind}`, and {names.GROUP} has only `{names.KIND}`: write {names.KIND}"
            yield Finding(NEARLY_A_FRAMEWORK, ("kind",), message, fix=Fix(f"write {names.KIND}", ("kind",), "value", names.KIND))
    elif kind == names.KIND and isinstance(mapping(value, "spec").get("taskRoles"), list):
        if not version:
            yield Finding(NEARLY_A_FRAMEWORK, ("kind",), f"a Framework needs an `apiVersion`: add `apiVersion: {_VERSION}`", part="key")
        elif edits(group, names.GROUP) <= _MISSPELT:
            message = f"`apiVersion` is `{version}`: did you mean {_VERSION}?"
            yield Finding(NEARLY_A_FRAMEWORK, ("apiVersion",), message, fix=Fix(f"write {_VERSION}", ("apiVersion",), "value", _VERSION))
