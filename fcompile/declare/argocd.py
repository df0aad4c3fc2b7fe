"""The JSON of `fcompile argocd parameters`, written by `fcompile.commands.argocd.parameters`. Its form is Argo CD's."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, RootModel

from fcompile.declare.report import ABSENT, Report


class Announcement(Report):
    """A parameter that an application of Argo CD can set."""

    name: str
    """What `fcompile argocd generate` takes as the parameter's name."""
    title: str
    """What people see."""
    tooltip: str
    """What it is for."""
    collectionType: Literal["string", "map", "array"]
    """Which of the three fields of these names holds its value."""
    itemType: Literal["number", "boolean"] = ABSENT
    """What the string holds, if it is no text."""
    string: str = ABSENT
    """The value, or the default."""
    map: dict[str, str] = ABSENT
    """The values by name."""
    array: list[str] = ABSENT
    """The values in their order."""


class Announcements(RootModel[list[Announcement]]):
    """What can be set in an application."""

    model_config = ConfigDict(title="What `fcompile argocd parameters` prints")
