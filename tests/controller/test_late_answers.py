"""Answers that come late, about Services for the most part: by then the watch may have told more, or all may be paused."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from fcompile.lower.intent import Intent
from fcompile.model import names
from fcompile.pipeline.compiled import compile_framework
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.requests import Refused
from fcontroller.api import Answer, Body, Json, Projection, Query, collection, path_of
from fcontroller.mailbox import Mailbox
from fcontroller.observe.cache import Cache, SeenServices
from fcontroller.reconcile.background import Background
from fcontroller.reconcile.services import Services
from fcontroller.testing.memory_api.facade import Facade
from tests.controller import test_cache
from tests.controller.lab import LENIENT, Lab, Refusing, lab, refusal, run_in_memory
from tests.controller.test_kept_pods import pause
from tests.decide.world import role_spec

RETRY = {"fancyRetryPolicy": False, "maxRetryCount": 9}
FOR_ALL = {"retryPolicy": RETRY}
HEADLESS = {"ports": [{"port": 80, "name": "http"}]}
WORKER, PS = (role_spec(name, 1, task=FOR_ALL, service=HEADLESS) for name in ("worker", "ps"))
PORTS = {"train-worker": [80], "train-ps": [80]}
SERVICES, FRAMEWORK = collection("services", "default"), path_of("frameworks", "default", "train")
CONFIG_MAP = path_of("configmaps", "default", "train-attempt")
QUOTA = refusal(403, "Forbidden", "exceeded quota: services")


class Late(Refusing):
    """An API server whose answers take as long as `late` says, after what they answer was stored."""

    def __init__(self) -> None:
        super().__init__(lambda method, path: QUOTA if self.refuses and method == "POST" and path == SERVICES else None)
        self.refuses = False
        self.late: Callable[[str, str], float] = lambda method, path: 0
        self.written: Callable[[str, str, Answer], Awaitable[Answer]] | None = None
        """What becomes of an answer on its way."""
        self.log: list[tuple[str, str]] = []
        """Writes of Services and of the ConfigMap, as they were stored."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        answer = await super().request(method, path, body, query, projection)
        if answer.ok and method != "GET" and ("/services" in path or path == CONFIG_MAP):
            self.log.append((method, path.rpartition("/")[2]))
        await asyncio.sleep(self.late(method, path))
        return answer if self.written is None else await self.written(method, path, answer)

    async def at_once(self, method: str, path: str, body: Body | None = None) -> Answer:
        """As another user asks it, who is near the server."""
        return await Facade.request(self, method, path, body)

    async def service(self, name: str) -> Json | None:
        answer = await self.at_once("GET", path_of("services", "default", name))
        return answer.body if answer.ok else None


def play(work: Callable[[Lab, Late], Any]) -> None:
    async def run() -> None:
        api = Late()
        async with lab(api, rules=LENIENT) as made:
            await work(made, api)

    run_in_memory(run())


async def runs(made: Lab, *roles: Json) -> None:
    await made.make("train", {"retryPolicy": RETRY, "taskRoles": list(roles)})
    await made.until("train", lambda status: status["state"] == "AttemptRunning")


async def edit(api: Late, *roles: Json) -> None:
    answer = await api.at_once("PATCH", FRAMEWORK, [{"op": "replace", "path": "/spec/taskRoles", "value": list(roles)}])
    assert answer.ok, answer.message


async def delete(api: Late, path: str) -> None:
    assert (await api.at_once("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions"})).ok


async def conditions(made: Lab) -> dict[str, str]:
    found = (await made.framework("train"))["status"].get("conditions", ())
    return {one["type"]: one["status"] for one in found if one["type"] in ("ServicesMade", "IntentStored")}


def with_port(role: Json, port: int) -> Json:
    return {**role, "service": {"ports": [{"port": port, "name": "http"}]}}


@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_what_becomes_of_a_service_before_its_creation_is_answered(method: str) -> None:
    async def work(made: Lab, api: Late) -> None:
        api.late = lambda method, path: 2 if (method, path) == ("POST", SERVICES) else 0
        await made.make("train", {"taskRoles": [WORKER]})
        while (found := await api.service("train-worker")) is None:
            await asyncio.sleep(0.05)
        changed = {**found, "spec": {**found["spec"], "ports": [{"port": 81, "protocol": "TCP", "targetPort": 81}]}}
        assert (await api.at_once(method, path_of("services", "default", "train-worker"), changed if method == "PUT" else {})).ok
        await asyncio.sleep(100)
        found = await api.service("train-worker")
        assert found is not None
        assert [port["port"] for port in found["spec"]["ports"]] == [80]

    play(work)


