"""What the writer of an unknown word may have meant. Only looked for once something is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class Closest(NamedTuple):
    word: str
    certain: bool
    """Whether nobody can have meant anything else: only case, `-` and `_` differ, or a single letter of a long word."""


def closest(word: str, known: Iterable[str]) -> Closest | None:
    """Return the known word that is most like `word`, or the only one that contains it; None when none is near or two are equally so."""
    plain = _plain(word)
    best: list[tuple[int, str]] = []
    longer = []
    for candidate in known:
        if _plain(candidate) == plain:
            return Closest(candidate, True)
        if len(plain) > 4 and plain in _plain(candidate):
            longer.append(candidate)
        distance = edits(word.lower(), candidate.lower())
        if distance <= max(1, min(len(word), len(candidate)) // 3):
            best.append((distance, candidate))
    best.sort()
    if not best or (len(best) > 1 and best[0][0] == best[1][0]):
        return Closest(longer[0], False) if len(longer) == 1 else None
    distance, candidate = best[0]
    return Closest(candidate, distance == 1 and len(word) >= 6)


def _plain(word: str) -> str:
    return word.replace("-", "").replace("_", "").lower()


@lru_cache(maxsize=4096)
def edits(one: str, other: str) -> int:
    """Return how many letters to add, drop, change or swap with the next make one word of the other; 9 when there are too many."""
    if abs(len(one) - len(other)) > 4 or len(one) > 60:
        return 9
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
