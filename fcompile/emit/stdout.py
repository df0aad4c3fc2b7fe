"""Writing a result to standard output: UTF-8 whatever the locale, line ends as they are."""

from __future__ import annotations

import sys
from collections.abc import Iterable

_CHUNK = 16 * 1024
"""A pipe holds four of these: we write the next while its reader takes the last. With larger ones the two wait for each other."""


def write(texts: Iterable[str]) -> None:
    """Write all texts and flush. A closed pipe, a full disk and the like raise OSError from here, not when Python exits."""
    out = sys.stdout.buffer
    held: list[str] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size >= _CHUNK:
            out.write("".join(held).encode())
            held.clear()
            size = 0
    out.write("".join(held).encode())
    out.flush()
