"""A mutating admission webhook changes what the controller writes: that is told, and nothing goes on without a pause."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

import pytest

from fcontroller.api import Answer, Body, Json, Projection, Unreachable, collection, content_of, path_of
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import Lab, in_memory, lab, run_in_memory
from tests.decide.world import role_spec

PODS, CONFIG_MAPS = (collection(kind, "default") for kind in ("pods", "configmaps"))
CONFIG_MAP = path_of("configmaps", "default", "train-attempt")
ROLE = role_spec("a", 1, run="forever")
HOUR = 3600


class Mutating(Facade):
    """An API server with a webhook that changes what is written to some paths, where answers to creations of Pods can be lost."""

    def __init__(self, change: Callable[[Json], object], *paths: str, loses: bool = False) -> None:
        super().__init__(in_memory().server)
        self.change, self.paths, self.loses = change, paths, loses
        self.written = 0
        """How often something was changed."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        changed = method in ("POST", "PUT") and path in self.paths
        if changed:
            content = content_of(body)
            body = json.loads(content if isinstance(content, bytes) else json.dumps(content))
            assert isinstance(body, dict)
            self.change(body)
            self.written += 1
        answer = await super().request(method, path, body, query, projection)
        if changed and self.loses:
            raise Unreachable("no answer")
        return answer


def warnings(made: Lab) -> set[str]:
    return {line["reason"] for line in made.lines if line["level"] == "warning" and "reason" in line}


def sidecar(pod: Json) -> None:
    pod["spec"]["containers"].append({"name": "proxy", "image": "proxy"})


def owner(value: Json) -> None:
    value["metadata"]["ownerReferences"] = []


def content(config_map: Json) -> None:
    config_map["data"] = {}


def test_pods_that_are_changed_and_not_answered() -> None:
    """They were made and deleted again and again, and nothing said why."""

    async def work() -> None:
        api = Mutating(sidecar, PODS, loses=True)
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [ROLE]})
            await asyncio.sleep(HOUR)
            assert 2 <= api.written <= HOUR / 15
            (said,) = {line["message"] for line in made.lines if line.get("reason") == "PodNotRecognized"}
            assert said.startswith("Pod `train-a-0` is deleted, and made anew, since it differs from what its task makes in ")
            assert "`spec.containers[proxy]`. Admission has changed it, or an edit came, and" in said
            assert {pod["metadata"]["name"] for pod in await made.pods()} <= {"train-a-0"}
            api.loses = False
            await made.until("train", lambda status: status["state"] == "AttemptRunning", 120)

    run_in_memory(work())


@pytest.mark.parametrize(("change", "reason"), [(content, "Forged"), (owner, "Refused")])
def test_a_repair_that_is_changed(change: Callable[[Json], object], reason: str) -> None:
    """It counted as done: the condition said that all was well, and a ConfigMap without an owner stays when the Framework goes."""

    async def work() -> None:
        api = Mutating(change, CONFIG_MAPS, CONFIG_MAP)
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [ROLE]})
            await asyncio.sleep(HOUR)
            condition = next(each for each in (await made.framework("train"))["status"]["conditions"] if each["type"] == "IntentStored")
            assert (condition["status"], condition["reason"]) == ("False", reason)
            assert "it was changed as it was written" in condition["message"]
            assert f"Intent{reason}" in warnings(made)
            assert 3 <= api.written <= HOUR / 15
            api.paths = ()
            await made.until("train", lambda status: all(each["status"] == "True" for each in status["conditions"]), 120)
            stored = (await made.api.request("GET", CONFIG_MAP)).body
            assert stored["data"]
            assert stored["metadata"]["ownerReferences"]

    run_in_memory(work())


def test_an_edit_that_is_changed_is_not_in_force() -> None:
    async def work() -> None:
        api = Mutating(content, CONFIG_MAP)
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [ROLE]})
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            await made.edit("train", "taskRoles/0/taskNumber", 2)
            await asyncio.sleep(HOUR)
            conditions = {each["type"]: each for each in (await made.framework("train"))["status"]["conditions"]}
            assert conditions["IntentStored"]["status"] == "False"
            assert 3 <= api.written <= HOUR / 15

    run_in_memory(work())


def test_a_service_that_is_changed() -> None:
    """It was written again once a minute, and the condition said that all was well, with its traffic led elsewhere."""

    def selector(service: Json) -> None:
        service["spec"]["selector"] = {"app": "another"}

    async def work() -> None:
        api = Mutating(selector, collection("services", "default"), path_of("services", "default", "train-a"))
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [ROLE | {"service": {"ports": [{"name": "http", "port": 80}]}}]})
            await asyncio.sleep(HOUR)
            condition = next(each for each in (await made.framework("train"))["status"]["conditions"] if each["type"] == "ServicesMade")
            assert condition["message"].startswith("A Service cannot be made or changed: `train-a`: changed again as soon as")
            assert "ServiceRefused" in warnings(made)
            assert 3 <= api.written <= HOUR / 15
            api.paths = ()
            await made.until("train", lambda status: all(each["status"] == "True" for each in status["conditions"]), 120)

    run_in_memory(work())
