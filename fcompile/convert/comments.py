"""Comments where somebody must look: every difference of the report stands in the Framework too, at its field or at the head."""

from __future__ import annotations

from collections.abc import Iterable

from fcompile.convert.draft import Draft
from fcompile.convert.ledger import Entry, Outcome
from fcompile.diagnostics.problem import field_path


def comment_differences(draft: Draft, entries: Iterable[Entry]) -> None:
    """Put at the head of the Framework what no comment speaks of yet."""
    told = [text for _, text in draft.comments]
    for entry in entries:
        if entry.outcome is Outcome.DIFFERENT and not _is_told(told, entry):
            draft.comment(f"Different: {field_path(entry.path)}: {entry.what}: {entry.remedy}.")


def _is_told(told: list[str], entry: Entry) -> bool:
    name = str(entry.path[-1]) if entry.path else ""
    return any(entry.what in text or (text.startswith("Not yet there") and name in text) for text in told)
