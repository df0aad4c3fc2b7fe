"""Whether the Pods that run are what was reviewed: all are looked at, again and again, a few at a time, in a small share of the time.

Following Pods tells of each only what decisions depend on. What somebody's admission or somebody's edit made of the rest is found here,
some minutes later at most, since to look at every whole Pod at once would cost as much as all else that is done for it.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import Any

from msgspec import json

from fcompile import expand
from fcompile.diff.compare import ABSENT
from fcompile.diff.live import pod_differences
from fcompile.model import names
from fcontroller.api import Json, Unreachable, collection
from fcontroller.decide.conditions import ADOPTED
from fcontroller.log import Log
from fcontroller.main import Controller, Name, task_of
from fcontroller.runner import Runner

_PAUSE = 60.0
"""Seconds between one round and the next."""
_PAGE = 50
"""Pods that are looked at in one go, while nothing else is done: each takes 0.2 ms of CPU with its way from the server."""
_BREATH = 2.0
"""Seconds between one page and the next: half a hundredth of the time goes into this, and 10,000 Pods take seven minutes."""


class Inspector:
    """Looks at the Pods of one controller's Frameworks."""

    def __init__(self, controller: Controller, log: Log, pause: float = _PAUSE) -> None:
        self._controller, self._log, self._pause = controller, log, pause
        self._found: dict[Name, dict[str, list[str]]] = {}
        """By Framework: the uids of Pods that differ, and the fields."""

    @property
    def differing(self) -> int:
        """How many Pods differ in a field that their attempt's intent has, so far as is known."""
        runners = self._controller.runners
        return sum(
            pod.uid in found for name, found in self._found.items() if found and name in runners for pod in runners[name].pods.values()
        )

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(self._pause)
            try:
                await self._round()
            except Unreachable:
                continue
            except Exception:  # Whatever strange Pod there may be: Frameworks run on without this.
                self._log.error("Pods cannot be compared with what was reviewed", error=traceback.format_exc())

    async def _round(self) -> None:
        """Look at every Pod once, if there is any to look at."""
        if not any(runner.renderer and runner.pods for runner in self._controller.runners.values()):
            self._found.clear()
            return
        looked: dict[Name, dict[str, list[str]]] = {}
        query = {"labelSelector": names.FRAMEWORK_NAME, "limit": str(_PAGE)}
        while True:
            answer = await self._controller.dependencies.api.request("GET", collection("pods", self._controller.namespace), query=query)
            following = answer.body["metadata"].get("continue")
            # The list as it was may be gone by now; then we are told how to go on with what there is.
            if not answer.ok and not (answer.code == 410 and following):
                return
            for pod in answer.body.get("items") or ():
                self._look(pod, looked)
            if not following:
                break
            query["continue"] = following
            await asyncio.sleep(_BREATH)
        self._found = looked

    def _look(self, pod: Json, looked: dict[Name, dict[str, list[str]]]) -> None:
        metadata = pod["metadata"]
        name = metadata["namespace"], metadata["labels"][names.FRAMEWORK_NAME]
        runner = self._controller.runners.get(name)
        fields = differing_fields(runner, pod) if runner else []
        if runner and fields:
            looked.setdefault(name, {})[metadata["uid"]] = fields
            found = self._found.setdefault(name, {})
            if not found and not _is_adopted(runner):
                runner.dependencies.report.warn(runner.framework, "PodsDiffer", _message(metadata["name"], fields))
            found[metadata["uid"]] = fields


def differing_fields(runner: Runner, pod: Json) -> list[str]:
    """The fields of a Pod that the intent of its attempt has otherwise; none for a Pod that is none of the attempt's or is going."""
    key, status, renderer = task_of(pod), runner.status, runner.renderer
    if key is None or status is None or renderer is None or "deletionTimestamp" in pod["metadata"]:
        return []
    role = status.role(key[0])
    task = role.tasks[key[1]] if role and key[1] < len(role.tasks) else None
    if role is None or task is None or task.attempt.object_uid != pod["metadata"]["uid"]:
        return []
    made = renderer.pod(status.attempt.id, role, task)
    if made is None or _is_as_made(pod, json.decode(made)):
        return []
    intent = next(intent for intent in renderer.intent.roles if intent.name == role.name)
    found = pod_differences(pod, expand.pod(intent, runner.namespace, task.index))
    return [difference.field for difference in found if difference.after is not ABSENT]


def _is_as_made(live: Json, made: Json) -> bool:
    # In a list an object does not say of what kind it is.
    return contains(live["metadata"], made["metadata"]) and contains(live["spec"], made["spec"])


def contains(live: Any, made: Any) -> bool:
    """Whether a value has all that was asked for, as it was asked for. Quick, and sure only when it says so."""
    if live == made:
        return True
    if isinstance(made, dict):
        return isinstance(live, dict) and all(key in live and contains(live[key], value) for key, value in made.items())
    # Admission adds volumes, mounts and variables after ours.
    added = isinstance(made, list) and isinstance(live, list) and len(live) >= len(made) and all(isinstance(item, dict) for item in made)
    return added and all(contains(*pair) for pair in zip(live, made, strict=False))


def _is_adopted(runner: Runner) -> bool:
    """Whether its Pods were looked at, and reported, when it was taken over."""
    assert runner.status is not None
    return any(condition["type"] == ADOPTED for condition in runner.status.others.get("conditions") or ())


def _message(pod: str, fields: list[str]) -> str:
    more = f" and {len(fields) - 1} more" if len(fields) > 1 else ""
    return f"Pod `{pod}` and perhaps others differ from what was reviewed, in `{fields[0]}`{more}: `fcompile diff --live` shows all"
