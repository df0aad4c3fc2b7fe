"""When a status is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from fcontroller.api import Answer, Body, Projection
from fcontroller.reconcile import status_writer
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import in_memory, lab, run
from tests.decide.world import role_spec
from tests.safety.virtual_time import VirtualLoop, in_virtual_time


def test_what_must_be_stored_first_does_not_wait_however_large_the_status_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_writer, "_SHARE", 1e9)  # Changes of tasks are not stored for years.

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 3)]})
            async with asyncio.timeout(10):
                while len(await made.pods()) < 3:
                    await asyncio.sleep(0.05)

    run(work())


class Busy(Facade):
    """An API server that takes its time over statuses."""

    def __init__(self, seconds: float) -> None:
        super().__init__(in_memory().server)
        self.seconds, self.written = seconds, 0

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if method == "PUT" and path.endswith("/status"):
            self.written += 1
            await asyncio.sleep(self.seconds)
        return await super().request(method, path, body, query, projection)


def written(seconds: float) -> int:
    """How often the status of a Framework is written whose tasks end one after the other, when each time takes so long."""
    api = Busy(seconds)

    async def work(_: VirtualLoop) -> None:
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [role_spec(f"a{number}", 1, str(number * 0.3)) for number in range(30)]})
            await made.completed("train")

    in_virtual_time(work)
    return api.written


def test_a_busy_server_is_asked_less_often() -> None:
    assert written(0.2) < written(0) / 2
