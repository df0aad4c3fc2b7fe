"""The API server over HTTPS, with msgspec for the bodies."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from functools import cache, partial
from http import HTTPStatus
from threading import Thread
from typing import TypeVar
from urllib.parse import urlencode

import msgspec

from fcompile._version import __version__
from fcontroller.act import decode, http, nesting
from fcontroller.act.decode import TooDeep, Unreadable
from fcontroller.act.http import Origin
from fcontroller.act.plain import NoServer, Server, beginning, look_up, no_object
from fcontroller.api import Answer, Api, Body, Json, Projection, Query, Unreachable, Wanted, always, content_of, target_of
from fcontroller.breath import Breath

_REQUEST_TIMEOUT = 60
_SILENCE = 70
"""Seconds: a watch that has said nothing for so long is dead."""
_LONG = 1024 * 1024
"""Bytes from which on a list of whole objects is decoded in many turns: one of 24 MiB takes half a second."""
_AUTHORIZED_FOR = 10
"""Seconds that a token is used before it is asked for again."""
_PATIENCE = 1.0
"""Seconds that a request waits for new credentials while there are old ones."""
_TIME_HOLDS = 10
"""Seconds after which the server's clock is looked at again."""
_HANGS, _LONGEST_HANGS = 60.0, 3600.0
"""Seconds after which credentials are asked for anew although the last question has no answer, and the most: it is twice as long each time,
since each leaves a thread and a process behind."""
_AGENT = {"User-Agent": f"fcontroller/{__version__}"}
"""As audit logs know us."""
T = TypeVar("T")
_METADATA = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1,application/json"


Called = Callable[[str, str, int, float], None]
"""Is told of each request: its method (WATCH for a watch), path, status code (0: no answer came) and how many seconds it took."""


