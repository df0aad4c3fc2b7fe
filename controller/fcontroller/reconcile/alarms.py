"""When to look again at a Framework and its tasks. One timer of the event loop for all of them: tasks may be ten thousand.

As with client-go's `RequeueAfter`, whoever waits for a time says so at each reconciliation, until it has come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from heapq import heapify, heappop, heappush
from itertools import count

from fcontroller.decide.status import Key
from fcontroller.mailbox import Due, Mailbox

_SPARE = 100
"""Entries that may be outdated before they are thrown out."""
_LATE = 0.001
"""Seconds after its time that an alarm rings: uvloop counts milliseconds, and would sometimes be early."""


class Alarms:
    """Keeps a time for each task, and (None) for the Framework. A message arrives when one has come."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._at: dict[Key | None, float] = {}
        """By the clock of the loop."""
        self._heap: list[tuple[float, int, Key | None]] = []
        """The same times, the earliest first, and some that hold no more."""
        self._number = count()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = float("inf")

    def set(self, key: Key | None, at: float) -> None:
        """Set a time, unless there is an earlier one for the same key: it may wait for several at once, of which the first is kept."""
        if at >= self._at.get(key, float("inf")):
            return
        self._at[key] = at
        heappush(self._heap, (at, next(self._number), key))
        self._wind()

    def drop(self, keys: Collection[Key] | None) -> None:
        """Forget the times of tasks; None: of all tasks. What they wait for now is set again."""
        for key in [key for key in self._at if key is not None] if keys is None else keys:
            self._at.pop(key, None)
        if len(self._heap) > 2 * len(self._at) + _SPARE:
            self._heap = [entry for entry in self._heap if self._at.get(entry[2]) == entry[0]]
            heapify(self._heap)

    def clear(self) -> None:
        """Forget all times."""
        self._at.clear()
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_at = None, float("inf")

    def _wind(self) -> None:
        if self._heap and self._heap[0][0] < self._timer_at:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = self._heap[0][0]
            self._timer = asyncio.get_running_loop().call_at(self._timer_at + _LATE, self._ring)

    def _ring(self) -> None:
        self._timer, self._timer_at = None, float("inf")
        now = asyncio.get_running_loop().time()
        while self._heap and self._heap[0][0] <= now:
            at, _, key = heappop(self._heap)
            if self._at.get(key) == at:
                del self._at[key]
                self._mailbox.put(Due(key))
        self._wind()
