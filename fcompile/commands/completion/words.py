"""The words of a line of bash that is not complete yet."""

from __future__ import annotations

import shlex


def split(line: str) -> list[str]:
    """The words without their quotes. The last one is what is being typed; it is empty after a space."""
    for end in ("x", "x'", 'x"'):
        try:
            words = shlex.split(line + end)
        except ValueError:  # within quotes
            continue
        return [*words[:-1], words[-1][:-1]]
    return [""]