def test_a_service_that_is_made_again_before_its_deletion_is_answered() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER, PS)
        api.late = lambda method, path: 10 if method == "DELETE" and "/services/" in path else 0
        for roles in ([WORKER], [WORKER, PS], [WORKER]):
            await edit(api, *roles)
            await asyncio.sleep(2)
        assert await api.service("train-ps")
        await asyncio.sleep(100)
        assert await api.service("train-ps") is None

    play(work)


def service(name: str, version: int, *, shown: bool = True, uid: str = "u") -> Json:
    labels = {"FC_FRAMEWORK_NAME": "train"} if shown else {}
    owners = [{"apiVersion": "v1", "kind": "Framework", "name": "train", "uid": "f", "controller": True}]
    metadata = {"name": name, "uid": uid, "resourceVersion": str(version), "labels": labels, "ownerReferences": owners}
    return {"metadata": metadata, "spec": {}}


def test_an_answer_counts_unless_the_watch_has_told_more() -> None:
    seen = SeenServices(lambda: 7)
    for version, shown, known in ((7, True, None), (5, False, 5), (4, False, 5), (6, True, 5), (8, True, 8)):
        seen.take(service("a", version, shown=shown))
        assert (int(seen["a"]["metadata"]["resourceVersion"]) if "a" in seen else None) == known
    before = seen["a"]
    seen.take(service("a", 9, uid="v"))
    for asked, left in ((None, True), (before, True), (service("a", 9, uid="v"), False)):
        seen.lose("a", asked)
        assert ("a" in seen) == left


class Later(test_cache.Late):
    """Answers to writes may come long after the watch has told of them."""

    async def request(
        self, method: str, path: str, body: Body | None = None, query: Query | None = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        answer = await super().request(method, path, body, query, projection)
        await asyncio.sleep(0 if method == "GET" else self.chance.choice([0, 0, 2, 8]))
        return answer


@pytest.mark.parametrize("seed", range(60))
def test_what_is_believed_and_made_is_right_in_the_end(seed: int) -> None:
    """With answers and events that come late, lists in pages, watches that end, and users who write Services too."""

    async def work() -> None:
        chance = random.Random(seed)
        api = Later(chance)
        cache = Cache(api, "default", lambda name, message: services.look())
        intents = [compiled(roles) for roles in ([WORKER], [WORKER, PS], [with_port(WORKER, 81), PS], [role_spec("a", 1)])]
        framework = {"metadata": {"name": "train", "namespace": "default", "uid": "f"}}
        background, seen = Background(), cache.of(("default", "train")).services
        services = Services(Dispatcher(api), framework, seen, background.start, Mailbox(lambda _: None))
        following = [asyncio.create_task(reflector.run()) for reflector in cache.reflectors]
        for _ in range(chance.choice([3, 10, 30])):
            await asyncio.sleep(chance.choice([0, 0.01, 0.3, 1]))
            path = path_of("services", "default", chance.choice(["train-worker", "train-ps"]))
            match chance.randrange(4):
                case 0:
                    await api.memory.request("DELETE", path, {})
                case 1:
                    await api.memory.request("PATCH", path, [{"op": "add", "path": "/spec/ports", "value": [{"port": 7}]}])
                case 2:
                    await api.memory.request("PATCH", path, [{"op": "remove", "path": f"/metadata/labels/{names.FRAMEWORK_NAME}"}])
                case 3:
                    intent = chance.choice(intents)
                    if chance.random() < 0.5:
                        background.start(ensured(services, intent, framework))
                        await asyncio.sleep(chance.choice([0, 0.3, 1]))
                    services.maintain(intent, framework)
            if chance.random() < 0.5:
                services.maintain(intents[1], framework)
        services.maintain(intents[1], framework)
        await asyncio.sleep(400)
        items = (await api.memory.request("GET", SERVICES)).body["items"]
        assert {item["metadata"]["name"]: [port["port"] for port in item["spec"]["ports"]] for item in items} == PORTS
        known = {name: found["metadata"]["resourceVersion"] for name, found in cache.of(("default", "train")).services.items()}
        assert known == {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}
        for task in following:
            task.cancel()
        await asyncio.gather(*background.under_way)

    run_in_memory(work())


async def ensured(services: Services, intent: Intent, framework: Json) -> None:
    """As for an edit: where users and what is maintained meanwhile leave no room for it, that is refused, and it is asked for again."""
    with contextlib.suppress(Refused):
        await services.ensure(intent, framework)


def compiled(roles: list[Json]) -> Intent:
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "train"}}
    return compile_framework({**head, "spec": {"taskRoles": roles}}, "default").intent


