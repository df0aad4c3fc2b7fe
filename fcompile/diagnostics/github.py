"""Problems as workflow commands, which GitHub Actions turns into annotations of a pull request."""

from __future__ import annotations

from typing import TextIO

from fcompile.diagnostics.checkout import from_root
from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.text import one_line, remarks
from fcompile.diagnostics.visible import encodable, visible
from fcompile.diagnostics.writer import Style, Writer

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class GithubWriter(Writer):
    """Writes one command for each problem, as it comes."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        self._stream = stream

    def problem(self, problem: Problem) -> None:
        self._stream.write(encodable(command(problem), getattr(self._stream, "encoding", None)) + "\n")


def command(problem: Problem) -> str:
    """Return `::error file=…,line=…::message`, without a line end."""
    span = problem.span
    properties: dict[str, str | int] = {"file": from_root(problem.file), "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:  # the runner drops a command with columns on different lines
        properties |= {"col": span.column, "endColumn": max(span.column, span.end_column)}
    properties["title"] = f"{problem.rule.code} {problem.rule.name}"
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[problem.severity]} {listed}::{_data(_lines(problem))}"


def _lines(problem: Problem) -> str:
    # A Framework is shown here with a field of it only.
    shown = [f"{label}: {text}" for label, text in remarks(problem, explain=False) if label != "framework"]
    return "\n".join(one_line(line) for line in (problem.message, *shown))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
