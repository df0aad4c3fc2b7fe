"""Faults on purpose: a wrapper that loses requests and answers, answers by itself, and delays, drops and repeats events.

What happens follows from the numbers of the calls, so that every run is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fcontroller.testing.memory_api.answers import Refusal, failure
from fcontroller.testing.memory_api.server import MemoryApi, Query
from fcontroller.testing.memory_api.watch import Event, Refused, Watch

_NOTHING: Query = {}
Answer = tuple[int, Any]


class Lost(ConnectionError):
    """The connection broke: the client cannot know whether the request arrived."""


class Crash(BaseException):
    """The client's process ends here. Not an Exception, so that no handler of errors survives it."""


class Call(NamedTuple):
    """A request, as a rule sees it."""

    #: 1 for the first request of all.
    number: int
    #: 1 for the first POST, PUT, PATCH or DELETE; 0 for a GET.
    write: int
    method: str
    path: str


class Fault(NamedTuple):
    """What happens to one request."""

    #: What the client gets instead of the server's answer.
    outcome: Answer | BaseException
    #: Whether the server carries it out all the same.
    stored: bool = False

    @staticmethod
    def lost(*, stored: bool = False) -> Fault:
        """Return the fault that a request is lost, or when it is stored only its answer."""
        return Fault(Lost("the connection broke"), stored)

    @staticmethod
    def crash(*, stored: bool = False) -> Fault:
        """Return the fault that the client's process ends before the request is sent, or when it is stored before the answer is read."""
        return Fault(Crash(), stored)

    @staticmethod
    def too_many(seconds: int = 1) -> Fault:
        """Return a 429: the server wants to be asked again after some seconds."""
        message = "the server has received too many requests and has asked us to try again later"
        return Fault((429, failure(429, "TooManyRequests", message, {"retryAfterSeconds": seconds})))

    @staticmethod
    def internal_error(*, stored: bool = False) -> Fault:
        """Return a 500."""
        return Fault((500, failure(500, "InternalError", "Internal error occurred: on purpose")), stored)

    @staticmethod
    def timeout(*, stored: bool = False) -> Fault:
        """Return a 504: the server gave up; what it had begun may be done."""
        message = "Timeout: request did not complete within requested timeout"
        return Fault((504, failure(504, "Timeout", message, {"retryAfterSeconds": 1})), stored)


class WatchFaults(NamedTuple):
    """What happens to one watch. Its events are counted from 1, without those that are dropped or repeated."""

    #: Events come only when the server has had so many more writes.
    lag: int = 0
    #: Events that never come.
    drop: frozenset[int] = frozenset()
    #: Events that come twice.
    repeat: frozenset[int] = frozenset()
    #: The connection is closed after so many events.
    cut_after: int | None = None
    #: Nothing comes after so many events, but the connection stays (half-open).
    silent_after: int | None = None
    #: The server says after so many events that it has forgotten what follows: an ERROR with code 410.
    expired_after: int | None = None
    #: The watch is refused with HTTP status 410.
    refused: bool = False


class Faults:
    """A MemoryApi with faults. `request`, `watch`, `collect`, `compact` and `revision` are as there."""

    def __init__(
        self,
        api: MemoryApi,
        writes: Mapping[int, Fault] | None = None,
        *,
        rule: Callable[[Call], Fault | None] = lambda _: None,
        watches: Callable[[int, str], WatchFaults | None] = lambda _number, _path: None,
    ) -> None:
        """Put itself in front of an API.

        :param writes: faults by the number of the write.
        :param rule: the fault of any other call.
        :param watches: the faults of a watch, by its number (from 1) and its path.
        """
        self.api = api
        #: The calls so far.
        self.calls = 0
        #: The writes among them, including those that the server never saw.
        self.writes = 0
        self._by_write = writes or {}
        self._rule, self._watch_rule = rule, watches
        self._watches = 0

    @property
    def revision(self) -> int:
        return self.api.revision

    def request(self, method: str, path: str, body: Any = None, query: Query = _NOTHING, content_type: str = "application/json") -> Answer:
        """Return the answer as `MemoryApi.request` does; raises Lost or Crash when that is the fault."""
        self.calls += 1
        self.writes += method != "GET"
        write = self.writes if method != "GET" else 0
        fault = self._by_write.get(write) or self._rule(Call(self.calls, write, method, path))
        if fault is None:
            return self.api.request(method, path, body, query, content_type)
        if fault.stored:
            self.api.request(method, path, body, query, content_type)
        if isinstance(fault.outcome, BaseException):
            raise fault.outcome
        return fault.outcome

    def watch(self, path: str, query: Query = _NOTHING) -> Watch | FaultyWatch:
        """Return a watch as `MemoryApi.watch` does."""
        self._watches += 1
        faults = self._watch_rule(self._watches, path)
        if faults is None:
            return self.api.watch(path, query)
        if faults.refused:
            return Refused(Refusal(410, "Expired", "too old resource version"))
        return FaultyWatch(self.api, self.api.watch(path, query), faults)

    def collect(self, steps: int | None = None) -> int:
        return self.api.collect(steps)

    def compact(self) -> None:
        self.api.compact()


class FaultyWatch:
    """A watch whose events come late, not at all, or twice."""

    def __init__(self, api: MemoryApi, watch: Watch, faults: WatchFaults) -> None:
        self._api, self._watch, self._faults = api, watch, faults
        self._count = 0
        self._over = False

    @property
    def code(self) -> int:
        return self._watch.code

    @property
    def closed(self) -> bool:
        """Return whether no more events come; a half-open watch does not know."""
        return self._over or (self._watch.closed and self._faults.silent_after is None)

    def read(self) -> list[Event]:
        """Return events as `Watch.read` does."""
        if self.closed:
            return []
        result: list[Event] = []
        for event in self._watch.read(max(0, self._api.revision - self._faults.lag) if self._faults.lag else None):
            if self._ends():
                break
            self._count += 1
            result += [event] * (0 if self._count in self._faults.drop else 2 if self._count in self._faults.repeat else 1)
        if self._ends() and self._faults.silent_after is None:
            self._over = True
            if self._faults.expired_after is not None:
                result.append({"type": "ERROR", "object": failure(410, "Expired", "too old resource version")})
        return result

    def stop(self) -> None:
        self._over = True
        self._watch.stop()

    def _ends(self) -> bool:
        """Return whether all events that are to come have come."""
        ends = (self._faults.cut_after, self._faults.silent_after, self._faults.expired_after)
        return any([end is not None and self._count >= end for end in ends])
