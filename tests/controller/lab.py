"""A controller and a kubelet on one API server, and what is done to them meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fcompile.lower.intent import at_once
from fcompile.model.packed import INTENT_BYTES
from fcompile.pipeline.compiled import compile_framework
from fcontroller.act.client import Client, from_kubeconfig
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Answer, Api, Body, Json, Projection, collection, path_of
from fcontroller.decide.context import POD_DELETION, SNAPSHOTS, Settings
from fcontroller.decide.review import Rules
from fcontroller.dependencies import Dependencies
from fcontroller.intent import read_stored
from fcontroller.log import Log
from fcontroller.reconcile.controller import Controller
from fcontroller.report.events import Recorder
from fcontroller.report.reporter import Reporter
from fcontroller.run import event_loop
from fcontroller.testing.memory_api import MemoryApi
from fcontroller.testing.memory_api.facade import Facade
from tests.cluster import Cluster
from tests.controller.scripted_kubelet import ScriptedKubelet
from tests.decide.world import SETTINGS as PLAIN
from tests.memory_api.validation import Validating
from tests.safety.virtual_time import VirtualLoop, in_virtual_time

PREFIX = "sim"
RULES, LENIENT = Rules(), Rules(enforce=False)
SETTINGS = PLAIN._replace(conflict_delay=(1, 2), snapshots=frozenset(SNAPSHOTS) - {POD_DELETION})


def now() -> float:
    """The time of day, in seconds since 1970: that of the running loop, where its time is virtual."""
    with contextlib.suppress(RuntimeError):
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop):
            return loop.wall()
    return time.time()


def in_memory() -> Facade:
    """A new API server in memory."""
    return Facade(MemoryApi(lambda: datetime.fromtimestamp(now(), UTC), lambda: str(uuid.uuid4()), Validating()))


class Refusing(Facade):
    """An API server in memory that answers as `refusal` says, after as long as that takes, and otherwise as it does."""

    def __init__(self, refusal: Callable[[str, str], Answer | Awaitable[Answer | None] | None]) -> None:
        super().__init__(in_memory().server)
        self.refusal = refusal

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        found = self.refusal(method, path)
        if isinstance(found, Awaitable):
            found = await found
        return found or await super().request(method, path, body, query, projection)


def refusal(code: int, reason: str, message: str) -> Answer:
    """What the API server answers when it refuses."""
    return Answer(code, {"kind": "Status", "code": code, "reason": reason, "message": message})


def stored_document(config_map: Json) -> bytes:
    """The text of the document that a ConfigMap holds."""
    text, _ = at_once(read_stored(config_map, INTENT_BYTES))
    return text


@contextlib.asynccontextmanager
async def real(cluster: Cluster) -> AsyncIterator[Client]:
    """A client of a real API server."""
    client = from_kubeconfig(str(cluster.kubeconfig))
    try:
        yield client
    finally:
        await client.close()
        await asyncio.sleep(0.1)  # Connections of which a request was cut off are closed by the loop, when it comes to that.


class Lab:
    """One namespace of an API server, with a controller and a kubelet at work."""

    def __init__(self, api: Api, namespace: str, rules: Rules, settings: Settings) -> None:
        self.api, self.namespace, self.rules, self.settings = api, namespace, rules, settings
        self.lines: list[Json] = []
        """What was logged."""
        self.controller = self._controller()
        self._running: asyncio.Task[None] | None = None

    def _controller(self) -> Controller:
        log = Log("debug", lambda line: self.lines.append(json.loads(line)))
        self.recorder = Recorder(self.api, now)
        self.report = Reporter(log, self.recorder, self.settings.snapshots, lambda seconds: None, now)
        dependencies = Dependencies(Dispatcher(self.api), self.settings, now, random.randint, self.rules, self.report)
        return Controller(dependencies, self.namespace)

    def start(self) -> None:
        self._running = asyncio.create_task(self.controller.run())

    async def restart(self) -> None:
        """The controller dies, and another one takes over."""
        await self.kill()
        self.controller = self._controller()
        self.start()

    async def kill(self) -> None:
        assert self._running is not None
        await _cancelled(self._running)
        for reconciler in self.controller.reconcilers.values():
            await _cancelled(*reconciler.under_way)

    async def make(self, name: str, spec: Json) -> Json:
        """Compile a Framework and apply it."""
        head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework"}
        compiled = compile_framework({**head, "metadata": {"name": name}, "spec": spec}, self.namespace).framework
        answer = await self.api.request("POST", collection("frameworks", self.namespace), compiled)
        assert answer.ok, answer.message
        return answer.body

    async def framework(self, name: str) -> Json:
        return (await self.api.request("GET", path_of("frameworks", self.namespace, name))).body

    async def edit(self, name: str, path: str, value: Any) -> Answer:
        """Change a field of the spec, as kubectl patch would."""
        patch = [{"op": "add", "path": f"/spec/{path}", "value": value}]
        return await self.api.request("PATCH", path_of("frameworks", self.namespace, name), patch)

    async def until(self, name: str, done: Callable[[Json], bool], seconds: float = 100) -> Json:
        """The Framework's status once something is so. What was refused for long is tried again after 77 s at most."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            status: Json = (await self.framework(name)).get("status") or {}
            if status and done(status):
                return status
            assert asyncio.get_running_loop().time() < end, f"{name} is still {status}"
            if self._running is not None and self._running.done():
                self._running.result()
            await asyncio.sleep(0.05)

    async def events(self) -> list[Json]:
        """Those that were written so far, oldest first."""
        items: list[Json] = (await self.api.request("GET", collection("events", self.namespace))).body["items"]
        return sorted(items, key=lambda event: event["metadata"]["name"])

    async def completed(self, name: str) -> Json:
        return await self.until(name, lambda status: status["state"] == "Completed")

    async def pods(self) -> list[Json]:
        items: list[Json] = (await self.api.request("GET", collection("pods", self.namespace))).body["items"]
        return items


@contextlib.asynccontextmanager
async def lab(
    api: Api, namespace: str = "default", *, rules: Rules = RULES, settings: Settings = SETTINGS, broken: Sequence[str] = ()
) -> AsyncIterator[Lab]:
    """A lab with everything in it running.

    :param broken: Frameworks with which the controller is to fail.
    """
    made = Lab(api, namespace, rules, settings)
    kubelet = asyncio.create_task(ScriptedKubelet(api, PREFIX, namespace=namespace).run())
    collector = asyncio.create_task(api.collect()) if isinstance(api, Facade) else None
    made.start()
    try:
        yield made
    finally:
        await made.kill()
        await _cancelled(*filter(None, (kubelet, collector)))
    defects = [line for line in made.lines if line["level"] == "error" and line["framework"] not in broken]
    assert not defects, defects[0]["error"]


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks, and wait: what is still under way on a connection keeps it open."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's work to its end, on the loop that `fcontroller run` has: its parts are not all as those of Python's own."""
    with asyncio.Runner(loop_factory=event_loop()) as runner:
        runner.run(work)


def run_in_memory(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's work that talks to nothing outside of this process: in virtual time, where no wait takes long and no machine is slow."""
    in_virtual_time(lambda _: work)
