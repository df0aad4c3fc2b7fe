"""An event loop whose clock jumps to the next timer when nothing else is to be done: hours pass in milliseconds, always the same way."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

START = 1_800_000_000
"""The time of day, in seconds since 1970, at which every loop begins."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Sockets work too, as long as both ends are in this loop: the clock stands still while data is under way."""

    def __init__(self) -> None:
        self.passed = 0.0
        super().__init__(_Jumping(self))
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self.passed

    def wall(self) -> float:
        """The time of day, in seconds since 1970."""
        return START + self.passed

    def run_for(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.run_until_complete(asyncio.sleep(seconds))

    def shut(self) -> None:
        """End all that still runs, and close."""
        tasks = asyncio.all_tasks(self)
        for task in tasks:
            task.cancel()
        if tasks:
            self.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.run_until_complete(self.shutdown_asyncgens())
        self.close()


def in_virtual_time(work: Callable[[VirtualLoop], Coroutine[Any, Any, None]]) -> None:
    """Run something to its end in a loop of its own."""
    loop = VirtualLoop()
    try:
        loop.run_until_complete(work(loop))
    finally:
        loop.shut()


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0) if len(self.get_map()) > 1 else []  # The loop has a socket of its own.
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None:
            raise RuntimeError("everything waits, and nothing will ever happen")
        self._loop.passed += timeout
        return []
