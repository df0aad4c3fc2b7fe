"""Cut long work on the event loop into turns, so that the lease is renewed and probes are answered meanwhile."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

_AT_ONCE = 0.01
"""Seconds of work after which others get their turn."""
AWAKE = 8
"""How many of those who wait for an answer are woken in one turn of the event loop. Each may then work for a millisecond."""

T = TypeVar("T")


class Breath:
    """Pauses in long work."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    async def take(self) -> None:
        """Let other work run if this has gone on for long."""
        if time.perf_counter() - self._since > _AT_ONCE:
            await asyncio.sleep(0)
            self._since = time.perf_counter()


class Turns:
    """Runs callbacks on one event loop in the order in which they were put, and for a limited time in each turn of the loop."""

    def __init__(self) -> None:
        self._due: OrderedDict[Callable[[], object], contextvars.Context] = OrderedDict()
        """An `OrderedDict`: the first entry of a plain dict takes the longer to find the more were taken out before it."""
        self._begun = False
        self._alone = asyncio.Lock()
        self._of_tenants: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def put(self, work: Callable[[], object]) -> None:
        """Run something soon. Something that waits already is run only once."""
        self._due.setdefault(work, contextvars.copy_context())  # As `call_soon` has it.
        if not self._begun:
            self._begun = True
            asyncio.get_running_loop().call_soon(self._run)

    @asynccontextmanager
    async def alone(self, tenant: str) -> AsyncIterator[None]:
        """Run work that takes much memory while no other such work runs.

        Each tenant waits with one piece of work at a time, so that nobody waits behind all of another tenant's.
        """
        own = self._of_tenants.setdefault(tenant, asyncio.Lock())
        async with own, self._alone:
            yield

    def drop(self, work: Callable[[], object]) -> None:
        """Forget something that waits to be run."""
        self._due.pop(work, None)

    def _run(self) -> None:
        # Measured in the thread's own time: a busy machine does not make turns shorter. The kernel tells that time, which takes longer
        # than to look at the clock, so it is asked only when it may be over.
        end, at_earliest = time.thread_time() + _AT_ONCE, time.perf_counter() + _AT_ONCE
        try:
            while self._due and (time.perf_counter() < at_earliest or time.thread_time() < end):
                work, context = self._due.popitem(last=False)
                context.run(work)
        finally:  # If one of them raises, the others run all the same.
            self._begun = bool(self._due)
            if self._begun:
                asyncio.get_running_loop().call_soon(self._run)


class Waker:
    """Wakes those who wait, a few in each turn of the event loop: with many tenants hundreds of answers may come at once."""

    def __init__(self) -> None:
        self._due: deque[asyncio.Future[None]] = deque()

    def put(self, waiting: asyncio.Future[None]) -> None:
        """Wake someone soon."""
        self._due.append(waiting)
        if len(self._due) == 1:
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        for _ in range(min(AWAKE, len(self._due))):
            waiting = self._due.popleft()
            if not waiting.done():
                waiting.set_result(None)
        if self._due:
            asyncio.get_running_loop().call_soon(self._run)


_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()


def turns() -> Turns:
    """Return the turns of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _TURNS.get(loop)
    if found is None:
        found = _TURNS[loop] = Turns()
    return found


async def unhurried(steps: Generator[None, None, T]) -> tuple[T, float]:
    """Run a generator to its end. Return its result, and how many seconds it worked.

    If several run at once, their steps share the turns of the loop.
    """
    work = _Steps(steps)
    turns().put(work.run)
    value: T = await work.over
    return value, work.seconds


def in_long_steps(steps: Generator[None, None, T]) -> Generator[None, None, T]:
    """Return what a generator returns, in fewer and longer steps: each waits for a turn, however short it is."""
    end = time.thread_time() + _AT_ONCE / 2
    while True:
        try:
            next(steps)
        except StopIteration as over:
            value: T = over.value
            return value
        if time.thread_time() >= end:
            yield
            end = time.thread_time() + _AT_ONCE / 2


class _Steps(Generic[T]):
    """Runs a generator, one step in each turn.

    A class, since a closure that puts itself again is a reference cycle: its result would stay in memory until the next full collection.
    """

    def __init__(self, steps: Generator[None, None, T]) -> None:
        self._steps = steps
        self.over: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.seconds = 0.0

    def run(self) -> None:
        if self.over.cancelled():
            return
        began = time.perf_counter()
        try:
            next(self._steps)
        except StopIteration as end:
            self.over.set_result(end.value)
        except Exception as error:
            self.over.set_exception(error)
        else:
            turns().put(self.run)
        self.seconds += time.perf_counter() - began
