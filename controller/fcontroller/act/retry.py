"""How long to wait before something that has failed is tried again."""

from __future__ import annotations

import random

FIRST, LONGEST = 0.05, 60.0


def backoff(failures: int, first: float = FIRST, longest: float = LONGEST) -> float:
    """Return seconds to wait after so many failures one after the other: doubled each time, with a fifth more or less by chance."""
    return min(first * 2.0 ** min(failures - 1, 20), longest) * random.uniform(0.8, 1.2)
