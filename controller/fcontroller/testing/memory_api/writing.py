"""POST, PUT and PATCH."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fcompile.model.values import without_nulls
from fcontroller.testing.memory_api import metadata, pods
from fcontroller.testing.memory_api.answers import CHANGED, Refusal, already_exists, bad_request, conflict, not_found, other_uid
from fcontroller.testing.memory_api.kinds import FRAMEWORKS, NAMESPACES, NODES, PODS, SERVICES, Kind
from fcontroller.testing.memory_api.patch import patched
from fcontroller.testing.memory_api.store import Collection, Store
from fcontroller.testing.memory_api.values import Object, copied, same

Answer = tuple[int, Object]


def create(store: Store, collection: Collection, namespace: str, body: Any) -> Answer:
    """Answer a POST to a collection."""
    given = _decoded(store, collection.kind, body, namespace)
    new = _new(store, collection.kind, namespace, given)
    if given["metadata"].get("resourceVersion"):
        raise Refusal(500, "", "resourceVersion should not be set on objects to be created")
    name = new["metadata"]["name"]
    key = collection.key(namespace, name)
    if there := collection.objects.get(key):
        raise already_exists(collection.kind, name, deleting="deletionTimestamp" in there["metadata"])
    return 201, store.put(collection, key, new)


def replace(store: Store, collection: Collection, namespace: str, name: str, part: str, body: Any) -> Answer:
    """Answer a PUT of an object, or of its status when `part` says so."""
    kind, key = collection.kind, collection.key(namespace, name)
    given = _decoded(store, kind, body, namespace)
    _check_name(given["metadata"].get("name"), name)
    old = collection.objects.get(key)
    if old is None and (part or not kind.created_by_put):
        raise not_found(kind, name)
    wanted, uid = given["metadata"].get("uid"), old["metadata"]["uid"] if old else ""
    if wanted and wanted != uid:
        raise other_uid(kind, name, wanted, uid)
    if old is None:
        return 201, store.put(collection, key, _new(store, kind, namespace, given))
    return _update(store, collection, key, part, given, old)


def patch(store: Store, collection: Collection, namespace: str, name: str, part: str, body: Any) -> Answer:
    """Answer a PATCH of an object, or of its status when `part` says so."""
    kind, key = collection.kind, collection.key(namespace, name)
    old = collection.objects.get(key)
    if old is None:
        raise not_found(kind, name)
    given = _shaped(kind, _copy(kind)(patched(old, body)), namespace)
    _check_name(given["metadata"].get("name"), name)
    return _update(store, collection, key, part, given, old)


# What a client sends


def _decoded(store: Store, kind: Kind, body: Any, namespace: str) -> Object:
    """Return a copy of the body, with metadata."""
    if not isinstance(body, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind.kind})")
    store.validation.check_body(kind, body)
    return _shaped(kind, _copy(kind)(body), namespace)


def _copy(kind: Kind) -> Callable[[Any], Any]:
    return copied if kind.custom else without_nulls


def _shaped(kind: Kind, value: Any, namespace: str) -> Object:
    """Return the object in its stored form: with the fields that every object has, and without fields that are left out when empty."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata") or {}, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind.kind})")
    given = value.get("metadata") or {}
    if kind.namespaced and (given.get("namespace") or namespace) != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    result = {**value, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": given}
    if kind.custom and result.get("status", "") is None:
        del result["status"]
    for name in kind.omitted:
        if name in result and not result[name]:
            del result[name]
    return result


def _check_name(given: str | None, name: str) -> None:
    if not given:
        raise bad_request(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    if given != name:
        raise bad_request(f"the name of the object ({given}) does not match the name on the URL ({name})")


# New objects


def _new(store: Store, kind: Kind, namespace: str, given: Object) -> Object:
    own_namespace = namespace if kind.namespaced else ""
    if own_namespace and own_namespace not in store.collections[NAMESPACES.group, NAMESPACES.plural].objects:
        raise not_found(NAMESPACES, own_namespace)
    new = {**given, "metadata": metadata.created(given["metadata"], own_namespace, store.new_uid(), store.timestamp())}
    _prepare(kind, new)
    store.validation.check(kind, "", new, given)
    return new


def _prepare(kind: Kind, new: Object) -> None:
    """Fill in what the server itself says of a new object."""
    if kind is FRAMEWORKS:
        new["metadata"]["generation"] = 1
        new.pop("status", None)
    elif kind is PODS:
        pods.prepare(new)
    elif kind is SERVICES:
        new["status"] = {"loadBalancer": {}}
    elif kind is NODES:
        new.setdefault("spec", {})
        new.setdefault("status", {})
    elif kind is NAMESPACES:
        new["status"] = {"phase": "Active"}


# Changed objects


def _update(store: Store, collection: Collection, key: str, part: str, given: Object, old: Object) -> Answer:
    kind = collection.kind
    _check_version(kind, given["metadata"], old["metadata"])
    new = _changed(kind, part, given, old)
    before, after = old["metadata"], new["metadata"]
    store.validation.check(kind, part, new, given, old)
    if "deletionTimestamp" in before and not after.get("finalizers") and not before.get("deletionGracePeriodSeconds"):
        store.remove(collection, key)
        return 200, new
    return 200, store.put(collection, key, new)


def _check_version(kind: Kind, given: Object, old: Object) -> None:
    if given.get("resourceVersion") not in (None, "", "0", old["resourceVersion"]):
        raise conflict(kind, old["name"], CHANGED)


def _changed(kind: Kind, part: str, given: Object, old: Object) -> Object:
    """Return what is to be stored of a client's object, which depends on the subresource that the client writes to."""
    if part and kind.custom:
        new = {**old, "metadata": dict(old["metadata"])}
        return _with(new, "status", given)
    after = metadata.updated(given["metadata"], old["metadata"])
    new = {**given, "metadata": after}
    if part:
        new = _with(new, "spec", old)
        if kind is PODS:
            new.setdefault("status", {})
            _with(after, "ownerReferences", old["metadata"])
    elif kind.status:
        new = _with(new, "status", old)
        if kind is PODS:
            pods.fill_in(new)
    if kind.generation and not part and not _alike(kind, new, old):
        after["generation"] += 1
    return new


def _with(new: Object, name: str, source: Object) -> Object:
    """Take one field, or its absence, from another object."""
    if name in source:
        new[name] = source[name]
    else:
        new.pop(name, None)
    return new


def _alike(kind: Kind, new: Object, old: Object) -> bool:
    """Return whether nothing has changed that `metadata.generation` counts."""
    names = ["spec"] if kind is PODS else [name for name in {**new, **old} if name not in ("metadata", "status")]
    return all([name in new and name in old and same(new[name], old[name]) for name in names])
