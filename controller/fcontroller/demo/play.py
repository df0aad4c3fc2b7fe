"""Frameworks, run to their end by the controller itself on an API server in memory, with a kubelet that runs nothing."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from fcompile.diagnostics.visible import listed
from fcompile.model.framework import is_anothers
from fcompile.model.packed import role_statuses
from fcompile.model.values import sequence
from fcompile.program import safe
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Json, Name, collection, full_name
from fcontroller.decide.codes import SUCCEEDED
from fcontroller.decide.context import Settings
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED
from fcontroller.demo.options import check_pods
from fcontroller.demo.rows import rows
from fcontroller.demo.screen import screen
from fcontroller.dependencies import Dependencies
from fcontroller.observe.reflector import Reflector
from fcontroller.reconcile.controller import Controller
from fcontroller.testing.kubelet import Kubelet, ended, now
from fcontroller.testing.memory_api import MemoryApi
from fcontroller.testing.memory_api.facade import Facade

EXIT_FAILED: Final = 4
_NAMED: Final = 5
"""How many Pods a message names."""
_ALWAYS: Final = "Always"


def run(paths: Sequence[str], running_time: float, exits: dict[str, list[int]], timeout: float) -> int:
    """Play the Frameworks in files; returns the exit code. Raises UsageError for Pods that none of them will have.

    :param running_time: of each Pod, in seconds. :param exits: codes by Pod.
    """
    # The command itself, so that what is shown is what it would have printed for review. With a namespace, since it would say that
    # --namespace sets another.
    command = [sys.executable, "-m", "fcompile", "build", "--format", "json", "--namespace", "default", "--", *paths]
    compiled = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if compiled.returncode:
        return compiled.returncode
    printed = json.loads(compiled.stdout)
    objects: list[Json] = printed["items"] if printed.get("kind") == "List" else [printed]
    frameworks = [value for value in objects if value.get("kind") == "Framework"]
    check_pods(exits, frameworks)
    statuses = asyncio.run(play(frameworks, running_time, exits, timeout))
    specs = {name: framework["spec"] for name, framework in zip(_names(frameworks).values(), frameworks, strict=True)}
    failures = [line for name, status in statuses.items() if (line := _failure(name, status, specs[name], timeout))]
    for line in failures:
        print(safe(f"fcontroller: {line}"), file=sys.stderr)
    return EXIT_FAILED if failures else 0


async def play(frameworks: list[Json], running_time: float, exits: dict[str, list[int]], timeout: float) -> Mapping[str, Json]:
    """Run compiled Frameworks until all have completed or the time is over, and show them; returns the status of each as it is stored.

    :param running_time: of each Pod, in seconds. :param exits: codes by Pod.
    """
    api = Facade(MemoryApi(lambda: datetime.now(UTC), lambda: str(uuid.uuid4())))
    failures, _ = read_failures(DEFAULT_POD_FAILURE_SPEC)
    settings = Settings(Classifier(failures), conflict_delay=(1, 3))
    controller = Controller(Dependencies(Dispatcher(api), settings, time.time, random.randint))
    kubelet = _Kubelet(api, start=0.3, stop=0.5, run=running_time, exits=exits)
    seen = _Statuses(_names(frameworks))
    watch = Reflector(api, collection("frameworks"), seen)
    tasks = [asyncio.create_task(work) for work in (controller.run(), kubelet.run(), api.collect(), watch.run())]
    shown = screen(sys.stdout)
    try:
        await watch.listed.wait()
        for framework in frameworks:
            await _create(api, framework)
        end = time.monotonic() + timeout
        while not all(map(_is_over, seen.statuses.values())) and time.monotonic() < end:
            await asyncio.wait(tasks, timeout=0.1, return_when=asyncio.FIRST_EXCEPTION)
            for task in tasks:
                if task.done():
                    task.result()
            shown.show(rows(seen.statuses))
    finally:
        for task in tasks:
            task.cancel()
        shown.close()
    return seen.statuses


class _Kubelet(Kubelet):
    """One that restarts containers as the Pod's `restartPolicy` says."""

    def _seconds(self, pod: Json) -> float | None:
        return None if pod["spec"].get("restartPolicy", _ALWAYS) == _ALWAYS else self._run

    async def _runs(self, pod: Json) -> bool:
        if pod["spec"].get("restartPolicy") != "OnFailure":
            return await super()._runs(pod)
        failed = next((at for at, code in enumerate(self._codes(pod)) if not code), None)
        if failed is None or self._run is None:
            return False
        await asyncio.sleep(self._run * (failed + 1))
        return True

    def _ended(self, pod: Json) -> Json | None:
        return ended(pod, 0, now()) if pod["spec"].get("restartPolicy") == "OnFailure" else super()._ended(pod)


