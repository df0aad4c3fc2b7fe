"""No Pod comes to an attempt that has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from fcontroller.api import Answer, Body, Projection
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import in_memory, lab, run_in_memory
from tests.decide.world import role_spec


class Slow(Facade):
    """Takes its time with some Pods."""

    def __init__(self, api: Facade) -> None:
        super().__init__(api.server)
        self.log: list[str] = []

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if method == "POST" and path.endswith("/pods"):
            self.log.append("asked")
            if self.log.count("asked") == 2:
                await asyncio.sleep(1)
            self.log.append("answered")
        elif method == "DELETE" and "/configmaps/" in path:
            self.log.append("ends")
        return await super().request(method, path, body, query, projection)


def test_an_attempt_ends_when_all_pods_that_were_asked_for_are_there() -> None:
    async def work() -> None:
        api = Slow(in_memory())
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 2)]})
            await made.until("train", lambda _: api.log.count("asked") == 2)
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")
            assert api.log[-1] == "ends"
            assert sorted(api.log[:-1]) == ["answered", "answered", "asked", "asked"]
            assert await made.pods() == []

    run_in_memory(work())
