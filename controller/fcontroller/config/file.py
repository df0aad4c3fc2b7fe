"""The config file: upstream's `frameworkcontroller.yaml` with a few keys more. Every mistake is found, with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fcompile.check.document import load_problem
from fcompile.check.suggestions import closest
from fcompile.check.values import at
from fcompile.diagnostics.problem import Part, Path, Problem, Rule, Severity, field_path
from fcompile.load import Document, LoadError, read
from fcontroller.config.settings import SETTINGS, Setting, Value, wrong
from fcontroller.decide.failures.spec import read_failures

FAILURES = "podFailureSpec"
_RULES = {severity: Rule("config", "config", severity, "", "") for severity in Severity}
DELAYS = tuple((f"framework{end}RetryDelaySecForTransientConflictFailed",) for end in ("Min", "Max"))
_BY_PATH = {setting.path: setting for setting in SETTINGS}


class File(NamedTuple):
    """What a config file says."""

    values: Mapping[str, Value]
    """By key."""
    lines: Mapping[str, int]
    """Of those values."""
    failures: Any
    """The `podFailureSpec`; None: it has none."""
    problems: list[Problem]


class _Found(NamedTuple):
    path: Path
    message: str
    part: Part = "value"
    severity: Severity = Severity.ERROR


def read_file(data: bytes, name: str) -> File:
    """Read a config file. With an error among its problems its values are of no use."""
    documents, problems = [], []
    for item in read(data, name):
        if isinstance(item, LoadError):
            problems.append(load_problem(item))
        else:
            documents.append(item)
    if not documents:
        return File({}, {}, None, problems)
    document, *more = documents
    value = document.value if isinstance(document.value, dict) else {}
    values = {setting.key: given for setting in SETTINGS if (given := at(value, setting.path)) is not None}
    problems += [_placed(document, found) for found in _check(document.value, values)]
    problems += [_placed(other, _Found((), "a config file is one document; remove the others")) for other in more]
    problems.sort(key=lambda problem: problem.span.start)
    lines = {key: document.locate(_BY_PATH[tuple(key.split("."))].path).line for key in values}
    return File(values, lines, value.get(FAILURES), problems)


def _check(value: Any, values: Mapping[str, Any]) -> Iterator[_Found]:
    yield from _keys(value, ())
    for mistake in read_failures(value.get(FAILURES) if isinstance(value, dict) else None)[1]:
        yield _Found(mistake.path, mistake.message, mistake.part)
    for setting in SETTINGS:
        if setting.key in values:
            yield from _value(setting, values[setting.key])
    least, most = (values.get(".".join(path)) for path in DELAYS)
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield _Found(DELAYS[1], f"{most} is less than `{DELAYS[0][0]}`, {least}; write a number from {least} on")


def _keys(value: Any, path: tuple[str, ...]) -> Iterator[_Found]:
    """What is wrong with the keys of a mapping, and of those in it."""
    depth = len(path)
    known = {setting.path[depth] for setting in SETTINGS if setting.path[:depth] == path and len(setting.path) > depth}
    known |= set() if path else {FAILURES}
    if not isinstance(value, dict):
        yield _Found(path, f"this is not a mapping; its keys can be {_list(known)}")
        return
    for key, below in value.items():
        here = (*path, key)
        if key not in known:
            yield _Found(here, f"`{key}` is no key here{_hint(key, known)}", "key")
        elif here not in _BY_PATH and key != FAILURES and below is not None:
            yield from _keys(below, here)


def _hint(key: str, known: set[str]) -> str:
    near = closest(key, known)
    return f": did you mean `{near.word}`?" if near else f"; there are {_list(known)}"


def _list(words: set[str]) -> str:
    return ", ".join([f"`{word}`" for word in sorted(words)])


def _value(setting: Setting, value: Value) -> Iterator[_Found]:
    message = wrong(setting, value)
    if message:
        yield _Found(setting.path, f"{message} (`{setting.key}`)")
    elif setting.unused:
        yield _Found(setting.path, f"`{setting.key}` means nothing here: {setting.unused}", "key", Severity.NOTE)


def _placed(document: Document, found: _Found) -> Problem:
    span = document.locate(found.path, found.part)
    rule, line = _RULES[found.severity], document.source_line(span.line)
    return Problem(rule, found.severity, found.message, document.source.name, span, line, field_path(found.path), "")
