"""How much was done, row by row, and how much is wanted."""

from __future__ import annotations

import os
from collections import Counter
from typing import Final, NamedTuple

FULL_RUN: Final = "FCONTROLLER_SAFETY_FULL"
"""The environment variable that asks for the full numbers."""


class Row(NamedTuple):
    """A row of the table."""

    title: str
    files: tuple[str, ...]
    """The tests of it; none: all."""
    unit: str
    full: int
    few: int


ROWS: Final = {
    "one Pod": Row("at most one live Pod per task", (), "writes looked at", 1_000_000, 50_000),
    "crashes": Row("crash-safe", ("test_crashes",), "lives, at each write × 3 (few: at each tenth)", 25, 25),
    "accounting": Row("exactly-once accounting", ("test_accounting",), "sequences × 50", 10_000, 400),
    "accounting, the whole controller": Row("… of the whole controller", ("test_accounting",), "sequences × 50", 500, 50),
    "stale caches": Row("stale caches do no harm", ("test_stale",), "pairs of lags", 36, 36),
    "lost events": Row("level-triggered", ("test_lost_events",), "pairs of events", 1_000, 100),
    "watches": Row("watches survive", ("test_watches",), "ways to fail", 42, 42),
    "storms": Row("API storms", ("test_storms",), "storms", 2_000, 200),
    "quiet": Row("quiet when done", ("test_quiet",), "lives", 25, 25),
    "ways back": Row("path-independent", ("test_ways_back",), "ways there and back", 1_000, 100),
}

done: Counter[str] = Counter()


def is_full() -> bool:
    return bool(os.environ.get(FULL_RUN))


def wanted(row: str) -> int:
    """How many of a row are to be done now: all, or few."""
    return ROWS[row].full if is_full() else ROWS[row].few


def add(row: str, count: int = 1) -> None:
    done[row] += count


def table(failed: Counter[str]) -> tuple[list[str], bool]:
    """The table as lines, and whether all is as it must be.

    :param failed: how many tests failed, by the name of their file.
    """
    lines, good = [f"{'guarantee':32}{'wanted':>10}{'done':>10}{'violated':>10}  of"], True
    for key, row in ROWS.items():
        violated = sum(count for file, count in failed.items() if not row.files or file in row.files)
        lines.append(f"{row.title:32}{wanted(key):>10}{done[key]:>10}{violated:>10}  {row.unit}")
        good = good and not violated and done[key] >= wanted(key)
    others = ", ".join(f"{count} {key}" for key, count in done.items() if key not in ROWS)
    return [*lines, f"and {others}"], good
