"""The API server in memory as the controller sees one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec

from fcontroller.act import decode
from fcontroller.api import Answer, Api, Body, Json, Projection, Query, content_of, target_of
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
        return kept_answer(answer, method, path, projection)

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
                yield kept_event(event, projection)
            await news.wait()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def kept_answer(answer: Answer, method: str, path: str, projection: Projection) -> Answer:
    """Return an answer with no more than a client keeps of one that comes as text."""
    if projection is Projection.WHOLE or not answer.ok:
        return answer
    return Answer(answer.code, decode.answer(msgspec.json.encode(answer.body), projection, method == "GET" and not target_of(path).name))


def kept_event(event: Json, projection: Projection) -> Json:
    """Return an event of a watch likewise."""
    return event if projection is Projection.WHOLE else decode.event(msgspec.json.encode(event), projection)
