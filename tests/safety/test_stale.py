"""Row 4: caches that lag, each by another number of writes, and a controller that begins with what was true some writes ago."""

from __future__ import annotations

from itertools import product

import pytest

from tests.safety import tally
from tests.safety.faults import Call, Fault
from tests.safety.scenarios import SCENARIOS, calm, live
from tests.safety.world import World

KINDS = ("frameworks", "configmaps", "pods")
LAGS = range(6)
A_MINUTE = 60
"""Seconds: where nothing is written, a bookmark says how new a cache is."""
LIVES = ("tasks_and_framework_are_retried", "scaled_down_and_up", "a_pod_is_deleted", "stops", "the_config_map_is_deleted")


def chosen() -> list[str]:
    return list(SCENARIOS) if tally.is_full() else list(LIVES)


@pytest.mark.parametrize("pods", LAGS)
@pytest.mark.parametrize("config_maps", LAGS)
def test_lagging_caches(config_maps: int, pods: int) -> None:
    for number, name in enumerate(chosen()):
        expected, unharmed = calm(name)
        # All the other pairs as well: each life has another third number.
        with World() as world:
            world.server.lags = dict(zip(KINDS, ((number + config_maps + 2 * pods) % 6, config_maps, pods), strict=True))
            assert live(world, name) == expected, (name, world.server.lags)
        assert world.server.writes <= 2 * unharmed.server.writes + 10, (name, world.server.log)
    tally.add("stale caches")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lag", LAGS[1:])
def test_restart_against_an_older_read(kind: str, lag: int) -> None:
    """It dies at every write in turn, and what comes after it lists one kind as it was some writes before."""
    for number, name in enumerate(chosen()):
        expected, unharmed = calm(name)
        for write in range(2 + (number + lag) % 7, unharmed.server.writes + 1, 1 if tally.is_full() else 7):
            with World() as world:
                _dies(world, write, kind, lag)
                assert live(world, name, A_MINUTE) == expected, (name, write)
            tally.add("older reads")


@pytest.mark.parametrize("kind", ["configmaps", "pods"])
def test_what_a_cache_does_not_show_yet_is_not_gone(kind: str) -> None:
    """One Pod, so that few writes lie between its creation and a status that says that it runs."""
    expected, unharmed = calm("scaled_up")
    for write, lag in product(range(2, unharmed.server.writes + 1), LAGS[1:]):
        with World() as world:
            _dies(world, write, kind, lag)
            assert live(world, "scaled_up", A_MINUTE) == expected, (write, lag)


def _dies(world: World, write: int, kind: str, lag: int) -> None:
    """Have the controller die with a write, and the next one, at once, see one kind as it was some writes before, for some seconds."""

    def fault(call: Call) -> Fault | None:
        if call.write != write:
            return None
        world.server.older, world.server.patience = {kind: lag}, 5
        return Fault.crash(stored=True)

    world.server.fault, world.downtime = fault, 0.001
