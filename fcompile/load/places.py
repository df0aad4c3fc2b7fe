"""Where the keys and values of a document stand, in offsets of its text. Made only when a problem has to be shown."""

from __future__ import annotations

from typing import NamedTuple

from fcompile.diagnostics.problem import Part, Path


class Place:
    """One value: a scalar, a list (`items`) or a mapping (`entries`)."""

    __slots__ = ("block", "end", "entries", "items", "plain", "start", "target")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.plain = False
        """Whether it is a scalar without quotes, tag and anchor."""
        self.block = False
        """Whether it is a list or mapping in block style, whose text is many lines."""
        self.items: list[Place] | None = None
        self.entries: dict[str, Entry] | None = None
        self.target: Place | None = None
        """What it stands for, if it is an alias."""


class Entry(NamedTuple):
    """A key of a mapping, and its value."""

    start: int
    end: int
    place: Place
    plain: bool
    """Whether the key has neither quotes nor tag nor anchor."""
    merged: bool = False
    """Whether it comes in through `<<`, and stands elsewhere."""


class Found(NamedTuple):
    """The end of a walk along a path."""

    place: Place
    """The value at the path, or the nearest one above it that exists."""
    entry: Entry | None
    """The entry that `place` is the value of, if it is in a mapping."""
    complete: bool
    """Whether the whole path exists."""


def walk(root: Place, path: Path) -> Found:
    place, entry = root, None
    for step in path:
        place = place.target or place
        if isinstance(step, str):
            child = place.entries.get(step) if place.entries is not None else None
            if child is None:
                return Found(place, entry, False)
            place, entry = child.place, child
        else:
            if place.items is None or not 0 <= step < len(place.items):
                return Found(place, entry, False)
            place, entry = place.items[step], None
    return Found(place, entry, True)


def locate(root: Place, path: Path, part: Part, text: str) -> tuple[int, int]:
    """Return the region to show for a field. For a missing field this is the key of the mapping that lacks it, or its first line."""
    found = walk(root, path)
    place, entry = found.place, found.entry
    if entry is not None and (part == "key" or not found.complete or place.start == place.end):
        return entry.start, entry.end
    if place.start == place.end and text[place.start - 1 : place.start] == "-":
        return place.start - 1, place.start
    end = first_line_end(text, place.start) if place.block or not found.complete else place.end
    return place.start, max(min(end, place.end), place.start)


def extent(root: Place, path: Path) -> tuple[int, int]:
    """Return where the value at a path begins and ends. Comments after its last value are no part of it."""
    place = walk(root, path).place
    return place.start, _content_end(place)


def _content_end(place: Place) -> int:
    """Return where the content of a place ends. To the parser a block ends where the next thing begins, to people with its last value."""
    if not place.block:
        return place.end
    own = [entry for entry in (place.entries or {}).values() if not entry.merged]
    ends = [*(max(entry.end, _content_end(entry.place)) for entry in own), *map(_content_end, place.items or ())]
    return max(ends, default=place.end)


def first_line_end(text: str, start: int) -> int:
    """Return the end of the line that `start` is in, without trailing white space and comment."""
    end = min((at for at in (text.find("\n", start), text.find("\r", start)) if at >= 0), default=len(text))
    line = text[start:end]
    comment = line.find(" #")
    return start + len((line[:comment] if comment >= 0 and not _quoted(line[:comment]) else line).rstrip())


def _quoted(line: str) -> bool:
    """Return whether a quote may be open at the end of the line."""
    return line.count('"') % 2 == 1 or line.count("'") % 2 == 1


def plain_region(root: Place, path: Path, part: Part) -> tuple[int, int] | None:
    """Return where a key or value stands that is a scalar without quotes, tag and anchor; None for any other, and for an empty one."""
    found = walk(root, path)
    if not found.complete:
        return None
    which = found.entry if part == "key" else found.place
    return (which.start, which.end) if which is not None and which.plain and which.start < which.end else None
