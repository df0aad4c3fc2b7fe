"""Cut long work on the event loop into turns, so that the lease is renewed and probes are answered meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

_AT_ONCE = 0.01
"""Seconds of work after which others get their turn."""


T = TypeVar("T")


class Breath:
    """Pauses where much is done at once."""

    def __init__(self) -> None:
        self._since = time.perf_counter()
        self._before = 0.0

    @property
    def worked(self) -> float:
        """Seconds of work so far, without the pauses."""
        return self._before + time.perf_counter() - self._since

    async def take(self) -> None:
        """Let others in if the work has gone on for long."""
        if time.perf_counter() - self._since > _AT_ONCE:
            self._before = self.worked
            await asyncio.sleep(0)
            self._since = time.perf_counter()


async def unhurried(steps: Generator[None, None, T], breath: Breath) -> T:
    """Run what is done in steps to its end, and return what comes of it. Others are let in where it takes long."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value
        await breath.take()
