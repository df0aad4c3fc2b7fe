"""HTTP/1.1 to one server: connections that are kept, answers whole or as they come. llhttp (`httptools`) reads what is received.

A request by aiohttp takes half as much CPU again (docs/adr/0006).
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import httptools

from fcontroller.api import TooLong, TooSlow, Unreachable, Wanted, always
from fcontroller.breath import Waker

_KEPT = 30
"""Seconds that an idle connection is kept. A proxy or firewall may drop one that is silent for longer, without telling either end."""
ANSWER_BYTES = 24 * 1024 * 1024
"""What the body of an answer may have at most, and an event of a watch: whoever answers without an end does not fill the memory.

An API server takes an object of 3 MiB, and makes six times that of it when it writes each `<` as `\\u003c`.
"""
_PIECE_COSTS = 64
"""Bytes that each piece of a body takes besides: in chunks of two bytes, 24 MiB took 700 MiB."""
_PIECE_BYTES = 16 * 1024
"""What is written at a time: as much as one TLS record holds. The buffer for the encrypted bytes grows with a write, and never shrinks."""
_CLOSED = "the client is closed"
_ENDS = 1.0
"""Seconds that an aborted connection has to end. Where it is aborted amid a TLS record, uvloop may never say that it has."""
_TARGET = re.compile("/[!-~]*")
_HEAD_BYTES = 256 * 1024
_BUFFER_BYTES = 128 * 1024
"""What is received at a time. A protocol without a buffer of its own gets each piece as a new block of 256 KiB, most of it unused."""
_GATHERED = 0.03
"""Seconds from one reading of a stream to the next. To read a hundred events at once takes little longer than to read one."""
_MUCH = 64 * 1024
"""Bytes after which the next reading follows at once. Otherwise large objects of one tenant, 8 MiB a second, would hold up all events."""


class Response(NamedTuple):
    """An answer as a whole."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes


