"""A world of its own: a server, a kubelet, a controller that dies and comes back, and whoever looks after what must never happen."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any

from fcompile.model import names
from fcompile.pipeline.compiled import compile_framework
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Api, Json, collection, path_of
from fcontroller.decide.conditions import INTENT_STORED, OBJECTS_DELETED, PODS_CREATED, PODS_STARTED, SERVICES_MADE
from fcontroller.dependencies import Dependencies
from fcontroller.reconcile.controller import Controller
from fcontroller.report import Report
from fcontroller.testing.memory_api.patch import patched
from tests.decide.world import SETTINGS as PLAIN
from tests.safety.kubelet import Kubelet
from tests.safety.server import Connection, Server
from tests.safety.virtual_time import VirtualLoop
from tests.safety.watcher import Watcher

SETTINGS = PLAIN._replace(conflict_delay=(60, 90))
RETRY = {"fancyRetryPolicy": True, "maxRetryCount": 1}
NAMESPACE = "default"
_process: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


def policy(failed: int = 1, succeeded: int = -1) -> Json:
    return {"minFailedTaskCount": failed, "minSucceededTaskCount": succeeded}


@cache
def _compiled(name: str, spec: str) -> str:
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": name}}
    return json.dumps(compile_framework({**head, "spec": json.loads(spec)}, NAMESPACE).framework)


def compiled(name: str, spec: Json) -> Json:
    framework: Json = json.loads(_compiled(name, json.dumps(spec)))
    return framework


class Process:
    """A controller, from its start to its death."""

    def __init__(self, world: World, api: Connection) -> None:
        self.api = api
        self.tasks: set[asyncio.Task[Any]] = set()
        self.controller = Controller(world.dependencies(api), NAMESPACE)
        context = contextvars.copy_context()
        context.run(_process.set, self)
        self.main = world.loop.create_task(self.controller.run(), context=context)

    def die(self) -> None:
        self.api.dead = True
        for task in list(self.tasks):
            task.cancel()


class World(Report):
    """`run` lets time pass; `start`, `die` and `restart` are of the controller; `close` looks whether all was as it must be."""

    def __init__(self, *, start: bool = True, restarts: bool = True) -> None:
        self.loop = VirtualLoop()
        self.loop.set_task_factory(_make_task)
        self.loop.set_exception_handler(self._problem)
        self.server = Server(self.loop)
        self.kubelet = Kubelet(self.server)
        self.watcher = Watcher(self.server, self.kubelet)
        self.server.on_crash = self._crashed
        self.restarts = restarts
        self.crashes = 0
        self.downtime = 0.3
        """Seconds that nobody runs after a controller has died."""
        self.slow = 0.0
        """Seconds that the controller's clock is behind the server's."""
        self.tells_time = False
        """Whether the server tells the time."""
        self.process: Process | None = None
        if start:
            self.start()

    def dependencies(self, api: Api) -> Dependencies:
        return Dependencies(
            Dispatcher(api),
            SETTINGS,
            lambda: self.loop.wall() - self.slow,
            lambda low, high: low,
            report=self,
            server_now=lambda: self.loop.wall() if self.tells_time else None,
        )

    def broke(self, framework: Json, error: BaseException) -> None:
        self.watcher.violations.append(f"the controller has failed: {error!r}")

    def _problem(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, asyncio.CancelledError) and "was destroyed" not in context["message"]:
            self.watcher.violations.append(f"{context['message']}: {error!r}")

    # The controller

    def start(self) -> None:
        self.process = Process(self, Connection(self.server))

    def die(self) -> None:
        if self.process is not None:
            self.process.die()
            self.process = None

    def restart(self) -> None:
        self.die()
        self.start()

    def _crashed(self) -> None:
        self.crashes += 1
        self.die()
        if self.restarts:
            self.loop.call_later(self.downtime, self._come_back)

    def _come_back(self) -> None:
        if self.process is None:
            self.start()

    def look_again(self) -> None:
        """Have the controller look at everything."""
        assert self.process is not None
        for reconciler in self.process.controller.reconcilers.values():
            reconciler._dirty.add_all()
            self.loop.call_soon(reconciler.reconcile)

    # Time

    def run(self, seconds: float) -> None:
        self.loop.run_for(seconds)
        if self.process is not None and self.process.main.done():
            self.process.main.result()

    def until(self, done: Callable[[], bool], seconds: float = 2000, step: float = 0.5) -> None:
        """Let time pass until something is so."""
        end = self.loop.passed + seconds
        while not done():
            assert self.loop.passed < end, "it never comes to that"
            self.run(step)

    def settle(self, quiet: float = 7, seconds: float = 2000) -> None:
        """Let time pass until nothing was written for a while."""
        end, revision = self.loop.passed + seconds, -1
        while revision != self.server.memory.revision:
            assert self.loop.passed < end, f"it never settles: {self.server.log[-20:]}"
            revision = self.server.memory.revision
            self.run(quiet)

    # What users do and see

    def make(self, spec: Json, name: str = "f") -> Json:
        answer = self.server.write("POST", collection("frameworks", NAMESPACE), compiled(name, spec))
        assert answer.ok, answer.message
        return answer.body

    def apply(self, spec: Json, name: str = "f") -> None:
        """Overwrite the spec, as `kubectl apply` does."""
        wanted, path = compiled(name, spec), path_of("frameworks", NAMESPACE, name)
        there = self.framework(name)["metadata"]
        metadata = {**there, "annotations": {**there["annotations"], **wanted["metadata"]["annotations"]}}
        answer = self.server.write("PUT", path, {**wanted, "metadata": metadata})
        assert answer.ok, answer.message

    def edit(self, where: str, value: Any, name: str = "f") -> None:
        """Change a field of the spec, as `kubectl patch` does, and have that reviewed."""
        patch = [{"op": "add", "path": f"/spec/{where}", "value": value}]
        edited = patched({"spec": self.framework(name)["spec"]}, patch)
        digest = compiled(name, edited["spec"])["metadata"]["annotations"][names.DIGEST_ANNOTATION]
        patch.append({"op": "add", "path": "/metadata/annotations/" + names.DIGEST_ANNOTATION.replace("/", "~1"), "value": digest})
        answer = self.server.write("PATCH", path_of("frameworks", NAMESPACE, name), patch)
        assert answer.ok, answer.message

    def stop(self, name: str = "f") -> None:
        self.edit("executionType", "Stop", name)

    def annotate(self, annotation: str, value: str | None, name: str = "f") -> None:
        """Set an annotation, or (None) take it away, as `kubectl annotate` does."""
        path = "/metadata/annotations/" + annotation.replace("/", "~1")
        patch = [{"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}]
        answer = self.server.write("PATCH", path_of("frameworks", NAMESPACE, name), patch)
        assert answer.ok, answer.message

    def pause(self, paused: bool = True) -> None:
        """Pause it or resume it, and wait until the controller says so."""
        self.annotate(names.PAUSE_ANNOTATION, "true" if paused else None)
        self.until(lambda: self.condition("Paused") == str(paused), 900)

    def condition(self, kind: str, name: str = "f") -> str | None:
        return next((one["status"] for one in self.status(name).get("conditions", ()) if one["type"] == kind), None)

    def framework(self, name: str = "f") -> Json:
        return self.all("frameworks").get(name) or {}

    def status(self, name: str = "f") -> Json:
        return self.framework(name).get("status") or {}

    def task(self, role: str, index: int, name: str = "f") -> Json:
        """The status of a task."""
        roles = self.status(name)["attemptStatus"]["taskRoleStatuses"]
        tasks: list[Json] = next(item["taskStatuses"] for item in roles if item["name"] == role)
        return tasks[index]

    def all(self, kind: str) -> dict[str, Json]:
        """All objects of a kind, by name: as they are stored, not to be changed."""
        return {value["metadata"]["name"]: value for value in self.watcher.stored[kind].values()}

    def delete(self, kind: str, name: str, **options: Any) -> None:
        self.server.write("DELETE", path_of(kind, NAMESPACE, name), {"apiVersion": "v1", "kind": "DeleteOptions", **options})

    def end(self) -> Json:
        """What there is, without what differs from run to run."""
        statuses = {name: _compared(framework.get("status")) for name, framework in self.all("frameworks").items()}
        for status in statuses.values():
            if status["state"] == "Completed":
                # An edit that ends the attempt may be stored in the ConfigMap before that goes, or not.
                status["intent"] = status["intent"].get("nextDigest") or status["intent"].get("digest")
        if not self.watcher.foreground:
            _leave_out_why_tasks_ended(statuses)
        pods = {
            name: (pod["status"]["phase"], "deletionTimestamp" in pod["metadata"], owner_kind(pod), _template(pod))
            for name, pod in self.all("pods").items()
        }
        return {"statuses": statuses, "pods": pods, "configmaps": sorted(self.all("configmaps")), "services": sorted(self.all("services"))}

    # The end

    def close(self) -> None:
        self.loop.shut()

    def __enter__(self) -> World:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with contextlib.suppress(RuntimeError) if kind else contextlib.nullcontext():
            self.close()
        if kind is None:
            self.check()

    def check(self) -> None:
        assert not self.watcher.violations, "\n".join(self.watcher.violations[:10])


def _make_task(loop: asyncio.AbstractEventLoop, work: Any, context: contextvars.Context | None = None) -> asyncio.Task[Any]:
    """Every task of a process is known, so that it can die with it."""
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, context=context)
    process = context.get(_process) if context is not None else _process.get()
    if process is not None:
        process.tasks.add(task)
        task.add_done_callback(process.tasks.discard)
    return task


_LEFT_OUT = {
    *("startTime", "runTime", "completionTime", "transitionTime", "instanceUID", "configMapUID", "podUID", "activeStartTime"),
    *("podIP", "podHostIP", "podNodeName", "message", "reason", "diagnostics", "lastTransitionTime", "observedGeneration"),
    *("taskRoleName", "taskIndex"),  # Of a trigger: of several Pods that end at the same time, any may be seen last.
}


def _compared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _compared(item) for key, item in value.items() if key not in _LEFT_OUT}
    return [_compared(item) for item in value if not _depends_on_the_way(item)] if isinstance(value, list) else value


def _leave_out_why_tasks_ended(statuses: Json) -> None:
    """Pods went after their ConfigMap: a task says that its Pod was deleted, or that the attempt has ended, whichever was seen first."""
    for status in statuses.values():
        for role in status["attemptStatus"]["taskRoleStatuses"]:
            for task in role["taskStatuses"]:
                del task["attemptStatus"]["completionStatus"]


_SAID_OF_TROUBLE = (SERVICES_MADE, INTENT_STORED, PODS_CREATED, PODS_STARTED, OBJECTS_DELETED)


def _depends_on_the_way(value: Any) -> bool:
    """A condition that is only there if something was refused or waited at first; a task that was scaled away and left when all ended."""
    if not isinstance(value, dict):
        return False
    made_at_last = (value.get("type"), value.get("status")) in [(kind, "True") for kind in _SAID_OF_TROUBLE]
    return made_at_last or (value.get("deletionPending") is True and value.get("state") == "Completed")


def owner_kind(pod: Json) -> str:
    """The kind of a Pod's controller: a Framework has those that outlived its last attempt."""
    return next((str(owner["kind"]) for owner in pod["metadata"].get("ownerReferences") or () if owner.get("controller")), "")


def _template(pod: Json) -> Json:
    """What of a Pod comes from its template: not its node, and not what the controller puts into its environment."""
    containers = [{key: value for key, value in container.items() if key != "env"} for container in pod["spec"]["containers"]]
    return {**pod["spec"], "containers": containers, "nodeName": ""}
