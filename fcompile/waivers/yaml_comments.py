"""The comments of a YAML text that begin with `fcompile:`, and the fields at which they stand.

Only what YAML takes for a comment counts: the same text in a string or a block scalar is data. So the parser
tells where all scalars are, but only for documents in which the word occurs at all.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    StreamEndEvent,
)

from fcompile.diagnostics.problem import Path, field_path
from fcompile.load import Source
from fcompile.load.faults import Fault
from fcompile.load.rules import MAX_DEPTH
from fcompile.load.yaml_events import Events, with_events
from fcompile.load.yaml_nodes import event_range
from fcompile.waivers import MARK

_COMMENT = re.compile(
    r"(?<![^ \t\r\n\x85\u2028\u2029])#[ \t]*fcompile:"
    r"(?P<body>[^\r\n\x85\u2028\u2029]*?)(?=(?<![ \t])[ \t]+#(?:[ \t]|fcompile:)|[\r\n\x85\u2028\u2029]|\Z)"
)
_LINE_END = re.compile(r"[\r\n\x85\u2028\u2029]")
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
    outline = _Outline(source, start, abouts)
    if not outline.read(source.text[start:end]):
        return
    for match, about in zip(matches, abouts, strict=True):
        if not outline.in_scalar(match.start()):
            fields = frozenset(map(field_path, outline.fields.get(about, ())))
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
    """Where the scalars of a document are, and which fields begin on the lines that were asked for."""

    def __init__(self, source: Source, start: int, lines: list[int | None]) -> None:
        self._source = source
        self._start = start
        self._lines = [(source.line_start(line), source.line_start(line + 1), line) for line in sorted({line for line in lines if line})]
        """Begin, end and number of each line that was asked for."""
        self._walk = _Walk()
        self._ended = False
        self._passed = 0
        self._scalars: list[tuple[int, int]] = []
        self.fields: dict[int | None, list[Path]] = {}

    def read(self, text: str) -> bool:
        """Read the document's text; return False when it is no YAML. Text after the end of the document is not read."""
        try:
            return with_events(text, self._take_all)
        except (Fault, UnicodeEncodeError):
            return self._ended

    def in_scalar(self, offset: int) -> bool:
        """Return whether a place in the file is within a scalar."""
        index = bisect_right(self._scalars, (offset, len(self._source.text))) - 1
        return index >= 0 and offset < self._scalars[index][1]

    def _take_all(self, events: Events) -> bool:
        self._walk, self._ended, self._passed, self._scalars, self.fields = _Walk(), False, 0, [], {}
        while not isinstance(event := events(), StreamEndEvent):
            self._ended |= isinstance(event, DocumentEndEvent)
            if isinstance(event, NodeEvent):
                self._take(event)
            if isinstance(event, CollectionStartEvent):
                if self._walk.depth > MAX_DEPTH:
                    return False  # too deep a document is refused anyway, and libyaml becomes slower the deeper it gets
                self._walk.open(isinstance(event, MappingStartEvent))
            elif isinstance(event, CollectionEndEvent):
                self._walk.close()
        return True

    def _take(self, event: NodeEvent) -> None:
        start, end = event_range(event)
        start, end = start + self._start, end + self._start
        scalar = ""
        if isinstance(event, ScalarEvent):
            scalar, first = event.value, start
            if event.style in ("|", ">"):
                # A comment may follow the indicator of a block scalar.
                header = _LINE_END.search(self._source.text, start)
                first = header.end() if header else end
            self._scalars.append((first, end))
        line = self._line_asked_for(start)
        if self._walk.enter(scalar) and line is not None:
            self.fields.setdefault(line, []).append(self._walk.path())

    def _line_asked_for(self, offset: int) -> int | None:
        """Return the line of an offset if it was asked for. Offsets come in order, so that lines once passed are not looked at again."""
        while self._passed < len(self._lines) and self._lines[self._passed][1] <= offset:
            self._passed += 1
        if self._passed < len(self._lines) and self._lines[self._passed][0] <= offset:
            return self._lines[self._passed][2]
        return None


class _Walk:
    """The path of each node, followed through the events of a document."""

    def __init__(self) -> None:
        # One entry for each open collection.
        self._steps: list[str | int] = []
        self._key_given: list[bool | None] = []
        """Whether a mapping waits for the value of a key; None: it is a list."""

    @property
    def depth(self) -> int:
        return len(self._steps)

    def enter(self, scalar: str) -> bool:
        """Enter a scalar or the beginning of a collection. Return whether it begins a field, as a key or as an item of a list."""
        if not self._steps:
            return False
        key_given = self._key_given[-1]
        if key_given is None:
            self._steps[-1] = int(self._steps[-1]) + 1
            return True
        if not key_given:
            self._steps[-1] = scalar
        self._key_given[-1] = not key_given
        return not key_given

    def open(self, mapping: bool) -> None:
        self._steps.append("" if mapping else -1)
        self._key_given.append(False if mapping else None)

    def close(self) -> None:
        self._steps.pop()
        self._key_given.pop()

    def path(self) -> Path:
        return tuple(self._steps)
