"""The garbage collector: deletes what has no owner any more, and lets owners go when their dependents have gone.

The real one works on its own, at any time; this one works when it is told to. Its rules are those of the real one: an object is
deleted when none of its owners exists; an owner with the finalizer `foregroundDeletion` waits for the dependents that block it;
one with the finalizer `orphan` is taken off its dependents first.
"""

from __future__ import annotations

from typing import NamedTuple

from fcontroller.decide.owners import FOREGROUND, ORPHAN
from fcontroller.testing.memory_api.deletion import Options, delete
from fcontroller.testing.memory_api.kinds import KINDS
from fcontroller.testing.memory_api.store import Change, Collection, Store
from fcontroller.testing.memory_api.values import Object, same


class Node(NamedTuple):
    """Where an object is."""

    collection: Collection
    key: str


class Collector:
    """Follows every write of a store, and keeps a queue of the objects that may have to go."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._nodes: dict[str, Node] = {}  # by uid
        self._dependents: dict[str, dict[str, None]] = {}  # the uids of those that name an owner, by the owner's
        self._queue: dict[str, None] = {}  # of uids; a dict keeps their order, and each only once
        self._kinds = {(kind.api_version, kind.kind): store.collections[kind.group, kind.plural] for kind in KINDS}
        store.listen(self._see)

    def collect(self) -> int:
        """Work through the queue to its end; return the number of writes made."""
        before = self._store.revision
        while self._queue:
            uid = next(iter(self._queue))
            del self._queue[uid]
            if uid in self._nodes:
                self._process(uid)
        return self._store.revision - before

    # What a write means

    def _see(self, collection: Collection, change: Change) -> None:
        if not collection.kind.collected:
            return
        old, new = (value["metadata"] if value else _GONE for value in (change.old, change.new))
        uid: str = (new or old)["uid"]
        if not old:
            self._nodes[uid] = Node(collection, change.key)
        before, after = old.get("ownerReferences", _NOBODY), new.get("ownerReferences", _NOBODY)
        if before is not after:
            self._owners_changed(uid, before, after)
        if not new:
            self._gone(uid, before)
        elif "deletionTimestamp" in new:
            self._deleting(uid, old, new)

    def _owners_changed(self, uid: str, before: list[Object], after: list[Object]) -> None:
        there = {owner["uid"] for owner in before}
        for owner in after:
            self._dependents.setdefault(owner["uid"], {})[uid] = None
            if owner["uid"] not in there and self._owner(uid, owner) is None:
                self._queue[uid] = None
        blocking = {owner["uid"] for owner in after if owner.get("blockOwnerDeletion")}
        kept = {owner["uid"] for owner in after}
        for owner in before:
            if owner["uid"] not in kept:
                self._dependents.get(owner["uid"], {}).pop(uid, None)
            if owner.get("blockOwnerDeletion") and owner["uid"] not in blocking:
                self._queue[owner["uid"]] = None

    def _gone(self, uid: str, owners: list[Object]) -> None:
        del self._nodes[uid]
        self._queue |= self._dependents.get(uid, {})
        if not self._dependents.get(uid):
            self._dependents.pop(uid, None)
        for owner in owners:
            if (there := self._metadata(owner["uid"])) and _waits(there):
                self._queue[owner["uid"]] = None

    def _deleting(self, uid: str, old: Object, new: Object) -> None:
        """Queue an object that begins to wait until its dependents are orphaned or deleted."""
        for finalizer in (ORPHAN, FOREGROUND):
            if _has(new, finalizer) and not ("deletionTimestamp" in old and _has(old, finalizer)):
                if finalizer == FOREGROUND:
                    self._queue |= self._dependents.get(uid, {})
                self._queue[uid] = None

    # What is to be done

    def _process(self, uid: str) -> None:
        metadata = self._metadata(uid)
        if "deletionTimestamp" not in metadata:
            self._delete_without_owner(uid, metadata)
        elif _has(metadata, ORPHAN):
            self._orphan(uid)
        elif _has(metadata, FOREGROUND):
            self._let_go_or_go_on(uid)

    def _orphan(self, uid: str) -> None:
        for dependent in list(self._dependents.get(uid, ())):
            self._drop_owners(dependent, {uid})
        self._remove_finalizer(uid, ORPHAN)

    def _let_go_or_go_on(self, uid: str) -> None:
        """Delete the dependents of an owner that waits for them, or let the owner go when none is left."""
        blocking = [name for name in self._dependents.get(uid, ()) if self._blocks(name, uid)]
        for dependent in blocking:
            if not _waits(self._metadata(dependent)):
                self._queue[dependent] = None
        if not blocking:
            self._remove_finalizer(uid, FOREGROUND)

    def _delete_without_owner(self, uid: str, metadata: Object) -> None:
        owners = metadata.get("ownerReferences", [])
        found = [(owner["uid"], self._owner(uid, owner)) for owner in owners]
        dangling = {name for name, owner in found if owner is None}
        waiting = {name for name, owner in found if owner is not None and _waits(owner)}
        if any([owner is not None and not _waits(owner) for _, owner in found]):
            self._drop_owners(uid, dangling | waiting)
        elif waiting and self._dependents.get(uid):
            if any([_waits(self._metadata(dependent)) for dependent in self._dependents[uid]]):
                self._unblock_owners(uid)  # it may be a circle, in which all would wait for ever
            self._delete(uid, "Foreground")
        elif owners:
            self._delete(uid, "Orphan" if _has(metadata, ORPHAN) else "Foreground" if _has(metadata, FOREGROUND) else "Background")

    # The graph

    def _object(self, uid: str) -> Object | None:
        node = self._nodes.get(uid)
        return node.collection.objects[node.key] if node else None

    def _metadata(self, uid: str) -> Object:
        """Return the metadata of an object; empty when it has gone."""
        value = self._object(uid)
        return value["metadata"] if value else {}

    def _owner(self, uid: str, reference: Object) -> Object | None:
        """Return the metadata of the owner that a reference means, or None. The owner has this uid, and is in the dependent's namespace."""
        collection = self._kinds.get((reference["apiVersion"], reference["kind"]))
        if collection is None:
            return {}  # nobody here can tell; the real one tries again for ever
        node = self._nodes[uid]
        namespace = node.key.partition("/")[0] if node.collection.kind.namespaced else ""
        value = collection.objects.get(collection.key(namespace, reference["name"]))
        return value["metadata"] if value and value["metadata"]["uid"] == reference["uid"] else None

    def _blocks(self, dependent: str, owner: str) -> bool:
        references = self._metadata(dependent).get("ownerReferences", [])
        return any([reference["uid"] == owner and reference.get("blockOwnerDeletion") for reference in references])

    # Writes

    def _drop_owners(self, uid: str, owners: set[str]) -> None:
        kept = [owner for owner in self._metadata(uid).get("ownerReferences", []) if owner["uid"] not in owners]
        self._write(uid, "ownerReferences", kept)

    def _unblock_owners(self, uid: str) -> None:
        owners = self._metadata(uid)["ownerReferences"]
        self._write(uid, "ownerReferences", [{**owner, "blockOwnerDeletion": False} for owner in owners])

    def _remove_finalizer(self, uid: str, finalizer: str) -> None:
        self._write(uid, "finalizers", [name for name in self._metadata(uid).get("finalizers", []) if name != finalizer])

    def _write(self, uid: str, field: str, items: list[Object] | list[str]) -> None:
        """Set a list in the metadata; an object that is being deleted goes with its last finalizer."""
        value, node = self._object(uid), self._nodes.get(uid)
        if value is None or node is None or same(items, value["metadata"].get(field, [])):
            return
        metadata = {name: content for name, content in value["metadata"].items() if name != field}
        if items:
            metadata[field] = items
        if "deletionTimestamp" in metadata and not metadata.get("finalizers") and not metadata.get("deletionGracePeriodSeconds"):
            self._store.remove(*node)
        else:
            self._store.put(*node, {**value, "metadata": metadata})

    def _delete(self, uid: str, policy: str) -> None:
        collection, key = self._nodes[uid]
        namespace, _, name = key.rpartition("/")
        delete(self._store, collection, namespace, name, Options(uid=uid, policy=policy))


_GONE: Object = {}
_NOBODY: list[Object] = []


def _has(metadata: Object, finalizer: str) -> bool:
    return finalizer in metadata.get("finalizers", ())


def _waits(metadata: Object) -> bool:
    """Return whether an owner is being deleted once its dependents have gone."""
    return "deletionTimestamp" in metadata and _has(metadata, FOREGROUND)
