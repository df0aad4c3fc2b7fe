"""What is the same of many jobs: the reports for people say it once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fcompile.convert.conversion import Account
from fcompile.convert.draft import of_controller
from fcompile.convert.ledger import Entry
from fcompile.diagnostics.visible import listed

_FEW = 3
"""Jobs of each of which it is said."""


class Common(NamedTuple):
    """Differences and notes that more than a few jobs share, each with these jobs."""

    differences: dict[Entry, list[Account]]
    notes: dict[str, list[Account]]
    controller: bool
    """Whether these say which controller runs the Frameworks."""

    def own(self, account: Account) -> list[Entry]:
        """Return the differences that are said of the job itself."""
        return [entry for entry in account.different if entry not in self.differences]

    def own_notes(self, account: Account) -> list[str]:
        """Return the notes that are said of the job itself."""
        made = account.made
        if made is None:
            return []
        return [note for note in (dict.fromkeys(made.remarks) if self.controller else made.notes) if note not in self.notes]


def common(accounts: Sequence[Account]) -> Common:
    """Return what many of the jobs share."""
    differences: dict[Entry, list[Account]] = {}
    notes: dict[str, list[Account]] = {}
    for account in accounts:
        for entry in dict.fromkeys(account.different):
            differences.setdefault(entry, []).append(account)
        for note in dict.fromkeys(account.made.remarks if account.made is not None else ()):
            notes.setdefault(note, []).append(account)
    shared = {entry: found for entry, found in differences.items() if len(found) > _FEW}
    many = {note: found for note, found in notes.items() if len(found) > _FEW}
    bound = [account for account in accounts if account.made is not None and account.made.only_here]
    if len(bound) > 1:
        many[of_controller("them", (what for account in bound if account.made is not None for what in account.made.only_here))] = bound
    return Common(shared, many, len(bound) > 1)


def named(accounts: list[Account]) -> str:
    """Return the names of a few of the jobs, and how many more there are."""
    return listed([f"{account.namespace}/{account.name}" if account.namespace else account.name for account in accounts], _FEW)
