"""How long to wait before something that has failed is tried again, and before it is said that no answer comes."""

from __future__ import annotations

import random

FIRST, LONGEST = 0.05, 60.0
SLOW = 14.0
"""Seconds after which a single failure is reported, and a missing answer too."""
SILENT = f"the API server has not answered for {SLOW:.0f} s"
QUEUED = f"its requests have waited for {SLOW:.0f} s until it is their turn: many others of this namespace are under way"


def backoff(failures: int, first: float = FIRST, longest: float = LONGEST) -> float:
    """Return how many seconds to wait after a number of failures in a row: doubled each time, give or take a random fifth."""
    return min(first * 2.0 ** min(failures - 1, 20), longest) * random.uniform(0.8, 1.2)
