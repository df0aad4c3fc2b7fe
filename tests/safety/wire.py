"""An API server on a real socket that can do what servers and networks do, in virtual time: both ends are in one loop."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fcontroller.act.client import Client
from fcontroller.act.plain import Server as Address
from fcontroller.api import Json
from tests.safety.server import Server

Way = Callable[["Reply"], Coroutine[Any, Any, None]]
"""How a request is answered."""
_STEP = 0.1


class Reply:
    """An answer, byte by byte."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer

    def head(self, code: int = 200, **headers: str) -> None:
        self.writer.write(f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\n".encode())
        self.writer.writelines(f"{name.replace('_', '-')}: {value}\r\n".encode() for name, value in headers.items())
        self.writer.write(b"\r\n")

    def whole(self, code: int, body: Json, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.head(code, Content_Length=str(len(data)), **headers)
        self.writer.write(data)

    def chunk(self, data: bytes) -> None:
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def event(self, kind: str, value: Json) -> None:
        self.chunk(json.dumps({"type": kind, "object": value}).encode() + b"\n")

    def end(self) -> None:
        self.writer.write(b"0\r\n\r\n")


class Wire:
    """Serves what a server in memory has. `ways` are how the next requests are answered instead, watches and others apart."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.watch_ways: list[Way] = []
        self.ways: list[Way] = []
        self.watches: list[float] = []
        """When watches began."""
        self.requests: list[tuple[float, str]] = []
        """When other requests came, and their methods."""
        self._open: list[asyncio.StreamWriter] = []

    async def client(self) -> Client:
        """A client of this server."""
        listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = listening.sockets[0].getsockname()
        self._listening = listening
        return Client(Address(f"http://{host}:{port}", None, dict))

    def close(self) -> None:
        self._listening.close()
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError):  # Streams would report it.
            await self._serve_all(reader, writer)

    async def _serve_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.append(writer)
        while head := await self._head(reader):
            method, target, length = head
            body = await reader.readexactly(length)
            path, query = urlsplit(target).path, dict(parse_qsl(urlsplit(target).query))
            watches = bool(query.pop("watch", ""))
            ways = self.watch_ways if watches else self.ways
            if watches:
                self.watches.append(self.server.loop.passed)
            else:
                self.requests.append((self.server.loop.passed, method))
            reply = Reply(writer)
            if ways:
                await ways.pop(0)(reply)
            elif watches:
                await self._watch(reply, path, query)
            else:
                reply.whole(*self.server.memory.request(method, path, body or None, query))
            if writer.is_closing():
                return

    async def _head(self, reader: asyncio.StreamReader) -> tuple[str, str, int] | None:
        try:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        method, target, _ = lines[0].split()
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        return method, target, int(headers.get("content-length", 0))

    async def _watch(self, reply: Reply, path: str, query: dict[str, str]) -> None:
        watch = self.server.memory.watch(path, query)
        reply.head(Transfer_Encoding="chunked")
        while not watch.closed:
            for event in watch.read():
                reply.event(event["type"], event["object"])
            await asyncio.sleep(_STEP)
        reply.end()
