"""Things to do at a time: a heap of them, and a few threads that do them."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable


class Timers:
    """Calls functions when they are due, in several threads: so one that waits for an answer does not hold up the others."""

    def __init__(self, threads: int) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()
        self._changed = threading.Condition()
        self._stopped = False
        #: What functions raised.
        self.failures: list[Exception] = []
        self._threads = [threading.Thread(target=self._work, name=f"timers-{number}", daemon=True) for number in range(threads)]
        for thread in self._threads:
            thread.start()

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        """Calls a function after some seconds, those of the same moment in this order."""
        with self._changed:
            heapq.heappush(self._heap, (time.monotonic() + seconds, next(self._number), do))
            self._changed.notify()

    def stop(self) -> None:
        """Waits for what is being done. What is not due yet is forgotten."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while do := self._next():
            try:
                do()
            except Exception as problem:
                self.failures.append(problem)

    def _next(self) -> Callable[[], None] | None:
        """Waits for the next that is due; None when all is over."""
        with self._changed:
            while not self._stopped:
                wait = self._heap[0][0] - time.monotonic() if self._heap else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._heap)[2]
                self._changed.wait(wait)
        return None
