"""A kubelet that runs nothing: Pods start, end and are removed after a while. It talks to an API server, in memory or real.

It stands for the scheduler too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fcontroller.api import Api, Body, Json, Name, Unreachable, collection, full_name, path_of
from fcontroller.observe.reflector import Reflector

NODE = "node"
_AGAIN = 0.5
"""Seconds until a server that did not answer, or is too busy, is asked again."""
_ADDRESSES = {"podIP": "10.0.0.1", "hostIP": "10.0.0.2"}


class Kubelet:
    """A kubelet and a scheduler for all Pods of an API server. `run` runs them beside the controller."""

    def __init__(
        self,
        api: Api,
        *,
        namespace: str = "",
        start: float = 0.05,
        stop: float = 0.2,
        run: float | None = None,
        exits: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """:param start: seconds from a Pod's creation until it runs. :param stop: from its deletion until it is gone.

        :param run: for how many seconds its containers run; None: until it is deleted. :param exits: exit codes by Pod, one for each time
            that it is made; all others exit with 0.
        """
        self._api = api
        self._start, self._stop, self._run, self._exits = start, stop, run, exits or {}
        self._made: dict[Name, list[str]] = {}
        """The uids of the Pods that have come to their end, by name."""
        self._going: set[str] = set()
        self._known: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._path = collection("pods", namespace)

    async def run(self) -> None:
        """Follow Pods until cancelled."""
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
        await self._api.request("POST", "/api/v1/nodes", node)
        try:
            await Reflector(self._api, self._path, self).run()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def deleted(self, pod: Json) -> None:
        """Forget a Pod that is gone."""
        self._going.discard(pod["metadata"]["uid"])
        self._known.discard(pod["metadata"]["uid"])

    def retain(self, present: set[Name]) -> None:
        """Do nothing: a Pod that is gone needs nothing more."""

    def seen(self, pod: Json) -> None:
        """Let a Pod live, or end."""
        uid = pod["metadata"]["uid"]
        if "deletionTimestamp" in pod["metadata"]:
            # With a grace period of 0 nobody waits for the kubelet: the server itself removes the Pod.
            if uid not in self._going and pod["metadata"].get("deletionGracePeriodSeconds") != 0:
                self._going.add(uid)
                self._do(self._end, pod)
        elif uid not in self._known and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            self._known.add(uid)
            self._do(self._live, pod)

    def _do(self, what: Callable[[Json], Coroutine[Any, Any, None]], pod: Json) -> None:
        task = asyncio.get_running_loop().create_task(self._try(what, pod))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _try(self, what: Callable[[Json], Coroutine[Any, Any, None]], pod: Json) -> None:
        while True:
            try:
                return await what(pod)
            except Unreachable:  # There may never be another event of this Pod, so it must not be given up.
                await asyncio.sleep(_AGAIN)

    async def _ask(self, method: str, path: str, body: Body) -> bool:
        """Send a request; return whether the server has done it. Raises Unreachable when the server is too busy."""
        answer = await self._api.request(method, path, body)
        if answer.code == 429 or answer.code >= 500:
            raise Unreachable(answer.message)
        return answer.ok

    async def _live(self, pod: Json) -> None:
        await self._bind(pod)
        await asyncio.sleep(self._start)
        if not await self._write(pod, running(pod, now())):
            return
        if not await self._runs(pod):
            return
        end = self._ended(pod)
        if end is not None:
            await self._write(pod, {**_ADDRESSES, **end})

    async def _bind(self, pod: Json) -> None:
        if not pod["spec"].get("nodeName"):
            await self._ask("POST", f"{pod_path(pod)}/binding", binding(pod))

    async def _runs(self, pod: Json) -> bool:
        """Wait while the containers of a Pod run; return whether they end by themselves."""
        seconds = self._seconds(pod)
        if seconds is not None:
            await asyncio.sleep(seconds)
        return seconds is not None

    def _seconds(self, pod: Json) -> float | None:
        """Return for how long the containers of a Pod run."""
        return self._run

    def _codes(self, pod: Json) -> Sequence[int]:
        """Return how the Pods exit that are made under a Pod's name, one after the other."""
        return self._exits.get(pod["metadata"]["name"], (0,))

    def _ended(self, pod: Json) -> Json | None:
        """Return the status of a Pod that has ended by itself, or None while it runs."""
        codes = self._codes(pod)
        made = self._made_before(pod)
        return ended(pod, codes[min(made, len(codes) - 1)], now())

    def _made_before(self, pod: Json) -> int:
        """Return how many other Pods of that name have ended before. The answer stays the same if it is asked again for the same Pod."""
        uid, ended = pod["metadata"]["uid"], self._made.setdefault(full_name(pod), [])
        if uid not in ended:
            ended.append(uid)
        return ended.index(uid)

    async def _end(self, pod: Json) -> None:
        await asyncio.sleep(self._stop)
        await self._ask("DELETE", pod_path(pod), removal(pod))

    async def _write(self, pod: Json, status: Json) -> bool:
        return await self._ask("PATCH", f"{pod_path(pod)}/status", patch(pod, status))


# What kubelets and the scheduler send. Other stand-ins send the same, at other times.


def running(pod: Json, since: str) -> Json:
    """Return the status of a Pod whose containers run."""
    return {"phase": "Running", **_ADDRESSES, "containerStatuses": _containers(pod, {"running": {"startedAt": since}})}


def ended(pod: Json, code: int, at: str) -> Json:
    """Return the status of a Pod whose containers have exited with a code."""
    state = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": at}}
    return {"phase": "Failed" if code else "Succeeded", **_ADDRESSES, "containerStatuses": _containers(pod, state)}


def _containers(pod: Json, state: Json) -> list[Json]:
    runs = "running" in state
    about = {"ready": runs, "started": runs, "restartCount": 0, "image": "", "imageID": "", "state": state}
    return [{"name": container["name"], **about} for container in pod["spec"]["containers"]]


def binding(pod: Json) -> Json:
    """Return what puts a Pod, by its uid, on the node."""
    metadata = {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"apiVersion": "v1", "kind": "Node", "name": NODE}}


def patch(pod: Json, status: Json) -> list[Json]:
    """Return what changes the status of a Pod if it still has the same uid."""
    return [
        {"op": "test", "path": "/metadata/uid", "value": pod["metadata"]["uid"]},
        {"op": "add", "path": "/status", "value": status},
    ]


def removal(pod: Json) -> Json:
    """Return the options that remove a Pod, by its uid, at once."""
    options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
    return {"apiVersion": "v1", "kind": "DeleteOptions", **options}


def pod_path(pod: Json) -> str:
    """Return the path of a Pod."""
    return path_of("pods", *full_name(pod))


def now() -> str:
    """Return the time as Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
