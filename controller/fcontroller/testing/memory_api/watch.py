"""Watches: the changes of a collection, read when it suits the reader."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from fcontroller.testing.memory_api.answers import Refusal
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

    def __init__(self, store: Store, collection: Collection, namespace: str, query: Mapping[str, str]) -> None:
        self._store, self._collection = store, collection
        self._prefix = f"{namespace}/" if namespace else ""
        self._selects = selector(query)
        self._begun = self._marked = store.clock()
        self._end = self._begun + timedelta(seconds=int(query.get("timeoutSeconds") or 0))
        self._bookmarks = query.get("allowWatchBookmarks") in _YES
        self.closed = False
        """Whether no more events come after those that were read."""
        self._first: list[Event] = []
        self._next = collection.dropped + len(collection.changes)
        version = int(query.get("resourceVersion") or 0)
        if version:
            try:
                self._next = collection.position(version)
            except Refusal as refusal:
                self._first = [{"type": "ERROR", "object": refusal.status}]
        else:
            chosen = [collection.objects[key] for key in sorted(collection.objects) if key.startswith(self._prefix)]
            self._first = [_event("ADDED", value) for value in chosen if self._selects(value)]

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

    def _event(self, change: Change) -> Event | None:
        """Return the event that a change is to this watch, or None. An object that the selector no longer matches is deleted to it."""
        if not change.key.startswith(self._prefix):
            return None
        old = change.old if change.old is not None and self._selects(change.old) else None
        new = change.new if change.new is not None and self._selects(change.new) else None
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


def _event(kind: str, value: Object) -> Event:
    return {"type": kind, "object": copied(value)}
