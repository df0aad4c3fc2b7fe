"""The text of a file, with its lines, and places in it."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Final

from fcompile.diagnostics.problem import NOWHERE, Problem, Related, Rule, Span

from . import rules
from .faults import Fault

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_REST_OF_LINE: Final = re.compile(r"[^\r\n]*")


class Source:
    """A file as its user named it (`name`), decoded (`text`, without a byte order mark)."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._starts: Sequence[int] | None = None
        self._lines: dict[int, str] = {}

    def span(self, start: int, end: int) -> Span:
        """Return the region between two offsets."""
        end = min(max(start, end), len(self.text))
        start = min(start, end)
        line, column = self._position(start)
        return Span(line, column, *self._position(end), start, end)

    def line(self, number: int) -> str:
        """Return a line (the first is 1) without its end; empty beyond the end of the file."""
        starts = self._line_starts()
        if not 1 <= number <= len(starts):
            return ""
        line = self._lines.get(number)
        if line is None:
            # Each problem keeps its line, and a whole file can be one line: problems on the same line share one string.
            end = starts[number] if number < len(starts) else len(self.text)
            line = self._lines[number] = self.text[starts[number - 1] : end].rstrip("\r\n")
        return line

    def line_start(self, number: int) -> int:
        """Return the offset where a line begins; the end of the text for a line beyond it."""
        starts = self._line_starts()
        return starts[number - 1] if number <= len(starts) else len(self.text)

    def _position(self, offset: int) -> tuple[int, int]:
        starts = self._line_starts()
        line = bisect.bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def _line_starts(self) -> Sequence[int]:
        if self._starts is None:
            from array import array  # most files have no problem

            # Not a list: a file can be nothing but line ends, and each number in a list takes nine times as much.
            starts = array("I", [0])
            starts.extend(match.end() for match in _LINE_END.finditer(self.text))
            self._starts = starts
        return self._starts


class LoadError(Exception):
    """A text cannot be read; `problem` says why, and where."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.problem.span.line}:{self.problem.span.column}: {self.problem.message}"


def end_of_line(text: str, start: int) -> int:
    """Return where the line ends that an offset is in."""
    rest = _REST_OF_LINE.match(text, start)
    return rest.end() if rest else start


def load_problem(source: Source, fault: Fault) -> Problem:
    """Return a fault with offsets in the text of the file as a problem."""
    span = source.span(fault.start, fault.end)
    related = tuple(Related(message, file=source.name, span=source.span(start, end)) for message, start, end in fault.related)
    return Problem(fault.rule, fault.rule.severity, fault.message, source.name, span, source.line(span.line), related=related)


def file_problem(rule: Rule, name: str, message: str) -> Problem:
    """Return a problem of a file as a whole."""
    return Problem(rule, rule.severity, message, name, NOWHERE, "")


def file_too_large(name: str) -> Problem:
    """Return the problem of a file that is too large to be read."""
    message = f"the file is larger than {rules.MAX_FILE_BYTES // 2**20} MiB: split it, or list it in .fcompileignore"
    return file_problem(rules.FILE_TOO_LARGE, name, message)
