"""When a reconciler looks again at tasks: at the first time that each waits for, and with one timer for all of them."""

from __future__ import annotations

import asyncio

from fcontroller.mailbox import Due, Mailbox
from fcontroller.reconcile.alarms import Alarms
from tests.controller.lab import in_memory, lab, run_in_memory
from tests.decide.world import role_spec
from tests.safety.virtual_time import VirtualLoop, in_virtual_time


class Rung:
    """What has rung, and when."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop, self.told = loop, list[tuple[float, object]]()
        self.mailbox = Mailbox(lambda message: self.told.append((round(loop.passed, 2), message)))
        self.alarms = Alarms(self.mailbox)

    async def after(self, seconds: float) -> list[tuple[float, object]]:
        await asyncio.sleep(seconds)
        return self.told


def test_each_rings_once_at_its_earliest_time() -> None:
    async def work(loop: VirtualLoop) -> None:
        rung = Rung(loop)
        for key, at in ((("a", 1), 5.0), (None, 3.0), (("a", 1), 2.0), (("a", 1), 4.0), (("a", 2), 2.0)):
            rung.alarms.set(key, at)
        assert await rung.after(10) == [(2.0, Due(("a", 1))), (2.0, Due(("a", 2))), (3.0, Due(None))]
        rung.alarms.set(("a", 1), 12.0)
        assert (await rung.after(10))[3:] == [(12.0, Due(("a", 1)))]

    in_virtual_time(work)


def test_what_is_dropped_does_not_ring_and_may_be_set_later_than_before() -> None:
    async def work(loop: VirtualLoop) -> None:
        rung = Rung(loop)
        for key in (("a", 1), ("a", 2), None):
            rung.alarms.set(key, 2.0)
        rung.alarms.drop([("a", 1), ("b", 7)])
        rung.alarms.set(("a", 1), 6.0)
        assert await rung.after(4) == [(2.0, Due(("a", 2))), (2.0, Due(None))]
        rung.alarms.set(None, 6.0)
        rung.alarms.drop(None)  # Of all tasks, and not of the Framework.
        assert (await rung.after(4))[2:] == [(6.0, Due(None))]
        rung.alarms.set(None, 10.0)
        rung.alarms.clear()
        assert len(await rung.after(4)) == 3

    in_virtual_time(work)


def test_ten_thousand_need_one_timer_and_leave_nothing_behind() -> None:
    async def work(loop: VirtualLoop) -> None:
        rung, before = Rung(loop), len(loop._scheduled)  # type: ignore[attr-defined]
        for attempt in range(5):
            for index in range(10_000):
                rung.alarms.set(("a", index), 300.0 + index / 1000)
            assert len(loop._scheduled) - before <= 1 + attempt  # type: ignore[attr-defined]
            rung.alarms.drop([("a", index) for index in range(10_000)])
            assert len(rung.alarms._heap) < 1_000
        assert await rung.after(400) == []

    in_virtual_time(work)


def test_no_pod_that_was_seen_is_waited_for() -> None:
    """Each had a timer of five minutes, 100 MiB for 100,000 of them, and was looked at once more then."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 20, run="forever")]})
            await made.until("train", lambda status: status.get("taskCounts", {}).get("running") == 20)
            (reconciler,) = made.controller.reconcilers.values()
            assert not [key for key in reconciler._alarms._at if key is not None]

    run_in_memory(work())
