"""The JSON of `fcompile convert`, written by `fcompile.convert.report.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from fcompile.declare.report import Position, Report


class Place(Report):
    """A field of an object in the input."""

    field: str
    """The field's path. Empty: the whole object."""
    line: Position
    """The line that it begins in, from 1; where it is not in the file, that of the nearest field above it."""
    column: Position
    """The column that it begins in, from 1."""


class Reason(Place):
    """Why a job is refused."""

    reason: str
    """What cannot be converted, and why."""


class Field(Place):
    """What becomes of a field, and of all below it that is not listed itself. A field can be listed more than once."""

    outcome: Literal["converted", "dropped", "different"]
    """converted: it is in the Framework. dropped: it is left out, and that changes nothing. different: something will be different."""
    what: str
    """converted: where it is now. dropped: why that changes nothing. different: what is different."""
    why: str
    """Why it is different; else empty."""
    remedy: str
    """What to do about it where it is different; else empty."""


class Object(Report):
    """A job, or another object that speaks of one."""

    file: str
    """The file as it was named or found."""
    line: Position
    """The line that it begins in, from 1."""
    kind: str
    """Its kind."""
    name: str
    """Its name, or its generateName with `…` after it. Empty: it has neither."""
    namespace: str | None
    """Its namespace; null: it names none."""
    framework: str | None
    """The name of the Framework that it becomes; null: it is refused, or no job and passes through."""
    refused: list[Reason]
    """Why it cannot be converted. Empty: it is not refused."""
    fields: list[Field]
    """What becomes of its fields, in the order of the file; of an object that is no job, the fields that speak of one."""
    notes: list[str]
    """What else is good to know."""


class Unreadable(Report):
    """A document that cannot be read."""

    file: str
    """The file as it was named or found."""
    line: Position
    """The line where the mistake is, from 1."""
    column: Position
    """The column where it is, from 1."""
    message: str
    """What is wrong."""


class Conversion(Report):
    """What becomes of jobs. Fields may be added without a new version: ignore what you do not know."""

    model_config = ConfigDict(title="What `fcompile convert --format json` prints to stderr")

    version: Literal[1]
    """Rises when a field goes away or changes its meaning."""
    objects: list[Object]
    """The jobs, and other objects that speak of them, in the order of the input."""
    unreadable: list[Unreadable]
    """What cannot be read. The exit code is 1 when there is any."""
