"""The HTTP server: /metrics for Prometheus, /healthz and /readyz for the kubelet.

It runs on the same event loop as everything else: when that hangs, there is no answer, and the kubelet restarts the container. Anybody may
connect, so a connection has one request, of limited size and time, and the oldest connection is closed when there are many: thousands of
open connections use up neither descriptors nor answers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from http import HTTPStatus

from fcontroller.metrics import CONTENT_TYPE, Metrics

_CONNECTIONS = 64
_LONGEST = 8192
"""Bytes of a request."""
_PATIENCE = 5.0
"""Seconds for a request to come, and again for its answer to be taken."""
_FRESH = 1.0
"""Seconds for which the text of the metrics is served again. With 10,000 Frameworks it takes a tenth of a second to make, and whoever may
connect may ask for it sixty times at once: the lease would not be renewed in time."""
_TEXT = "text/plain; charset=utf-8"

Answer = tuple[HTTPStatus, bytes, str]
"""Status, body and type."""


class Unlistenable(Exception):
    """The address cannot be listened to."""


class Server:
    """Answers until it is closed."""

    def __init__(self, metrics: Metrics, ready: Callable[[], str]) -> None:
        """:param ready: returns why the process is not ready, or the empty string."""
        self._answers: dict[str, Callable[[], Answer]] = {
            "/metrics": lambda: (HTTPStatus.OK, self._text(), CONTENT_TYPE),
            "/healthz": lambda: _probed(""),
            "/readyz": lambda: _probed(ready()),
        }
        self._metrics = metrics
        self._made: tuple[bytes, float] = b"", float("-inf")
        """The text of the metrics, and until when it is served again, by the clock of the loop."""
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._server: asyncio.Server | None = None

    async def listen(self, address: str) -> None:
        """Start answering at `HOST:PORT` (no host: all addresses). Raises Unlistenable."""
        host, _, port = address.rpartition(":")
        try:
            self._server = await asyncio.start_server(self._connected, host.strip("[]") or None, int(port), limit=_LONGEST)
        except (OSError, OverflowError, ValueError) as error:
            raise Unlistenable(f"{address}: {error}") from None

    async def close(self) -> None:
        """Stop answering."""
        if self._server:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= _CONNECTIONS:
            oldest = next(iter(self._open))
            self._open.pop(oldest).transport.abort()  # At once: many others may come before its task runs, or has begun.
            oldest.cancel()
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._open[task] = writer
        task.add_done_callback(lambda task: self._open.pop(task, None))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    request = await _head(reader)
                writer.write(_response(*self._answer(request)))
                async with asyncio.timeout(_PATIENCE):
                    await writer.drain()
        finally:
            # A client that does not read the answer in time gets no more of it.
            writer.close() if writer.transport.get_write_buffer_size() == 0 else writer.transport.abort()

    def _text(self) -> bytes:
        loop = asyncio.get_running_loop()
        if loop.time() >= self._made[1]:
            self._made = self._metrics.text(), loop.time() + _FRESH
        return self._made[0]

    def _answer(self, request: bytes | None) -> Answer:
        method, target, *_ = (*(request or b"").decode("latin-1").split(" "), "", "")
        if request is None or not target.startswith("/"):
            return HTTPStatus.BAD_REQUEST, b"no request that is understood\n", _TEXT
        answer = self._answers.get(target.partition("?")[0])
        if method != "GET":
            return HTTPStatus.METHOD_NOT_ALLOWED, b"GET only\n", _TEXT
        return answer() if answer else (HTTPStatus.NOT_FOUND, b"there is /metrics, /healthz, /readyz\n", _TEXT)


async def _head(reader: asyncio.StreamReader) -> bytes | None:
    """Return the first line of a request; None: it is too long."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return None
    return head.split(b"\r\n", 1)[0]


def _probed(trouble: str) -> Answer:
    status = HTTPStatus.SERVICE_UNAVAILABLE if trouble else HTTPStatus.OK
    return status, f"{trouble or 'ok'}\n".encode(), _TEXT


def _response(status: HTTPStatus, body: bytes, kind: str) -> bytes:
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
