"""The config file: upstream's `frameworkcontroller.yaml` with a few keys more. Every mistake is found, with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fcompile.diagnostics.problem import Part, Path, Problem, Rule, Severity, field_path
from fcompile.diagnostics.suggestions import closest
from fcompile.diagnostics.visible import visible
from fcompile.load import Document, read
from fcompile.model.values import at
from fcontroller.config.settings import FAILURES, SETTINGS, Config, Setting
from fcontroller.decide.failures.spec import read_failures

DELAYS = tuple(f"framework{end}RetryDelaySecForTransientConflictFailed" for end in ("Min", "Max"))
_UNKNOWN = "extra_forbidden"
_BY_PATH: Mapping[Path, Setting] = {setting.path: setting for setting in SETTINGS}


class File(NamedTuple):
    """What a config file says."""

    content: Mapping[str, Any]
    """For `Config`, if there is no error among the problems."""
    lines: Mapping[str, int]
    """Of the settings that it has, by key."""
    problems: list[Problem]


def read_file(data: bytes, name: str) -> File:
    """Read and check a config file."""
    documents, problems = [], []
    for item in read(data, name):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            documents.append(item)
    if not documents:
        return File({}, {}, problems)
    document, *more = documents
    content = document.value if isinstance(document.value, dict) else {}
    problems += [*_check(document), *(_problem(other, (), "a config file is one document; remove the others") for other in more)]
    problems.sort(key=lambda problem: problem.span.start)
    lines = {setting.key: document.locate(setting.path).line for setting in SETTINGS if at(content, setting.path) is not None}
    return File(content, lines, problems)


def _check(document: Document) -> Iterator[Problem]:
    content, errors = document.value, list[ErrorDetails]()
    if isinstance(content, dict) and "apiVersion" in content and "kind" in content:
        kind = visible(str(content["kind"]))[:60]
        yield _problem(document, ("kind",), f"this is a {kind}, not a config file: its keys are those of docs/operations.md", "value")
        return
    for mistake in read_failures(at(content, (FAILURES,)))[1]:
        yield _problem(document, *mistake)
    try:
        Config.model_validate(content)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    for found in errors:
        yield _problem(document, found["loc"], _message(found), "key" if found["type"] == _UNKNOWN else "value")
    for setting in SETTINGS:
        if setting.field.deprecated and at(content, setting.path) is not None and setting.path not in [found["loc"] for found in errors]:
            yield _problem(document, setting.path, f"`{setting.key}` means nothing here: {setting.about}", "key", Severity.NOTE)
    least, most = at(content, DELAYS[:1]), at(content, DELAYS[1:])
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield _problem(document, DELAYS[1:], f"{most} is less than `{DELAYS[0]}`, {least}; write a number from {least} on")


def _message(error: ErrorDetails) -> str:
    path = error["loc"]
    if error["type"] == _UNKNOWN:
        known = _keys(path[:-1])
        near = closest(str(path[-1]), known)
        return f"`{path[-1]}` is not a key here{f': did you mean `{near.word}`?' if near else f'; there are {_list(known)}'}"
    if error["type"] == "model_type":
        return f"this is not a mapping; its keys can be {_list(_keys(path))}"
    setting = _BY_PATH[path]
    return f"{setting.mistake(error)} (`{setting.key}`)"


def _keys(path: Path) -> set[str]:
    """Return the keys that the mapping there may have."""
    below = {setting.path[len(path)] for setting in SETTINGS if setting.path[: len(path)] == path}
    return below if path else below | {FAILURES}


def _list(words: set[str]) -> str:
    return ", ".join([f"`{word}`" for word in sorted(words)])


def _problem(document: Document, path: Path, message: str, part: Part = "value", severity: Severity = Severity.ERROR) -> Problem:
    span = document.locate(path, part)
    rule, line = Rule("config", "config", severity, ""), document.source_line(span.line)
    return Problem(rule, severity, message, document.source.name, span, line, field_path(path), "")
