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


def progress(steps: Iterable[T], done: str) -> Iterator[T]:
    """The same steps; `done` says what one of them is: `files checked`. Nothing is shown in a pipe or a CI log."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or os.environ.get("CI"):
        yield from steps
        return
    due = time.monotonic() + PATIENCE
    shown = False
    try:
        for count, step in enumerate(steps, 1):
            if time.monotonic() >= due:
                print(f"{_CLEAR}{count:,} {done}", end="", file=sys.stderr, flush=True)
                shown, due = True, time.monotonic() + _PAUSE
            yield step
    finally:
        if shown:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
