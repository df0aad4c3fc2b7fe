"""GET of a collection: now or as it was, whole or in pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from fcontroller.testing.memory_api.answers import Refusal, bad_request, expired, too_new
from fcontroller.testing.memory_api.kinds import Kind
from fcontroller.testing.memory_api.selectors import selector
from fcontroller.testing.memory_api.store import Collection, Store
from fcontroller.testing.memory_api.values import Object, copied


def listed(store: Store, collection: Collection, namespace: str, query: Mapping[str, str]) -> Object:
    """Return copies of the objects that a query asks for, as a list object."""
    selects = selector(query)
    limit, token = _number(query, "limit"), query.get("continue", "")
    revision, after = _from_token(token) if token else (_revision(store, query), "")
    objects = _objects(store, collection, revision, token)
    # A server answers any old state from its cache, which knows no pages.
    limit = 0 if query.get("resourceVersion") == "0" and not token else limit
    prefix = f"{namespace}/" if namespace else ""
    keys = sorted(key for key in objects if key > after and key.startswith(prefix))
    items: list[Object] = []
    metadata: Object = {"resourceVersion": str(revision), **({"continue": ""} if collection.kind.custom else {})}
    for at, key in enumerate(keys):
        if limit and len(items) == limit:
            metadata["continue"] = _token(revision, keys[at - 1])
            break
        if selects is None or selects(objects[key]):
            items.append(_item(collection.kind, objects[key]))
    return {"kind": f"{collection.kind.kind}List", "apiVersion": collection.kind.api_version, "metadata": metadata, "items": items}


def _item(kind: Kind, value: Object) -> Object:
    """Return an object as it stands in a list: items of built-in kinds have no `kind` and no `apiVersion`."""
    item: Object = copied(value)
    if not kind.custom:
        del item["kind"], item["apiVersion"]
    return item


def _objects(store: Store, collection: Collection, revision: int, token: str) -> dict[str, Object]:
    if revision == store.revision:
        return collection.objects
    try:
        return collection.at(revision)
    except Refusal:
        if token:
            _, after = _from_token(token)
            message = "The continue token is too old for a consistent list: list anew, or go on with the token of this answer"
            raise expired(message, **{"continue": _token(store.revision, after)}) from None
        raise expired(f"The resourceVersion for the provided list is too old: {revision}") from None


def _revision(store: Store, query: Mapping[str, str]) -> int:
    """Return the revision to list at: the newest, unless the query asks for exactly another one."""
    text = query.get("resourceVersion") or "0"
    if not text.isdecimal():
        why = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise bad_request(f"invalid resource version: {why}")
    if int(text) > store.revision:
        raise too_new(int(text), store.revision)
    return int(text) if query.get("resourceVersionMatch") == "Exact" and int(text) else store.revision


def _number(query: Mapping[str, str], name: str) -> int:
    text = str(query.get(name) or "0")
    if not text.isdecimal():
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _token(revision: int, last: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"rv": revision, "after": last}).encode()).decode()


def _from_token(token: str) -> tuple[int, str]:
    try:
        content = json.loads(base64.urlsafe_b64decode(token))
        return int(content["rv"]), str(content["after"])
    except (ValueError, TypeError, KeyError):
        raise bad_request("invalid continue token: continue key is not valid") from None
