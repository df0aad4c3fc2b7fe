"""Requests over connections of our own: whatever a server sends, it is the answer that it is, or none."""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
import ssl
import time
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import certifi
import pytest
import uvloop
from kubernetes.client import Configuration

from fcontroller.act import client, http, plain
from fcontroller.act.client import Client, from_kubeconfig
from fcontroller.act.http import Origin, Response, Stream
from fcontroller.act.plain import NoServer, look_up, server_of
from fcontroller.api import Answer, Projection, TooLong, TooSlow, Unreachable
from fcontroller.breath import AWAKE
from tests.cluster import Cluster
from tests.safety.virtual_time import VirtualLoop, in_virtual_time

LOOPS: tuple[Callable[[], asyncio.AbstractEventLoop], ...] = (asyncio.SelectorEventLoop, uvloop.new_event_loop)
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{'a': 'bcde'}"
CHUNKS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{'a':\r\n8\r\n 'bcde'}\r\n0\r\n\r\n"
ANNOUNCED = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + LENGTH
BODY = b"{'a': 'bcde'}"


class Server:
    """Answers each request with the next of its answers, which are bytes or what is done with the connection."""

    def __init__(self, *answers: bytes | Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]) -> None:
        self.answers = list(answers)
        self.asked: list[bytes] = []
        self.url = ""
        self.connections: list[asyncio.StreamWriter] = []

    @asynccontextmanager
    async def origin(self, path: str = "") -> AsyncIterator[Origin]:
        """The server, listening."""
        listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}{path}"
        origin = Origin(self.url, ssl.create_default_context)
        try:
            yield origin
        finally:
            await origin.close()
            listening.close()
            for connection in self.connections:
                connection.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")), 0)
                self.asked.append(head + await reader.readexactly(length))
                answer = self.answers.pop(0)
                if isinstance(answer, bytes):
                    writer.write(answer)
                else:
                    await answer(writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            writer.close()


async def closes(writer: asyncio.StreamWriter) -> None:
    writer.close()


async def says_nothing(_: asyncio.StreamWriter) -> None:
    await asyncio.sleep(1_000)


async def get(origin: Origin) -> Response:
    return await origin.request("GET", "/a", {"Accept": "application/json"}, None, 60)


def run(loop: Callable[[], asyncio.AbstractEventLoop], test: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(test)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("answer", [LENGTH, CHUNKS, ANNOUNCED])
def test_an_answer_is_the_same_however_it_is_cut(loop: Callable[[], asyncio.AbstractEventLoop], answer: bytes) -> None:
    async def test() -> None:
        def cut(at: int) -> Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]:
            async def send(writer: asyncio.StreamWriter) -> None:
                writer.write(answer[:at])
                await asyncio.sleep(0.001)
                writer.write(answer[at:])

            return send

        server = Server(*map(cut, range(1, len(answer))))
        async with server.origin() as origin:
            for _ in range(1, len(answer)):
                found = await get(origin)
                assert (found.status, found.headers["content-type"], found.body) == (200, "application/json", BODY)
            assert len(server.connections) == 1

    run(loop, test())


@pytest.mark.parametrize("loop", LOOPS)
def test_a_connection_that_is_lost_leaves_nothing_to_the_collector(
    loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch, without_collections: None
) -> None:
    """Old cycles are only collected once an hour, and each connection has buffers."""
    monkeypatch.setattr(http, "ANSWER_BYTES", 10)

    async def closes_later(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.01)
        writer.close()

    async def asked(answer: bytes | Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]) -> str:
        async with Server(answer).origin() as origin:
            try:
                await origin.request("GET", "/a", {}, None, 0.5)
            except Unreachable as error:
                return str(error)
        return "answered"

    async def test() -> None:
        ends: list[tuple[str, bytes | Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]]] = [
            ("closed", closes_later),
            ("for 0.5 s", says_nothing),
            ("no HTTP", b"what?\r\n\r\n"),
            ("more than", LENGTH),
        ]
        await asked(closes_later)  # From here on nothing is done for the first time.
        for why, answer in ends:
            await asyncio.sleep(0.05)
            gc.collect()
            gc.set_debug(gc.DEBUG_SAVEALL)
            try:
                assert why in await asked(answer)
                await asyncio.sleep(0.05)
                gc.collect()
                left = Counter(
                    type(each).__qualname__ for each in gc.garbage if type(each).__module__.startswith(("fcontroller", "httptools"))
                )
            finally:
                gc.set_debug(0)
                gc.garbage.clear()
            assert left == {}, why

    run(loop, test())


