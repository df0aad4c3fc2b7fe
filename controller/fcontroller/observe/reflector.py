"""A reflector, as in client-go: it lists a collection, watches it from there on, and begins again whenever that is needed.

A watch can be silent because nothing happens, or because the connection is dead. The server ends each watch after `TIMEOUT`, and sends
bookmarks before that, so a watch that is silent for longer is dead. Each failure makes the next wait longer, by a random amount, so that a
server that has just started is not overloaded.

A server that was restored from a backup is older than what it has sent before. It accepts a watch from a later version, and is silent
until its data reaches that version. So after a watch that has ended early, the server is asked for its version before the next watch.
A server that has got as far again by then looks like one that lagged; the leader's Lease tells them apart (`act.lease`).
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol

from fcontroller.act.pages import PAGE, Pages
from fcontroller.act.retry import backoff
from fcontroller.api import Answer, Api, Json, Name, Projection, Unreachable, WentBack
from fcontroller.breath import Breath

TIMEOUT = 55
"""Seconds after which the server is asked to end a watch."""
_FIRST_DELAY, _LONGEST_DELAY = 1.0, 30.0
_KINDS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK")
_OLDER_ANSWERS = 5
"""The number of older answers in a row after which the server's data is taken to come from a backup, so that waiting does not help."""
_DIGITS = 20
"""Of a resourceVersion, which has 64 bits. Python makes no number of thousands of digits."""
_ODD = (AttributeError, LookupError, TypeError, ValueError)


class Expired(Exception):
    """The server no longer has the changes since our last one: everything must be listed again."""


class Older(Exception):
    """The server's data is older than what it has sent before. With several servers, one may lag for a moment."""


class Store(Protocol):
    """What a reflector tells of a collection to."""

    def seen(self, value: Json) -> None:
        """Take in an object that is there."""

    def deleted(self, value: Json) -> None:
        """Take in that an object is gone; it is given in its last state."""

    def retain(self, names: set[Name]) -> None:
        """Take in that the collection was listed, and has no other objects than these."""


