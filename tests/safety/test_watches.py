"""Row 6: watches survive whatever servers and networks do, on a real socket: in 90 s at most, without haste, and nothing is missed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest

from fcontroller.act.client import Client
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Json, Name, Unreachable, collection
from fcontroller.observe.reflector import Reflector
from fcontroller.testing.memory_api.answers import failure
from tests.safety import tally
from tests.safety.server import Server
from tests.safety.virtual_time import VirtualLoop, in_virtual_time
from tests.safety.wire import Reply, Way, Wire

PATH = collection("configmaps", "default")
RECOVERED = 90


async def gone_as_status(reply: Reply) -> None:
    reply.whole(410, failure(410, "Expired", "too old resource version"))


async def gone_as_event(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    reply.event("ERROR", failure(410, "Expired", "too old resource version"))
    reply.end()


async def error_event(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    reply.event("ERROR", failure(500, "InternalError", "etcd leader changed"))
    reply.end()


async def ends_at_once(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    reply.end()


async def half_open(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    await asyncio.sleep(10_000)


async def never_answers(reply: Reply) -> None:
    await asyncio.sleep(10_000)


async def cut_in_a_line(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    reply.chunk(b'{"type":"ADDED","object":{"metadata":{"na')
    reply.writer.close()


async def ends_in_a_line(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    reply.chunk(b'{"type":"ADDED","object":{"metadata":{"na')
    reply.end()


async def reset(reply: Reply) -> None:
    reply.writer.transport.abort()


async def bookmark(reply: Reply) -> None:
    """Of the very beginning, which was long ago."""
    reply.head(Transfer_Encoding="chunked")
    reply.event("BOOKMARK", {"kind": "ConfigMap", "metadata": {"resourceVersion": "1"}})
    reply.end()


async def unknown_event(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    reply.event("RENAMED", {"kind": "Wish", "wanted": "everything"})
    await asyncio.sleep(10_000)


async def no_json(reply: Reply) -> None:
    reply.head(502, Content_Length="13")
    reply.writer.write(b"<h1>Oops</h1>")


async def nonsense(reply: Reply) -> None:
    reply.head(Transfer_Encoding="chunked")
    reply.chunk(b"[]\n")
    reply.end()


async def refused(reply: Reply) -> None:
    reply.whole(503, failure(503, "ServiceUnavailable", "not yet"))


WAYS: list[Way] = [
    *(gone_as_status, gone_as_event, error_event, ends_at_once, half_open, never_answers, cut_in_a_line, ends_in_a_line, reset),
    *(bookmark, unknown_event, no_json, nonsense, refused),
]


class Seen:
    """What a reflector has told."""

    def __init__(self, client: Client) -> None:
        self.names: set[str] = set()
        self.reflector = Reflector(client, PATH, self)

    def seen(self, value: Json) -> None:
        self.names.add(value["metadata"]["name"])

    def deleted(self, value: Json) -> None:
        self.names.discard(value["metadata"]["name"])

    def retain(self, present: set[Name]) -> None:
        self.names &= {name for _, name in present}


@contextlib.asynccontextmanager
async def following(loop: VirtualLoop, server: Server) -> AsyncIterator[tuple[Wire, Seen]]:
    wire = Wire(server)
    client = await wire.client()
    seen = Seen(client)
    task = loop.create_task(seen.reflector.run())
    try:
        yield wire, seen
        assert not task.done()
    finally:
        task.cancel()
        await client.close()
        wire.close()


def with_server(work: Callable[[VirtualLoop, Server], Coroutine[Any, Any, None]]) -> None:
    in_virtual_time(lambda loop: work(loop, Server(loop)))


def write(server: Server, method: str, name: str) -> None:
    value = {"metadata": {"name": name}} if method == "POST" else None
    assert server.write(method, PATH if method == "POST" else f"{PATH}/{name}", value).ok


@pytest.mark.parametrize("times", [1, 2, 10])
@pytest.mark.parametrize("way", WAYS)
def test_a_watch_recovers(way: Way, times: int) -> None:
    async def work(loop: VirtualLoop, server: Server) -> None:
        for name in "abc":
            write(server, "POST", name)
        async with following(loop, server) as (wire, seen):
            wire.watch_ways = [way] * times
            await seen.reflector.listed.wait()
            write(server, "DELETE", "a")
            while len(wire.watches) < times:
                await asyncio.sleep(0.5)
            failed = loop.passed
            write(server, "POST", "d")
            write(server, "DELETE", "b")
            if way in (gone_as_status, gone_as_event):
                server.memory.compact()
            while seen.names != {"c", "d"}:
                await asyncio.sleep(0.1)
                assert loop.passed - failed <= RECOVERED, seen.names
            write(server, "POST", "e")
            await asyncio.sleep(1)
            assert seen.names == {"c", "d", "e"}
            # One each second; a connection that was used before and is found dead is replaced at once.
            assert all(later - before >= 0.99 for before, later in zip(wire.watches, wire.watches[2:], strict=False))
            assert len(wire.requests) <= times + 1

    with_server(work)
    tally.add("watches")


def test_a_long_quiet_watch_is_no_dead_one() -> None:
    async def work(loop: VirtualLoop, server: Server) -> None:
        async with following(loop, server) as (wire, seen):
            await asyncio.sleep(3600)
            assert len(wire.watches) <= 3600 / 54
            assert len(wire.requests) == 1
            assert seen.names == set()

    with_server(work)


@pytest.mark.parametrize("times", range(1, 6))
def test_retry_after_is_obeyed(times: int) -> None:
    async def too_many(reply: Reply) -> None:
        reply.whole(429, failure(429, "TooManyRequests", "later"), Retry_After="3")

    async def work(loop: VirtualLoop, server: Server) -> None:
        wire = Wire(server)
        client = await wire.client()
        wire.ways = [too_many] * times
        answer = await Dispatcher(client).request("POST", PATH, {"metadata": {"name": "a"}})
        came = [time for time, _ in wire.requests]
        assert len(came) == times + 1 if answer.ok else len(came) <= times
        assert answer.ok or came[-1] - came[0] > 13 - 4
        assert times > 3 or answer.ok
        assert all(later - before >= 3 for before, later in pairwise(came))
        await client.close()
        wire.close()

    with_server(work)


def test_a_server_that_never_answers_is_given_up() -> None:
    async def work(loop: VirtualLoop, server: Server) -> None:
        wire = Wire(server)
        client = await wire.client()
        wire.ways = [never_answers]
        with pytest.raises(Unreachable):
            await client.request("GET", PATH)
        assert loop.passed <= RECOVERED
        await client.close()
        wire.close()

    with_server(work)
