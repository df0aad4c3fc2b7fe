"""Turns of the event loop: however many Frameworks there is something to do for, none of them is long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator

import pytest

from fcontroller import breath
from fcontroller.reconcile.reconciler import Reconciler
from tests.decide.world import role_spec as role
from tests.safety.virtual_time import VirtualLoop, in_virtual_time
from tests.safety.world import World

WORK = 0.004
"""Seconds of CPU."""
MOST = 0.04


def work() -> None:
    end = time.thread_time() + WORK
    while time.thread_time() < end:
        pass


class Longest:
    """Measures the CPU between two turns of a loop."""

    def __init__(self) -> None:
        self.turn = 0.0
        self._began = time.thread_time()
        asyncio.get_running_loop().call_soon(self._look)

    async def look_twice(self) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _look(self) -> None:
        now = time.thread_time()
        self.turn, self._began = max(self.turn, now - self._began), now
        asyncio.get_running_loop().call_soon(self._look)


@pytest.mark.usefixtures("without_collections")
def test_many_frameworks_are_decided_in_many_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    reconcile, busy = Reconciler.reconcile, [0]

    def slow(self: Reconciler) -> None:
        work()
        busy[0] += 1
        reconcile(self)

    with World() as world:
        for number in range(30):
            world.make({"taskRoles": [role("w", 1)]}, f"f{number}")
        world.run(5)
        monkeypatch.setattr(Reconciler, "reconcile", slow)
        assert world.process is not None
        found = world.process.controller.reconcilers.values()

        async def all_at_once() -> float:
            longest = Longest()
            for reconciler in found:
                reconciler._schedule()
            while busy[0] < len(found):
                await asyncio.sleep(0)
            await longest.look_twice()
            return longest.turn

        assert world.loop.run_until_complete(all_at_once()) < MOST
        assert busy[0] == len(found)
        monkeypatch.undo()


def steps(made: list[int], number: int) -> Generator[None, None, int]:
    for _ in range(3):
        work()
        yield
    made.append(number)
    return number


@pytest.mark.usefixtures("without_collections")
def test_long_work_of_many_shares_the_turns() -> None:
    async def test(loop: VirtualLoop) -> None:
        longest, made = Longest(), list[int]()
        found = await asyncio.gather(*(breath.unhurried(steps(made, number)) for number in range(20)))
        assert [number for number, _ in found] == made == list(range(20))
        assert all(seconds >= 3 * WORK for _, seconds in found)
        await longest.look_twice()
        assert longest.turn < MOST

    in_virtual_time(test)


def failing() -> Generator[None, None, float]:
    yield
    return 1 / 0


def test_work_that_fails_is_in_nobodys_way() -> None:
    async def test(loop: VirtualLoop) -> None:
        failures, ran = list[object](), asyncio.Event()
        loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
        turns = breath.turns()
        turns.put(lambda: 1 / 0)
        turns.put(ran.set)
        turns.put(ran.set)
        await ran.wait()
        assert len(failures) == 1
        with pytest.raises(ZeroDivisionError):
            await breath.unhurried(failing())
        turns.put(ran.clear)
        turns.drop(ran.clear)
        await asyncio.sleep(1)
        assert ran.is_set()

    in_virtual_time(test)
