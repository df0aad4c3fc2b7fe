"""Row 7: whatever the API server answers, one to ten times in a row, all comes to its end, and nothing is tried faster than agreed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

import pytest

from fcontroller.testing.memory_api.answers import failure
from tests.safety import tally
from tests.safety.faults import Call, Fault
from tests.safety.scenarios import SCENARIOS, calm, live
from tests.safety.world import World

KINDS: dict[str, Callable[[], Fault]] = {
    "409": lambda: Fault((409, failure(409, "Conflict", "the object has been modified"))),
    "422": lambda: Fault((422, failure(422, "Invalid", "spec.x: Invalid value"))),
    "429": Fault.too_many,
    "500": Fault.internal_error,
    "timeout": lambda: Fault.timeout(stored=True),
    "lost": lambda: Fault.lost(stored=True),
    "never sent": Fault.lost,
}
LONGER = 400
"""Seconds: longer than the longest storm that meets a list."""


@pytest.mark.parametrize("length", range(1, 11))
@pytest.mark.parametrize("kind", KINDS)
def test_storms(kind: str, length: int) -> None:
    offset = list(KINDS).index(kind) * 10 + length
    for number, name in enumerate(SCENARIOS):
        if not tally.is_full() and (number + offset) % 10:
            continue
        expected, unharmed = calm(name)
        begin = 1 + (7 * number + offset) % unharmed.server.calls
        with World() as world:
            world.server.fault = lambda call, begin=begin: _storm(call, begin, length, kind)  # type: ignore[misc]
            assert live(world, name, LONGER) == expected, (name, begin)
        if kind == "429" and name != "two_live_side_by_side":  # Their ConfigMaps are made at one path.
            asked_later(world)
        elif kind != "429" and name != "the_framework_is_deleted_and_made_again":  # Two Frameworks have one path.
            held_back(world)
        tally.add("storms")


def held_back(world: World) -> None:
    """Look whether what was refused again and again was tried more and more slowly. Pods that are made have no path of their own."""
    tries: dict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
    for time, method, path, failed in world.server.tries:
        if method == "DELETE" or path.endswith("/status"):
            tries[method, path].append((time, failed))
    for what, times in tries.items():
        failures = 0
        for (before, failed), (now, _) in pairwise(times):
            failures = failures + 1 if failed else 0
            assert not failures or now - before >= 0.8 * 0.05 * 2 ** min(failures - 1, 10), (what, failures)


def asked_later(world: World) -> None:
    """Look whether what the server was too busy for was tried again when it had asked for that."""
    tries: dict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
    for time, method, path, failed in world.server.tries:
        if method != "GET" and not path.endswith("/pods"):
            tries[method, path].append((time, failed))
    for what, times in tries.items():
        assert all(now - before >= 1 for (before, failed), (now, _) in pairwise(times) if failed), what


def _storm(call: Call, begin: int, length: int, kind: str) -> Fault | None:
    if kind == "422" and call.method == "POST" and call.path.endswith("/pods"):
        return None  # Such a Pod will never be: `a_pod_is_refused` is that life.
    return KINDS[kind]() if begin <= call.number < begin + length else None