class Reflector:
    """Tells a store what happens in a collection."""

    def __init__(
        self,
        api: Api,
        path: str,
        store: Store,
        *,
        selector: str = "",
        projection: Projection = Projection.WHOLE,
        page: int = PAGE,
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        """:param selector: a label selector. :param projection: what is needed of the objects. :param page: objects in one answer at most.

        :param failed: is told why the collection could not be listed or watched, or an object in it not be understood.
        """
        self._api = api
        self.path = path
        self._store = store
        self._query = {"labelSelector": selector} if selector else {}
        self._projection, self._page = projection, page
        self._failed = failed
        self.listed = asyncio.Event()
        """Set once the collection was seen as a whole."""
        self.version = 0
        """The newest resourceVersion that was seen."""
        self._began_at = 0
        """The resourceVersion of the newest list that was begun."""
        self.heard = 0.0
        """When the server last said anything, or was first asked, by the clock of the loop; 0: it was not asked yet."""
        self._older_answers = 0
        self.ends: Counter[str] = Counter()
        """Why watches have ended, and how often."""

    @property
    def told(self) -> int:
        """Return the newest resourceVersion that anything was told from. In the middle of a list it is ahead of `version`."""
        return max(self.version, self._began_at)

    async def run(self) -> None:
        """Follow for ever. Raises WentBack."""
        version, failures, whole = "", 0, True
        self.heard = asyncio.get_running_loop().time()
        while True:
            began, watched = asyncio.get_running_loop().time(), math.inf
            try:
                if not version:
                    version = await self._list()
                    self.listed.set()
                elif not whole:
                    self._read_list(await self._api.request("GET", self.path, None, {"limit": "1"}, Projection.METADATA))
                whole, watched = False, asyncio.get_running_loop().time()
                async for newer in self._watch(version):
                    version, failures = newer, 0
                    self.version = int(newer)
            except Expired:
                # To list everything takes long: only a watch that has lasted counts, or one that told of something.
                lasted = asyncio.get_running_loop().time() >= watched + _LONGEST_DELAY
                version, failures = "", 1 if lasted else failures + 1
                self.ends["expired"] += 1
            except Older as error:
                self._failed(str(error))
                version, failures = "", 1  # No watch would tell of changes until the server's data is as new again.
                self.ends["failed"] += 1
            except Unreachable as error:
                self._failed(str(error))
                # After a watch that has lasted for long, waiting begins anew with the shortest time.
                lived = asyncio.get_running_loop().time() - began
                failures = failures + 1 if lived < _LONGEST_DELAY else 1
                self.ends["failed"] += 1
            else:
                self.ends["done"] += 1
                whole = asyncio.get_running_loop().time() >= watched + TIMEOUT
                failures = 0 if whole else failures
                # A server that is closing ends watches as soon as they begin.
                await asyncio.sleep(max(began + _FIRST_DELAY - asyncio.get_running_loop().time(), 0))
                continue
            await asyncio.sleep(backoff(failures, _FIRST_DELAY, _LONGEST_DELAY))

    async def _list(self) -> str:
        names: set[Name] = set()
        pages, breath = Pages(self._api, self.path, self._query, self._projection, self._page, self._failed), Breath()
        while pages.more:
            answer = await pages.next()
            if answer.code == 410:
                raise Expired
            version, items = self._read_list(answer)
            self._began_at = max(version, self._began_at)
            for value in items:
                self._tell(self._store.seen, value)
                with contextlib.suppress(*_ODD):  # An object that is not understood still exists.
                    names.add((value["metadata"].get("namespace", ""), value["metadata"]["name"]))
                await breath.take()
        self._store.retain(names)
        self.version = version
        return str(version)

    def _read_list(self, answer: Answer) -> tuple[int, Sequence[Json]]:
        """Return the resourceVersion of a list, and its items. Raises Unreachable, Older and WentBack."""
        if not answer.ok:
            raise Unreachable(f"{self.path}: {answer.message}")
        try:
            version, items = int(answer.body["metadata"]["resourceVersion"]), answer.body["items"] or ()  # A null in metadata means empty.
        except _ODD as error:
            raise Unreachable(f"{self.path}: what came is not a list: {error!r}") from error
        self.heard = asyncio.get_running_loop().time()
        if version >= self.version:
            self._older_answers = 0
            return version, items
        self._older_answers += 1
        if self._older_answers >= _OLDER_ANSWERS:
            raise WentBack(f"{self.path} is at {version}, and was at {self.version} before")
        raise Older(f"{self.path}: the server is at {version}, and was at {self.version} before")

    async def _watch(self, version: str) -> AsyncIterator[str]:
        """Pass events on, and yield the version after each."""
        query: Mapping[str, str] = {
            **self._query,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(TIMEOUT),
        }
        breath = Breath()  # Thousands of events may have come at once.
        async for event in self._api.watch(self.path, query, self._projection):
            await breath.take()
            kind, value, newer = _read(event)
            if kind == "ERROR":
                raise Expired if value.get("code") == 410 else Unreachable(f"{self.path}: {value.get('message')}")
            if kind not in _KINDS or not newer.isdecimal() or len(newer) > _DIGITS:
                raise Expired  # Whatever the error means, a new list shows the present state.
            self.heard = asyncio.get_running_loop().time()
            if int(newer) <= self.version:
                continue  # An old event may be sent again after a newer one.
            if kind != "BOOKMARK":
                self._tell(self._store.deleted if kind == "DELETED" else self._store.seen, value)
            yield newer

    def _tell(self, store: Callable[[Json], None], value: Json) -> None:
        """Pass an object on. One that cannot be understood is set aside, so that it does not hold up the others."""
        try:
            store(value)
        except Exception as error:
            about = value.get("metadata") if isinstance(value, dict) else None
            name = f"{about.get('namespace')}/{about.get('name')}" if isinstance(about, dict) else "an object"
            self._failed(f"{self.path}: {name} is not understood, and left alone: {error!r:.300}")


def _read(event: Any) -> tuple[str, Json, str]:
    """Return type, object and resourceVersion of an event; a missing one is empty."""
    event = event if isinstance(event, dict) else {}
    value = event.get("object")
    value = value if isinstance(value, dict) else {}
    about = value.get("metadata")
    return str(event.get("type")), value, str(about.get("resourceVersion")) if isinstance(about, dict) else ""
