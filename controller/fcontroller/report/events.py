"""Kubernetes Events about Frameworks. Repetitions are counted in one Event, and the number of Events of a Framework is limited.

Nothing depends on Events: one that cannot be written is dropped.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable

from fcompile.diagnostics.visible import visible
from fcontroller.api import Api, Json, Unreachable, collection
from fcontroller.decide.status import to_time

NORMAL, WARNING = "Normal", "Warning"
_BURST, _REFILL = 25, 60.0
"""Events that a Framework can have at once, and seconds until it can have one more."""
_KNOWN = 20_000
"""Events, and Frameworks, that are remembered. Of one that is forgotten too early, each repetition is a new Event for etcd."""
_WAITING = 10_000
"""While so many Events of a namespace wait to be written, new ones are dropped. Each takes 2 KB, and Frameworks may come and go faster."""
_FORGOTTEN = 600.0
"""Seconds after which an Event that is not repeated is forgotten. Whatever is tried again is so within a minute or two."""
_LONGEST = 1_000
"""Characters of a message; the API server takes 1,024."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
"""Seconds that the count of an Event is not written again; longer each time."""


class _Event:
    """One Event, written once or more often."""

    def __init__(self, value: Json) -> None:
        self.value = value
        self.written: int | None = None
        """The count that the API server has; None: it has no part of the budget yet, and was not sent."""
        self.wait = _FIRST_WAIT
        self.due: asyncio.TimerHandle | None = None
        self.last = 0.0
        """When it was last recorded, by the clock of the loop."""
        self.queued = False
        """Whether it waits for its turn to be written, with whatever it counts by then."""


class Recorder:
    """Writes Events. Those of one namespace are written one after the other, so that no namespace waits for another."""

    def __init__(self, api: Api, now: Callable[[], float]) -> None:
        self._api, self._now = api, now
        self._events: OrderedDict[tuple[str, ...], _Event] = OrderedDict()
        self._budgets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """How many Events a Framework can still have, and since when."""
        self._queues: dict[str, deque[_Event]] = {}
        """By namespace, while there is something to write."""
        self._workers: set[asyncio.Task[None]] = set()
        self.results: Counter[str] = Counter()
        """How many were `written`, `failed` and `dropped`."""

    def record(self, framework: Json, kind: str, reason: str, message: str, topic: str = "", count: int = 1) -> None:
        """Record that something happened `count` times. Records of the same topic (default: the message) become one Event."""
        message = visible(message[:_LONGEST])[:_LONGEST]
        key, clock = (framework["metadata"]["uid"], reason, topic or message), asyncio.get_running_loop().time()
        event = self._events.get(key) or _Event(self._value(framework, kind, reason))
        self._events[key], event.last = event, clock
        self._events.move_to_end(key)
        while len(self._events) > _KNOWN or next(iter(self._events.values())).last < clock - _FORGOTTEN:
            self._events.popitem(last=False)
        value = event.value
        value["count"] += count
        value["message"], value["lastTimestamp"] = message, to_time(self._now())
        if event.due is None:
            event.due = asyncio.get_running_loop().call_later(0 if event.written is None else event.wait, self._enqueue, event)

    @property
    def waiting(self) -> int:
        """Return how many Events wait until others of their namespace are written."""
        return sum(map(len, self._queues.values()))

    def _value(self, framework: Json, kind: str, reason: str) -> Json:
        metadata, now = framework["metadata"], self._now()
        about = {"apiVersion": framework["apiVersion"], "kind": framework["kind"]}
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{metadata['name']}.{int(now * 1e6):x}{len(self._events):04x}", "namespace": metadata["namespace"]},
            "involvedObject": {**about, **{key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion")}},
            "type": kind,
            "reason": reason,
            "source": {"component": "fcontroller"},
            "firstTimestamp": to_time(now),
            "count": 0,
        }

    def _enqueue(self, event: _Event) -> None:
        event.due, namespace = None, event.value["metadata"]["namespace"]
        if event.written is not None:
            event.wait = min(event.wait * 2, _LONGEST_WAIT)
        elif len(self._queues.get(namespace, ())) >= _WAITING or not self._allowed(event.value["involvedObject"]["uid"]):
            self.results["dropped"] += 1
            return
        event.written = event.written or 0
        if event.queued:  # A server that is slow would be further behind with each repetition.
            return
        event.queued = True
        if namespace in self._queues:
            self._queues[namespace].append(event)
            return
        self._queues[namespace] = deque([event])
        worker = asyncio.get_running_loop().create_task(self._work(namespace))
        self._workers.add(worker)
        worker.add_done_callback(self._workers.discard)

    def _allowed(self, uid: str) -> bool:
        """Return whether a Framework may have one more Event, and use up one of its budget."""
        now = asyncio.get_running_loop().time()
        left, since = self._budgets.pop(uid, (_BURST, now))
        left = min(left + (now - since) / _REFILL, _BURST)
        self._budgets[uid] = (max(left - 1, 0) if left >= 1 else left), now
        if len(self._budgets) > _KNOWN:
            self._budgets.popitem(last=False)
        return left >= 1

    async def _work(self, namespace: str) -> None:
        queue = self._queues[namespace]
        while queue:
            event, written = queue.popleft(), False
            event.queued = False
            try:
                written = await self._write(event)
            except Unreachable:
                pass
            except Exception as error:  # Whatever is wrong with it, it must not hold up those that follow.
                told = {"message": f"an Event in namespace {namespace} could not be written", "exception": error}
                asyncio.get_running_loop().call_exception_handler(told)
            self.results["written" if written else "failed"] += 1
        del self._queues[namespace]

    async def _write(self, event: _Event) -> bool:
        value, path = event.value, collection("events", event.value["metadata"]["namespace"])
        count = value["count"]
        if event.written:
            changes = [{"op": "replace", "path": f"/{key}", "value": value[key]} for key in ("count", "message", "lastTimestamp")]
            answer = await self._api.request("PATCH", f"{path}/{value['metadata']['name']}", changes)
        if not event.written or answer.code == 404:  # Events live for an hour.
            answer = await self._api.request("POST", path, value)
        if answer.ok or answer.code == 409:  # It is there: the answer was lost.
            event.written = count
        return answer.ok
