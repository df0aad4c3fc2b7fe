"""The text of a file, with its lines, and places in it."""

from __future__ import annotations

import bisect
import re
from typing import Final

from fcompile.diagnostics.problem import NOWHERE, Related, Rule, Span

from . import rules
from .faults import Fault

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_REST_OF_LINE: Final = re.compile(r"[^\r\n]*")


class Source:
    """A file as its user named it (`name`), decoded (`text`, without a byte order mark)."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._starts: list[int] | None = None
        self._last_line = (0, "")

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
        if self._last_line[0] != number:
            # Each problem keeps its line, and a whole file can be one line: problems on the same line share one string.
            end = starts[number] if number < len(starts) else len(self.text)
            self._last_line = number, self.text[starts[number - 1] : end].rstrip("\r\n")
        return self._last_line[1]

    def line_start(self, number: int) -> int:
        """Return the offset where a line begins; the end of the text for a line beyond it."""
        starts = self._line_starts()
        return starts[number - 1] if number <= len(starts) else len(self.text)

    def _position(self, offset: int) -> tuple[int, int]:
        starts = self._line_starts()
        line = bisect.bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return self._starts


class LoadError(Exception):
    """Why a document or file cannot be read, and where.

    If the severity of `rule` is WARNING, the document can be read all the same.
    """

    def __init__(self, rule: Rule, message: str, span: Span, source_line: str, name: str, related: tuple[Related, ...] = ()) -> None:
        super().__init__(rule, message, span, source_line, name, related)
        self.rule = rule
        self.message = message
        self.span = span
        self.source_line = source_line
        """The whole line that the span begins in, without its end."""
        self.name = name
        """The file, as its user named it."""
        self.related = related

    def __str__(self) -> str:
        return f"{self.span.line}:{self.span.column}: {self.message}"


def end_of_line(text: str, start: int) -> int:
    """Return where the line ends that an offset is in."""
    rest = _REST_OF_LINE.match(text, start)
    return rest.end() if rest else start


def load_error(source: Source, fault: Fault) -> LoadError:
    """Return a fault with offsets in the text of the file as an error."""
    span = source.span(fault.start, fault.end)
    related = tuple(Related(message, file=source.name, span=source.span(start, end)) for message, start, end in fault.related)
    return LoadError(fault.rule, fault.message, span, source.line(span.line), source.name, related)


def file_error(rule: Rule, name: str, message: str) -> LoadError:
    """Return an error that belongs to a file as a whole."""
    return LoadError(rule, message, NOWHERE, "", name)


def file_too_large(name: str) -> LoadError:
    """Return the error for a file that is too large to be read."""
    return file_error(
        rules.FILE_TOO_LARGE, name, f"the file is larger than {rules.MAX_FILE_BYTES // 2**20} MiB: split it, or list it in .fcompileignore"
    )
