"""The requests to the API server, each with what makes it safe: a uid for what is deleted, the owner of an object that is in the way."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence, Set
from typing import NamedTuple

from fcompile.model import names
from fcontroller.act.pages import Pages
from fcontroller.act.retry import SLOW
from fcontroller.api import Answer, Api, Json, Name, Projection, Query, collection, full_name, path_of, target_of
from fcontroller.decide.owners import FOREGROUND, controller_of, owners, shortened

_FEW = 2
"""Owners, and finalizers, that are kept of an object of which only its metadata is listed, so that one can be told from several."""
TRANSITORY = 3
"""The number of failures in a row from which they are no race and no moment's trouble, so that people are to know of them."""
_TOO_LARGE = "etcdserver: request is too large"
"""The message of a 500 about an object that etcd does not take, whoever has filled it: it is no trouble of the server's."""


class Refused(Exception):
    """The API server has refused a request, which is repeated later."""

    def __init__(self, answer: Answer, message: str = "") -> None:
        super().__init__(message or answer.message)
        self.code = answer.code
        self.reason = answer.reason
        self.retry_after = answer.retry_after if answer.code == 429 else 0.0


def is_lasting(error: Exception) -> bool:
    """Return whether repeating the request fails until somebody changes something: neither the server's trouble nor a race is the cause."""
    if not isinstance(error, Refused):
        return False
    return (400 <= error.code < 500 and error.code not in (409, 429)) or (error.code >= 500 and _TOO_LARGE in str(error))


def may_be_stored(error: Exception) -> bool:
    """Return whether a write that has failed may have been carried out all the same."""
    return not isinstance(error, Refused) or error.code >= 500


def lasts(error: Exception, failures: int, seconds: float = 0.0) -> bool:
    """Return whether a failure has lasted for more than a moment, or will, so that people are to know of it.

    :param failures: in a row. :param seconds: what the last one took.
    """
    told_to_wait = isinstance(error, Refused) and error.code == 429  # The dispatcher has tried again as long as it had patience.
    return is_lasting(error) or told_to_wait or seconds >= SLOW or failures >= TRANSITORY


class StillThere(Refused):
    """A deleted object is still there: something, such as a finalizer, holds it."""

    def __init__(self, found: Json, why: str = "") -> None:
        """:param why: what holds it, where that is not in the object itself."""
        metadata = found["metadata"]
        held = f"finalizers hold it: {', '.join(metadata['finalizers'])}" if metadata.get("finalizers") else "it has not ended yet"
        super().__init__(Answer(200, found), f"{metadata['name']} is being deleted and still there; {why or held}")


def _taken(answer: Answer) -> Json:
    """Return the body of an answer that is no refusal. Raises Refused."""
    if not answer.ok:
        raise Refused(answer)
    return answer.body


