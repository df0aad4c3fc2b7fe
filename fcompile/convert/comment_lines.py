"""The comments of a job: nothing of them is in the Framework, since its fields are others."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import islice

from yaml.events import ScalarEvent, StreamEndEvent

from fcompile.diagnostics.problem import Path
from fcompile.load import Document
from fcompile.load.faults import Fault
from fcompile.load.yaml_events import Events, with_events
from fcompile.load.yaml_nodes import event_range

_COMMENT = re.compile(r"(?<![^ \t\r\n])#")
_HEAD_LINE = re.compile(r"^(?:[ \t]*+(#.*+)?|---[ \t]*+)$", re.MULTILINE)
_HEAD = re.compile(r"\ufeff?(?:(?:[ \t]*+(?:#[^\n]*+)?|---[ \t\r]*+)(?:\n|\Z))*+")
_SHOWN = 10


def tell_comments(document: Document, item: Path) -> str | None:
    """Return how many comments an object has and where they are; None when it has none."""
    start, end = document.extent(item) if item else (document.start, document.end)
    found = _comments(document)
    places = [*found[bisect_left(found, start) : bisect_left(found, end)], *([] if item else _before_all(document))]
    lines = sorted({document.source.span(place, place).line for place in places})
    if not lines:
        return None
    shown = ", ".join(map(str, islice(lines, _SHOWN))) + (", …" if len(lines) > _SHOWN else "")
    return f"{len(lines)} comments are left out (lines {shown})" if len(lines) > 1 else f"1 comment is left out (line {shown})"


def _before_all(document: Document) -> list[int]:
    """Return the comments at the head of a file, before the `---` of its first document."""
    head = document.source.text[: document.start]
    return [match.start(1) for match in _HEAD_LINE.finditer(head) if match[1]] if _HEAD.fullmatch(head) else []


@lru_cache(1)
def _comments(document: Document) -> Sequence[int]:
    """Return where the comments of a document begin, as offsets in the file. A `#` within a string is none."""
    text = document.text
    if document.json or not _COMMENT.search(text):
        return []
    try:
        scalars = with_events(text, partial(_scalars, text))
    except (Fault, UnicodeEncodeError):
        return []
    found, line_end = array("q"), 0
    for match in _COMMENT.finditer(text):
        place = match.start()
        while scalars and scalars[-1][1] <= place:
            scalars.pop()
        if place >= line_end and not (scalars and scalars[-1][0] <= place):
            found.append(document.start + place)
            line_end = text.find("\n", place) % (len(text) + 1)
    return found


def _scalars(text: str, events: Events) -> list[tuple[int, int]]:
    """Return where the scalars of a text are, the last one first."""
    found = []
    while not isinstance(event := events(), StreamEndEvent):
        if isinstance(event, ScalarEvent):
            start, end = event_range(event)
            # A comment may follow the indicator of a block scalar.
            found.append((text.find("\n", start) % (len(text) + 1) if event.style in ("|", ">") else start, end))
    return found[::-1]