@pytest.mark.parametrize("loop", LOOPS)
def test_a_request_is_sent_as_it_was_asked_for(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    large = bytes(range(256)) * 20_000

    async def test() -> None:
        server = Server(LENGTH, LENGTH, LENGTH)
        async with server.origin("/clusters/a/") as origin:
            await get(origin)
            await origin.request("PUT", "/b?c=d", {}, large, 60)
            await origin.request("DELETE", "/b", {}, b"", 60)
        port = server.asked[0].split(b"127.0.0.1:")[1].split(b"\r\n")[0].decode()
        host = f"Host: 127.0.0.1:{port}\r\n"
        assert server.asked == [
            f"GET /clusters/a/a HTTP/1.1\r\n{host}Accept: application/json\r\n\r\n".encode(),
            f"PUT /clusters/a/b?c=d HTTP/1.1\r\n{host}Content-Length: {len(large)}\r\n\r\n".encode() + large,
            f"DELETE /clusters/a/b HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n".encode(),
        ]

    run(loop, test())


@pytest.mark.parametrize("target", ["/a HTTP/1.1\r\nHost: b\r\n\r\nDELETE /b", "/a\nb", "/a b", "/a\x7f", "/\xe9", "a", ""])
def test_what_is_no_target_is_not_sent(target: str) -> None:
    """A line end would begin another request."""

    async def test() -> None:
        server = Server(LENGTH)
        async with server.origin() as origin:
            with pytest.raises(ValueError, match="no target of a request"):
                await origin.request("GET", target, {}, None, 60)
            with pytest.raises(ValueError, match="no target of a request"):
                async with origin.stream(target, {}, 60):
                    pass
            assert server.asked == []
            assert (await get(origin)).body == BODY

    run(asyncio.SelectorEventLoop, test())


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Length: 12\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nabc",
        closes,
    ],
)
def test_what_is_no_answer_is_none(loop: Callable[[], asyncio.AbstractEventLoop], answer: Any) -> None:
    async def test() -> None:
        server = Server(answer, LENGTH)
        async with server.origin() as origin:
            with pytest.raises(Unreachable):
                await get(origin)
            assert (await get(origin)).body == BODY
            assert len(server.connections) == 2

    run(loop, test())


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("answer", [LENGTH, CHUNKS])
def test_half_an_answer_is_none(loop: Callable[[], asyncio.AbstractEventLoop], answer: bytes) -> None:
    async def test() -> None:
        def half(end: int) -> Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]:
            async def send(writer: asyncio.StreamWriter) -> None:
                writer.write(answer[:end])
                writer.close()

            return send

        async with Server(*map(half, range(len(answer)))).origin() as origin:
            for _ in range(len(answer)):
                with pytest.raises(Unreachable):
                    await get(origin)

    run(loop, test())


