"""Probes and metrics are answered, whoever else connects and however."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fcontroller import serve
from fcontroller.metrics import Metrics
from fcontroller.serve import Server, Unlistenable


@asynccontextmanager
async def listening(ready: str = "") -> AsyncIterator[int]:
    """Its port."""
    server = Server(Metrics(), lambda: ready)
    await server.listen("127.0.0.1:0")
    assert server._server is not None
    try:
        yield server._server.sockets[0].getsockname()[1]
    finally:
        await server.close()


async def asked(port: int, request: bytes) -> bytes:
    """The answer, to its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    return answer


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", b"200"),
        (b"GET /healthz?a=b HTTP/1.0\r\n\r\n", b"200"),
        (b"GET /readyz HTTP/1.1\r\n\r\n", b"503"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", b"200"),
        (b"GET / HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", b"405"),
        (b"\r\n\r\n", b"400"),
        (b"\xff\x00\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", b"400"),
    ],
)
def test_answers(request_: bytes, status: bytes) -> None:
    async def work() -> None:
        async with listening(ready="not yet") as port:
            head, _, body = (await asked(port, request_)).partition(b"\r\n\r\n")
            assert head.split(b" ")[1] == status
            assert f"Content-Length: {len(body)}".encode() in head
            if b"readyz" in request_:
                assert body == b"not yet\n"

    run(work())


def test_metrics_are_made_once_a_second_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs a right to connect, and the loop has other work."""
    monkeypatch.setattr(serve, "_FRESH", 1000)
    made: list[Metrics] = []

    def text(metrics: Metrics) -> bytes:
        made.append(metrics)
        return b"some\n"

    monkeypatch.setattr(Metrics, "text", text)

    async def work() -> None:
        async with listening() as port:
            answers = await asyncio.gather(*(asked(port, b"GET /metrics HTTP/1.1\r\n\r\n") for _ in range(30)))
            assert {answer.partition(b"\r\n\r\n")[2] for answer in answers} == {b"some\n"}
            assert len(made) == 1
            monkeypatch.setattr(serve, "_FRESH", 0)
        async with listening() as port:
            for _ in range(3):
                await asked(port, b"GET /metrics HTTP/1.1\r\n\r\n")
            assert len(made) == 4

    run(work())


def test_half_open_connections_take_nothing_from_anybody() -> None:
    async def work() -> None:
        async with listening() as port:
            before = descriptors()
            async with contextlib.AsyncExitStack() as stack:
                for number in range(1500):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    stack.callback(writer.close)
                    writer.write(b"GET /healthz" if number % 2 else b"")
                    if number % 100 == 0:
                        assert b"200" in await asked(port, b"GET /healthz HTTP/1.1\r\n\r\n")
                await asyncio.sleep(0.1)
                # Half of the descriptors are of this test's own ends.
                assert descriptors() - before <= 1500 + serve._CONNECTIONS + 5
                assert b"200" in await asked(port, b"GET /metrics HTTP/1.1\r\n\r\n")

    run(work())


def test_many_connections_at_the_same_time_are_too_many_too() -> None:
    """All that came in one turn of the event loop closed the same one, the oldest, and stayed themselves."""

    async def work() -> None:
        async with listening() as port:
            before = descriptors()
            opened = await asyncio.gather(*[asyncio.open_connection("127.0.0.1", port) for _ in range(300)])
            await asyncio.sleep(0.2)
            # Those of this test's own ends, but for the ones that it knows to be closed.
            own = sum(not writer.is_closing() for _, writer in opened)
            assert descriptors() - before <= own + serve._CONNECTIONS + 5
            for _, writer in opened:
                writer.close()

    run(work())


def test_who_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_PATIENCE", 0.1)

    async def work() -> None:
        async with listening() as port:
            assert await asked(port, b"GET /healthz HTTP/1.1\r\n") == b""

    run(work())


def test_an_address_that_cannot_be_listened_to() -> None:
    async def work() -> None:
        async with listening() as port:
            for address in (f"127.0.0.1:{port}", "127.0.0.1:99999", "nowhere.invalid:1", ":x"):
                with pytest.raises(Unlistenable):
                    await Server(Metrics(), str).listen(address)

    run(work())
