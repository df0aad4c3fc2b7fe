"""A source line with the span underlined, as it fits into a terminal."""

from __future__ import annotations

from typing import NamedTuple

from fcompile.diagnostics.problem import Problem
from fcompile.diagnostics.visible import visible, width

_TAB = "    "
_CUT = "..."


class Excerpt(NamedTuple):
    line: str
    underline: str
    """Spaces and carets, aligned with `line` column for column."""


def excerpt(problem: Problem, room: int) -> Excerpt | None:
    """Return the line of a problem in at most about `room` columns, cut around the span when it is longer; None when there is none."""
    line = problem.source_line.rstrip("\r\n")
    if not line:
        return None
    start = min(problem.span.column - 1, len(line))
    end = problem.span.end_column - 1 if problem.span.end_line == problem.span.line else len(line.rstrip())
    end = max(start + 1, min(end, len(line)))
    # Only a few characters more than fit are looked at, since a line may be as long as a file.
    first = _first_shown(line, start, room)
    before, span, after = (_shown(part) for part in (line[first:start], line[start : min(end, start + room)], line[end : end + room]))
    head = _CUT if first else ""
    text, cut = _fitted(head, before, span, after, room, more=end + room < len(line))
    under = max(1, min(width(span), width(text) - len(_CUT if cut else "") - width(head + before)))
    return Excerpt(text, " " * width(head + before) + "^" * under)


def _first_shown(line: str, start: int, room: int) -> int:
    """Return the first character to show: 0 when the line fits, otherwise some context before the span."""
    if len(line) <= room and width(_shown(line)) <= room:
        return 0
    first, columns = start, 0
    while first > 0 and start - first < room and columns < room // 3:
        first -= 1
        columns += width(_shown(line[first]))
    return first


def _fitted(head: str, before: str, span: str, after: str, room: int, more: bool) -> tuple[str, bool]:
    """Return the line, cut at its end when it does not fit, and whether it was cut."""
    text = head + before + span + after
    if width(text) <= room and not more:
        return text, False
    columns, shown = 0, []
    for character in text:
        columns += width(character)
        if columns > room - len(_CUT):
            break
        shown.append(character)
    return "".join(shown) + _CUT, True


def _shown(text: str) -> str:
    return visible(text.replace("\t", _TAB))
