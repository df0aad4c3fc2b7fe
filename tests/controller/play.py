"""Scenarios as data: what somebody does to a Framework and its objects, each time something has come about, and what its status is then.

The same player recorded them from FrameworkController's own controller, and plays them to ours. A step is one of these:

- `until`: wait until the status is so. By name: `state`, `attempt` (its id), `delayed` (whether a retry waits), `roles`; a task (`a-0`) by
  its `state`, `attempt`, `deletionPending`, `node` and `completion` (its code), null when there is none. Only what is named must be so.
- `object`: wait until an object (`pods/f-a-0`) has these fields (`*`: any value), null: until there is none.
- `request`: a method, an object or collection, and a body.
- `note`: keep the status as it is now, `masked`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from fcontroller.api import Api, Json, Name, collection
from fcontroller.observe.reflector import Reflector

_TIMES = ("startTime", "runTime", "completionTime", "transitionTime")
_OURS = ("taskCounts", "conditions", "intent")
_UID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def masked(value: Any, key: str = "", within: str = "") -> Any:
    """A status without what is another each time, or in other words: what type it has is still to be seen."""
    if isinstance(value, dict):
        return {name: masked(item, name, key) for name, item in value.items() if name not in _OURS}
    if isinstance(value, list):
        return [masked(item, key, within) for item in value]
    if isinstance(value, str):
        if key in _TIMES and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value):
            return "<time>"
        # Messages of Pods and containers are facts: what a completion says about them is not.
        if key == "diagnostics" or (key == "message" and within == "trigger"):
            return value and "<text>"
        return _UID.sub("<uid>", value)
    if key == "retryDelaySec" and value:
        return "<seconds>"
    return value


def view(status: Json) -> Json:
    """What steps wait for."""
    attempt = status["attemptStatus"]
    roles = attempt["taskRoleStatuses"] or []
    found: Json = {
        "state": status["state"],
        "attempt": attempt["id"],
        "delayed": bool(status["retryPolicyStatus"]["retryDelaySec"]),
        "roles": [role["name"] for role in roles],
    }
    for role in roles:
        for task in role["taskStatuses"]:
            own = task["attemptStatus"]
            found[f"{role['name']}-{task['index']}"] = {
                "state": task["state"],
                "attempt": own["id"],
                "deletionPending": task["deletionPending"],
                "node": own["podNodeName"],
                "completion": own["completionStatus"] and own["completionStatus"]["code"],
            }
    return found


def has(found: Any, wanted: Any) -> bool:
    """Whether everything that is named is so."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(has(found.get(key), item) for key, item in wanted.items())
    return found is not None if wanted == "*" else bool(found == wanted)


class _Objects:
    """What is seen of a kind."""

    def __init__(self, stage: Stage, kind: str) -> None:
        self._stage, self._kind = stage, kind

    def seen(self, value: Json) -> None:
        self._put(value["metadata"]["name"], value)

    def deleted(self, value: Json) -> None:
        self._put(value["metadata"]["name"], None)

    def retain(self, present: set[Name]) -> None:
        known = [path.partition("/") for path in self._stage.objects]
        for name in {name for kind, _, name in known if kind == self._kind} - {name for _, name in present}:
            self._put(name, None)

    def _put(self, name: str, value: Json | None) -> None:
        path, stage = f"{self._kind}/{name}", self._stage
        if value is None:
            stage.objects.pop(path, None)
        else:
            stage.objects[path] = value
        news, stage.changed = stage.changed, asyncio.Event()
        news.set()


class Stage:
    """One namespace of an API server, and what is in it."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api, self.namespace = api, namespace
        self.objects: dict[str, Json] = {}
        """By kind and name, as `pods/f-a-0`."""
        self.changed = asyncio.Event()
        self._reflectors = [self._reflector(kind) for kind in ("frameworks", "pods", "configmaps")]

    def _reflector(self, kind: str) -> Reflector:
        return Reflector(self.api, collection(kind, self.namespace), _Objects(self, kind))

    async def watch(self) -> None:
        """Follow what happens, until cancelled."""
        await asyncio.gather(*(reflector.run() for reflector in self._reflectors))

    async def listed(self) -> None:
        """Wait until everything that is there has been seen."""
        for reflector in self._reflectors:
            await reflector.listed.wait()

    async def play(self, scenario: Json, seconds: float = 60) -> list[Json]:
        """Play a scenario; returns what was noted. No step may take longer than `seconds`."""
        notes: list[Json] = []
        for step in scenario["steps"]:
            ((kind, about),) = step.items()
            where = f"{scenario['name']}: {json.dumps(step)[:300]}"
            if kind == "note":
                notes.append(masked(self.status(scenario["name"])))
            elif kind == "request":
                await self._request(where, *about)
            elif kind == "object":
                await self._wait(where, partial(self._object_is, *about), seconds)
            else:
                await self._wait(where, partial(self._status_is, scenario["name"], about), seconds)
        return notes

    def status(self, name: str) -> Json:
        """The status of a Framework as it was last seen."""
        status: Json = self.objects.get(f"frameworks/{name}", {}).get("status") or {}
        return status

    def _status_is(self, name: str, wanted: Json) -> tuple[bool, Any]:
        status = self.status(name)
        return bool(status) and has(view(status), wanted), status and view(status)

    def _object_is(self, path: str, wanted: Json | None) -> tuple[bool, Any]:
        found = self.objects.get(path)
        return has(found, wanted), found

    async def _wait(self, where: str, look: Callable[[], tuple[bool, Any]], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not look()[0]:
                    await self.changed.wait()
        except TimeoutError:
            raise AssertionError(f"{where} is not so: {json.dumps(look()[1])}") from None

    async def _request(self, where: str, method: str, path: str, *body: Any) -> None:
        kind, *rest = path.split("/")
        answer = await self.api.request(method, "/".join((collection(kind, self.namespace), *rest)), *body)
        assert answer.ok, f"{where}: {answer.message}"
