"""The interface of all output formats, and the summary of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from fcompile.diagnostics.problem import Problem, Span
from fcompile.diagnostics.visible import joined

ColorChoice = Literal["auto", "always", "never"]
"""Whether text is coloured; auto: on a terminal, unless the environment says otherwise."""


class Style(NamedTuple):
    """How text is to look. Formats for machines ignore it."""

    color: bool = False
    width: int = 120
    """Terminal columns that a source line may take."""

    def paint(self, text: str, color: str) -> str:
        """Return a text in a colour, as terminals number them, or as it is."""
        return f"\x1b[{color}m{text}\x1b[0m" if self.color and text and color else text


class Waived(NamedTuple):
    """A problem that somebody decided to live with."""

    problem: Problem
    reason: str
    kind: Literal["comment", "file"]
    """Whether a comment at the field or the waivers file says so."""
    file: str
    """Where the waiver stands."""
    span: Span


class Summary(NamedTuple):
    """The counts of a run."""

    files: int
    """Files that were checked: those that hold a Framework, or would if they could be read."""
    frameworks: int
    skipped: int
    """Files that were looked at and hold no Framework."""
    errors: int
    warnings: int
    notes: int
    waived: int
    affected: int
    """Checked files with at least one error, warning or note."""


class Writer:
    """One output format, which overrides what it prints. Calls come in any order, `finish` last; what streams is written at once."""

    def problem(self, problem: Problem) -> None:
        """Take a problem."""

    def waived(self, waived: Waived) -> None:
        """Take a problem that is waived."""

    def file(self, name: str, frameworks: Sequence[str]) -> None:
        """Take a checked file and the Frameworks in it, named as in `Problem.framework`. Once per file."""

    def skipped(self, file: str, reason: str) -> None:
        """Take a file that was passed over although it seems to hold a Framework."""

    def finish(self, summary: Summary) -> None:
        """Take the counts."""


class Filter(Writer):
    """Passes on to another writer all that a subclass does nothing else with."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def problem(self, problem: Problem) -> None:
        self._writer.problem(problem)

    def waived(self, waived: Waived) -> None:
        self._writer.waived(waived)

    def file(self, name: str, frameworks: Sequence[str]) -> None:
        self._writer.file(name, frameworks)

    def skipped(self, file: str, reason: str) -> None:
        self._writer.skipped(file, reason)

    def finish(self, summary: Summary) -> None:
        self._writer.finish(summary)


def summary_line(summary: Summary) -> str:
    """Return the last line for people: `Found 3 errors and 1 warning in 2 of 14 files.`"""
    counts = ((summary.errors, "error"), (summary.warnings, "warning"), (summary.notes, "note"))
    found = [counted(number, noun) for number, noun in counts if number]
    waived = f" ({summary.waived:,} waived)" if summary.waived else ""
    if found:
        # A waivers file can have problems too, and a path that leads to no file, but neither counts as a checked file.
        files = max(summary.files, summary.affected)
        where = f" in {summary.affected:,} of {counted(files, 'file')}" if summary.files else ""
        return f"Found {joined(found)}{where}{waived}."
    if not summary.frameworks:
        return f"No Framework found in {counted(summary.files + summary.skipped, 'file')}."
    return f"{counted(summary.frameworks, 'Framework')} in {counted(summary.files, 'file')}: no problems{waived}."


def counted(number: int, noun: str) -> str:
    """Return `1 file`, `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
