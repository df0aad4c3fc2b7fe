"""Placeholders and variable references that look like FrameworkController's and are not."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

from fcompile.check.subject import RoleUnderCheck, Subject
from fcompile.check.values import mapping, sequence, text
from fcompile.diagnostics.problem import Finding, Fix, Part, Path, Severity, rule
from fcompile.lower.placeholders import role_values, substitute
from fcompile.model import names

UNKNOWN_PLACEHOLDER = rule(
    "FC421",
    "unknown-placeholder",
    Severity.WARNING,
    "A placeholder looks like one of FrameworkController's, but is none.",
    "It stays in the Pod as it is written. The six that are replaced are {{FC_FRAMEWORK_NAMESPACE}}, {{FC_FRAMEWORK_NAME}}, {{FC_TASKROLE_NAME}}, "
    "{{FC_TASK_INDEX}}, {{FC_CONFIGMAP_NAME}} and {{FC_POD_NAME}}, in capitals and without spaces.",
)
PLACEHOLDER_OUTSIDE = rule(
    "FC422",
    "placeholder-outside-template",
    Severity.WARNING,
    "A placeholder stands outside the Pod template, where nothing replaces it.",
    "Placeholders work in every string of `task.pod`, and nowhere else. Write the value itself.",
)
UNKNOWN_REFERENCE = rule(
    "FC423",
    "unknown-variable-reference",
    Severity.WARNING,
    "`$(FC_…)` refers to a variable that the container does not have.",
    "Kubernetes leaves a reference that it cannot resolve as it is. Correct the name, define the variable, or write `$$(…)` for the text itself.",
)
KEYS_COLLIDE = rule(
    "FC424",
    "keys-collide",
    Severity.WARNING,
    "Two keys of a mapping become equal once the placeholders are replaced.",
    "Only one of the two values is in the Pod. Rename one of the keys.",
)

_LOOKS_LIKE = re.compile(r"\{\{[ \t]*(FC_[A-Za-z0-9_]*)[ \t]*(\}\}?)?", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\$|\$\((FC_[A-Za-z0-9_.-]*)\)")


def placeholder_rules(subject: Subject, text_of_document: str) -> Iterator[Finding]:
    """Everything in this file, for one Framework; its document's text lets the common case pass at once."""
    if _LOOKS_LIKE.search(text_of_document):
        yield from _outside(subject)
        for role in subject.roles:
            yield from _inside(subject, role)
    if "$(FC_" in text_of_document:
        for role in subject.roles:
            yield from _references(role)


def _outside(subject: Subject) -> Iterator[Finding]:
    spec = mapping(subject.value, "spec")
    roles = [{key: item for key, item in role.value.items() if key != "task"} if isinstance(role.value, dict) else None for role in subject.roles]
    for path, part, written in _strings({**spec, "taskRoles": roles}, ("spec",)):
        for name in names.PLACEHOLDERS:
            if names.placeholder(name) in written:
                yield Finding(
                    PLACEHOLDER_OUTSIDE,
                    path,
                    f"{names.placeholder(name)} is only replaced inside `task.pod`: here it stays as it is; write the value itself",
                    part=part,
                )


def _inside(subject: Subject, role: RoleUnderCheck) -> Iterator[Finding]:
    for path, part, written in _strings(role.template, role.template_path):
        for match in _LOOKS_LIKE.finditer(written):
            name = match.group(1)
            if match.group() != names.placeholder(name) or name not in names.PLACEHOLDERS:
                yield _unknown(path, part, written, match)
    yield from _collisions(role.template, role.template_path, role_values(subject.name, role.name))


def _unknown(path: Path, part: Part, written: str, match: re.Match[str]) -> Finding:
    name = match.group(1)
    near = [name.upper()] if name.upper() in names.PLACEHOLDERS else difflib.get_close_matches(name.upper(), names.PLACEHOLDERS, 1, 0.75)
    if not near:
        known = ", ".join(names.PLACEHOLDERS)
        return Finding(UNKNOWN_PLACEHOLDER, path, f"`{match.group()}` is no placeholder and stays as it is: the known ones are {known}", part=part)
    right = names.placeholder(near[0])
    why = "is not closed by two braces" if name in names.PLACEHOLDERS and match.group(2) != "}}" else "is no placeholder"
    fixed = written[: match.start()] + right + written[match.end() :]
    fix = Fix(f"write {right}", path, part, json.dumps(fixed, ensure_ascii=False)) if "\n" not in written else None
    return Finding(UNKNOWN_PLACEHOLDER, path, f"`{match.group()}` {why} and stays as it is: write {right}", part=part, fix=fix)


def _collisions(value: Any, path: Path, values: dict[str, str]) -> Iterator[Finding]:
    if isinstance(value, dict):
        seen: dict[str, str] = {}
        for key in value:
            replaced = substitute(key, values)
            # A key of digits could also meet one task's index; the first index stands for all of them.
            if replaced in seen:
                yield Finding(
                    KEYS_COLLIDE,
                    (*path, key),
                    f"`{key}` and `{seen[replaced]}` are the same key once the placeholders are replaced, and only one value is kept: rename one",
                    part="key",
                )
            seen[replaced] = key
        for key, item in value.items():
            yield from _collisions(item, (*path, key), values)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _collisions(item, (*path, index), values)


def _references(role: RoleUnderCheck) -> Iterator[Finding]:
    spec = mapping(role.template, "spec")
    for kind in ("initContainers", "containers"):
        for place, container in enumerate(sequence(spec, kind)):
            if not isinstance(container, dict):
                continue
            base: Path = (*role.template_path, "spec", kind, place)
            known = set(names.POD_ENV)
            for index, variable in enumerate(sequence(container, "env")):
                yield from _unresolved(text(variable, "value"), (*base, "env", index, "value"), known)
                known.add(text(variable, "name") or "")
            # Variables from a ConfigMap or Secret are not known here: say nothing of what they might define.
            if sequence(container, "envFrom"):
                continue
            for field in ("command", "args"):
                for index, argument in enumerate(sequence(container, field)):
                    yield from _unresolved(argument, (*base, field, index), known)


def _unresolved(written: Any, path: Path, known: set[str]) -> Iterator[Finding]:
    if not isinstance(written, str):
        return
    for match in _REFERENCE.finditer(written):
        name = match.group(1)
        if name is None or name in known:
            continue
        near = difflib.get_close_matches(name, sorted(known), 1, 0.75)
        hint = f"did you mean $({near[0]})?" if near else "define the variable, or write `$$(` for the text itself"
        yield Finding(UNKNOWN_REFERENCE, path, f"`$({name})` refers to no variable of this container, and stays as it is: {hint}")


def _strings(value: Any, path: Path) -> Iterator[tuple[Path, Part, str]]:
    """Every string below `value` with its path, keys included."""
    if isinstance(value, str):
        yield path, "value", value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), "key", key
            yield from _strings(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*path, index))
