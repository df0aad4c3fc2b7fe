"""The JSON of `fcompile explain`, written by `fcompile.explain.json`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from fcompile.declare.report import ABSENT, Position, Report


class Value(Report):
    """A value of the Pod, and where it comes from."""

    field: str
    """The field's path in the Pod."""
    value: Any
    """A string, a number, a boolean or null, or an empty list or mapping."""
    origin: Literal["source", "placeholder", "override", "default", "controller"]
    """source: it stands in the file. placeholder: the same, with placeholders replaced. override: it was set for this run. default: the
    source leaves it out. controller: it is added to every Pod, or because of the role's service."""
    rule: str = ABSENT
    """Which default, which template or which override it is, or how the source spells it."""
    source: str = ABSENT
    """The field's path in the Framework."""
    file: str = ABSENT
    """The file that it stands in."""
    line: Position = ABSENT
    """The line that it stands in, from 1."""
    column: Position = ABSENT
    """The column that it begins in, from 1."""


class LifetimeField(Report):
    """What a field of the whole Framework does to the Pod, without being in it."""

    source: Literal["spec.activeDeadlineSeconds", "spec.cleanPodPolicy", "spec.ttlSecondsAfterFinished"]
    """The field's path in the Framework."""
    value: int | str
    """Its value."""
    meaning: str
    """What becomes of the Pod because of it."""
    file: str
    """The file that it stands in."""
    line: Position
    """The line that it stands in, from 1."""
    column: Position
    """The column that it begins in, from 1."""


class Explanation(Report):
    """Where each value of a Pod comes from. Fields may be added without a new version: ignore what you do not know."""

    model_config = ConfigDict(title="What `fcompile explain --format json` prints")

    version: Literal[1]
    """Rises when a field goes away or changes its meaning."""
    pod: str
    """The Pod's name."""
    namespace: str
    """The Pod's namespace."""
    values: list[Value]
    """Its values, in the order of the Pod: all of them, or those of the part that was asked for."""
    lifetime: list[LifetimeField] = ABSENT
    """What fields of the Framework say of the end of the Pod; only of a whole Pod, and only where there are such fields."""
