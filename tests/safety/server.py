"""The API server of a world, and the connections that controllers have to it: late, lying, or cut in the middle of a request."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from fcontroller.api import Answer, Api, Body, Json, Projection, Unreachable, content_of
from fcontroller.testing.memory_api import MemoryApi
from fcontroller.testing.memory_api.answers import failure
from fcontroller.testing.memory_api.facade import kept_answer, kept_event
from fcontroller.testing.memory_api.store import Change, Collection
from tests.memory_api.validation import Validating
from tests.safety.faults import Call, Crash, Fault
from tests.safety.virtual_time import START, VirtualLoop

LATENCY = 0.004
"""Seconds until a request arrives, and again until its answer does."""
_COLLECTED_AFTER = 0.02

Before = Callable[[str, str, Any], None]


class CrashAfter(Crash):
    """The process ends as soon as it has seen the answer."""


class Hangs(Crash):
    """The answer never comes."""


class Server:
    """Everything is stored in `memory`. Whoever writes says so in `actor`."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        begun = datetime.fromtimestamp(START, UTC)
        self._uids = 0
        self.memory = MemoryApi(lambda: begun + timedelta(seconds=loop.passed), self._new_uid, Validating())
        self.memory._store.listen(self._wrote)
        self.calls = self.writes = 0
        """Requests of controllers, and those among them that want to change something."""
        self.log: list[tuple[float, str, str, int]] = []
        """What controllers have written: when, the method, the path, and the code of the answer."""
        self.tries: list[tuple[float, str, str, bool]] = []
        """Every request of controllers: when, the method, the path, and whether a fault met it."""
        self.fault: Callable[[Call], Fault | None] = lambda call: None
        self.before: Before = lambda method, path, body: None
        """Is told what a controller is about to write."""
        self.admit: Callable[[Json], Answer | None] = lambda pod: None
        """May refuse a Pod."""
        self.on_crash: Callable[[], None] = lambda: None
        self.lags: Mapping[str, int] = {}
        """By how many writes the watches of a kind lag."""
        self.older: Mapping[str, int] = {}
        """By how many writes the first list of a kind lags, in each new connection, and its watches."""
        self.patience = 0.5
        """Seconds after which even a lagging cache learns of a write."""
        self.hold: Callable[[str, Json], bool] = lambda kind, event: False
        """Whether an event comes only when no other one of the same object comes instead."""
        self.dropped = 0
        self.repeats = False
        """Watches begin with all old events once more."""
        self.latency: Callable[[], float] = lambda: LATENCY
        self.compacted = 0
        """Up to which revision the history is forgotten."""
        self._times: deque[tuple[float, int]] = deque(maxlen=64)
        self._waiters: list[asyncio.Future[None]] = []
        self._collects = False

    def _new_uid(self) -> str:
        self._uids += 1
        return f"uid-{self._uids}"

    def write(self, method: str, path: str, body: Any = None) -> Answer:
        """A request that is carried out at once: of a kubelet, or of a user."""
        return Answer(*self.memory.request(method, path, body))

    def _wrote(self, collection: Collection, change: Change) -> None:
        self._times.append((self.loop.passed, change.revision))
        self.wake()
        if not self._collects:
            self._collects = True
            self.loop.call_later(_COLLECTED_AFTER, self._collect)

    def _collect(self) -> None:
        self._collects = False
        self.memory.collect()

    def compact(self) -> None:
        """Forget the history: watches that lag must list anew."""
        self.memory.compact()
        self.compacted = self.memory.revision

    def wake(self) -> None:
        """Have every watch look for news."""
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            _come(waiter)

    async def news(self, until: float) -> None:
        waiter = self.loop.create_future()
        self._waiters.append(waiter)
        timer = self.loop.call_at(until, _come, waiter)
        try:
            await waiter
        finally:
            timer.cancel()

    def lag(self, kind: str) -> int:
        return max(self.lags.get(kind, 0), self.older.get(kind, 0))

    def visible(self, kind: str) -> int | None:
        """The newest revision that the watches of a kind know of; None: all."""
        lag = self.lag(kind)
        if not lag:
            return None
        newest = self.memory.revision - lag
        for time, revision in reversed(self._times):
            if revision <= newest or time <= self.loop.passed - self.patience + 1e-6:
                return revision
        return newest


