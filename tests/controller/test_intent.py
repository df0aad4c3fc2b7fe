"""What was reviewed is what runs: each Pod that is asked for is the reviewed one, in every field outside the closed list."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Generator, Mapping

import pytest

from fcompile import expand
from fcompile.lower.intent import Intent, lower_in_steps
from fcompile.model import names
from fcompile.pipeline.compiled import compile_framework
from fcontroller import intent as intents
from fcontroller.api import Answer, Body, Json, Projection, content_of, path_of
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import LENIENT, Lab, in_memory, lab, run_in_memory, stored_document
from tests.decide.world import role_spec
from tests.safety.faults import Fault
from tests.safety.world import World

RETRY = {"retryPolicy": {"fancyRetryPolicy": True, "maxRetryCount": 0}}
SPEC = {"taskRoles": [role_spec("worker", 2, task=RETRY, service={"ports": [{"port": 80}]}), role_spec("ps", 1, task=RETRY)]}


class Recorder(Facade):
    """Keeps every Pod as it was asked for."""

    def __init__(self, api: Facade) -> None:
        super().__init__(api.server)
        self.asked: list[Json] = []

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if method == "POST" and path.endswith("/pods"):
            sent = content_of(body)
            assert isinstance(sent, bytes)
            assert query == {"fieldValidation": "Strict"}
            self.asked.append(json.loads(sent))
        return await super().request(method, path, body, query, projection)


def without_cluster_values(pod: Json) -> Json:
    """A Pod without what only the cluster knows (`expand.LEFT_OUT`)."""
    (owner,) = pod["metadata"]["ownerReferences"]
    assert owner["kind"] == "ConfigMap"
    metadata = {key: value for key, value in pod["metadata"].items() if key != "ownerReferences"}
    metadata["annotations"] = {key: value for key, value in metadata["annotations"].items() if key not in names.CLUSTER_NAMES}
    hidden = {*names.CLUSTER_NAMES, names.TASK_ATTEMPT_INSTANCE_UID}
    containers = [
        {**container, "env": [variable for variable in container["env"] if variable["name"] not in hidden]}
        for container in pod["spec"]["containers"]
    ]
    return {**pod, "metadata": metadata, "spec": {**pod["spec"], "containers": containers}}


def reviewed(framework: Json) -> dict[str, Json]:
    """The Pods that `build --emit expected` prints for a Framework, by name."""
    intent = compile_framework(framework, "default").intent
    pods = [expand.pod(role, "default", index) for role in intent.roles for index in range(role.task_number)]
    return {pod["metadata"]["name"]: pod for pod in pods}


async def all_run(made: Lab, name: str, attempts: list[int]) -> None:
    def done(status: Json) -> bool:
        tasks = [task for role in status["attemptStatus"]["taskRoleStatuses"] for task in role["taskStatuses"]]
        return [(task["state"], task["attemptStatus"]["id"]) for task in tasks] == [("AttemptRunning", attempt) for attempt in attempts]

    await made.until(name, done)


async def delete_pod(made: Lab, name: str) -> None:
    await made.api.request("DELETE", path_of("pods", "default", name), {"apiVersion": "v1", "kind": "DeleteOptions"})


def test_after_retries_a_rescale_and_an_upgrade_of_the_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    def newer(framework: Json, version: str | None) -> Generator[None, None, Intent]:
        """Another version of the lowering rules."""
        intent = yield from lower_in_steps(framework, version)
        roles = [role._replace(pod={**role.pod, "spec": {**role.pod["spec"], "priority": 5}}) for role in intent.roles]
        return intent._replace(roles=tuple(roles))

    async def work() -> None:
        api = Recorder(in_memory())
        async with lab(api, rules=LENIENT) as made:
            framework = await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await delete_pod(made, "train-worker-1")
            await all_run(made, "train", [0, 1, 0])
            monkeypatch.setattr(intents, "lower_in_steps", newer)
            await made.restart()
            await delete_pod(made, "train-ps-0")
            await all_run(made, "train", [0, 1, 1])
            expected = reviewed(framework)
            assert [pod["metadata"]["name"] for pod in api.asked][3:] == ["train-worker-1", "train-ps-0"]
            assert [without_cluster_values(pod) for pod in api.asked] == [expected[pod["metadata"]["name"]] for pod in api.asked]

            monkeypatch.setattr(intents, "lower_in_steps", lower_in_steps)
            await made.restart()
            await made.edit("train", "taskRoles/0/taskNumber", 3)
            await all_run(made, "train", [0, 1, 0, 1])
            await made.edit("train", "taskRoles/1/task/pod/spec/containers/0/image", "b")
            await delete_pod(made, "train-ps-0")
            await all_run(made, "train", [0, 1, 0, 2])
            expected = reviewed(await made.framework("train"))
            assert [pod["metadata"]["name"] for pod in api.asked][5:] == ["train-worker-2", "train-ps-0"]
            assert [without_cluster_values(pod) for pod in api.asked[5:]] == [expected[pod["metadata"]["name"]] for pod in api.asked[5:]]

            answer = await api.request("GET", path_of("configmaps", "default", "train-attempt"))
            intent = compile_framework(await made.framework("train"), "default").intent
            assert intents.read_document(stored_document(answer.body)) == intent
            service = await api.request("GET", path_of("services", "default", "train-worker"))
            assert service.ok

    run_in_memory(work())


def test_a_large_intent_is_stored_compressed_and_read_back() -> None:
    big = role_spec("worker", 1, task={**RETRY})
    big["task"]["pod"]["metadata"]["annotations"]["note"] = "x" * 600_000
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "big"}}
    compiled = compile_framework({**head, "spec": {"taskRoles": [big]}}, "default")
    stored = intents.config_map(
        compiled.intent, {**compiled.framework, "metadata": {**compiled.framework["metadata"], "uid": "u", "generation": 1}}, 0
    )
    assert (list(stored["binaryData"]), list(stored["data"])) == (["intent.json.gz"], ["digest"])
    assert intents.read_document(stored_document(stored)) == compiled.intent


class EditsFirst(Facade):
    """Somebody edits the spec just before a status is stored, and watches are slow to tell."""

    def __init__(self, api: Facade) -> None:
        super().__init__(api.server)
        self.edited = False

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if method == "PUT" and path.endswith("/status") and not self.edited:
            sent = content_of(body)
            assert isinstance(sent, bytes)
            if json.loads(sent)["status"]["state"] == "AttemptRunning":
                self.edited = True
                patch = [{"op": "replace", "path": "/spec/taskRoles/0/taskNumber", "value": 3}]
                assert (await super().request("PATCH", path.removesuffix("/status"), patch)).ok
        return await super().request(method, path, body, query, projection)

    async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        async for event in super().watch(path, query, projection):
            if self.edited and path.endswith("/frameworks"):
                await asyncio.sleep(0.3)
            yield event


def test_an_edit_that_a_status_write_meets_first_is_not_missed() -> None:
    async def work() -> None:
        async with lab(EditsFirst(in_memory())) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0, 0])

    run_in_memory(work())


def test_a_pod_that_waits_for_its_turn_is_made_from_what_is_in_force_by_then() -> None:
    with World() as world:
        world.server.fault = lambda call: Fault.too_many() if call.method == "POST" and call.path.endswith("/pods") else None
        world.make({"taskRoles": [role_spec("worker", 2)]})
        world.run(1)
        world.edit("taskRoles/0/task/pod/spec/containers/0/image", "new")
        world.until(lambda: world.status()["intent"].get("observedGeneration") == 2, 10, 0.1)
        world.server.fault = lambda call: None
        world.until(lambda: len(world.all("pods")) == 2, 3, 0.1)
        assert {pod["spec"]["containers"][0]["image"] for pod in world.all("pods").values()} == {"new"}
