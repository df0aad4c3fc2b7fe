"""Problems as one JSON document, as `fcompile.declare.diagnostics` declares it."""

from __future__ import annotations

import json
from typing import Any, TextIO

from fcompile.diagnostics.problem import Problem, Span, field_path
from fcompile.diagnostics.visible import clean, without_commands
from fcompile.diagnostics.writer import Style, Summary, Waived, Writer

VERSION = 1
"""Rises when a field goes away or changes its meaning, not when one is added."""

LONGEST_LINE = 1_000
"""Code points. A longer source line is left out for machines: a file of one line would be repeated for each of its problems."""


class JsonWriter(Writer):
    """Collects everything, and writes at the end: the document is complete, or not there. ASCII only, so that it fits any encoding."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        self._stream = stream
        self._problems: list[str] = []
        self._waived: list[str] = []

    def problem(self, problem: Problem) -> None:
        self._problems.append(to_json(problem_as_json(problem)))

    def waived(self, waived: Waived) -> None:
        waiver = {"reason": waived.reason, "kind": waived.kind, "file": waived.file, **_region(waived.span)}
        self._waived.append(to_json({**problem_as_json(waived.problem), "waiver": waiver}))

    def finish(self, summary: Summary) -> None:
        lists = f'"problems": {_one_a_line(self._problems)},\n  "waived": {_one_a_line(self._waived)}'
        self._stream.write(f'{{\n  "version": {VERSION},\n  {lists},\n  "summary": {to_json(summary._asdict())}\n}}\n')


def to_json(value: Any) -> str:
    """Return JSON on one line, in ASCII. Lone surrogates, which file names can hold, become U+FFFD."""
    return without_commands(json.dumps(cleaned(value)))


def _one_a_line(items: list[str]) -> str:
    return "[" + ",".join(f"\n    {item}" for item in items) + ("\n  ]" if items else "]")


def cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return value


def problem_as_json(problem: Problem) -> dict[str, Any]:
    fix = problem.fix and {"title": problem.fix.title, **_region(problem.fix.span), "text": problem.fix.text}
    related = [
        {
            "message": near.message,
            "file": near.file or problem.file,
            "field": field_path(near.path),
            "region": near.span and _region(near.span),
        }
        for near in problem.related
    ]
    return {
        "code": problem.rule.code,
        "name": problem.rule.name,
        "severity": problem.severity.value,
        "message": problem.message,
        "help": problem.rule.help,
        "file": problem.file,
        **_region(problem.span),
        "sourceLine": problem.source_line if len(problem.source_line) <= LONGEST_LINE else None,
        "field": problem.field,
        "framework": problem.framework,
        "fix": fix,
        "related": related,
    }


def _region(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
        "offset": span.start,
        "endOffset": span.end,
    }
