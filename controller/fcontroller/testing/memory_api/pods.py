"""What is special about Pods: how they are deleted gracefully, how they get a node."""

from __future__ import annotations

from fcontroller.testing.memory_api.answers import conflict, not_found, other_uid, success
from fcontroller.testing.memory_api.store import Collection, Store
from fcontroller.testing.memory_api.values import Object

_DEFAULT_GRACE = 30
_ENDED = ("Failed", "Succeeded")


def prepare(pod: Object) -> None:
    """Make a new Pod of what a client gives, with those defaults filled in on which the server's own behaviour depends."""
    pod["metadata"]["generation"] = 1
    fill_in(pod)
    pod["status"] = {"phase": "Pending"}


def fill_in(pod: Object) -> None:
    """Fill in those defaults of a Pod that a client writes."""
    spec = pod.get("spec") or {}
    if "terminationGracePeriodSeconds" not in spec:
        pod["spec"] = {"terminationGracePeriodSeconds": _DEFAULT_GRACE, **spec}


def grace(pod: Object, asked: int | None) -> int:
    """Return how many seconds are left to a Pod that is deleted: none before it has a node, and none after it has ended."""
    if not pod["spec"].get("nodeName") or pod.get("status", {}).get("phase") in _ENDED:
        return 0
    if asked is None:
        asked = int(pod["spec"].get("terminationGracePeriodSeconds", _DEFAULT_GRACE))
    return 1 if asked < 0 else asked


def bind(store: Store, collection: Collection, key: str, name: str, binding: Object) -> tuple[int, Object]:
    """Assign a Pod to a node, as the scheduler does."""
    pod = collection.objects.get(key)
    if pod is None:
        raise not_found(collection.kind, name)
    given, uid = binding.get("metadata") or {}, pod["metadata"]["uid"]
    if given.get("uid") and given["uid"] != uid:
        raise other_uid(collection.kind, name, given["uid"], uid)
    node = (binding.get("target") or {}).get("name")
    if "deletionTimestamp" in pod["metadata"]:
        raise conflict(collection.kind, name, f"pod {name} is being deleted, cannot be assigned to a host", "pods/binding")
    if there := pod["spec"].get("nodeName"):
        raise conflict(collection.kind, name, f'pod {name} is already assigned to node "{there}"', "pods/binding")
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": store.timestamp()}
    others = [condition for condition in pod["status"].get("conditions") or () if condition.get("type") != "PodScheduled"]
    status = {**pod["status"], "conditions": [*others, scheduled]}
    store.put(collection, key, {**pod, "metadata": dict(pod["metadata"]), "spec": {**pod["spec"], "nodeName": node}, "status": status})
    return 201, success(code=201)
