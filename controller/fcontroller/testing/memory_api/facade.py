"""The API server in memory as the controller sees one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fcontroller.api import Answer, Api, Body, Json, Projection, Query, content_of
from fcontroller.testing.memory_api.server import MemoryApi

_COLLECTED_AFTER = 0.05
"""Seconds at most from a write until the garbage collector follows it."""


class Facade(Api):
    """Requests are answered at once; watches follow as soon as the event loop is free."""

    def __init__(self, server: MemoryApi) -> None:
        self.server = server
        self._news = asyncio.Event()

    async def request(
        self, method: str, path: str, body: Body | None = None, query: Query | None = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        await asyncio.sleep(0)
        before = self.server.revision
        answer = Answer(*self.server.request(method, path, content_of(body), query or {}))
        if self.server.revision != before:
            self._wake()
        return answer

    async def collect(self) -> None:
        """Have the garbage collector do its work until cancelled."""
        while True:
            await asyncio.sleep(_COLLECTED_AFTER)
            if self.server.collect():
                self._wake()

    async def watch(self, path: str, query: Query, projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        watch = self.server.watch(path, query)
        while not watch.closed:
            news = self._news
            for event in watch.read():
                yield event
            await news.wait()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