class Origin:
    """One server, as one URL, whose path stands before every target."""

    def __init__(self, url: str, tls: Callable[[], ssl.SSLContext], server_name: str | None = None) -> None:
        """:param tls: asked for each connection to an https URL. It may raise OSError.

        :param server_name: whom the server's certificate is for, if that is not the URL's host.

        :raises ValueError: it is no http or https URL.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"no http or https URL of a server: {url}")
        secure = parts.scheme == "https"
        self._name, self._port = parts.hostname, parts.port or (443 if secure else 80)
        self._tls = tls if secure else None
        self._server_name = (server_name or parts.hostname) if secure else None
        self._prefix = parts.path.rstrip("/")
        self._host = parts.netloc.rpartition("@")[2]
        self._idle: deque[_Connection] = deque()
        """The one that was used last is the last."""
        self._open: set[_Connection] = set()
        self._closed = asyncio.Event()
        self._waker = Waker()
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        """For all connections: what is in it is taken in at once."""

    def abort(self, why: str) -> None:
        """End all connections at once, whatever is under way on them."""
        self._idle.clear()
        for connection in list(self._open):
            connection.abort(why)

    async def close(self) -> None:
        """End all connections, and make no more: whatever is asked for from now on is Unreachable."""
        self._closed.set()
        self._idle.clear()
        await asyncio.gather(*(connection.end() for connection in self._open))

    async def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, timeout: float, wanted: Wanted = always
    ) -> Response:
        """Send a request. Raises Unreachable, also when the answer takes longer than `timeout` seconds, or is not wanted any more.

        :param wanted: asked when there is a connection, right before it is sent.
        """
        connection = self._kept() or await self._connect(timeout)
        try:
            if not wanted():
                raise Unreachable("not sent: it is not wanted any more")
            connection.send(self._head(method, target, headers, body), body)
            answer = await connection.whole(timeout)
            return Response(connection.status, connection.headers, answer)
        finally:
            self._keep(connection)

    @asynccontextmanager
    async def stream(self, target: str, headers: Mapping[str, str], timeout: float) -> AsyncIterator[Stream]:
        """Send a GET and yield its answer as a stream. Raises Unreachable, also when the answer has not begun after `timeout` seconds."""
        connection = await self._connect(timeout)
        try:
            connection.send(self._head("GET", target, headers, None), None)
            await connection.begun(timeout)
            yield Stream(connection)
        finally:
            connection.close()

    def _head(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
        if not _TARGET.fullmatch(target):  # A line end in it would begin another request, with our token.
            raise ValueError(f"no target of a request: {target!r:.200}")
        lines = [f"{method} {self._prefix}{target} HTTP/1.1", f"Host: {self._host}", *(f"{name}: {headers[name]}" for name in headers)]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode()

    async def _connect(self, timeout: float) -> _Connection:
        if self._closed.is_set():
            raise Unreachable(_CLOSED)
        loop = asyncio.get_running_loop()
        try:
            new = loop.create_connection(
                lambda: _Connection(loop, self._open, self._waker, self._buffer),
                self._name,
                self._port,
                ssl=self._tls and self._tls(),
                server_hostname=self._server_name,
            )
            async with asyncio.timeout(timeout):
                _, connection = await new
        except TimeoutError:
            raise Unreachable(f"{self._host}: no connection in {timeout:g} s") from None
        except (OSError, UnicodeError) as error:  # All errors of TLS are OSErrors too.
            raise Unreachable(f"{self._host}: {error}") from error
        if self._closed.is_set():  # Meanwhile. Nobody would end it any more.
            connection.abort(_CLOSED)
            raise Unreachable(_CLOSED)
        return connection

    def _kept(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and connection.idle < _KEPT:
                return connection
            connection.close()
        return None

    def _keep(self, connection: _Connection) -> None:
        """Keep the connection for the next request if its answer was read to the end; close it otherwise."""
        if not connection.reusable:
            connection.close()
            return
        self._idle.append(connection)
        while self._idle[0].idle > _KEPT:
            self._idle.popleft().close()


class Stream:
    """An answer that is read while it arrives."""

    def __init__(self, connection: _Connection) -> None:
        self.status = connection.status
        self._connection = connection
        connection.read_no_further()
        self._again = 0.0
        """When there may be read again, by the clock of the loop."""

    async def read(self, timeout: float) -> bytes:
        """Return what has arrived since the last call, or nothing at the end. Raises Unreachable, also after `timeout` s of silence."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._again - loop.time())
        self._connection.listen(True)
        body = await self._connection.some(timeout)
        # Data that arrives shortly afterwards stays in the kernel's buffer, and does not wake the event loop.
        self._connection.listen(False)
        self._again = loop.time() + (_GATHERED if len(body) < _MUCH else 0)
        return body


