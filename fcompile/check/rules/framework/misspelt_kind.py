"""Objects that are meant to be Frameworks but have a misspelt `apiVersion` or `kind`, so that no other rule looks at them.

An object is meant to be a Framework if its API group is ours or nearly ours, or if a key like `kind` says Framework and there is a list
`spec.taskRoles`. (Other APIs may have a kind of this name.) A value that a template fills in is taken to be right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.problem import Finding, Fix, error_rule
from fcompile.diagnostics.suggestions import edits
from fcompile.model import names
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, text

NEARLY_A_FRAMEWORK = error_rule(
    code="FC163",
    name="nearly-a-framework",
    summary="An object is meant to be a Framework, but its `apiVersion` or `kind` is misspelt, wrong or missing.",
    why="The cluster has no such kind and refuses the object, and nothing in it is checked here.",
    remedy="Correct the name, or add what is missing.",
)
_LISTS = f"{names.KIND}List"
_MISSPELT = 3
"""The largest number of wrong letters in a group that is taken for ours."""
_MISSPELT_KEY = {"apiVersion": 2, "kind": 1}
"""The same for each key."""
_TEMPLATED = lazy(r"\{\{|\{%|\$[({]|<%")


def misspelt_kind(value: Any) -> Iterator[Finding]:
    """Yield what is wrong with an object that is no Framework but meant to be one."""
    if not isinstance(value, dict):
        return
    version_key, kind_key = _key(value, "apiVersion"), _key(value, "kind")
    version, kind = text(value, version_key) or "", text(value, kind_key) or ""
    if _TEMPLATED.search(version) or _TEMPLATED.search(kind):
        return
    group = version.partition("/")[0]
    ours = edits(group.lower(), names.GROUP) <= _MISSPELT
    has_roles = isinstance(mapping(value, "spec").get("taskRoles"), list)
    says_kind = kind.lower() == names.KIND.lower()
    if not ((ours and (kind or has_roles)) or (says_kind and has_roles)):
        return
    yield from _of_version(version_key in value, version_key, value.get(version_key), group)
    if kind not in (names.KIND, _LISTS) or kind_key != "kind":
        yield _of_kind(value, kind_key, kind)


def _key(value: dict[Any, Any], wanted: str) -> str:
    """Return the wanted key if it is there, or else the only key that resembles it."""
    if wanted in value:
        return wanted
    most = _MISSPELT_KEY[wanted]
    near = [key for key in value if isinstance(key, str) and edits(key.lower(), wanted.lower()) <= most]
    return near[0] if len(near) == 1 else wanted


def _of_version(there: bool, key: str, value: Any, group: str) -> Iterator[Finding]:
    if not there:
        yield Finding(NEARLY_A_FRAMEWORK, (), f"a Framework needs an `apiVersion`: add `apiVersion: {names.API_VERSION}`", part="key")
        return
    if key != "apiVersion":
        yield _of_key(key, "apiVersion")
    if group != names.GROUP:
        if edits(group.lower(), names.GROUP) <= _MISSPELT:
            message = f"`{key}` is `{value}`: did you mean {names.API_VERSION}?"
        else:
            message = f"a Framework has the `apiVersion` {names.API_VERSION}" + (f", not `{value}`" if isinstance(value, str) else "")
        yield Finding(NEARLY_A_FRAMEWORK, (key,), message, fix=Fix(f"write {names.API_VERSION}", (key,), "value", names.API_VERSION))


def _of_key(key: str, meant: str) -> Finding:
    fix = Fix(f"rename it to {meant}", (key,), "key", meant)
    return Finding(NEARLY_A_FRAMEWORK, (key,), f"`{key}` is not a field of an object: did you mean `{meant}`?", part="key", fix=fix)


def _of_kind(value: dict[Any, Any], key: str, kind: str) -> Finding:
    if key not in value:
        return Finding(NEARLY_A_FRAMEWORK, (), f"a Framework needs a `kind`: add `kind: {names.KIND}`", part="key")
    if key != "kind" and kind == names.KIND:
        return _of_key(key, "kind")
    message = f"`{key}` is `{kind}`, and {names.GROUP} has only `{names.KIND}`: write kind: {names.KIND}"
    fix = Fix(f"write {names.KIND}", (key,), "value", names.KIND)
    return Finding(NEARLY_A_FRAMEWORK, (key,), message, fix=fix)
