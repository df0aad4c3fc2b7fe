"""The annotation that pauses a Framework: the controller takes one value for a pause, and any other for none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.problem import Finding, Fix, warning_rule
from fcompile.diagnostics.visible import visible
from fcompile.model.framework import ignored_pause
from fcompile.model.names import PAUSE_ANNOTATION

IGNORED_PAUSE = warning_rule(
    code="FC415",
    name="ignored-pause",
    summary="The annotation that pauses a Framework has a value that does not pause it.",
    why="Only `true` pauses. The controller goes on with any other value, and says so in an Event.",
    remedy='Write `"true"` to pause, or remove the annotation.',
)
_PATH = ("metadata", "annotations", PAUSE_ANNOTATION)
_YES = ("true", "yes", "on", "y", "t", "1")


def ignored_pauses(framework: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding if the annotation is there, and neither pauses nor says that it does not."""
    if value := ignored_pause(framework):
        means_yes = value.strip().lower() in _YES
        fix = Fix('write "true"', _PATH, "value", '"true"') if means_yes else None
        yield Finding(IGNORED_PAUSE, _PATH, f"`{visible(value)}` does not pause the Framework: only `true` does", fix=fix)
