"""Following a collection: list it, watch it from there on, and begin again whenever that is needed.

A watch can be silent because nothing happens or because nobody is there any more; the server ends it after `TIMEOUT` and sends bookmarks
before, so that one that says nothing for longer is dead. Failures wait longer each time, with a bit of chance, so that a server that is
coming up again is not run over.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from fcontroller.api import Api, Json, Projection, Unreachable

TIMEOUT = 55
"""Seconds after which the server is asked to end a watch."""
_FIRST_DELAY, _LONGEST_DELAY = 1.0, 30.0
_PAGE = 500
_KINDS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK")


class Expired(Exception):
    """The server no longer has the changes since our last one: everything must be listed again."""


class Reflector:
    """Keeps `seen` told of a collection: `replaced` with all objects after each list, `changed` with each event after that."""

    def __init__(
        self,
        api: Api,
        path: str,
        replaced: Callable[[list[Json]], None],
        changed: Callable[[str, Json], None],
        *,
        selector: str = "",
        projection: Projection = Projection.WHOLE,
        random: Callable[[], float] = lambda: 0.5,
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        """:param changed: the type of the event (ADDED, MODIFIED, DELETED) and the object.

        :param selector: a label selector. :param projection: what is needed of the objects.
        :param failed: is told why the collection could not be listed or watched.
        """
        self._api = api
        self.path = path
        self._replaced = replaced
        self._changed = changed
        self._query = {"labelSelector": selector} if selector else {}
        self._projection = projection
        self._random, self._failed = random, failed
        self.listed = asyncio.Event()
        """Set once the collection was seen as a whole."""
        self.version = 0
        """The newest resourceVersion that was seen."""
        self.ends: Counter[str] = Counter()
        """Why watches have ended, and how often."""

    async def run(self) -> None:
        """Follow for ever."""
        version, failures = "", 0
        while True:
            began = asyncio.get_running_loop().time()
            try:
                if not version:
                    version = await self._list()
                    self.listed.set()
                async for newer in self._watch(version):
                    version, failures = newer, 0
                    self.version = int(newer)
            except Expired:
                version = ""
                self.ends["expired"] += 1
            except Unreachable as error:
                self._failed(str(error))
                # One that lived for long is no reason to wait for longer than after the first.
                lived = asyncio.get_running_loop().time() - began
                failures = failures + 1 if lived < _LONGEST_DELAY else 1
                self.ends["failed"] += 1
            else:
                self.ends["done"] += 1
                # A server that is closing ends watches as soon as they begin.
                await asyncio.sleep(max(began + _FIRST_DELAY - asyncio.get_running_loop().time(), 0))
                continue
            delay = min(_FIRST_DELAY * 2 ** max(failures - 1, 0), _LONGEST_DELAY)
            await asyncio.sleep(delay * (0.5 + self._random()))

    async def _list(self) -> str:
        items: list[Json] = []
        query = {**self._query, "limit": str(_PAGE)}
        while True:
            answer = await self._api.request("GET", self.path, None, query, self._projection)
            if answer.code == 410:
                raise Expired
            if not answer.ok:
                raise Unreachable(f"{self.path}: {answer.message}")
            items += answer.body["items"] or ()  # An empty list of metadata is null.
            following = answer.body["metadata"].get("continue")
            if not following:
                version = str(answer.body["metadata"]["resourceVersion"])
                if int(version) < self.version:
                    raise Unreachable("the list is older than what was seen before")
                self.version = int(version)
                self._replaced(items)
                return version
            query["continue"] = following

    async def _watch(self, version: str) -> Any:
        """Pass events on, and yield the version after each."""
        query: Mapping[str, str] = {
            **self._query,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(TIMEOUT),
        }
        async for event in self._api.watch(self.path, query, self._projection):
            kind, value, newer = _read(event)
            if kind == "ERROR":
                raise Expired if value.get("code") == 410 else Unreachable(f"{self.path}: {value.get('message')}")
            if kind not in _KINDS or not newer.isdecimal():
                raise Expired  # Whatever it means: the list says how things are.
            if int(newer) <= self.version:
                continue  # What was seen before may come once more, and was overwritten since.
            if kind != "BOOKMARK":
                self._changed(kind, value)
            yield newer


def _read(event: Any) -> tuple[str, Json, str]:
    """Type, object and resourceVersion of an event; what is not there is empty."""
    event = event if isinstance(event, dict) else {}
    value = event.get("object")
    value = value if isinstance(value, dict) else {}
    return str(event.get("type")), value, str((value.get("metadata") or {}).get("resourceVersion"))
