"""DELETE: at once, gracefully, or when the finalizers have gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fcontroller.decide.owners import FOREGROUND, ORPHAN
from fcontroller.testing.memory_api import pods
from fcontroller.testing.memory_api.answers import conflict, named, not_found, success
from fcontroller.testing.memory_api.kinds import PODS, Kind
from fcontroller.testing.memory_api.store import Collection, Store, moved, text_of
from fcontroller.testing.memory_api.values import Object


class Options(NamedTuple):
    """The DeleteOptions of a request. What is None was not given."""

    uid: str | None = None
    resource_version: str | None = None
    grace: int | None = None
    policy: str | None = None


def options(body: Any, query: Mapping[str, str]) -> Options:
    """Read the options of a deletion from the body of the request, or from its query where there is no body."""
    given: Mapping[str, Any] = body or query
    preconditions, grace = given.get("preconditions") or {}, given.get("gracePeriodSeconds")
    grace = None if grace is None else int(grace)
    return Options(preconditions.get("uid"), preconditions.get("resourceVersion"), grace, given.get("propagationPolicy"))


def delete(store: Store, collection: Collection, namespace: str, name: str, wanted: Options) -> tuple[int, Object]:
    """Delete an object, or mark it as being deleted.

    :returns: 200, and the object as it is then or a Status that says that it has gone.
    """
    kind, key = collection.kind, collection.key(namespace, name)
    old = collection.objects.get(key)
    if old is None:
        raise not_found(kind, name)
    _check(kind, name, old["metadata"], wanted)
    after = dict(old["metadata"])
    graceful = kind is PODS and not _ends_now(after)
    if graceful and not _marked_gracefully(store, after, old, wanted.grace):
        return 200, old
    finalizers = _finalizers(old["metadata"].get("finalizers") or [], wanted.policy if kind.collected else "Background")
    if set(finalizers) != set(after.get("finalizers") or ()):
        after["finalizers"] = finalizers
        if not finalizers:
            del after["finalizers"]
    if finalizers and not graceful:
        _mark(store, after)
    if graceful or finalizers:
        new = store.put(collection, key, {**old, "metadata": after})
        if finalizers or after["deletionGracePeriodSeconds"]:
            return 200, new
    return 200, _gone(kind, store.remove(collection, key))


def _check(kind: Kind, name: str, old: Object, wanted: Options) -> None:
    for what, given, record, advice in (
        ("UID", wanted.uid, old["uid"], "The object might have been deleted and then recreated"),
        ("ResourceVersion", wanted.resource_version, old["resourceVersion"], "The object might have been modified"),
    ):
        if given is not None and given != record:
            why = f"the {what} in the precondition ({given}) does not match the {what} in record ({record}). {advice}"
            raise conflict(kind, name, why, kind.kind)


def _ends_now(metadata: Object) -> bool:
    """Return whether a Pod is being deleted with no time left."""
    return "deletionTimestamp" in metadata and not metadata.get("deletionGracePeriodSeconds")


def _marked_gracefully(store: Store, after: Object, pod: Object, asked: int | None) -> bool:
    """Set the time by which a Pod must be gone; return False when a time is set already and would not become shorter."""
    if "deletionTimestamp" not in after:
        seconds = pods.grace(pod, asked)
        after["deletionTimestamp"] = text_of(moved(store.timestamp(), seconds))
        after["deletionGracePeriodSeconds"] = seconds
        after["generation"] += 1
        return True
    there: int = after["deletionGracePeriodSeconds"]
    if asked is None or asked >= there:
        return False
    seconds = 1 if asked < 0 else asked
    end, now = moved(after["deletionTimestamp"], seconds - there), moved(store.timestamp(), 0)
    if end < now:
        end, seconds = now, min(seconds, 1)
    after["deletionTimestamp"], after["deletionGracePeriodSeconds"] = text_of(end), seconds
    return True


def _mark(store: Store, after: Object) -> None:
    """Mark an object as being deleted that stays only for its finalizers."""
    if "deletionTimestamp" not in after and "generation" in after:
        after["generation"] += 1
    now = store.timestamp()
    after["deletionTimestamp"] = min(after.get("deletionTimestamp", now), now)
    after["deletionGracePeriodSeconds"] = 0


def _finalizers(there: list[str], policy: str | None) -> list[str]:
    """Return the finalizers of an object that is being deleted, with those of the garbage collector as the policy wants them."""
    if policy is None:
        # Without a policy the first of the collector's finalizers says what is to become of the dependents.
        policy = next((name for name in there if name in (FOREGROUND, ORPHAN)), "")
    own = {"Foreground": FOREGROUND, "Orphan": ORPHAN}.get(policy, policy if policy in (FOREGROUND, ORPHAN) else "")
    return [name for name in there if name not in (FOREGROUND, ORPHAN)] + ([own] if own else [])


def _gone(kind: Kind, removed: Object) -> Object:
    if kind.deleted_is_shown:
        return removed
    about = removed["metadata"]
    return success(details={**named(about["name"], kind.group, kind.plural), "uid": about["uid"]})