def _version(event: Json) -> int:
    return int(event["object"]["metadata"].get("resourceVersion") or 0)


def _come(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class Connection(Api):
    """What one process has to the server: it ends with the process."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.dead = False
        self._listed: set[str] = set()

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        server = self.server
        await asyncio.sleep(server.latency())
        await self._live()
        server.calls += 1
        server.writes += method != "GET"
        fault = server.fault(Call(server.calls, server.writes if method != "GET" else 0, method, path))
        server.tries.append((server.loop.passed, method, path, fault is not None))
        answer = self._carried_out(method, path, body, query) if fault is None or fault.stored else None
        dies_after = fault is not None and isinstance(fault.outcome, CrashAfter)
        if fault is not None and not dies_after:
            answer = await self._instead(fault)
        await asyncio.sleep(server.latency())
        await self._live()
        if dies_after:
            server.loop.call_soon(server.on_crash)
        assert answer is not None
        return kept_answer(answer, method, path, projection)

    async def _instead(self, fault: Fault) -> Answer:
        """What the process gets instead of an answer."""
        if isinstance(fault.outcome, Hangs):
            await self.server.loop.create_future()
        if isinstance(fault.outcome, Crash):
            self.server.on_crash()
            await self._live()
        if isinstance(fault.outcome, BaseException):
            raise Unreachable(str(fault.outcome)) from None
        return Answer(*fault.outcome)

    def _carried_out(self, method: str, path: str, body: Any, query: Mapping[str, str] | None) -> Answer:
        server = self.server
        body = content_of(body)
        body = json.loads(body) if isinstance(body, bytes) else body
        if method == "GET":
            query = self._older(path, query or {})
        else:
            server.before(method, path, body)
        refusal = server.admit(body) if method == "POST" and path.endswith("/pods") else None
        answer = refusal or Answer(*server.memory.request(method, path, body, query or {}))
        if method != "GET":
            server.log.append((server.loop.passed, method, path, answer.code))
        return answer

    def _older(self, path: str, query: Mapping[str, str]) -> Mapping[str, str]:
        kind = path.rpartition("/")[2]
        lag = self.server.older.get(kind, 0)
        if not lag or kind in self._listed or "limit" not in query:
            return query
        self._listed.add(kind)
        return {**query, "resourceVersion": str(max(self.server.memory.revision - lag, 1)), "resourceVersionMatch": "Exact"}

    async def _live(self) -> None:
        """A process that has died waits for ever."""
        if self.dead:
            await self.server.loop.create_future()

    async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        server, kind = self.server, path.rpartition("/")[2]
        watch = server.memory.watch(path, query)
        end = server.loop.passed + float(query.get("timeoutSeconds", "55"))
        held: dict[str, float] = {}
        late: deque[Json] = deque()
        for event in server.memory.watch(path, {**query, "resourceVersion": "1"}).read() if server.repeats else ():
            if int(event["object"]["metadata"].get("resourceVersion") or query["resourceVersion"] + "0") <= int(query["resourceVersion"]):
                yield kept_event(event, projection)
        while True:
            await self._live()
            late += watch.read()
            visible = server.visible(kind)
            if late and _version(late[0]) <= server.compacted:
                yield {"type": "ERROR", "object": failure(410, "Expired", "too old resource version")}
                return
            while late and (visible is None or _version(late[0]) <= visible):
                event = late.popleft()
                name = event["object"]["metadata"].get("name", "")
                if held.pop(name, None):
                    server.dropped += 1
                if event["type"] in ("ADDED", "MODIFIED", "DELETED") and server.hold(kind, event):
                    held[name] = server.loop.passed + server.patience
                else:
                    yield kept_event(event, projection)
            if any([due <= server.loop.passed + 1e-6 for due in held.values()]) or (watch.closed and held):
                # It was the last one of its object, or of this watch: the whole list must make up for it.
                yield {"type": "ERROR", "object": failure(410, "Expired", "too old resource version")}
                return
            if watch.closed:
                return
            soon = server.loop.passed + server.patience
            await server.news(min(end, soon) if held or server.lag(kind) else end)
