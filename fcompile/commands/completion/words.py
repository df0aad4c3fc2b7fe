"""Words that are typed, and words that are offered."""

from __future__ import annotations

import shlex

Candidate = tuple[str, str]
"""A word, and what it means; empty: it is clear."""


def split(line: str) -> list[str]:
    """Return the words of a line of bash that is not complete yet, without their quotes.

    The last one is what is being typed; it is empty after a space.
    """
    for end in ("x", "x'", 'x"'):
        try:
            words = shlex.split(line + end)
        except ValueError:  # within quotes
            continue
        return [*words[:-1], words[-1][:-1]]
    return [""]
