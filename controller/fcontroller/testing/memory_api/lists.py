"""GET of a collection: now or as it was, whole or in pages."""

from __future__ import annotations

from collections.abc import Mapping

from fcontroller.testing.memory_api.answers import Refusal, expired
from fcontroller.testing.memory_api.kinds import Kind
from fcontroller.testing.memory_api.selectors import selector
from fcontroller.testing.memory_api.store import Collection, Store
from fcontroller.testing.memory_api.values import Object, copied


def listed(store: Store, collection: Collection, namespace: str, query: Mapping[str, str]) -> Object:
    """Return copies of the objects that a query asks for, as a list object."""
    selects, limit, token = selector(query), int(query.get("limit") or 0), query.get("continue", "")
    revision, after = _from_token(token) if token else (_revision(store, query), "")
    objects = _objects(store, collection, revision, after)
    prefix = f"{namespace}/" if namespace else ""
    keys = sorted(key for key in objects if key > after and key.startswith(prefix))
    items: list[Object] = []
    metadata: Object = {"resourceVersion": str(revision), **({"continue": ""} if collection.kind.custom else {})}
    for at, key in enumerate(keys):
        if limit and len(items) == limit:
            metadata["continue"] = _token(revision, keys[at - 1])
            break
        if selects(objects[key]):
            items.append(_item(collection.kind, objects[key]))
    return {"kind": f"{collection.kind.kind}List", "apiVersion": collection.kind.api_version, "metadata": metadata, "items": items}


def _item(kind: Kind, value: Object) -> Object:
    """Return an object as it stands in a list: items of built-in kinds have no `kind` and no `apiVersion`."""
    item: Object = copied(value)
    if not kind.custom:
        del item["kind"], item["apiVersion"]
    return item


def _objects(store: Store, collection: Collection, revision: int, after: str) -> dict[str, Object]:
    """Return the objects at a revision. If that is forgotten, raise the Refusal that says how to go on after what was read."""
    if revision == store.revision:
        return collection.objects
    try:
        return collection.at(revision)
    except Refusal:
        if after:
            message = "The continue token is too old for a consistent list: list anew, or go on with the token of this answer"
            raise expired(message, **{"continue": _token(store.revision, after)}) from None
        raise expired(f"The resourceVersion for the provided list is too old: {revision}") from None


def _revision(store: Store, query: Mapping[str, str]) -> int:
    """Return the revision to list at: the newest, unless the query asks for exactly another one."""
    return int(query["resourceVersion"]) if query.get("resourceVersionMatch") == "Exact" else store.revision


def _token(revision: int, last: str) -> str:
    return f"{revision} {last}"


def _from_token(token: str) -> tuple[int, str]:
    revision, _, last = token.partition(" ")
    return int(revision), last
