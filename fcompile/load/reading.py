"""What reading one YAML document gives."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

NOTHING: Final = object()
"""There is no document at all: only comments and white space."""


class Reading(NamedTuple):
    value: Any
    """NOTHING if there is no document."""
    ignored: int | None = None
    """Where text begins that kubectl never reads, because it comes after the end of the document; None if there is none."""
