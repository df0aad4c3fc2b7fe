"""The comments of a YAML text that begin with `fcompile:`, and the fields at which they stand.

Only what YAML takes for a comment counts: the same text in a string or a block scalar is data. So the parser
tells where all scalars are, but only for documents in which the word occurs at all.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from fcompile.diagnostics.problem import Path, field_path
from fcompile.load import Source
from fcompile.load.faults import Fault
from fcompile.load.places import Place
from fcompile.load.yaml_places import places
from fcompile.waivers import MARK

_COMMENT = re.compile(
    r"(?<![^ \t\r\n\x85\u2028\u2029])#[ \t]*fcompile:"
    r"(?P<body>[^\r\n\x85\u2028\u2029]*?)(?=(?<![ \t])[ \t]+#(?:[ \t]|fcompile:)|[\r\n\x85\u2028\u2029]|\Z)"
)
_LINE_END = re.compile(r"[\r\n\x85\u2028\u2029]")
_BLOCK = re.compile(r"(?:[&!]\S*[ \t]+)*[|>]")
"""How a block scalar begins."""
_SEPARATOR = re.compile(r"^---", re.MULTILINE)
_NO_CONTENT = re.compile(r"[ \t]*(?:#|---|\.\.\.|$)")
_NO_FIELD = re.compile(r"[ \t]*+(?:[-?][ \t]++)*+(?:#|$)")
"""What may stand before a comment that is about the next line: nothing, the dash of an item that begins there, another comment."""


class Comment(NamedTuple):
    """A comment that begins with the mark, and the fields at which it stands."""

    body: str
    """What follows the mark, up to the end of the line or a further ` # `."""
    start: int
    """Offset of the body in the file."""
    hash: int
    """Offset of the `#`."""
    line: int | None
    """The line that it is about, counted from 1; None when no line follows it."""
    fields: frozenset[str]
    """The fields that begin on that line."""
    document: range
    """The lines of its document."""


def comments(source: Source) -> Iterator[Comment]:
    """Yield the comments with the mark, in their order. Documents that cannot be read have none: nothing of them is checked."""
    starts = [match.start() for match in _SEPARATOR.finditer(source.text) if match.start()]
    for start, end in zip([0, *starts], [*starts, len(source.text)], strict=True):
        if MARK in source.text[start:end]:
            yield from _in_document(source, start, end)


def _in_document(source: Source, start: int, end: int) -> Iterator[Comment]:
    matches = list(_COMMENT.finditer(source.text, start, end))
    first, last = line_of(source, start), line_of(source, max(start, end - 1))
    abouts = _lines_about(source, [match.start() for match in matches], last)
    try:
        outline = _Outline(source, start, end)
    except (Fault, KeyError, UnicodeEncodeError):  # KeyError: an alias without its anchor
        return
    for match, about in zip(matches, abouts, strict=True):
        if not outline.in_scalar(match.start()):
            begins = outline.fields(source.line_start(about), source.line_start(about + 1)) if about else ()
            fields = frozenset(map(field_path, begins))
            yield Comment(match["body"], match.start("body"), match.start(), about, fields, range(first, last + 1))


def line_of(source: Source, offset: int) -> int:
    """Return the line that an offset is in, counted from 1."""
    return source.span(offset, offset).line


def _lines_about(source: Source, offsets: list[int], last: int) -> list[int | None]:
    """Return the line that each comment is about: its own, or the next one with content up to the line `last`."""
    abouts: list[int | None] = []
    passed, next_content = last + 1, None
    for offset in reversed(offsets):
        line = line_of(source, offset)
        if not _NO_FIELD.match(source.text, source.line_start(line), offset):
            abouts.append(line)
            continue
        # Lines that were passed are not searched again: many comments can stand below one another.
        below = (below for below in range(line + 1, passed) if not _NO_CONTENT.match(source.line(below)))
        next_content = next(below, next_content)
        passed = line + 1
        abouts.append(next_content)
    return abouts[::-1]


class _Outline:
    """Where the scalars of a document are, and which fields begin on a line. Raises Fault if it is no YAML."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self._text, self._start = source.text, start
        self._parts = sorted(_parts(places(source.text[start:end])), key=lambda part: (part.start, part.end))

    def fields(self, start: int, end: int) -> Iterator[Path]:
        """Yield the fields that begin between two places in the file."""
        for index in range(bisect_left(self._parts, start - self._start, key=_start_of), len(self._parts)):
            if self._parts[index].start >= end - self._start:
                return
            if (field := self._parts[index].field) is not None:
                yield field

    def in_scalar(self, offset: int) -> bool:
        """Return whether a place in the file is within a scalar."""
        index = bisect_right(self._parts, offset - self._start, key=_start_of) - 1
        if index < 0 or offset >= self._parts[index].end + self._start:
            return False
        first = self._parts[index].start + self._start
        # A comment may follow the indicator of a block scalar.
        header = _LINE_END.search(self._text, first) if _BLOCK.match(self._text, first) else None
        return header is None or offset >= header.end()


class _Part(NamedTuple):
    """A scalar, or the beginning of a list or mapping."""

    start: int
    end: int
    field: Path | None
    """That of which it is the key, or the item of a list."""


def _start_of(part: _Part) -> int:
    return part.start


def _parts(place: Place, path: Path = (), is_item: bool = False) -> Iterator[_Part]:
    is_scalar = place.items is None and place.entries is None
    yield _Part(place.start, place.end if is_scalar else place.start, path if is_item else None)
    for index, item in enumerate(place.items or ()):
        yield from _parts(item, (*path, index), is_item=True)
    for key, entry in (place.entries or {}).items():
        if not entry.merged:
            yield _Part(entry.start, entry.end, (*path, key))
            yield from _parts(entry.place, (*path, key))