@pytest.mark.parametrize(
    "last", [LENGTH.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"), LENGTH.replace(b"1.1", b"1.0"), LENGTH + b"HTTP/1.1 408 Late\r\n"]
)
@pytest.mark.parametrize("loop", LOOPS)
def test_a_connection_that_the_server_gives_up_is_used_no_more(loop: Callable[[], asyncio.AbstractEventLoop], last: bytes) -> None:
    async def test() -> None:
        server = Server(LENGTH, last, LENGTH)
        async with server.origin() as origin:
            for _ in range(3):
                assert (await get(origin)).body == BODY
                await asyncio.sleep(0.001)
            assert len(server.connections) == 2

    run(loop, test())


@pytest.mark.parametrize("loop", LOOPS)
def test_a_connection_that_ended_while_idle_is_used_no_more(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def test() -> None:
        server = Server(LENGTH, LENGTH)
        async with server.origin() as origin:
            await get(origin)
            server.connections[0].close()
            await asyncio.sleep(0.01)
            assert (await get(origin)).body == BODY

    run(loop, test())


def test_many_at_once_have_a_connection_each_and_idle_ones_are_closed_in_time() -> None:
    async def test(loop: VirtualLoop) -> None:
        server = Server(*[LENGTH] * 20)
        async with server.origin() as origin:
            await asyncio.gather(*(get(origin) for _ in range(10)))
            assert len(server.connections) == 10
            for _ in range(4):
                await asyncio.sleep(20)
                await get(origin)
            # One was used all the time; the others are gone without being asked for.
            assert [connection.transport.is_closing() for connection in server.connections].count(False) == 1
            await asyncio.sleep(40)
            await get(origin)
            assert len(server.connections) == 11

    in_virtual_time(test)


@pytest.mark.parametrize("loop", LOOPS)
def test_of_many_answers_that_come_at_once_a_few_are_taken_in_at_a_time(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Otherwise hundreds of callers go on in one turn of the loop, for a millisecond each, and the lease waits."""
    requests = 200

    async def test() -> None:
        all_asked, turn, gone_on = asyncio.Event(), 0, Counter[int]()

        async def answers(writer: asyncio.StreamWriter) -> None:
            if len(server.asked) == requests:
                all_asked.set()
            await all_asked.wait()
            writer.write(LENGTH)

        async def ask() -> None:
            assert (await get(origin)).body == BODY
            gone_on[turn] += 1

        def count() -> None:
            nonlocal turn
            turn += 1
            asyncio.get_running_loop().call_soon(count)

        server = Server(*[answers] * requests)
        async with server.origin() as origin:
            count()
            await asyncio.gather(*(ask() for _ in range(requests)))
        assert sum(gone_on.values()) == requests
        assert max(gone_on.values()) <= AWAKE

    run(loop, test())


def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    async def test(loop: VirtualLoop) -> None:
        async def drips(writer: asyncio.StreamWriter) -> None:
            for byte in LENGTH:
                writer.write(bytes([byte]))
                await asyncio.sleep(1)

        async with Server(says_nothing, drips, LENGTH).origin() as origin:
            for number in (1, 2):
                with pytest.raises(TooSlow, match="nothing came for 60 s"):
                    await get(origin)
                assert loop.passed == pytest.approx(60 * number)
            assert (await get(origin)).body == BODY

    in_virtual_time(test)


def test_a_request_that_is_given_up_takes_its_connection_along() -> None:
    async def test(loop: VirtualLoop) -> None:
        server = Server(says_nothing, LENGTH)
        async with server.origin() as origin:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await get(origin)
            assert (await get(origin)).body == BODY
            assert len(server.connections) == 2

    in_virtual_time(test)


@pytest.mark.parametrize("loop", LOOPS)
def test_an_answer_that_came_as_its_request_was_given_up_is_nobody_elses(
    loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        server = Server(LENGTH, LENGTH)
        async with server.origin() as origin:
            asking = asyncio.create_task(get(origin))
            received = http._Connection.buffer_updated

            def cancels(connection: http._Connection, nbytes: int) -> None:
                received(connection, nbytes)
                asking.cancel()

            monkeypatch.setattr(http._Connection, "buffer_updated", cancels)
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert (await get(origin)).body == BODY

    run(loop, test())


def test_what_comes_in_quick_succession_is_read_together_and_what_comes_alone_at_once() -> None:
    async def test(loop: VirtualLoop) -> None:
        async def events(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            await asyncio.sleep(1)
            for number in range(300):
                writer.write(b"4\r\n%03d\n\r\n" % number)
                await asyncio.sleep(0.001)
            await asyncio.sleep(5)
            writer.write(b"5\r\nlast\n\r\n0\r\n\r\n")

        read: list[tuple[float, bytes]] = []
        async with Server(events).origin() as origin, origin.stream("/a", {}, 60) as stream:
            while body := await stream.read(70):
                read.append((loop.passed, body))
        assert b"".join(body for _, body in read) == b"".join(b"%03d\n" % number for number in range(300)) + b"last\n"
        assert read[0][0] == pytest.approx(1)
        assert read[-1][0] == pytest.approx(6.3)
        assert (read[0][1], read[-1][1]) == (b"000\n", b"last\n")
        assert 10 <= len(read) <= 13

    in_virtual_time(test)


def test_much_is_read_without_a_pause() -> None:
    events = (b"x" * 999_999 + b"\n") * 16

    async def test(loop: VirtualLoop) -> None:
        async def send(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(events), events))

        async with Server(send).origin() as origin, origin.stream("/a", {}, 60) as stream:
            assert b"".join([body async for body in _all(stream)]) == events
        assert loop.passed < 0.5

    in_virtual_time(test)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_stream_is_read_to_its_end(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    events = [b"%05d" % number * 1_000 + b"\n" for number in range(500)]

    async def test() -> None:
        async def send(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for event in events:
                writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                await writer.drain()
            writer.write(b"0\r\n\r\n")

        async with Server(send).origin() as origin, origin.stream("/a", {}, 60) as stream:
            read = [body async for body in _all(stream)]
        assert b"".join(read) == b"".join(events)
        assert stream.status == 200

    run(loop, test())


async def _all(stream: Stream) -> AsyncIterator[bytes]:
    while body := await stream.read(10):
        yield body


def test_a_stream_that_falls_silent_is_lost() -> None:
    async def test(loop: VirtualLoop) -> None:
        async def begins(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabc\n\r\n")
            await asyncio.sleep(1_000)

        async with Server(begins).origin() as origin:
            async with origin.stream("/a", {}, 60) as stream:
                assert await stream.read(70) == b"abc\n"
                with pytest.raises(Unreachable, match="nothing came for 70 s"):
                    await stream.read(70)
            assert loop.passed == pytest.approx(70.03)

    in_virtual_time(test)


@pytest.mark.parametrize("url", ["", "127.0.0.1:6443", "ftp://a", "https://", "http://a:port"])
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL|[Pp]ort"):
        Origin(url, ssl.create_default_context)


@pytest.mark.parametrize("url", ["127.0.0.1:6443", "ftp://a"])
def test_a_kubeconfig_with_no_address_of_a_server_is_refused(cluster: Cluster, url: str) -> None:
    with pytest.raises(NoServer, match="URL"):
        from_kubeconfig(str(cluster.kubeconfig), address=url)


@pytest.mark.parametrize(
    "text", ["\x1b[31m: 1", "a: [", "- a", "a", "1", "{clusters: 1, contexts: 2, users: 3, current-context: a}", "\ud800", "&a [*a]"]
)
def test_what_is_no_kubeconfig_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(NoServer, match="config: "):
        from_kubeconfig(str(file))


@pytest.mark.parametrize("text", ["- a", "a", "1", "{clusters: [], contexts: [{name: a, context: 3}], users: [], current-context: a}"])
def test_what_is_no_kubeconfig_is_called_so(text: str, tmp_path: Path) -> None:
    """It said `'str' object does not support item assignment`."""
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(NoServer, match="config: this is no kubeconfig"):
        from_kubeconfig(str(file))


def test_a_proxy_of_a_kubeconfig_is_not_passed_over(tmp_path: Path) -> None:
    """Requests went to the server itself, which mostly cannot be reached then, and nobody was told why."""
    file = tmp_path / "config"
    cluster = {"server": "https://127.0.0.1:1", "proxy-url": "http://127.0.0.1:2"}
    context = {"name": "a", "context": {"cluster": "a", "user": "a"}}
    users = [{"name": "a", "user": {"token": "t"}}]
    file.write_text(
        json.dumps({"clusters": [{"name": "a", "cluster": cluster}], "contexts": [context], "users": users, "current-context": "a"})
    )
    with pytest.raises(NoServer, match=r"`proxy-url`.*KUBE_APISERVER_ADDRESS"):
        look_up({}, str(file), "")
    assert look_up({}, str(file), "https://127.0.0.1:3").url == "https://127.0.0.1:3"


@pytest.mark.parametrize("loop", LOOPS)
def test_a_certificate_is_looked_at(cluster: Cluster, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    certificate, port = cluster.folder / "certificates" / "apiserver.crt", json.loads((cluster.folder / "cluster.json").read_text())["port"]
    known, unknown = ssl.create_default_context(cafile=str(certificate)), ssl.create_default_context()

    async def status(tls: ssl.SSLContext, name: str | None = None) -> int:
        origin = Origin(f"https://127.0.0.1:{port}", lambda: tls, name)
        try:
            return (await origin.request("GET", "/version", {}, None, 60)).status
        finally:
            await origin.close()

    async def test() -> None:
        assert await status(known) in (200, 401, 403)
        assert await status(known, "kubernetes.default.svc") in (200, 401, 403)
        for tls, name in ((unknown, None), (known, "another.example.com")):
            with pytest.raises(Unreachable, match=r"(?i)certificate"):
                await status(tls, name)

    run(loop, test())


def test_the_clusters_next_certificate_is_trusted(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica that waited for the lease could never connect again, and was not restarted either."""
    monkeypatch.setattr(client, "_AUTHORIZED_FOR", 0)
    port = json.loads((cluster.folder / "cluster.json").read_text())["port"]
    shutil.copy(certifi.where(), tmp_path / "ca.crt")
    (tmp_path / "token").write_text("a")

    async def test() -> None:
        around = {"HOME": "/nonexistent", "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(port)}
        api = Client(look_up(around, "", "", tmp_path))
        with pytest.raises(Unreachable, match=r"(?i)certificate"):
            await api.request("GET", "/api/v1/nodes")
        shutil.copy(cluster.folder / "certificates" / "apiserver.crt", tmp_path / "ca.crt")
        assert (await api.request("GET", "/api/v1/nodes")).code in (200, 401, 403)
        await api.close()

    asyncio.run(test())


def test_a_certificate_that_is_the_clusters_no_more_is_not_trusted(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever had the key of an old one could stand in for the API server until the controller was started anew."""
    monkeypatch.setattr(client, "_AUTHORIZED_FOR", 0)
    port = json.loads((cluster.folder / "cluster.json").read_text())["port"]
    shutil.copy(cluster.folder / "certificates" / "apiserver.crt", tmp_path / "ca.crt")
    (tmp_path / "token").write_text("a")
    around = {"HOME": "/nonexistent", "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(port)}
    server = look_up(around, "", "", tmp_path)

    async def test() -> None:
        api = Client(server)
        try:
            assert (await api.request("GET", "/api/v1/nodes")).code in (200, 401, 403)
            for text, why in ((Path(certifi.where()).read_text(), "certificate"), ("", "x509|certificate")):
                (tmp_path / "ca.crt").write_text(text)
                api._origin.abort("a new connection is asked for")
                with pytest.raises(Unreachable, match=f"(?i){why}"):
                    await api.request("GET", "/api/v1/nodes")
                with pytest.raises(Unreachable, match=f"(?i){why}"):
                    server.get("/api/v1/nodes")
        finally:
            await api.close()

    asyncio.run(test())


def test_a_large_body_is_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """The buffer in which TLS encrypts stayed as large as the largest body: 120 KiB for each connection that had carried a status."""
    body, written = bytes(range(256)) * 500, list[bytes]()

    async def test() -> None:
        server = Server(LENGTH, LENGTH)
        async with server.origin() as origin:
            await get(origin)
            (connection,) = origin._open
            write = connection._transport.write

            def noted(data: bytes) -> None:
                written.append(bytes(data))
                write(data)

            monkeypatch.setattr(connection, "_transport", _Noted(connection._transport, noted))
            assert (await origin.request("PUT", "/a", {}, body, 60)).body == BODY
            assert server.asked[-1].endswith(body)

    asyncio.run(test())
    assert b"".join(written).endswith(body)
    assert max(map(len, written)) <= 16 * 1024


class _Noted:
    """A transport whose writes are noted."""

    def __init__(self, transport: asyncio.Transport, write: Callable[[bytes], None]) -> None:
        self._transport, self.write = transport, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_small_answer_over_tls_takes_little_memory(cluster: Cluster, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Each piece was received into a new block of 256 KiB: 38 GB for 10,000 Pods."""
    certificate, port = cluster.folder / "certificates" / "apiserver.crt", json.loads((cluster.folder / "cluster.json").read_text())["port"]

    async def test() -> None:
        origin = Origin(f"https://127.0.0.1:{port}", cache(lambda: ssl.create_default_context(cafile=str(certificate))))
        try:
            await origin.request("GET", "/version", {}, None, 60)  # Connected, what was sent and received for that is forgotten.
            tracemalloc.start()
            await origin.request("GET", "/version", {}, None, 60)
            assert tracemalloc.get_traced_memory()[1] < 100_000
        finally:
            tracemalloc.stop()
            await origin.close()

    run(loop, test())


@pytest.mark.parametrize("loop", LOOPS)
def test_nobody_there_is_no_answer(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def test() -> None:
        for url in ("http://127.0.0.1:1", "https://127.0.0.1:1", "http://nobody.invalid", "http://no..body"):
            with pytest.raises(Unreachable):
                await get(Origin(url, ssl.create_default_context))

    run(loop, test())


def endless(head: bytes, again: bytes) -> Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(again)
            await writer.drain()

    return send


ENDLESS = {
    "headers": endless(b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n"),
    "a header": endless(b"HTTP/1.1 200 OK\r\nX-Long: ", b"a" * 1000),
    "body": endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"186A0\r\n" + b"a" * 100_000 + b"\r\n"),
    "announcements": endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "trailers": endless(CHUNKS[:-2], b"X-More: and more\r\n"),
    "a trailer": endless(CHUNKS[:-2] + b"X-Long: ", b"a" * 1000),
    "what is said of a chunk": endless(CHUNKS[:-5] + b"1;a=", b"a" * 1000),
    "announced body": endless(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n", b"a" * 100_000),
}


@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS)
def test_an_answer_without_an_end_is_none(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ANSWER_BYTES", 1_000_000)

    async def test() -> None:
        async with Server(answer).origin() as origin:
            with pytest.raises(Unreachable):
                async with asyncio.timeout(20):
                    await get(origin)

    run(asyncio.SelectorEventLoop, test())


def test_each_piece_of_an_answer_counts_with_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """24 MiB in chunks of two bytes took 700 MiB of memory."""
    monkeypatch.setattr(http, "ANSWER_BYTES", 1_000_000)

    async def test() -> None:
        answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"2\r\nab\r\n" * 50_000 + b"0\r\n\r\n"
        async with Server(answer).origin() as origin:
            with pytest.raises(TooLong):
                await get(origin)

    run(asyncio.SelectorEventLoop, test())


def test_what_is_under_way_can_be_cut_off() -> None:
    async def test() -> None:
        server = Server(says_nothing, says_nothing, LENGTH)
        async with server.origin() as origin:
            waiting = [asyncio.create_task(get(origin)) for _ in range(2)]
            while len(server.asked) < 2:
                await asyncio.sleep(0.001)
            origin.abort("it is over")
            results = await asyncio.gather(*waiting, return_exceptions=True)
            assert [str(result) for result in results] == ["it is over", "it is over"]
            assert (await get(origin)).body == BODY

    run(asyncio.SelectorEventLoop, test())


def test_what_is_not_wanted_when_there_is_a_connection_is_not_sent() -> None:
    """To connect may take as long as it likes, and meanwhile another process may lead."""

    async def test() -> None:
        server = Server(LENGTH)
        async with server.origin() as origin:
            with pytest.raises(Unreachable, match="not sent"):
                await origin.request("POST", "/a", {}, b"{}", 60, lambda: False)
            assert server.asked == []
            assert (await get(origin)).body == BODY

    run(asyncio.SelectorEventLoop, test())


@pytest.mark.parametrize("odd", [b"Retry-After: nan", b"Retry-After: 1e999", b"Date: Thu, 26 Nov 2026 99999999999:00:00 GMT"])
def test_odd_numbers_in_headers_are_in_nobodys_way(odd: bytes) -> None:
    async def test() -> None:
        body = b'{"code": 429}'
        head = b"HTTP/1.1 429 Too Many Requests\r\n" + odd + b"\r\nContent-Length: " + str(len(body)).encode()
        server = Server(head + b"\r\n\r\n" + body)
        async with server.origin():
            client = from_kubeconfig(address=server.url)
            try:
                answer = await client.request("POST", "/a", {})
                assert answer.code == 429
                assert 0.1 <= answer.retry_after <= 60
            finally:
                await client.close()

    run(asyncio.SelectorEventLoop, test())


BUSY = b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nRetry-After: 7\r\nContent-Length: 17\r\n\r\nToo many requests"
GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"


@pytest.fixture
def no_kubeconfig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.usefixtures("no_kubeconfig")
def test_who_is_too_busy_may_say_so_in_plain_text() -> None:
    """As an API server does. What else is no Status is no answer: nobody knows whether it was carried out."""
    status = {"code": 429, "reason": "TooManyRequests", "message": "Too many requests"}

    async def test() -> None:
        server = Server(BUSY, BUSY, GATEWAY, GATEWAY)
        async with server.origin():
            client = from_kubeconfig(address=server.url)
            try:
                assert await client.request("POST", "/a", {}) == Answer(429, status, 7, len("Too many requests"))
                assert [event async for event in client.watch("/a", {})] == [{"type": "ERROR", "object": status}]
                with pytest.raises(Unreachable, match="502, and what follows is not an object: <html></html>"):
                    await client.request("POST", "/a", {})
                with pytest.raises(Unreachable):
                    await anext(client.watch("/a", {}))
            finally:
                await client.close()

    run(asyncio.SelectorEventLoop, test())


class Pieces:
    """A watch whose events come in these pieces."""

    status = 200

    def __init__(self, text: bytes, size: int) -> None:
        self._pieces = [text[start : start + size] for start in range(0, len(text), size)]

    async def read(self, _: float) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


def watched(text: bytes, size: int) -> list[Any]:
    """The events of a watch."""

    @asynccontextmanager
    async def stream(*_: object) -> AsyncIterator[Pieces]:
        yield Pieces(text, size)

    events = list[Any]()

    async def test() -> None:
        made = from_kubeconfig(address="http://127.0.0.1:1")
        made._origin.stream = stream  # type: ignore[assignment, method-assign]
        try:
            events.extend([event async for event in made.watch("/a", {})])
        finally:
            await made.close()

    run(asyncio.SelectorEventLoop, test())
    return events


@pytest.mark.parametrize("size", [1, 2, 7, 40, 1000])
@pytest.mark.usefixtures("no_kubeconfig")
def test_events_are_told_apart_wherever_they_are_cut(size: int) -> None:
    events = [{"type": "ADDED", "object": {"a": "b" * length}} for length in (0, 1, 5, 90, 3)]
    assert watched(b"".join(json.dumps(event).encode() + b"\n" for event in events), size) == events


@pytest.mark.usefixtures("no_kubeconfig")
def test_an_event_in_many_pieces_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece had all that had come of the event gone through again: a megabyte of `<` is an event of 6 MB."""
    monkeypatch.setattr(http, "ANSWER_BYTES", 1 << 30)
    event = b'{"type": "ADDED", "object": {"a": "%s"}}\n' % (b"x" * (24 << 20))
    began = time.process_time()
    assert len(watched(event, 1 << 12)) == 1
    assert time.process_time() - began < 5


@pytest.mark.usefixtures("no_kubeconfig")
def test_who_is_not_accepted_is_told_what_was_not() -> None:
    """The log said "Unauthorized", and no more."""
    status = b'{"kind":"Status","code":401,"reason":"Unauthorized","message":"Unauthorized"}'
    refusal = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n%s" % (len(status), status)

    async def test() -> None:
        server = Server(refusal)
        async with server.origin():
            client = from_kubeconfig(address=server.url)
            try:
                answer = await client.request("GET", "/api/v1/nodes")
                assert (answer.code, answer.reason) == (401, "Unauthorized")
                assert answer.message.startswith("the API server does not accept the token or the certificate")
            finally:
                await client.close()

    run(asyncio.SelectorEventLoop, test())


@pytest.mark.parametrize(("written", "seconds"), [(b"nan", 0.1), (b"inf", 60), (b"-1", 0.1), (b"1e3", 60), (b"soon", 1), (b"", 1)])
@pytest.mark.usefixtures("no_kubeconfig")
def test_how_long_to_wait_is_a_number_of_seconds(written: bytes, seconds: float) -> None:
    async def test() -> None:
        server = Server(BUSY.replace(b"Retry-After: 7", b"Retry-After: " + written))
        async with server.origin():
            client = from_kubeconfig(address=server.url)
            try:
                assert (await client.request("POST", "/a", {})).retry_after == seconds
            finally:
                await client.close()

    run(asyncio.SelectorEventLoop, test())


def test_a_token_that_cannot_be_read_is_read_again(tmp_path: Path) -> None:
    """An OSError would have stopped the reflectors, and with them the process."""

    async def test() -> None:
        server = Server(LENGTH.replace(BODY, b'{"a": "bcde"}'))
        configuration: Any = Configuration()

        def refresh(asked: Configuration) -> None:
            asked.api_key["BearerToken"] = f"Bearer {token.read_text()}"

        async with server.origin():
            configuration.host, configuration.refresh_api_key_hook = server.url, refresh
            configuration.api_key["BearerToken"] = "Bearer old"
            client = Client(server_of(configuration))
            with pytest.raises(Unreachable, match=r"no credentials: .*No such file"):
                await client.request("GET", "/api/v1/pods")
            with pytest.raises(Unreachable, match="no credentials"):
                await anext(client.watch("/api/v1/pods", {}))
            token.write_text("abc")
            assert (await client.request("GET", "/api/v1/pods")).body == {"a": "bcde"}
            assert b"Bearer abc" in server.asked[0]
            await client.close()

    token = tmp_path / "token"
    run(uvloop.new_event_loop, test())


def test_a_failure_that_says_nothing_is_one() -> None:
    """The request was sent without credentials."""

    def headers() -> dict[str, str]:
        raise TimeoutError

    async def test() -> None:
        server = Server(LENGTH)
        async with server.origin():
            user = Client(plain.Server(server.url, None, headers))
            with pytest.raises(Unreachable, match="no credentials: TimeoutError"):
                await user.request("GET", "/api/v1/pods")
            await user.close()
            assert server.asked == []

    run(uvloop.new_event_loop, test())


EXPIRED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}"


def be_impatient(monkeypatch: pytest.MonkeyPatch, timeout: float) -> None:
    """Have a client ask for credentials before each request, and wait for them for a moment only."""
    monkeypatch.setattr(client, "_AUTHORIZED_FOR", 0)
    monkeypatch.setattr(client, "_PATIENCE", 0.1)
    monkeypatch.setattr(client, "_REQUEST_TIMEOUT", timeout)


@pytest.mark.parametrize("plugin", ["hangs", "fails"])
def test_credentials_are_used_while_no_others_come_and_the_server_accepts_them(plugin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that hung kept every request for a minute, a renewal of the lease too. With one that failed none was sent."""
    be_impatient(monkeypatch, 0.5)
    asked, goes_on = count(), Event()

    def headers() -> dict[str, str]:
        if number := next(asked):
            if plugin == "fails" and not goes_on.is_set():
                raise ValueError("exec: process returned 1")
            goes_on.wait(30)
        return {"Authorization": f"Bearer {number and 'new'}"}

    async def test() -> None:
        ok = LENGTH.replace(BODY, b'{"a": "bcde"}')
        server = Server(ok, ok, ok, EXPIRED, ok)
        async with server.origin():
            user = Client(plain.Server(server.url, None, headers))
            try:
                began = time.monotonic()
                for _ in range(3):
                    assert (await user.request("GET", "/api/v1/pods")).ok
                assert time.monotonic() - began < 5
                assert (await user.request("GET", "/api/v1/pods")).code == 401
                with pytest.raises(Unreachable, match=r"no credentials: (none came for 0\.5 s|exec: process returned 1)"):
                    await user.request("GET", "/api/v1/pods")
                goes_on.set()
                assert (await user.request("GET", "/api/v1/pods")).ok
                assert [b"Bearer new" in request for request in server.asked] == [False, False, False, False, True]
            finally:
                goes_on.set()
                await user.close()

    run(uvloop.new_event_loop, test())


def test_a_plugin_that_hangs_for_ever_is_asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that did not lead was without credentials until somebody restarted it."""
    be_impatient(monkeypatch, 0.2)
    monkeypatch.setattr(client, "_HANGS", 1.0)
    asked, goes_on = count(), Event()

    def headers() -> dict[str, str]:
        number = next(asked)
        if number == 1:
            goes_on.wait(30)
        return {"Authorization": f"Bearer {number}"}

    async def test() -> None:
        ok = LENGTH.replace(BODY, b'{"a": "bcde"}')
        server = Server(ok, EXPIRED, ok)
        async with server.origin():
            user = Client(plain.Server(server.url, None, headers))
            try:
                assert (await user.request("GET", "/api/v1/pods")).ok
                assert (await user.request("GET", "/api/v1/pods")).code == 401
                for _ in range(3):
                    with pytest.raises(Unreachable, match=r"no credentials: none came for 0\.2 s"):
                        await user.request("GET", "/api/v1/pods")
                await asyncio.sleep(1)
                assert (await user.request("GET", "/api/v1/pods")).ok
                assert b"Bearer 2" in server.asked[-1]
                assert next(asked) == 3
            finally:
                goes_on.set()
                await user.close()

    run(uvloop.new_event_loop, test())


def test_a_late_refusal_of_old_credentials_does_not_drop_the_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a plugin that failed from then on, none were left, though the server accepted them."""
    monkeypatch.setattr(client, "_AUTHORIZED_FOR", 0)
    tokens = iter(["old", "new"])

    def headers() -> dict[str, str]:
        token = next(tokens, "")
        if not token:
            raise ValueError("exec: process returned 1")
        return {"Authorization": f"Bearer {token}"}

    async def late(writer: asyncio.StreamWriter) -> None:
        await answered.wait()
        writer.write(EXPIRED)

    async def test() -> None:
        ok = LENGTH.replace(BODY, b'{"a": "bcde"}')
        server = Server(late, ok, ok)
        async with server.origin():
            user = Client(plain.Server(server.url, None, headers))
            try:
                first = asyncio.create_task(user.request("GET", "/api/v1/pods"))
                while not server.asked:
                    await asyncio.sleep(0.01)
                assert (await user.request("GET", "/api/v1/pods")).ok
                answered.set()
                assert (await first).code == 401
                assert (await user.request("GET", "/api/v1/pods")).ok
                assert [token in server.asked[-1] for token in (b"Bearer old", b"Bearer new")] == [False, True]
            finally:
                await user.close()

    answered = asyncio.Event()
    run(uvloop.new_event_loop, test())


@pytest.mark.parametrize("loop", LOOPS)
def test_a_connection_that_never_says_that_it_has_ended_holds_up_no_close(
    loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller had ended, and its process stayed: uvloop had met a fatal error in TLS while it aborted."""
    monkeypatch.setattr(http, "_ENDS", 0.1)

    async def test() -> None:
        async with Server(LENGTH).origin() as origin:
            await get(origin)
            (connection,) = origin._open
            told = connection.connection_lost
            monkeypatch.setattr(type(connection), "connection_lost", lambda *_: None)
            async with asyncio.timeout(5):
                await origin.close()
            told(None)

    run(loop, test())


@pytest.mark.parametrize("loop", LOOPS)
def test_no_connection_outlives_a_close(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Nor is one made later: it would be open when the loop ends, of which uvloop warns."""

    async def test() -> None:
        async with Server(LENGTH, says_nothing, LENGTH, LENGTH).origin() as origin:
            await get(origin)
            asked = asyncio.create_task(get(origin))  # On the connection that is there.
            connecting = asyncio.create_task(get(origin))
            await asyncio.sleep(0)
            await origin.close()
            for task in (asked, connecting, asyncio.create_task(get(origin))):
                with pytest.raises(Unreachable):
                    await task
            async with asyncio.timeout(60):
                while origin._open:
                    await asyncio.sleep(0.001)

    run(loop, test())


FIELDS = {
    "nested too deep": b'{"f:a":' * 9_000 + b"{}" + b"}" * 9_000,
    "no text": b'{"f:\xff\xc3\xed\xa0\x80":{}}',
    "nested, and no text": b'{"f:\xff":' * 9_000 + b"{}" + b"}" * 9_000,
}


@pytest.mark.parametrize("projection", Projection)
@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_an_object_that_cannot_be_decoded_holds_up_no_other(
    cluster: Cluster, namespace: str, fields: bytes, projection: Projection
) -> None:
    """Anybody may write such an object. Once it was in the lists and watches of the controller, this ended, again and again."""
    entry = b'{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": %s}' % fields
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name, entries in ((b"odd", entry), (b"next", b"")):
        text = b'{"metadata": {"name": "%s", "labels": {"tested": "yes"}, "managedFields": [%s]}}' % (name, entries)
        assert cluster.api.send("POST", path, text, content_type="application/json").status == 201

    async def test() -> None:
        client = from_kubeconfig(str(cluster.kubeconfig))
        try:
            query = {"labelSelector": "tested", "resourceVersion": "0", "timeoutSeconds": "2"}
            listed = await client.request("GET", path, None, {"labelSelector": "tested"}, projection)
            events = [event["object"] async for event in client.watch(path, query, projection)]
            for values in (listed.body["items"], events):
                assert sorted(value["metadata"]["name"] for value in values) == ["next", "odd"]
            found = (await client.request("GET", f"{path}/odd", projection=projection)).body
            assert found["metadata"]["name"] == "odd"
            if projection is Projection.WHOLE:  # The server makes of what was cut what it thinks right.
                assert (await client.request("PUT", f"{path}/odd", {**found, "data": {"a": "b"}})).body["data"] == {"a": "b"}
        finally:
            await client.close()

    run(asyncio.SelectorEventLoop, test())