async def write_status(api: Api, framework: Json, status: Callable[[], str]) -> Json:
    """Store the status of a Framework unless the Framework has changed meanwhile. Return its new metadata.

    :param status: returns its JSON text.
    """
    metadata = {key: framework["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
    head = {"apiVersion": framework["apiVersion"], "kind": framework["kind"], "metadata": metadata, "spec": framework["spec"]}
    path = path_of("frameworks", *full_name(framework))

    def body() -> bytes:
        return f'{json.dumps(head)[:-1]},"status":{status()}}}'.encode()

    written: Json = _taken(await api.request("PUT", f"{path}/status", body, projection=Projection.METADATA))["metadata"]
    return written


def head_of(name: Name, uid: str) -> Json:
    """Return of a Framework that is not at hand what tells it apart: enough to read it, and for reports."""
    metadata = {"namespace": name[0], "name": name[1], "uid": uid, "resourceVersion": ""}
    return {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": metadata}


async def read_framework(api: Api, framework: Json, projection: Projection = Projection.WHOLE) -> Json | None:
    """Return the Framework as it is now, or None if it is gone, even if another one has its name."""
    return await find(api, path_of("frameworks", *full_name(framework)), projection, uid=framework["metadata"]["uid"])


async def find(api: Api, path: str, projection: Projection = Projection.WHOLE, *, uid: str | None = None) -> Json | None:
    """Return the object at a path, if it is the one with that uid (None: whichever it is), or None. Raises Refused."""
    answer = await api.request("GET", path, projection=projection)
    found = None if answer.code == 404 else _taken(answer)
    return found if found is None or uid in (None, found["metadata"]["uid"]) else None


async def create(api: Api, kind: str, value: Json) -> Json:
    """Create an object. Return it as it is stored."""
    return _taken(await api.request("POST", collection(kind, value["metadata"]["namespace"]), value))


async def pages_of_owned(
    api: Api, kind: str, namespace: str, framework: str, projection: Projection
) -> AsyncIterator[tuple[list[Json], int]]:
    """Yield the objects of a kind that have a Framework's label, page by page, each with the resourceVersion of the list.

    Anybody may write such objects, as large as etcd takes them: no more may be kept of a page than decisions depend on.
    """
    async for page in _pages(api, collection(kind, namespace), {"labelSelector": f"{names.FRAMEWORK_NAME}={framework}"}, projection):
        yield page["items"] or [], int(page["metadata"]["resourceVersion"])


async def list_owned(api: Api, kind: str, namespace: str, framework: str) -> list[Json]:
    """Return the metadata of the objects of a kind that have a Framework's label: no more of it than decisions depend on."""
    pages = pages_of_owned(api, kind, namespace, framework, Projection.METADATA)
    return [_brief(item["metadata"]) async for page, _ in pages for item in page]


async def list_pods(api: Api, namespace: str, framework: str, others: Iterable[str]) -> dict[str, Json]:
    """Return the metadata of the Pods that have a Framework's label, and of others by their names: somebody may have taken it off them."""
    found = {pod["name"]: pod for pod in await list_owned(api, "pods", namespace, framework)}
    for name in [name for name in others if name not in found]:
        pod = await find(api, path_of("pods", namespace, name), Projection.METADATA)
        if pod is not None:
            found[name] = _brief(pod["metadata"])
    return found


def _brief(metadata: Json) -> Json:
    kept = {key: value for key, value in metadata.items() if key != "labels"}
    if "ownerReferences" in metadata:
        few = [owner for place, owner in enumerate(owners(metadata)) if place < _FEW or owner.get("controller")]
        kept["ownerReferences"] = [shortened(owner) for owner in few]
    if "finalizers" in metadata:
        finalizers = metadata["finalizers"] or ()
        kept["finalizers"] = [each for place, each in enumerate(finalizers) if place < _FEW or each == FOREGROUND]
    return kept


async def _pages(api: Api, path: str, query: Query, projection: Projection) -> AsyncIterator[Json]:
    pages = Pages(api, path, query, projection)
    while pages.more:
        yield _taken(await pages.next())


async def replace(api: Api, path: str, value: Json) -> Json:
    """Write an object, unless somebody else did meanwhile. Return it as it is stored."""
    return _taken(await api.request("PUT", path, value))


async def create_pod(api: Api, namespace: str, pod: Callable[[], bytes]) -> str:
    """Create a Pod, and return its uid. What the API server does not know in it is an error, not dropped.

    :param pod: returns its JSON text.
    """
    query = {"fieldValidation": "Strict"}
    made = _taken(await api.request("POST", collection("pods", namespace), pod, query, Projection.METADATA))
    return sys.intern(made["metadata"]["uid"])  # The watch will show the same.


async def delete(
    api: Api, path: str, uid: str, *, version: str = "", force: bool = False, confirm: bool = False, propagation: str = ""
) -> None:
    """Delete an object if it still is the one with that uid; with `confirm`, raise StillThere unless it is gone for sure.

    :param version: its resourceVersion, if it must not have changed since; if it has, Refused is raised.
    """
    preconditions = {"uid": uid, **({"resourceVersion": version} if version else {})}
    options: Json = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
    if force:
        options["gracePeriodSeconds"] = 0
    if propagation:
        options["propagationPolicy"] = propagation
    answer = await api.request("DELETE", path, options, projection=Projection.METADATA)
    if not answer.ok and answer.code not in (404, 409):
        # To delete it is to write when it was told to go, for which there is no room either.
        full = f"`{target_of(path).name}` is so full of labels or other metadata that it cannot even be deleted: {answer.message}"
        raise Refused(answer, full if _TOO_LARGE in answer.message else "")
    # A 409 nearly always means that another object has the name by now.
    if answer.code == 409 or (confirm and answer.code != 404):
        found = await find(api, path, Projection.METADATA, uid=uid)
        if found is not None:
            raise Refused(answer) if version and answer.code == 409 else StillThere(found)


class OwnedPod(NamedTuple):
    """A Pod, as one of its owners' Pods."""

    name: str
    uid: str
    left: bool
    """Whether that owner controls it, and nobody has deleted it yet."""


async def pods_of(api: Api, namespace: str, wanted: Set[str]) -> dict[str, OwnedPod]:
    """Return one Pod of each owner with a wanted uid that has any in the namespace: one that is left, if there is any."""
    found: dict[str, OwnedPod] = {}
    async for page in _pages(api, collection("pods", namespace), {}, Projection.METADATA):
        for metadata in [pod["metadata"] for pod in page["items"] or ()]:
            for owner in owners(metadata):
                left = bool(owner.get("controller")) and "deletionTimestamp" not in metadata
                if owner["uid"] in wanted and (left or owner["uid"] not in found):
                    found[owner["uid"]] = OwnedPod(metadata["name"], metadata["uid"], left)
    return found


async def release(api: Api, path: str, uid: str, pod_of: Callable[[str], Awaitable[OwnedPod | None]]) -> None:
    """Take the garbage collector's finalizer off an object that is being deleted, if it still is the one with that uid.

    Raises StillThere if it still owns a Pod. One that is left, since it has lost its label and no watch shows it, is deleted.

    :param pod_of: returns a Pod that has the owner with that uid, whatever its labels are by now.
    """
    found = await find(api, path, uid=uid)
    if found is None or FOREGROUND not in found["metadata"].get("finalizers", ()):
        return
    metadata = found["metadata"]
    pod = await pod_of(uid)
    if pod is not None:
        if pod.left:
            await delete(api, path_of("pods", metadata["namespace"], pod.name), pod.uid)
        raise StillThere(found, f"it still owns Pod `{pod.name}`")
    kept = [finalizer for finalizer in metadata["finalizers"] if finalizer != FOREGROUND]
    await replace(api, path, {**found, "metadata": {**metadata, "finalizers": kept}})


async def write_owners(api: Api, path: str, uid: str, wanted: Sequence[Json]) -> bool | None:
    """Set the owners of an object if it still is the one with that uid. Return whether it had others; None: it is gone."""
    found = await find(api, path, Projection.METADATA, uid=uid)
    if found is None or found["metadata"].get("ownerReferences") == wanted:
        return None if found is None else False
    # Late, after somebody else has written the Pod, this must not undo what he wrote.
    known = {"/metadata/uid": uid, "/metadata/resourceVersion": found["metadata"]["resourceVersion"]}
    tests = [{"op": "test", "path": field, "value": value} for field, value in known.items()]
    change = [*tests, {"op": "add", "path": "/metadata/ownerReferences", "value": wanted}]
    answer = await api.request("PATCH", path, change, projection=Projection.METADATA)
    if answer.code in (404, 422):  # A test that has failed is a 422, as what is refused for good.
        there = await find(api, path, Projection.METADATA, uid=uid)
        if there is None:
            return None
        if there["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"]:
            answer = Answer(409, answer.body)
    return bool(_taken(answer))


async def remove(api: Api, path: str, owner: str) -> None:
    """Delete the object at a path if the owner with that uid is its controller, and make sure that it is gone."""
    found = await find(api, path, Projection.METADATA)
    if found is not None and controller_of(found["metadata"]) == owner:
        await delete(api, path, found["metadata"]["uid"], confirm=True)
