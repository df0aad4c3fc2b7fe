"""Work that takes a while says so: on a terminal, on stderr, after two seconds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 2.0
"""Seconds of silence before the first line."""
_PAUSE = 0.2
_CLEAR = "\r\x1b[K"
_shown = False


def progress(steps: Iterable[T], done: str) -> Iterator[T]:
    """Yield the same steps; `done` says what one of them is: `files checked`. Nothing is shown in a pipe or a CI log.

    The line stays while the next step is waited for. Whoever prints in between calls `clear` first.
    """
    global _shown
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or os.environ.get("CI"):
        yield from steps
        return
    due = time.monotonic() + PATIENCE
    try:
        for count, step in enumerate(steps, 1):
            yield step
            if time.monotonic() >= due:
                print(f"{_CLEAR}{count:,} {done}", end="", file=sys.stderr, flush=True)
                _shown, due = True, time.monotonic() + _PAUSE
    finally:
        clear()


def clear() -> None:
    """Take the line away, if there is one."""
    global _shown
    if _shown:
        print(_CLEAR, end="", file=sys.stderr, flush=True)
        _shown = False
