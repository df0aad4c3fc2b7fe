"""How long to wait before something that has failed is tried again, and before it is said that no answer comes."""

from __future__ import annotations

import asyncio
import random

FIRST, LONGEST = 0.05, 60.0
SLOW = 14.0
"""Seconds after which a single failure is reported, and a missing answer too."""
SILENT = f"the API server has not answered for {SLOW:.0f} s"
QUEUED = f"its requests have waited for {SLOW:.0f} s until it is their turn: many others of this namespace are under way"
BUSY = "the API server is too busy for its requests (429), and has said when to ask again"


_CALM = 60.0
"""Seconds after which a change by somebody else counts as the first one again."""


class Pace:
    """Says how long to wait after repeated changes by somebody else."""

    def __init__(self) -> None:
        self._changes = 0
        self._due = float("-inf")

    def delay(self, failures: int = 0) -> float:
        """Count one more change, and return how many seconds to wait after it: none after the first.

        :param failures: those of our own, one after the other.
        """
        now = asyncio.get_running_loop().time()
        self._changes = self._changes + 1 if now < self._due + _CALM else 0
        delay = backoff(max(self._changes, failures))
        self._due = now + delay  # The time of waiting does not count as time without changes.
        return delay


def backoff(failures: int, first: float = FIRST, longest: float = LONGEST) -> float:
    """Return how many seconds to wait after a number of failures in a row: doubled each time, give or take a random fifth."""
    if not failures:
        return 0
    return min(first * 2.0 ** min(failures - 1, 20), longest) * random.uniform(0.8, 1.2)
