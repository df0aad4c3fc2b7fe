"""Row 2: a controller dies before a write, after it without the answer, or after the answer: whichever write it is, the end is the same.

One thing may differ, and is counted: a Pod whose uid was not stored when the controller died is made again, as with upstream's controller.
"""

from __future__ import annotations

from functools import partial

import pytest

from tests.safety import tally
from tests.safety.faults import Call, Fault
from tests.safety.scenarios import SCENARIOS, calm, live
from tests.safety.server import CrashAfter
from tests.safety.world import World

WAYS = {
    "before": Fault.crash(),
    "stored": Fault.crash(stored=True),
    "answered": Fault(CrashAfter(), stored=True),
}

PODS = 4
"""As many as are begun at once in any life."""
AGAIN = 5
"""Other writes that may be done once more, for two Frameworks at once."""
TRIES = 10
"""Refused ones that may: the time between two grows from the start again."""


def written(world: World) -> tuple[int, int, int]:
    """How many Pods were made, and how many other writes were taken, and refused."""
    log = world.server.log
    taken, pods = sum(code < 300 for *_, code in log), sum(path.endswith("/pods") and code == 201 for _, _, path, code in log)
    return pods, taken - pods, len(log) - taken


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_write(name: str) -> None:
    expected, unharmed = calm(name)
    writes = unharmed.server.writes
    step = 1 if tally.is_full() else 10
    for number, (way, fault) in enumerate(WAYS.items()):
        for write in range(1 + (number * 3) % step, writes + 1, step):
            with World() as world:
                world.server.fault = partial(_at, write, fault)
                assert live(world, name) == expected, (way, write)
                assert world.crashes == 1, (way, write)
            tally.add("deaths")
            pods, taken, refused = (now - before for now, before in zip(written(world), written(unharmed), strict=True))
            # A Pod that is made again is deleted first.
            assert (pods > PODS, taken > AGAIN + pods, refused > TRIES) == (False, False, False), (way, write, world.server.log)
    tally.add("crashes")


def _at(write: int, fault: Fault, call: Call) -> Fault | None:
    return fault if call.write == write else None
