"""Long work on the event loop: it lets others in again and again, so that the lease is renewed and probes are answered meanwhile."""

from __future__ import annotations

import asyncio
import time

_AT_ONCE = 0.01
"""Seconds of work after which others get their turn."""


class Breath:
    """Pauses where much is done at once."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    async def take(self) -> None:
        """Let others in if the work has gone on for long."""
        if time.perf_counter() - self._since > _AT_ONCE:
            await asyncio.sleep(0)
            self._since = time.perf_counter()
