"""A store that speaks as much of Redis' protocol as Argo CD's servers ask of their cache: values by key, and nobody else to tell."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Store:
    """Keeps values for all connections. Nothing expires: a test is shorter than that."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                words = [await self._word(reader) for _ in range(int((await reader.readuntil(b"\r\n"))[1:]))]
                writer.write(self.answer(words[0].upper(), words[1:]))
                await writer.drain()
        writer.close()

    async def _word(self, reader: asyncio.StreamReader) -> bytes:
        length = int((await reader.readuntil(b"\r\n"))[1:])
        return (await reader.readexactly(length + 2))[:-2]

    def answer(self, command: bytes, words: list[bytes]) -> bytes:
        match command:
            case b"GET":
                value = self.values.get(words[0])
                return b"$-1\r\n" if value is None else b"$%d\r\n%b\r\n" % (len(value), value)
            case b"SET":
                if b"NX" in [word.upper() for word in words[2:]] and words[0] in self.values:
                    return b"$-1\r\n"
                self.values[words[0]] = words[1]
                return b"+OK\r\n"
            case b"DEL":
                return b":%d\r\n" % sum(self.values.pop(key, None) is not None for key in words)
            case b"PUBLISH" | b"EXPIRE":
                return b":0\r\n"
            case b"PING":
                return b"+PONG\r\n"
            case b"CLIENT" | b"SELECT":
                return b"+OK\r\n"
        return b"-ERR unknown command '%b'\r\n" % command  # As Redis 5 answers HELLO.


@contextlib.asynccontextmanager
async def store() -> AsyncIterator[int]:
    """A store at work on a free port, which is returned. Who has asked it has ended before it does."""
    server = await asyncio.start_server(Store().serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()
        await asyncio.sleep(0.1)
