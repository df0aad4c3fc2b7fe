"""What is done to the API server, each with what makes it safe: uids for what is deleted, owners for what is found instead."""

from __future__ import annotations

import json

from fcompile.model import names
from fcontroller.api import Answer, Api, Json, Projection, collection, path_of
from fcontroller.decide.observed import controller_of

_FIRST_DELAY, _LONGEST_DELAY = 0.05, 60.0


class Failed(Exception):
    """The API server refused; it is tried again later."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.message)
        self.code = answer.code
        self.reason = answer.reason


def backoff(failures: int) -> float:
    """Seconds to wait after so many failures one after the other."""
    return min(_FIRST_DELAY * 2.0 ** min(failures - 1, 20), _LONGEST_DELAY)


def _taken(answer: Answer) -> Json:
    """The body of an answer that is no refusal. Raises Failed."""
    if not answer.ok:
        raise Failed(answer)
    return answer.body


async def write_status(api: Api, framework: Json, status: str) -> Json:
    """Store the status of a Framework, as JSON text, unless the Framework has changed meanwhile.

    Returns the Framework with its new metadata; its status is still the old one, since to read a large one again takes long.
    """
    metadata = {key: framework["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
    head = {"apiVersion": framework["apiVersion"], "kind": framework["kind"], "metadata": metadata, "spec": framework["spec"]}
    path = path_of("frameworks", metadata["namespace"], metadata["name"])
    body = f'{json.dumps(head)[:-1]},"status":{status}}}'.encode()
    return {**framework, "metadata": _taken(await api.request("PUT", f"{path}/status", body, projection=Projection.METADATA))["metadata"]}


async def read_framework(api: Api, framework: Json) -> Json | None:
    """The Framework as it is now; None: it is gone, whatever is there under its name."""
    answer = await api.request("GET", path_of("frameworks", framework["metadata"]["namespace"], framework["metadata"]["name"]))
    if answer.code == 404:
        return None
    found = _taken(answer)
    return found if found["metadata"]["uid"] == framework["metadata"]["uid"] else None


async def create_config_map(api: Api, config_map: Json) -> Json:
    """Create the ConfigMap of an attempt. One that is there already is no other than a leftover of ours, or in the way."""
    return _taken(await api.request("POST", collection("configmaps", config_map["metadata"]["namespace"]), config_map))


async def read(api: Api, path: str) -> Json:
    """The object at a path."""
    return _taken(await api.request("GET", path))


async def list_pods(api: Api, namespace: str, framework: str) -> list[Json]:
    """The Pods that have a Framework's label."""
    items: list[Json] = []
    query = {"labelSelector": f"{names.FRAMEWORK_NAME}={framework}", "limit": "500"}
    while True:
        page = _taken(await api.request("GET", collection("pods", namespace), query=query))
        items += page["items"]
        following = page["metadata"].get("continue")
        if not following:
            return items
        query["continue"] = following


async def replace(api: Api, path: str, value: Json) -> None:
    """Write an object, unless somebody else did meanwhile."""
    _taken(await api.request("PUT", path, value))


async def create_pod(api: Api, namespace: str, pod: bytes) -> str:
    """Create a Pod; returns its uid. What the API server does not know in it is an error, not dropped."""
    made = _taken(
        await api.request("POST", collection("pods", namespace), pod, {"fieldValidation": "Strict"}, projection=Projection.METADATA)
    )
    return str(made["metadata"]["uid"])


async def delete(api: Api, path: str, uid: str, *, force: bool = False, confirm: bool = False, propagation: str = "") -> None:
    """Delete an object if it still is the one with that uid; with `confirm`, fail unless it is gone for sure."""
    options: Json = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
    if force:
        options["gracePeriodSeconds"] = 0
    if propagation:
        options["propagationPolicy"] = propagation
    answer = await api.request("DELETE", path, options, projection=Projection.METADATA)
    if not answer.ok and answer.code not in (404, 409):
        raise Failed(answer)
    # A 409 nearly always says that there is another one by now.
    if answer.code == 409 or (confirm and answer.code != 404):
        found = await api.request("GET", path)
        if found.code != 404 and (not found.ok or found.body["metadata"]["uid"] == uid):
            raise Failed(found)


async def remove(api: Api, path: str, owner: str) -> None:
    """Make sure that the object at a path, if there is one, is not controlled by the owner with that uid: delete it, if need be."""
    found = await api.request("GET", path)
    if found.code == 404:
        return
    if not found.ok:
        raise Failed(found)
    if controller_of(found.body["metadata"]) == owner:
        await delete(api, path, found.body["metadata"]["uid"], confirm=True)
