"""How much was done, row by row."""

from __future__ import annotations

import os
from collections import Counter
from typing import Final

FULL: Final = {
    "one Pod": 1_000_000,
    "crashes": 25,
    "accounting": 10_000,
    "stale caches": 36,
    "lost events": 1_000,
    "watches": 7,
    "storms": 10,
    "quiet": 10,
    "ways back": 1_000,
}
"""The numbers of the full run."""

done: Counter[str] = Counter()


def is_full() -> bool:
    return bool(os.environ.get("FCONTROLLER_SAFETY_FULL"))


def wanted(row: str) -> int:
    """How many of a row are to be done now: all, or a tenth."""
    return FULL[row] if is_full() else max(FULL[row] // 10, 1)


def add(row: str, count: int = 1) -> None:
    done[row] += count