class _Statuses:
    """The status of each Framework as it was stored last. One that is gone stays as it was: it may live for no time after its end."""

    def __init__(self, names: Mapping[Name, str]) -> None:
        self._names = names
        self.statuses: dict[str, Json] = {name: {} for name in names.values()}
        """By what to call them."""

    def seen(self, framework: Json) -> None:
        """Take over the status of a Framework, if it has one."""
        name = self._names[full_name(framework)]
        self.statuses[name] = framework.get("status") or self.statuses[name]

    deleted = seen

    def retain(self, present: set[Name]) -> None:
        """Do nothing: one that is gone is as it was."""


def _names(frameworks: Sequence[Json]) -> dict[Name, str]:
    """Return what to call each Framework: the namespace only matters when there are several."""
    keys = list(map(full_name, frameworks))
    several = len({namespace for namespace, _ in keys}) > 1
    return {(namespace, name): f"{namespace}/{name}" if several else name for namespace, name in keys}


def _endless(spec: Json) -> set[str]:
    """Return the roles whose Pods do not end by themselves."""
    roles = sequence(spec, "taskRoles")
    return {role["name"] for role in roles if role["task"]["pod"]["spec"].get("restartPolicy", _ALWAYS) == _ALWAYS}


def _is_over(status: Json) -> bool:
    return status.get("state") == COMPLETED


def _failure(name: str, status: Json, spec: Json, timeout: float) -> str:
    """Return why a Framework has not succeeded; empty: it has."""
    if not status:
        theirs = "; `managedBy` leaves it to another controller" if is_anothers(spec) else ""
        return f"{name} has not begun after {timeout:g} s{theirs}"
    attempt = status["attemptStatus"]
    if _is_over(status):
        completion = attempt["completionStatus"]
        return "" if completion["type"]["name"] == SUCCEEDED.type_name else f"{name} failed: {completion['code']} {completion['phrase']}"
    tasks = [
        (role["name"], task["index"])
        for role in role_statuses(attempt)
        for task in role["taskStatuses"]
        if task["state"] not in (COMPLETED, ATTEMPT_COMPLETED)
    ]
    pods = [f"{name}-{role}-{index}" for role, index in tasks]
    running = f"; not ended: {listed(pods, _NAMED)}" if pods else ""
    return f"{name} is {status['state']} after {timeout:g} s{running}{_reason(spec, {role for role, _ in tasks})}"


def _reason(spec: Json, unended: set[str]) -> str:
    """Return why a Framework cannot end, if its spec says so.

    :param unended: the roles with tasks that have not ended.
    """
    if spec.get("executionType") == "Create":
        return "; under `executionType: Create` it waits for Start"
    if not any(role["taskNumber"] for role in sequence(spec, "taskRoles")):
        return "; it has no tasks"
    return f"; under `restartPolicy: {_ALWAYS}` containers are restarted for ever" if _endless(spec) & unended else ""


async def _create(api: Facade, framework: Json) -> None:
    namespace: str = framework["metadata"]["namespace"]
    head: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    await api.request("POST", "/api/v1/namespaces", head)
    await api.request("POST", collection("frameworks", namespace), framework)
