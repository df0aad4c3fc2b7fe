"""One waiver, and the result of reading some."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from fcompile.diagnostics.problem import Problem, Span

MAX_CODES = 50
"""Of one comment."""
MAX_IN_DOCUMENT = 250
MAX_IN_FILE = 10_000
"""Waivers that are read, in comments of one document and of one file: each problem is held against those in its document."""
MAX_ENTRIES = 1_000
"""Entries of the waivers file that are read: each problem of every file is held against them."""


class Scope(Protocol):
    """Which problems a waiver covers, among those with its code."""

    def covers(self, problem: Problem) -> bool: ...

    def covers_file(self, file: str) -> bool:
        """Return whether the waiver can cover a problem in the file."""


class Waiver(NamedTuple):
    """One code waived at one place."""

    code: str
    reason: str
    kind: Literal["comment", "file"]
    file: str
    """The file that the waiver itself stands in."""
    span: Span
    source_line: str
    scope: Scope
    removal: Span | None
    """What to delete to be rid of it, when nothing else depends on that."""
    document: int = 0
    """The first line of the document that a comment stands in; it covers nothing in another one."""


class WaiversRead(NamedTuple):
    """What a reader found in one text."""

    waivers: list[Waiver]
    problems: list[Problem]
    """What is wrong with the waivers themselves."""
