"""The JSON of `fcompile validate` and `fcompile rule`, written by `fcompile.diagnostics.json` and `fcompile.commands.rule`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, RootModel

from fcompile.declare.report import Count, Position, Report

Code = Annotated[str, Field(pattern="^FC[0-9]{3}$")]


class Region(Report):
    """A part of a file. All numbers count Unicode code points; a byte order mark is not counted, and ends are exclusive."""

    line: Position
    """The line that it begins in, from 1."""
    column: Position
    """The column that it begins in, from 1."""
    endLine: Position
    """The line that it ends in."""
    endColumn: Position
    """The column that it ends before."""
    offset: Count
    """Where it begins in the file, from 0."""
    endOffset: Count
    """Where it ends in the file."""


class Fix(Region):
    """A change that is certain to be right: put `text` in the place of the region."""

    title: str
    """What it does."""
    text: str
    """YAML source."""


class Related(Report):
    """Another place that the message speaks of."""

    message: str
    """What it has to do with the problem."""
    file: str
    """The file as it was named or found."""
    field: str
    """The field's path. Empty: it is not known, or the whole document."""
    region: Region | None
    """Where it is in the file; null: that is not known."""


class Problem(Region):
    """What is wrong, and where."""

    code: Code
    """What kind of problem it is. A code never changes its meaning."""
    name: str
    """The code in words."""
    severity: Literal["error", "warning", "note"]
    """error: it will be refused, or will not run as written. warning: it runs, and hardly anybody means it so. note: good to know."""
    message: str
    """What is wrong and what to do."""
    help: str
    """Why it matters: the same for all problems of a code. Can be empty."""
    file: str
    """The file as it was named or found."""
    sourceLine: str | None
    """The whole line that the problem begins in, without its line end; null when it is longer than 1,000 code points."""
    field: str
    """The field's path, as in `spec.taskRoles[0].name`. Empty: the whole document."""
    framework: str
    """`namespace/name` of the Framework. Empty: it is not known or there is none."""
    fix: Fix | None
    """What mends it; null: there is no change that is certain to be right."""
    related: list[Related]
    """Other places that the message speaks of."""


class Waiver(Region):
    """Who says that the problem may stay, and why. The region is that of the waiver, in its own file."""

    reason: str
    """Why the problem may stay."""
    kind: Literal["comment", "file"]
    """A comment in the file itself, or an entry of the waivers file."""
    file: str
    """The file that the waiver is in."""


class WaivedProblem(Problem):
    """A problem that is covered by a waiver. It does not count as one."""

    waiver: Waiver
    """What covers it."""


class Summary(Report):
    """How much was checked and found."""

    files: Count
    """Files that were checked."""
    frameworks: Count
    """Frameworks in them."""
    skipped: Count
    """Files that were looked at and hold no Framework."""
    errors: Count
    """Problems of severity error."""
    warnings: Count
    """Problems of severity warning."""
    notes: Count
    """Problems of severity note."""
    waived: Count
    """Problems that a waiver covers."""
    affected: Count
    """Files with at least one problem."""


class Diagnostics(Report):
    """Every problem of some files. Fields may be added without a new version: ignore what you do not know."""

    model_config = ConfigDict(title="What `fcompile validate --format json` prints")

    version: Literal[1]
    """Rises when a field goes away or changes its meaning."""
    problems: list[Problem]
    """What was found, file by file, in the order of the text."""
    waived: list[WaivedProblem]
    """What was found and is covered by a waiver. It does not count as a problem."""
    summary: Summary
    """How much was checked and found."""


class Rule(Report):
    """A kind of problem."""

    code: Code
    """Its code, which never changes its meaning."""
    name: str
    """The code in words."""
    severity: Literal["error", "warning", "note"]
    """How bad its problems are."""
    summary: str
    """What is wrong."""
    help: str
    """Why it matters, and what to do. Can be empty."""


class Rules(RootModel[list[Rule]]):
    """The rules that were asked for. Fields may be added: ignore what you do not know."""

    model_config = ConfigDict(title="What `fcompile rule` prints as JSON")