def test_what_runs_keeps_its_services_until_an_edit_is_in_force_which_keeps_its_own() -> None:
    """Each undid what the other had done: a port went forth and back, and what an edit takes away was made again, to be deleted again."""

    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER, PS)
        api.log.clear()
        api.late = lambda method, path: 2 if method == "GET" and path == CONFIG_MAP else 0
        await edit(api, with_port(WORKER, 81))
        await asyncio.sleep(100)
        assert api.log == [("PUT", "train-worker"), ("PUT", "train-attempt"), ("DELETE", "train-ps")]

    play(work)


def test_an_edit_that_is_refused_after_half_of_it_leaves_what_runs_as_it_was() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        api.refuses = True
        await edit(api, with_port(WORKER, 81), PS)
        await asyncio.sleep(100)
        await edit(api, WORKER)
        await asyncio.sleep(100)
        found = await api.service("train-worker")
        assert found is not None
        assert [port["port"] for port in found["spec"]["ports"]] == [80]

    play(work)


def test_no_second_service_is_repaired_in_a_pause_because_the_first_was_before_it() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER, PS)
        api.late = lambda method, path: 10 if (method, path) == ("POST", SERVICES) else 0
        for name in ("train-worker", "train-ps"):
            await delete(api, path_of("services", "default", name))
        await asyncio.sleep(1)
        await pause(made, "true")
        api.log.clear()
        await asyncio.sleep(100)
        assert api.log == []
        await pause(made, "false")
        await asyncio.sleep(15)
        assert api.log == [("POST", "services")]

    play(work)


def test_a_repair_of_another_service_does_not_say_that_the_edit_is_not_refused() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        api.refuses = True
        await edit(api, WORKER, PS)
        await asyncio.sleep(100)
        path = path_of("services", "default", "train-worker")
        patch = [{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]
        assert (await api.at_once("PATCH", path, patch)).ok
        for _ in range(20):
            await asyncio.sleep(0.1)
            assert await conditions(made) == {"ServicesMade": "False", "IntentStored": "False"}
        found = await api.service("train-worker")
        assert found is not None
        assert found["spec"]["ports"][0]["port"] == 80

    play(work)


def test_a_service_that_somebody_else_makes_in_a_pause() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        found = await api.service("train-worker")
        assert found is not None
        api.refuses = True
        await delete(api, path_of("services", "default", "train-worker"))
        await asyncio.sleep(100)
        await pause(made, "true")
        await asyncio.sleep(100)
        metadata = {key: found["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")}
        assert (await api.at_once("POST", SERVICES, {**found, "metadata": metadata})).ok
        await asyncio.sleep(1)
        assert (await conditions(made))["ServicesMade"] == "False"
        await pause(made, "false")
        await asyncio.sleep(2)
        assert (await conditions(made))["ServicesMade"] == "True"

    play(work)


@pytest.mark.parametrize("what", ["pause", "Stop"])
def test_no_attempt_begins_that_was_told_to_wait_until_a_pause_or_a_stop(what: str) -> None:
    """The creation of the ConfigMap was sent once more after the wait, whatever had become of the Framework."""

    async def work(made: Lab, api: Late) -> None:
        config_maps, busy = collection("configmaps", "default"), [Answer(429, {}, 8)]
        refusal = api.refusal
        api.refusal = lambda method, path: busy.pop() if busy and (method, path) == ("POST", config_maps) else refusal(method, path)
        await made.make("train", {"taskRoles": [role_spec("worker", 1)]})
        await asyncio.sleep(1)
        assert not busy
        if what == "pause":
            await pause(made, "true")
        else:
            assert (await made.edit("train", "executionType", "Stop")).ok
        await asyncio.sleep(60)
        assert not (await api.at_once("GET", CONFIG_MAP)).ok
        status = (await made.framework("train"))["status"]
        assert status["attemptStatus"].get("configMapUID") is None
        assert status["state"] == ("AttemptCreationPending" if what == "pause" else "Completed")
        if what == "pause":
            await pause(made, "false")
            await made.until("train", lambda status: status["state"] == "AttemptRunning")

    play(work)
