"""The kubelet of a world: it sees each write at once, ends a Pod that is made anew for the same attempt as the first one, and can be lost.

What it sends is what `fcontroller.testing.kubelet` sends. That one watches, so that it could not be without lag.
"""

from __future__ import annotations

from datetime import UTC, datetime

from fcompile.model import names
from fcontroller.api import Json
from fcontroller.testing.kubelet import binding, ended, patch, pod_path, removal, running
from fcontroller.testing.memory_api.store import Change, Collection
from tests.safety.server import Server

RUN, EXITS = "sim/run", "sim/exits"
START, STOP = 0.05, 0.2
"""Seconds from a Pod's creation until it runs, and from its deletion until it is gone."""


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
        self._server.write("POST", f"{pod_path(pod)}/binding", binding(pod))

    def _begin(self, pod: Json) -> None:
        if not self._write(pod, running(pod, self._now())):
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
        done = self._write(pod, ended(pod, code, self._now()))
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
        self._server.write("DELETE", pod_path(pod), removal(pod))

    def _write(self, pod: Json, status: Json) -> bool:
        uid = pod["metadata"]["uid"]
        if self.lost or uid in self._going or uid not in self.alive:
            return False
        return self._server.write("PATCH", f"{pod_path(pod)}/status", patch(pod, status)).ok

    def _now(self) -> str:
        return datetime.fromtimestamp(self._server.loop.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
