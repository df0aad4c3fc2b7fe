"""Row 8: when all is done nothing is written, however often it is looked at; not by a controller that has just begun either."""

from __future__ import annotations

import pytest

from tests.safety import tally
from tests.safety.scenarios import SCENARIOS, live
from tests.safety.world import World


@pytest.mark.parametrize("name", SCENARIOS)
def test_ten_more_looks(name: str) -> None:
    with World() as world:
        live(world, name)
        written = world.server.writes
        for _ in range(10):
            world.look_again()
            world.run(2)
        world.server.compact()  # Everything is listed anew.
        world.run(200)
        world.restart()
        world.run(400)
        assert world.server.writes == written, world.server.log[written:]
    tally.add("quiet")
