"""Row 5: an event that a later one of the same object overwrites may as well never come. So may any two."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from functools import cache
from itertools import combinations

import pytest

from fcontroller.api import Json
from tests.safety import tally
from tests.safety.scenarios import SCENARIOS, live
from tests.safety.world import World

Event = tuple[str, str, int]
"""The kind and name of an object, and which event of it."""


class Holding:
    """Has a server keep some events back until others of the same object come."""

    def __init__(self, world: World, events: Collection[Event] = ()) -> None:
        self.seen: Counter[tuple[str, str]] = Counter()
        self._events = events
        world.server.hold = self._hold

    def _hold(self, kind: str, event: Json) -> bool:
        key = kind, event["object"]["metadata"]["name"]
        self.seen[key] += 1
        return (*key, self.seen[key]) in self._events


@cache
def overwritten(name: str) -> tuple[Json, list[Event]]:
    """How a life ends, and the events in it that others come after."""
    with World() as calm:
        holding = Holding(calm)
        end = live(calm, name)
    return end, [(*key, number) for key, count in sorted(holding.seen.items()) for number in range(1, count)]


@pytest.mark.parametrize("name", SCENARIOS)
def test_any_one(name: str) -> None:
    expected, events = overwritten(name)
    for event in events[:: 1 if tally.is_full() else 10]:
        assert _without(name, [event]) == expected, event
        tally.add("lost events, one at a time")


@pytest.mark.parametrize("name", SCENARIOS)
def test_any_two(name: str) -> None:
    expected, events = overwritten(name)
    pairs = list(combinations(events, 2))
    chosen = random.Random(name).sample(pairs, min(len(pairs), tally.wanted("lost events") // len(SCENARIOS) + 2))
    for pair in chosen:
        assert _without(name, pair) == expected, pair
        tally.add("lost events")


def _without(name: str, events: Collection[Event]) -> Json:
    with World() as world:
        Holding(world, events)
        return live(world, name)