class Client(Api):
    """One API server, as one user."""

    def __init__(self, server: Server, called: Called | None = None, may_write: Wanted = always) -> None:
        """:param may_write: asked right before each write is sent.

        :raises ValueError: the server's address is none.
        """
        self._called, self._may_write = called or (lambda *_: None), may_write
        self._server = server
        tls = server.tls or cache(ssl.create_default_context)
        self._origin = Origin(server.url, tls, server.name)
        self._writes = Origin(server.url, tls, server.name)
        """Connections of their own, which can be cut off."""
        self._headers: dict[str, str] = {}
        self._authorized_until = 0.0
        self._asking: asyncio.Task[str] | None = None
        self._asked = float("-inf")
        """When credentials were asked for last, by the monotonic clock."""
        self._hangs = _HANGS
        """Seconds after which that counts as unanswered."""
        self._told: tuple[float, float] | None = None
        """The time that the server told last, and the monotonic clock then, both in seconds."""

    async def close(self) -> None:
        await asyncio.gather(self._origin.close(), self._writes.close())

    def abort_writes(self) -> None:
        """Cut off every write that is under way: its answer is not waited for, and it may or may not be carried out."""
        self._writes.abort("this process no longer leads")

    def server_now(self) -> float | None:
        """Return the time of the server's clock, in seconds since 1970, or None before its first answer."""
        return None if self._told is None else self._told[0] + time.monotonic() - self._told[1]

    async def request(
        self, method: str, path: str, body: Body | None = None, query: Query | None = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        content = content_of(body)
        data = content if content is None or isinstance(content, bytes) else msgspec.json.encode(content)
        headers = {
            "Content-Type": "application/json-patch+json" if method == "PATCH" else "application/json",
            "Accept": _accept(projection, _is_list(method, path)),
        }
        who = await self._who()
        headers = {**who, **headers}
        began, code, text = time.perf_counter(), 0, b""
        try:
            origin, wanted = (self._origin, always) if method == "GET" else (self._writes, self._may_write)
            code, about, text = await origin.request(method, _target(path, query), headers, data, _REQUEST_TIMEOUT, wanted)
            if code == 401 and self._headers is who:  # Others may have come since.
                self._headers, self._authorized_until = {}, 0.0
            self._note_time(about.get("date"))
            read = partial(decode.answer, projection=projection, listed=_is_list(method, path)) if code < 300 else partial(_refusal, code)
            in_turns = code < 300 and len(text) > _LONG and projection is Projection.WHOLE and _is_list(method, path)
            body = await _listed(text) if in_turns else await _decoded(read, text)
            return Answer(code, body, _seconds(about.get("retry-after")), len(text))
        except Unreadable as error:  # A refusal too: a proxy may have answered instead of the API server.
            raise Unreachable(f"{method} {path}: {no_object(code, path, text)}") from error
        except Unreachable as error:
            raise type(error)(f"{method} {path}: {error}") from error
        finally:
            self._called(method, path, code, time.perf_counter() - began)

    async def watch(self, path: str, query: Query, projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        headers = {**await self._who(), "Accept": _accept(projection)}
        try:
            async with self._origin.stream(_target(path, {**query, "watch": "1"}), headers, _REQUEST_TIMEOUT) as stream:
                self._called("WATCH", path, stream.status, 0)
                begun, size = list[bytes](), 0
                while chunk := await stream.read(_SILENCE):
                    # Only what is new is gone through: an event of megabytes comes in hundreds of pieces.
                    *lines, rest = chunk.split(b"\n") if stream.status == 200 else [chunk]
                    if lines:
                        lines[0] = b"".join((*begun, lines[0]))
                        begun, size = [], 0
                    begun.append(rest)
                    size += len(rest)
                    if size > http.ANSWER_BYTES:
                        raise Unreadable(f"an event of more than {http.ANSWER_BYTES >> 20} MiB")
                    for line in lines:
                        yield await _decoded(partial(decode.event, projection=projection), line)
                if stream.status != 200:
                    yield {"type": "ERROR", "object": _refusal(stream.status, b"".join(begun))}
        except (Unreachable, Unreadable) as error:
            raise Unreachable(f"watch {path}: {error}") from error

    def _note_time(self, date: str | None) -> None:
        now = time.monotonic()
        if date and (self._told is None or now > self._told[1] + _TIME_HOLDS):
            with contextlib.suppress(OverflowError, ValueError):
                self._told = parsedate_to_datetime(date).timestamp(), now

    async def _who(self) -> dict[str, str]:
        """Return the headers that authenticate a request; exec plugins and token files are asked again when they may have changed.

        Raises Unreachable.
        """
        # Tokens of service accounts and of exec plugins rotate; to ask for one costs as much as a request.
        if time.monotonic() >= self._authorized_until:
            asking = self._asking
            if asking is not None and not asking.done() and time.monotonic() >= self._asked + self._hangs:
                asking, self._hangs = None, min(2 * self._hangs, _LONGEST_HANGS)
            if asking is None or asking.done():
                asking = self._asking = asyncio.create_task(self._authorize())
                self._asked = time.monotonic()
            # While the server accepts the last ones, a plugin that hangs or fails must not cost the lease.
            patience = max(self._asked + _PATIENCE - time.monotonic(), 0) if self._headers else _REQUEST_TIMEOUT
            done, _ = await asyncio.wait((asking,), timeout=patience)
            problem = asking.result() if done else f"none came for {_REQUEST_TIMEOUT} s"
            if problem and not self._headers:
                raise Unreachable(f"there are no credentials: {problem}")
            if problem:
                self._authorized_until = time.monotonic() + _AUTHORIZED_FOR
        return self._headers

    async def _authorize(self) -> str:
        """Ask for credentials. Return why none came; empty: some did."""
        try:
            self._headers = {**_AGENT, **await _in_thread(self._server.headers)}
        except Exception as error:  # Of a file that is being replaced, or of a plugin.
            return str(error) or type(error).__name__
        self._authorized_until, self._hangs = time.monotonic() + _AUTHORIZED_FOR, _HANGS
        return ""


def _in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run something that may hang, in a thread for which the end of the process does not wait."""
    outcome = Future[T]()
    outcome.set_running_or_notify_cancel()

    def run() -> None:
        try:
            outcome.set_result(work())
        except Exception as error:
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    return asyncio.wrap_future(outcome)


async def _decoded(read: Callable[[bytes], Json], text: bytes) -> Json:
    """Return what is read of a text, without what is nested too deep in it: one such object must not hold up all others."""
    try:
        return read(text)
    except TooDeep:
        return read(await _in_thread(partial(nesting.cut, text)))  # Of many megabytes it takes seconds.


async def _listed(text: bytes) -> Json:
    """Return a list of whole objects, which are decoded in many turns."""
    found, breath = await _decoded(decode.texts, text), Breath()
    for place, item in enumerate(found["items"] or ()):
        found["items"][place] = decode.answer(bytes(item), Projection.WHOLE, listed=False)
        await breath.take()
    return found


def _target(path: str, query: Query | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _is_list(method: str, path: str) -> bool:
    return method == "GET" and not target_of(path).name


def _accept(projection: Projection, lists: bool = False) -> str:
    return _METADATA.format("List" if lists else "") if projection is Projection.METADATA else "application/json"


def _refusal(code: int, text: bytes) -> Json:
    """Return the Status of an answer that refuses."""
    try:
        refused = decode.answer(text, Projection.WHOLE, listed=False)
        if code == HTTPStatus.UNAUTHORIZED:
            refused["message"] = "the API server does not accept the token or the certificate: is it of this cluster, and not expired?"
        return refused
    except Unreadable:
        # The server's flow control answers 429 in plain text. A request that got a 429 was not carried out, whoever sent the answer.
        if code != HTTPStatus.TOO_MANY_REQUESTS:
            raise
        return {"code": int(code), "reason": "TooManyRequests", "message": beginning(text)}


def _seconds(retry_after: str | None) -> float:
    try:
        return min(max(0.1, float(retry_after or 1)), 60)  # In this order NaN is 0.1.
    except ValueError:  # a date, which API servers do not send
        return 1


def from_kubeconfig(path: str = "", *, address: str = "", called: Called | None = None, may_write: Wanted = always) -> Client:
    """Return the API server of a kubeconfig (default: KUBECONFIG or ~/.kube/config), or, in a Pod, that of the cluster around it.

    Raises NoServer.

    :param address: overrides the server's address; without a kubeconfig, requests are then anonymous.
    :param called, may_write: as for `Client`.
    """
    try:
        return Client(look_up(os.environ, path, address), called, may_write)
    except ValueError as error:
        raise NoServer(str(error)) from None