class _Connection(asyncio.BufferedProtocol):
    """One connection: it sends one request after the other, and reads the answer to the last."""

    status: int
    headers: dict[str, str]
    _transport: asyncio.Transport

    def __init__(self, loop: asyncio.AbstractEventLoop, among: set[_Connection], waker: Waker, buffer: memoryview) -> None:
        """:param among: those that are open: it is one of them as long as it is. :param buffer: shared with others."""
        self._loop, self._among, self._waker, self._buffer = loop, among, waker, buffer
        self._gone = loop.create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._begun = False
        self._complete = True
        self._completed_at = 0.0
        self._stays = True
        """Whether the server will take another request."""
        self._body: list[bytes] = []
        self._held = 0
        """Bytes that it takes."""
        self._head_bytes = 0
        """Bytes received without a part of a body: headers, trailers, what is said of chunks."""
        self._lost: Unreachable | None = None
        self._waiting: asyncio.Future[None] | None = None

    @property
    def reusable(self) -> bool:
        # Whoever asked may be cancelled after the answer came and before it was taken: the next one must not get it.
        return self._complete and self._stays and self._lost is None and not self._body

    @property
    def idle(self) -> float:
        """Return the seconds since the last answer was complete."""
        return self._loop.time() - self._completed_at

    def send(self, head: bytes, body: bytes | None) -> None:
        self._begun = self._complete = False
        self._head_bytes = 0
        data = head + body if body else head
        for start in range(0, len(data), _PIECE_BYTES):
            self._transport.write(data[start : start + _PIECE_BYTES])

    async def begun(self, timeout: float) -> None:
        """Wait until the status and the headers are there. Raises Unreachable, as do the methods below."""
        await self._until(lambda: self._begun, timeout)

    async def some(self, timeout: float) -> bytes:
        """Return the part of the body that has arrived, waiting for some; nothing means that the body has ended."""
        await self._until(lambda: bool(self._body) or self._complete, timeout)
        return self._taken()

    async def whole(self, timeout: float) -> bytes:
        """Return the whole body. Raises TooSlow instead of Unreachable when it takes too long."""
        await self._until(lambda: self._complete, timeout, TooSlow)
        return self._taken()

    def read_no_further(self) -> None:
        """Leave data in the kernel while nobody listens. Otherwise TLS would read the next 256 KiB, piece by piece."""
        if self._transport.get_extra_info("ssl_object"):
            cast(Any, self._transport).set_read_buffer_limits(high=1, low=0)

    def listen(self, on: bool) -> None:
        """Switch reading from the socket on or off."""
        if not self._transport.is_closing():
            self._transport.resume_reading() if on else self._transport.pause_reading()

    def close(self) -> None:
        # An answer that is still coming is not waited for.
        self._transport.close() if self._complete else self._transport.abort()

    async def end(self) -> None:
        """Close it, whatever is under way, and wait until it is closed."""
        self._transport.abort()
        await asyncio.wait((self._gone,), timeout=_ENDS)

    def _taken(self) -> bytes:
        body = b"".join(self._body)
        self._body.clear()
        self._held = 0
        return body

    async def _until(self, reached: Callable[[], bool], timeout: float, late: type[Unreachable] = Unreachable) -> None:
        # A connection that does not answer is useless: ending it is simpler and cheaper than `asyncio.timeout`.
        timer = self._loop.call_later(timeout, self.abort, late(f"nothing came for {timeout:g} s"))
        try:
            while not reached():
                if self._lost:
                    raise type(self._lost)(*self._lost.args)  # A new one: its traceback has this frame, and so this connection.
                self._waiting = self._loop.create_future()
                await self._waiting
        finally:
            timer.cancel()

    def _wake(self) -> None:
        if self._waiting:
            self._waker.put(self._waiting)
            self._waiting = None

    def abort(self, why: str | Unreachable) -> None:
        """End the connection; a caller that waits for an answer gets Unreachable."""
        self._lost = self._lost or (why.with_traceback(None) if isinstance(why, Unreachable) else Unreachable(why))
        self._transport.abort()
        self._wake()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from asyncio's.
        self._among.add(self)
        self._completed_at = self._loop.time()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        try:
            self._parser.feed_data(self._buffer[:nbytes])
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            # The parser chains what our callbacks raised as the context of its own exception.
            self.abort(error.__context__ if isinstance(error.__context__, Unreachable) else f"no HTTP: {error}")
        if not self._complete:
            self._head_bytes += nbytes
            if self._head_bytes > _HEAD_BYTES:
                self.abort("headers or trailers without an end")
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.abort(str(exc or "the server has closed the connection"))
        self._among.discard(self)
        del self._parser  # It has methods of this connection, which would be garbage for an hour.
        self._gone.set_result(None)

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._complete:
            raise Unreachable("an answer that nobody has asked for")
        self.headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        self._begun = self.status >= 200  # Informational (1xx) answers precede the final one.

    def on_body(self, body: bytes) -> None:
        self._held += len(body) + _PIECE_COSTS
        self._head_bytes = 0
        if self._held > ANSWER_BYTES:
            self._body.clear()
            raise TooLong(f"an answer of more than {ANSWER_BYTES >> 20} MiB")
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._begun:
            self._complete, self._stays = True, self._parser.should_keep_alive()
            self._completed_at = self._loop.time()
