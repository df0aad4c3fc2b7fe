"""A kubelet that runs nothing, and the scheduler: Pods come up, end and go as their annotations say, or as a test says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fcompile.model import names
from fcontroller.api import Json, path_of
from fcontroller.testing.memory_api.store import Change, Collection
from tests.safety.server import Server

RUN, EXITS = "sim/run", "sim/exits"
START, STOP = 0.05, 0.2
"""Seconds from a Pod's creation until it runs, and from its deletion until it is gone."""
_ADDRESSES = {"podIP": "10.0.0.1", "hostIP": "10.0.0.2"}


class Kubelet:
    """Follows every write of a server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.alive: dict[str, Json] = {}
        """The Pods whose containers may run, by uid."""
        self._ended: dict[str, list[tuple[str | None, ...]]] = {}
        """The attempts whose Pods ended by themselves, by the Pod's name."""
        self.lost = False
        """The node does not answer: nothing begins, ends or goes."""
        self._going: set[str] = set()
        self._at = server.loop.call_later
        server.memory._store.listen(self._see)

    def _see(self, collection: Collection, change: Change) -> None:
        if collection.kind.plural != "pods":
            return
        if change.new is None:
            assert change.old is not None
            self.alive.pop(change.old["metadata"]["uid"], None)
            return
        pod = change.new
        uid = pod["metadata"]["uid"]
        if change.old is None:
            self.alive[uid] = pod
            self._at(START / 2, self._bind, pod)
            self._at(START, self._begin, pod)
        if "deletionTimestamp" in pod["metadata"] and uid not in self._going:
            self._going.add(uid)
            self._at(STOP, self.let_go, pod)

    def _bind(self, pod: Json) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": "node"}
        metadata = {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        self._server.write("POST", f"{_path(pod)}/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target})

    def _begin(self, pod: Json) -> None:
        if not self._write(pod, {"phase": "Running", **_ADDRESSES, "containerStatuses": [_container({"running": {}})]}):
            return
        seconds = (pod["metadata"].get("annotations") or {}).get(RUN, "forever")
        if seconds != "forever":
            self._at(float(seconds), self._exit, pod)

    def _exit(self, pod: Json) -> None:
        notes = pod["metadata"].get("annotations") or {}
        codes = notes.get(EXITS, "0").split(",")
        attempts = self._ended.setdefault(pod["metadata"]["name"], [])
        # A Pod that is made once more for the same attempt ends as the first one did.
        attempt = tuple(notes.get(name) for name in (names.CONFIGMAP_UID, names.TASK_UID, names.TASK_ATTEMPT_ID))
        if attempt not in attempts:
            attempts.append(attempt)
        self.finish(pod, int(codes[min(attempts.index(attempt), len(codes) - 1)]))

    def finish(self, pod: Json, code: int) -> bool:
        """The containers of a Pod end, if it still is that Pod and not told to go."""
        finished = datetime.fromtimestamp(self._server.loop.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        state = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": finished}}
        done = self._write(pod, {"phase": "Failed" if code else "Succeeded", **_ADDRESSES, "containerStatuses": [_container(state)]})
        if done:
            self.alive.pop(pod["metadata"]["uid"], None)
        return done

    def catch_up(self) -> None:
        """The node is back: what was to go goes, and what was to begin begins."""
        self.lost = False
        for pod in list(self.alive.values()):
            if pod["metadata"]["uid"] in self._going:
                self._at(STOP, self.let_go, pod)
            elif pod["status"]["phase"] == "Pending":
                self._at(START, self._begin, pod)

    def let_go(self, pod: Json) -> None:
        """The containers of a Pod that was told to go have ended."""
        if self.lost:
            return
        self.alive.pop(pod["metadata"]["uid"], None)
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        self._server.write("DELETE", _path(pod), {"apiVersion": "v1", "kind": "DeleteOptions", **options})

    def _write(self, pod: Json, status: Json) -> bool:
        uid = pod["metadata"]["uid"]
        if self.lost or uid in self._going or uid not in self.alive:
            return False
        patch = [{"op": "test", "path": "/metadata/uid", "value": uid}, {"op": "add", "path": "/status", "value": status}]
        return self._server.write("PATCH", f"{_path(pod)}/status", patch).ok


def _container(state: dict[str, Any]) -> Json:
    running = "running" in state
    return {"name": "main", "ready": running, "started": running, "restartCount": 0, "image": "", "imageID": "", "state": state}


def _path(pod: Json) -> str:
    return path_of("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
