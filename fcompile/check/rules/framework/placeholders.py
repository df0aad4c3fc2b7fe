"""Placeholders and variable references that look like FrameworkController's and are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fcompile.check.context import FrameworkContext, RoleContext, containers, words
from fcompile.check.pod_values import entries
from fcompile.check.seen import Seen
from fcompile.diagnostics.problem import Finding, Fix, Part, Path, error_rule, note_rule, warning_rule
from fcompile.diagnostics.suggestions import closest
from fcompile.lower.placeholders import addend, substitute, sums_in
from fcompile.model import names
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, sequence, strings, text
from fcompile.schema.types import FRAMEWORK_TYPES

UNKNOWN_PLACEHOLDER = warning_rule(
    code="FC421",
    name="unknown-placeholder",
    summary="A placeholder looks like one of FrameworkController's, but is none.",
    why="It stays in the Pod as it is written.",
    remedy=(
        "The six that are replaced are {{FC_FRAMEWORK_NAMESPACE}}, {{FC_FRAMEWORK_NAME}}, {{FC_TASKROLE_NAME}}, "
        "{{FC_TASK_INDEX}}, {{FC_CONFIGMAP_NAME}} and {{FC_POD_NAME}}, in capitals and without spaces. To the index a number can be "
        "added: {{FC_TASK_INDEX+1}}."
    ),
)
PLACEHOLDER_OUTSIDE = warning_rule(
    code="FC422",
    name="placeholder-outside-template",
    summary="A placeholder stands outside the Pod template, where nothing replaces it.",
    why="Placeholders work in every string of `task.pod`, and nowhere else.",
    remedy="Write the value itself.",
)
UNKNOWN_REFERENCE = warning_rule(
    code="FC423",
    name="unknown-variable-reference",
    summary="`$(FC_…)` refers to a variable that the container does not have.",
    why="Kubernetes leaves a reference that it cannot resolve as it is.",
    remedy="Correct the name, define the variable, or write `$$(…)` for the text itself.",
)
KEYS_COLLIDE = warning_rule(
    code="FC424",
    name="keys-collide",
    summary="Two keys of a mapping become equal once the placeholders are replaced.",
    why="Only one of the two values is in the Pod.",
    remedy="Rename one of the keys.",
)

NEGATIVE_SUM = error_rule(
    code="FC425",
    name="negative-sum",
    summary="A sum with the task's index is below zero for the first task.",
    why="The first index is 0, and a text like `-1` is not an index of anything.",
    remedy=(
        "Add a number that is 0 or more. Put what only some tasks need into a role of its own. "
        "Where `-1` is what you mean, waive it: the CRD takes it."
    ),
)
SUM_OF_OURS = note_rule(
    code="FC426",
    name="sum-with-index",
    summary="A sum with the task's index is replaced by this controller only.",
    why="FrameworkController leaves `{{FC_TASK_INDEX+1}}` in the Pod as it is written; `fcompile` and `fcontroller` compute it.",
    remedy="With `fcontroller` nothing is to be done. FrameworkController needs a shell: `$((FC_TASK_INDEX + 1))`.",
)

_LOOKS_LIKE = lazy(r"\{\{[ \t]*(FC_[A-Za-z0-9_]*)([ \t]*[-+*/%][^{}\n]{0,40})?[ \t]*(\}\}?)?", re.IGNORECASE)
_SHORT = "FRAMEWORK_NAMESPACE|FRAMEWORK_NAME|TASKROLE_NAME|TASK_INDEX"
"""Placeholders without their prefix. (`{{POD_NAME}}` may be another tool's.)"""
_UNUSUAL = re.compile(rf"\{{\{{(?!(?:{'|'.join(names.PLACEHOLDERS)}|{names.SUM})\}}\}})[ \t]*(?:[Ff][Cc]_|(?:{_SHORT})\b)")
_WITHOUT_PREFIX = lazy(rf"\{{\{{[ \t]*({_SHORT})()[ \t]*(\}}\}})")
_REFERENCE = lazy(r"\$\$|\$\((FC_[A-Za-z0-9_.-]*)\)")
_LONGEST_FIXED = 1_000
"""Characters of a text that a fix repeats: there may be one for each of thousands of placeholders in it."""
_FEW = 200
"""With more variables than this, no similar name is searched for: it would take time for each reference."""


def may_hold_placeholders(source: str) -> bool:
    """Return whether a document may hold placeholders, judged by its text. (A backslash may begin an escape that is part of one.)"""
    return "{{FC_" in source or "\\" in source


def may_hold_sums(source: str) -> bool:
    """Return likewise whether a document may hold sums with the index."""
    return any(f"{{{{{names.TASK_INDEX}{sign}" in source for sign in "+-") or "\\" in source


def placeholder_rules(context: FrameworkContext, source: str) -> Iterator[Finding]:
    """Yield the problems of one Framework's placeholders. The document's text serves to skip most Frameworks quickly."""
    escapes = "\\" in source
    if "{{FC_" in source or escapes:
        yield from _outside(context)
    yield from _sums(context)
    if escapes or _UNUSUAL.search(source):
        for role in context.roles:
            yield from _inside(role)
    if escapes or _may_be_in_key(source) or "? " in source:
        for role in context.roles:
            for index in (0, *role.met):
                yield from _collisions(role.template, role.template_path, context.values(role, index))
    if "$(FC_" in source or escapes:
        for role in context.roles:
            yield from _references(role)


def _may_be_in_key(source: str) -> bool:
    """Return whether a colon follows a placeholder in its line. Each line is searched only once, since a line may be as long as a file."""
    start = source.find("{{FC_")
    while start >= 0:
        end = source.find("\n", start)
        end = len(source) if end < 0 else end
        if source.find(":", start, end) >= 0:
            return True
        start = source.find("{{FC_", end)
    return False


def _outside(context: FrameworkContext) -> Iterator[Finding]:
    # What stands in an unknown field may belong into the template.
    known = FRAMEWORK_TYPES["TaskRole"].keys() - {"task"}
    roles = [
        {key: role.value[key] for key in known & role.value.keys()} if isinstance(role.value, dict) else None for role in context.roles
    ]
    spec = {key: item for key, item in mapping(context.value, "spec").items() if key in FRAMEWORK_TYPES["FrameworkSpec"]}
    outside = {**spec, "taskRoles": roles}
    # Nearly always there is none: that is seen twenty times as fast in the text of all.
    for path, part, written in strings(outside, ("spec",)) if "{{FC_" in repr(outside) else ():
        if "{{FC_" not in written:
            continue
        found = [name for name in names.PLACEHOLDERS if names.placeholder(name) in written]
        for name in (*found, *sums_in(written)):
            message = f"{names.placeholder(name)} is only replaced inside `task.pod`: here it stays as it is; write the value itself"
            yield Finding(PLACEHOLDER_OUTSIDE, path, message, part=part)


def _inside(role: RoleContext) -> Iterator[Finding]:
    known = {*names.PLACEHOLDERS, *role.sums}
    for path, part, written in strings(role.template, role.template_path):
        for match in _LOOKS_LIKE.finditer(written):
            name = match.group()[2:-2]
            if match.group() != names.placeholder(name) or name not in known:
                yield _unknown(path, part, written, match, match[1])
        for match in _WITHOUT_PREFIX.finditer(written):
            yield _unknown(path, part, written, match, f"FC_{match[1]}")


def _unknown(path: Path, part: Part, written: str, match: re.Match[str], name: str) -> Finding:
    """Return what is wrong with a placeholder.

    :param name: what it was meant to be, as far as it says so itself.
    """
    import json

    if match.group(2):
        form = f"{{{{FC_TASK_INDEX+1}}}}, with one number up to {names.MAX_ADDEND:,}, without spaces"
        message = f"`{match.group()}` is not a sum with the index, and stays as it is: write {form}"
        return Finding(UNKNOWN_PLACEHOLDER, path, message, part=part)
    near = closest(name.upper(), names.PLACEHOLDERS)
    if near is None:
        known = ", ".join(names.PLACEHOLDERS)
        message = f"`{match.group()}` is not a placeholder and stays as it is: the known ones are {known}"
        return Finding(UNKNOWN_PLACEHOLDER, path, message, part=part)
    right = names.placeholder(near.word)
    why = "is not closed by two braces" if name in names.PLACEHOLDERS and match.group(3) != "}}" else "is not a placeholder"
    fix = None
    if "\n" not in written and len(written) <= _LONGEST_FIXED:
        fixed = written[: match.start()] + right + written[match.end() :]
        fix = Fix(f"put {right} in its place", path, part, json.dumps(fixed, ensure_ascii=False))
    return Finding(UNKNOWN_PLACEHOLDER, path, f"`{match.group()}` {why} and stays as it is: write {right}", part=part, fix=fix)


def _sums(context: FrameworkContext) -> Iterator[Finding]:
    told = False
    for role in context.roles:
        first: dict[str, tuple[Path, Part]] = {}
        for path, part, held in strings(role.template, role.template_path) if role.sums else ():
            for written in sums_in(held):
                first.setdefault(written, (path, part))
        for written in role.sums:
            path, part = first[written]
            if addend(written) < 0:
                said = f"{names.placeholder(written)} is {addend(written)} for the first task of the role, whose index is 0: add 0 or more"
                yield Finding(NEGATIVE_SUM, path, said, part=part)
            elif not told:
                told = True
                said = f"{names.placeholder(written)} is replaced by fcontroller only: FrameworkController leaves it as it is"
                yield Finding(SUM_OF_OURS, path, said, part=part)


def _collisions(value: Any, path: Path, values: dict[str, str]) -> Iterator[Finding]:
    if isinstance(value, dict):
        if any("{{FC_" in key for key in value):
            yield from _same_keys(value, path, values)
        for key, item in value.items():
            yield from _collisions(item, (*path, key), values)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _collisions(item, (*path, index), values)


def _same_keys(mapping: dict[str, Any], path: Path, values: dict[str, str]) -> Iterator[Finding]:
    seen = Seen()
    for key in mapping:
        replaced = substitute(key, values)
        if first := seen.again(replaced, (*path, key)):
            other = first[0].path[-1]
            message = f"`{key}` and `{other}` are the same key once the placeholders are replaced, and only one value is kept: rename one"
            yield Finding(KEYS_COLLIDE, (*path, key), message, part="key", related=(first[0]._replace(part="key"),))


def _references(role: RoleContext) -> Iterator[Finding]:
    for container, path in containers(role.template, role.template_path):
        known = set(names.POD_ENV)
        for variable, place in entries(container, path, "env"):
            if "$(FC_" in (written := text(variable, "value") or ""):
                yield from _unresolved(written, (*place, "value"), known)
            known.add(text(variable, "name") or "")
        # Variables from a ConfigMap or Secret are not known here: say nothing of what they might define.
        for word, place in () if sequence(container, "envFrom") else words(container, path):
            if "$(FC_" in word:
                yield from _unresolved(word, place, known)


def _unresolved(written: str, path: Path, known: set[str]) -> Iterator[Finding]:
    for match in _REFERENCE.finditer(written):
        name = match.group(1)
        if name is None or name in known:
            continue
        near = closest(name, sorted(known)) if len(known) <= _FEW else None
        hint = f"did you mean $({near.word})?" if near else "define the variable, or write `$$(` for the text itself"
        yield Finding(UNKNOWN_REFERENCE, path, f"`$({name})` refers to no variable of this container, and stays as it is: {hint}")
