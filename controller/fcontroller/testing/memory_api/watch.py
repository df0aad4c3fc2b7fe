"""Watches: the changes of a collection, read when it suits the reader."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from fcontroller.testing.memory_api.answers import Refusal, bad_request
from fcontroller.testing.memory_api.selectors import selector
from fcontroller.testing.memory_api.store import Change, Collection, Store, at_revision
from fcontroller.testing.memory_api.values import Object, copied

Event = dict[str, Any]
"""`{"type": "ADDED", "object": …}`."""

_BOOKMARKS_EVERY = timedelta(minutes=1)
_YES = ("1", "true", "True")


class Watch:
    """The changes of a collection since a resourceVersion, until the time that the query gives is over.

    A server tells of history that it has forgotten with an event of type ERROR and code 410, after which the watch is over.
    """

    #: The HTTP status code of the answer; when it is not 200 the only event is an ERROR with the refusal.
    code = 200

    def __init__(self, store: Store, collection: Collection, namespace: str, query: Mapping[str, str]) -> None:
        """:raises Refusal: the query cannot be read."""
        self._store, self._collection = store, collection
        self._prefix = f"{namespace}/" if namespace else ""
        self._selects = selector(query)
        self._first: list[Event] = []
        self._end = self._begun = self._marked = store.clock()
        seconds = str(query.get("timeoutSeconds") or "0")
        if not seconds.isdecimal():
            raise bad_request(f'strconv.ParseInt: parsing "{seconds}": invalid syntax')
        self._end += timedelta(seconds=int(seconds))
        self._bookmarks = query.get("allowWatchBookmarks") in _YES
        #: No more events come after those that were read.
        self.closed = False
        self._start(str(query.get("resourceVersion") or "0"))

    def read(self) -> list[Event]:
        """Return the events since the last read, without waiting."""
        if self.closed:
            return []
        events, self._first = self._first, []
        if events and events[-1]["type"] == "ERROR":
            self.closed = True
            return events
        try:
            changes = self._collection.since(self._next)
        except Refusal as refusal:
            self.closed = True
            return [*events, {"type": "ERROR", "object": refusal.status}]
        self._next += len(changes)
        events += [event for change in changes if (event := self._event(change))]
        return events + self._by_time()

    def _start(self, text: str) -> None:
        """Decide where to begin: with all objects there are, or after a resourceVersion."""
        collection = self._collection
        if not text.isdecimal():
            message = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
            raise Refusal(500, "", message)
        self._next = collection.dropped + len(collection.changes)
        if text == "0":
            chosen = [collection.objects[key] for key in sorted(collection.objects) if key.startswith(self._prefix)]
            self._first = [_event("ADDED", value) for value in chosen if self._selects is None or self._selects(value)]
            return
        try:
            self._next = collection.position(int(text))
        except Refusal as refusal:
            self._first = [{"type": "ERROR", "object": refusal.status}]

    def _event(self, change: Change) -> Event | None:
        """Return the event that a change is to this watch, or None. An object that the selector no longer matches is deleted to it."""
        if not change.key.startswith(self._prefix):
            return None
        old = change.old if change.old is not None and (self._selects is None or self._selects(change.old)) else None
        new = change.new if change.new is not None and (self._selects is None or self._selects(change.new)) else None
        if new is not None:
            return _event("ADDED" if old is None else "MODIFIED", new)
        return None if old is None else _event("DELETED", at_revision(old, change.revision))

    def _by_time(self) -> list[Event]:
        """Return the bookmark that is due now and then and shortly before the end; end the watch when its time is over."""
        now, last = self._store.clock(), False
        if self._end > self._begun and now >= self._end:
            self.closed = last = True
        if not self._bookmarks or not (last or now - self._marked >= _BOOKMARKS_EVERY):
            return []
        self._marked = now
        kind = self._collection.kind
        about = {"resourceVersion": str(self._store.revision)}
        return [{"type": "BOOKMARK", "object": {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": about}}]


class Refused(Watch):
    """A watch that never began."""

    def __init__(self, refusal: Refusal) -> None:
        self.code = refusal.code
        self.closed = False
        self._refusal = refusal

    def read(self) -> list[Event]:
        """Return the refusal, once."""
        if self.closed:
            return []
        self.closed = True
        return [{"type": "ERROR", "object": self._refusal.status}]


def _event(kind: str, value: Object) -> Event:
    return {"type": kind, "object": copied(value)}
