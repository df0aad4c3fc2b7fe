"""The server: paths and methods, and what answers them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from fcontroller.api import Query
from fcontroller.testing.memory_api import deletion, pods, writing
from fcontroller.testing.memory_api.answers import Refusal, bad_request, no_such_path, not_allowed, not_found
from fcontroller.testing.memory_api.collector import Collector
from fcontroller.testing.memory_api.kinds import KINDS, NAMESPACES, PODS, Kind
from fcontroller.testing.memory_api.lists import listed
from fcontroller.testing.memory_api.store import Collection, Store, Validation
from fcontroller.testing.memory_api.values import copied
from fcontroller.testing.memory_api.watch import Watch

_NOTHING: Query = {}
_ALL_IS_WELL = Validation()
_KNOWN = frozenset(
    (
        *("allowWatchBookmarks", "continue", "fieldValidation", "gracePeriodSeconds", "labelSelector", "limit", "propagationPolicy"),
        *("resourceVersion", "resourceVersionMatch", "timeoutSeconds"),
    )
)
"""What a query may have. To ignore the rest would give another answer than a real server's."""


class Target(NamedTuple):
    """What a path leads to: a collection, an object in it, or a part of that."""

    collection: Collection
    namespace: str
    name: str
    part: str


class MemoryApi:
    """An API server in memory, with the namespace `default`."""

    def __init__(self, clock: Callable[[], datetime], new_uid: Callable[[], str], validation: Validation = _ALL_IS_WELL) -> None:
        """Start without objects.

        :param clock: the time, in UTC. :param new_uid: a uid that no object has had before. :param validation: what is refused.
        """
        self._store = Store(clock, new_uid, validation)
        self._collector = Collector(self._store)
        self._by_path = {(_prefix(kind), kind.plural): self._store.collections[kind.group, kind.plural] for kind in KINDS}
        self.request("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})

    @property
    def revision(self) -> int:
        """Return the resourceVersion of the newest write."""
        return self._store.revision

    def request(self, method: str, path: str, body: Any = None, query: Query = _NOTHING) -> tuple[int, Any]:
        """Answer one request.

        :param method: GET, POST, PUT, PATCH (a JSON patch) or DELETE.
        :param path: from the root: `/api/v1/namespaces/default/pods`.
        :param body: JSON, decoded or as text or bytes; it is copied.
        :param query: the parameters, decoded.
        :returns: the HTTP status code, and a body that is the caller's own: an object, a list or a Status.
        :raises NotImplementedError: the query asks for what this server does not have.
        """
        _refuse_unknown(query)
        try:
            code, answer = self._answer(method, self._target(path), _decoded(body), query)
        except Refusal as refusal:
            return refusal.code, refusal.status
        # A list is made of copies already.
        return code, answer if "items" in answer else copied(answer)

    def watch(self, path: str, query: Query = _NOTHING) -> Watch:
        """Watch the collection at a path from now on, or from the query's resourceVersion on. Raises NotImplementedError."""
        _refuse_unknown(query)
        target = self._target(path)
        return Watch(self._store, target.collection, target.namespace, query)

    def collect(self) -> int:
        """Have the garbage collector do all its work; return the number of writes it made."""
        return self._collector.collect()

    def compact(self) -> None:
        """Forget the history: watches that have not read all of it, and lists of older states, end with 410."""
        self._store.compact()

    def _answer(self, method: str, target: Target, body: Any, query: Query) -> tuple[int, Any]:
        store, (collection, namespace, name, part) = self._store, target
        if part == "binding" and method == "POST":
            return pods.bind(store, collection, collection.key(namespace, name), name, body or {})
        if part == "binding":
            raise not_allowed()
        if method == "GET":
            return 200, self._read(target) if name else listed(store, collection, namespace, query)
        if method == "POST" and not name:
            return writing.create(store, collection, namespace, body)
        if method == "PUT" and name:
            return writing.replace(store, collection, namespace, name, part, body)
        if method == "PATCH" and name:
            return writing.patch(store, collection, namespace, name, part, body)
        if method == "DELETE" and name and not part and collection.kind is not NAMESPACES:
            return deletion.delete(store, collection, namespace, name, deletion.options(body, query))
        raise not_allowed()

    def _read(self, target: Target) -> Any:
        collection, namespace, name, _ = target
        value = collection.objects.get(collection.key(namespace, name))
        if value is None:
            raise not_found(collection.kind, name)
        return value

    def _target(self, path: str) -> Target:
        """Return what a path leads to; raises Refusal when there is nothing."""
        prefix, _, rest = path[1:].partition("/v1/")
        names = rest.split("/")
        namespace = ""
        if names[0] == NAMESPACES.plural and len(names) > 2 and (prefix, names[2]) in self._by_path:
            namespace, names = names[1], names[2:]
        collection = self._by_path.get((prefix, names[0]))
        if collection is None or len(names) > 3:
            raise no_such_path()
        names += [""] * (3 - len(names))
        kind, (_, name, part) = collection.kind, names
        if part and part not in ("status" if kind.status else "", "binding" if kind is PODS else ""):
            raise no_such_path()
        if bool(namespace) != kind.namespaced and (name or namespace):
            raise no_such_path()
        return Target(collection, namespace, name, part)


def _refuse_unknown(query: Query) -> None:
    if unknown := query.keys() - _KNOWN:
        raise NotImplementedError(*unknown)


def _prefix(kind: Kind) -> str:
    return f"apis/{kind.group}" if kind.group else "api"


def _decoded(body: Any) -> Any:
    if not isinstance(body, str | bytes):
        return body
    try:
        return json.loads(body)
    except ValueError as problem:
        raise bad_request(f"couldn't get version/kind; json parse error: {problem}") from None
