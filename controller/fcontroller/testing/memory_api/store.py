"""What is stored, and every change of it, in order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from fcontroller.testing.memory_api.answers import expired
from fcontroller.testing.memory_api.kinds import KINDS, Kind
from fcontroller.testing.memory_api.values import Object, same


class Change(NamedTuple):
    """One write: `old` is None for a new object, `new` is None for one that has gone."""

    revision: int
    key: str
    old: Object | None
    new: Object | None


class Collection:
    """All objects of one kind, by `namespace/name` (by name alone where there are no namespaces), and their changes."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.objects: dict[str, Object] = {}
        self.changes: list[Change] = []
        self.dropped = 0
        """How many older changes are forgotten."""
        self.horizon = 0
        """The revision of the newest of these."""

    def key(self, namespace: str, name: str) -> str:
        return f"{namespace}/{name}" if self.kind.namespaced else name

    def position(self, revision: int) -> int:
        """Return how many changes there were up to a revision, the forgotten ones included.

        :raises Refusal: some after it are forgotten.
        """
        if revision < self.horizon:
            raise expired(f"too old resource version: {revision} ({self.horizon})")
        return self.dropped + bisect_right(self.changes, revision, key=attrgetter("revision"))

    def since(self, position: int) -> list[Change]:
        """Return the changes from a position on; raises Refusal when some of them are forgotten."""
        if position < self.dropped:
            raise expired(f"too old resource version, the oldest is {self.horizon}")
        return self.changes[position - self.dropped :]

    def at(self, revision: int) -> dict[str, Object]:
        """Return the objects as they were at a revision; raises Refusal when that is too long ago."""
        later = self.since(self.position(revision))
        objects = dict(self.objects) if later else self.objects
        for change in reversed(later):
            if change.old is None:
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.old
        return objects


class Validation:
    """What is refused of all that clients send: here nothing. Tests refuse what a real server does."""

    def check_body(self, kind: Kind, body: Object) -> None:
        """Raise Refusal for a body that is no object of the kind."""

    def check(self, kind: Kind, part: str, new: Object, given: Object, old: Object | None = None) -> None:
        """Raise Refusal for what may not be stored.

        :param part: the subresource. :param given: what the client sent. :param old: what is stored; None: nothing.
        """


class Store:
    """All collections. Writing is here; what may be written is decided elsewhere."""

    def __init__(self, clock: Callable[[], datetime], new_uid: Callable[[], str], validation: Validation) -> None:
        self.validation = validation
        self.clock = clock
        self.new_uid = new_uid
        self.revision = 0
        """The resourceVersion of the newest change."""
        self.collections = {(kind.group, kind.plural): Collection(kind) for kind in KINDS}
        self._listeners: list[Callable[[Collection, Change], None]] = []

    def listen(self, listener: Callable[[Collection, Change], None]) -> None:
        """Have a function called after every write."""
        self._listeners.append(listener)

    def timestamp(self) -> str:
        """Return the current time, as objects have it."""
        return text_of(self.clock())

    def put(self, collection: Collection, key: str, new: Object) -> Object:
        """Store an object, and give its metadata the new resourceVersion; an object that is there in just this form is left alone.

        :param new: may share parts with what is stored, but neither its own dict nor that of its metadata.
        :returns: what is stored now.
        """
        old = collection.objects.get(key)
        if old is not None:
            new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
            if new == old and same(new, old):
                return old
        self.revision += 1
        new["metadata"]["resourceVersion"] = str(self.revision)
        collection.objects[key] = new
        self._record(collection, Change(self.revision, key, old, new))
        return new

    def remove(self, collection: Collection, key: str) -> Object:
        """Delete an object; return it with the resourceVersion of its deletion."""
        old = collection.objects.pop(key)
        self.revision += 1
        self._record(collection, Change(self.revision, key, old, None))
        return at_revision(old, self.revision)

    def compact(self) -> None:
        """Forget all changes so far: clients that have not seen them must list again."""
        for collection in self.collections.values():
            collection.dropped += len(collection.changes)
            collection.changes.clear()
            collection.horizon = self.revision

    def _record(self, collection: Collection, change: Change) -> None:
        collection.changes.append(change)
        for listener in self._listeners:
            listener(collection, change)


def at_revision(value: Object, revision: int) -> Object:
    """Return the object with another resourceVersion; everything else is shared with it."""
    return {**value, "metadata": {**value["metadata"], "resourceVersion": str(revision)}}


def text_of(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def moved(text: str, seconds: int) -> datetime:
    """Return the time of a timestamp, `seconds` later."""
    return datetime.fromisoformat(text) + timedelta(seconds=seconds)
