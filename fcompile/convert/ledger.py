"""The account of a conversion: what becomes of each field of a source. A field that nobody spoke of is told of as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Part, Path

LEFT_OUT = "it is left out"
MAX_ENTRIES = 1_000
"""Of one outcome that are shown of one object."""


class Outcome(StrEnum):
    """What becomes of a field."""

    CONVERTED = "converted"
    DROPPED = "dropped without effect"
    DIFFERENT = "different"


class Entry(NamedTuple):
    """What becomes of a field and of all below it that no other entry is about."""

    path: Path
    """From the root of the source object."""
    outcome: Outcome
    what: str
    """CONVERTED: where it is now. DROPPED: why it changes nothing. DIFFERENT: what is different."""
    why: str = ""
    remedy: str = ""
    """What to do."""


def shown(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries, of each outcome no more than can be read, and how many more there are."""
    counts: Counter[Outcome] = Counter()
    for entry in entries:
        counts[entry.outcome] += 1
        if counts[entry.outcome] <= MAX_ENTRIES:
            yield entry
    for outcome, count in counts.items():
        if count > MAX_ENTRIES:
            why = f"of each outcome at most {MAX_ENTRIES:,} are shown"
            yield Entry((), outcome, f"{count - MAX_ENTRIES:,} more of these are not shown", why, "mend these first")


class Elsewhere(NamedTuple):
    """A field of another object of the input, such as the runtime of a TrainJob."""

    value: Any
    """The object itself."""
    path: Path


@dataclass(eq=False)
class Refusal(Exception):
    """Why a job cannot be converted, and the field that it lies in."""

    path: Path
    reason: str
    meant: str | None = None
    """The field that the one at the path was meant to be."""
    instead: int | None = None
    """A value that can stand there, so that the other mistakes can be looked for."""
    elsewhere: Elsewhere | None = None
    """Where in another object it is."""
    part: Part = "value"
    """What of the field is shown: its name, where that is what is wrong."""


class Ledger:
    """The entries of one job."""

    def __init__(self) -> None:
        self._entries: dict[Path, dict[Entry, None]] = {}

    def converted(self, path: Path, to: str) -> None:
        """Take down that a field is in the Framework."""
        self._add(Entry(path, Outcome.CONVERTED, to))

    def dropped(self, path: Path, why: str) -> None:
        """Take down that a field is left out, since that changes nothing."""
        self._add(Entry(path, Outcome.DROPPED, why))

    def different(self, path: Path, what: str, why: str, remedy: str) -> None:
        """Take down that something will be different."""
        self._add(Entry(path, Outcome.DIFFERENT, what, why, remedy))

    @property
    def differences(self) -> list[Entry]:
        """Return what will be different."""
        return [entry for entries in self._entries.values() for entry in entries if entry.outcome is Outcome.DIFFERENT]

    @property
    def paths(self) -> list[Path]:
        """Return the fields that were spoken of."""
        return list(self._entries)

    def entries(self, source: Any) -> list[Entry]:
        """Return the entries in the order of the source, fields that nobody spoke of among them. Of very many, the last says how many."""
        return list(shown(self._in_order(source)))

    def _in_order(self, source: Any) -> Iterator[Entry]:
        """Yield the entries in the order of the source, and after them those of fields that it does not have."""
        above = {path[:length] for path in self._entries for length in range(len(path) + 1)}
        met: set[Path] = set()
        levels: list[Iterator[tuple[Path, Any, bool, bool]]] = [iter([((), source, False, True)])]
        while levels:
            found = next(levels[-1], None)
            if found is None:
                levels.pop()
                continue
            path, value, told, near = found
            near = near and path in above  # to look up a path takes long where it is deep
            entries = self._entries.get(path) if near else None
            if entries is not None:
                met.add(path)
                told = True
                yield from entries
            if isinstance(value, dict | list) and value:
                if near or not told:
                    levels.append(_below(path, value, told, near))
            elif not told:
                yield _unknown(path)
        for path, entries in self._entries.items():
            if path not in met:
                yield from entries

    def _add(self, entry: Entry) -> None:
        self._entries.setdefault(entry.path, {})[entry] = None


def _unknown(path: Path) -> Entry:
    return Entry(
        path,
        Outcome.DIFFERENT,
        LEFT_OUT,
        "the operator has no such field, or `convert` does not know it",
        "look whether the job needs it",
    )


def _below(path: Path, value: dict[str, Any] | list[Any], told: bool, near: bool) -> Iterator[tuple[Path, Any, bool, bool]]:
    """Yield what is in a mapping or list, with its path, and with what was given of the whole."""
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, step), item, told, near
