"""Pods whose owners somebody changes: they would stay for ever, since the garbage collector takes only what has lost its last owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from fcompile.model.names import FRAMEWORK_NAME
from fcontroller.act import requests
from fcontroller.api import Answer, Api, Json, collection, path_of
from fcontroller.decide.owners import framework_owner
from fcontroller.testing.memory_api.facade import Facade
from tests.cluster import Cluster
from tests.controller.lab import Lab, Refusing, lab, real, refusal, run, run_in_memory
from tests.controller.test_kept_pods import patch
from tests.decide.world import role_spec

POD = path_of("pods", "default", "train-a-0")
Change = Callable[[Lab], Awaitable[None]]


async def take_off(made: Lab) -> None:
    await patch(made, POD, "remove", "/metadata/ownerReferences")


async def add_another(made: Lab) -> None:
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": "default"}}
    answer = await made.api.request("POST", "/api/v1/namespaces/default/configmaps", value)
    uid = answer.body["metadata"]["uid"]
    await patch(made, POD, "add", "/metadata/ownerReferences/-", {"apiVersion": "v1", "kind": "ConfigMap", "name": "mine", "uid": uid})


def says(field: str, value: object) -> Change:
    """Return a change of one field of the owner."""

    async def change(made: Lab) -> None:
        await patch(made, POD, "replace", f"/metadata/ownerReferences/0/{field}", value)

    return change


FIELDS = {"apiVersion": "example.com/v1", "kind": "Nothing", "name": "another", "controller": False, "blockOwnerDeletion": False}
CHANGES = pytest.mark.parametrize(
    "change", [take_off, add_another, *map(says, FIELDS, FIELDS.values())], ids=["take_off", "add_another", *FIELDS]
)


def play(work: Callable[[Lab], Awaitable[None]], refuse: Callable[[str, str], Any] = lambda *_: None) -> None:
    async def all_of_it() -> None:
        async with lab(Refusing(refuse)) as made:
            await work(made)

    run_in_memory(all_of_it())


async def running(made: Lab, **spec: Any) -> None:
    """Have a Framework whose two Pods run until they are deleted."""
    await made.make("train", {**spec, "taskRoles": [role_spec("a", 2, run="forever")]})
    await made.until("train", lambda status: status["taskCounts"]["running"] == 2)


async def owners(made: Lab) -> list[str]:
    answer = await made.api.request("GET", POD)
    return [owner["name"] for owner in answer.body["metadata"].get("ownerReferences", ())]


def is_adoption(method: str, path: str) -> bool:
    return method == "PATCH" and path == POD


@CHANGES
def test_they_get_their_owner_back_and_run_on(change: Change) -> None:
    async def work(made: Lab) -> None:
        await running(made)
        before = (await made.api.request("GET", POD)).body["metadata"]
        await change(made)
        await asyncio.sleep(5)
        after = (await made.api.request("GET", POD)).body["metadata"]
        assert (after["uid"], after["ownerReferences"]) == (before["uid"], before["ownerReferences"])
        assert [line["reason"] for line in made.lines if line["level"] == "warning"] == ["PodOwnersRestored"]

    play(work)


def test_a_pod_that_nobody_has_changed_is_not_asked_about() -> None:
    """Each Pod was read once a minute: of its owner the watch told all but one field."""
    asked: list[str] = []

    async def work(made: Lab) -> None:
        await running(made)
        await asyncio.sleep(300)
        assert POD not in asked

    def note(method: str, path: str) -> None:
        asked.append(path)

    play(work, note)


async def change_meanwhile(made: Lab, api: Refusing, how: Callable[[], Awaitable[Answer]]) -> None:
    """Change the Pod once, between the look at its owners and their writing."""
    hows = [how]

    async def first(method: str, path: str) -> None:
        if is_adoption(method, path) and hows:
            assert (await hows.pop()()).ok

    await running(made)
    api.refusal = lambda method, path: first(method, path) if is_adoption(method, path) else None
    changed = await Facade.request(api, "PATCH", POD, [{"op": "remove", "path": "/metadata/ownerReferences"}])
    assert changed.ok
    await asyncio.sleep(10)
    assert not hows


def test_a_race_with_who_writes_the_pod_is_no_refusal() -> None:
    """It was reported as one (422), and as a deletion that is held, in the log, by two Events and a condition."""

    async def work() -> None:
        api = Refusing(lambda *_: None)
        async with lab(api) as made:
            mark = [{"op": "add", "path": "/metadata/annotations/mark", "value": "x"}]
            await change_meanwhile(made, api, lambda: Facade.request(api, "PATCH", POD, mark))
            assert await owners(made) == ["train-attempt"]
            assert (await made.api.request("GET", POD)).body["metadata"]["annotations"]["mark"] == "x"
            assert [line["reason"] for line in made.lines if line["level"] == "warning"] == ["PodOwnersRestored"]

    run_in_memory(work())


def test_a_pod_that_is_gone_when_its_owners_are_written_is_no_refusal() -> None:
    async def work() -> None:
        api = Refusing(lambda *_: None)
        async with lab(api) as made:
            await change_meanwhile(made, api, lambda: Facade.request(api, "DELETE", POD, {"gracePeriodSeconds": 0}))
            assert [line["reason"] for line in made.lines if line["level"] == "warning"] == []

    run_in_memory(work())


@pytest.mark.cluster
def test_a_real_server_too_says_that_it_is_a_conflict(cluster: Cluster) -> None:
    async def work() -> None:
        async with real(cluster) as client:
            uids = dict[str, str]()
            for name in ("owner", "raced"):
                value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
                uids[name] = (await requests.create(client, "configmaps", value))["metadata"]["uid"]
            path = path_of("configmaps", "default", "raced")
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uids["owner"]}

            class Raced(Api):
                """Somebody else writes the object right before its owners are."""

                def __init__(self) -> None:
                    self.changed = False

                async def request(self, method: str, path: str, *rest: Any, **named: Any) -> Answer:
                    if method == "PATCH" and not self.changed:
                        self.changed = True
                        mark = [{"op": "add", "path": "/data", "value": {"mark": "x"}}]
                        assert (await client.request("PATCH", path, mark)).ok
                    return await client.request(method, path, *rest, **named)

                def watch(self, *_: Any, **__: Any) -> AsyncIterator[Json]:
                    raise NotImplementedError

            raced = Raced()
            with pytest.raises(requests.Refused) as refused:
                await requests.write_owners(raced, path, uids["raced"], [owner])
            assert refused.value.code == 409
            assert await requests.write_owners(raced, path, uids["raced"], [owner])
            found = (await client.request("GET", path)).body
            assert (found["metadata"]["ownerReferences"], found["data"]) == ([owner], {"mark": "x"})
            assert (await client.request("DELETE", path_of("configmaps", "default", "owner"), {})).ok

    run(work())


@CHANGES
def test_a_controller_that_starts_later_does_so_too(change: Change) -> None:
    async def work(made: Lab) -> None:
        await running(made)
        before = (await made.api.request("GET", POD)).body["metadata"]["ownerReferences"]
        await made.kill()
        await change(made)
        await made.restart()
        await asyncio.sleep(5)
        assert (await made.api.request("GET", POD)).body["metadata"]["ownerReferences"] == before

    play(work)


@CHANGES
@pytest.mark.parametrize("end", [{"executionType": "Stop"}, {"activeDeadlineSeconds": 30, "ttlSecondsAfterFinished": 10}])
def test_nothing_runs_after_the_end_if_they_cannot_get_it_back(change: Change, end: Json) -> None:
    refused = False

    async def refuse_it() -> Answer:
        return refusal(403, "Forbidden", "you may not patch pods")

    async def work(made: Lab) -> None:
        nonlocal refused
        stops = "executionType" in end
        await running(made, **({} if stops else end))
        await change(made)  # The controller may patch until now: this PATCH is no adoption.
        refused = True
        if stops:
            await made.edit("train", "executionType", "Stop")
        await asyncio.sleep(120)
        assert await made.pods() == []
        if stops:
            assert (await made.framework("train"))["status"]["state"] == "Completed"

    count = 0

    def refuse(method: str, path: str) -> Any:
        nonlocal count
        if not is_adoption(method, path):
            return None
        count += 1
        return refuse_it() if refused or count > 1 else None

    play(work, refuse)


def test_an_attempt_that_cannot_give_them_back_says_so() -> None:
    async def refuse_it() -> Answer:
        return refusal(403, "Forbidden", "you may not patch pods")

    count = 0

    def refuse(method: str, path: str) -> Any:
        nonlocal count
        count += is_adoption(method, path)
        return refuse_it() if is_adoption(method, path) and count > 1 else None

    async def work(made: Lab) -> None:
        await running(made)
        await take_off(made)
        await asyncio.sleep(30)
        conditions = (await made.framework("train"))["status"]["conditions"]
        (held,) = [condition for condition in conditions if condition["type"] == "ObjectsDeleted"]
        assert held["reason"] == "Held"
        assert "Pod `train-a-0` has other owners than it was made with" in held["message"]
        assert count < 12, "it is not tried again and again"

    play(work, refuse)


def test_owners_of_the_frameworks_own_text_stay() -> None:
    async def work(made: Lab) -> None:
        value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": "default"}}
        uid = (await made.api.request("POST", "/api/v1/namespaces/default/configmaps", value)).body["metadata"]["uid"]
        role = role_spec("a", 1, run="forever")
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "mine", "uid": uid}
        role["task"]["pod"].setdefault("metadata", {})["ownerReferences"] = [owner]
        await made.make("train", {"taskRoles": [role]})
        await made.until("train", lambda status: status["taskCounts"]["running"] == 1)
        await asyncio.sleep(30)
        assert await owners(made) == ["mine", "train-attempt"]
        assert [line for line in made.lines if line["level"] == "warning"] == []
        await take_off(made)
        await asyncio.sleep(5)
        assert await owners(made) == ["mine", "train-attempt"]
        await made.edit("train", "executionType", "Stop")
        await asyncio.sleep(60)
        assert await made.pods() == []

    play(work)


def test_a_real_garbage_collector_takes_them(cluster: Cluster, namespace: str) -> None:
    async def work() -> None:
        async with real(cluster) as api, lab(api, namespace) as made:
            for name in ("one", "two"):
                await made.make(name, {"taskRoles": [role_spec("a", 1, run="forever")]})
                await made.until(name, lambda status: status["taskCounts"]["running"] == 1)
            value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}}
            mine = (await api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", value)).body["metadata"]["uid"]
            another = {"apiVersion": "v1", "kind": "ConfigMap", "name": "mine", "uid": mine}
            await patch(made, path_of("pods", namespace, "one-a-0"), "remove", "/metadata/ownerReferences")
            await patch(made, path_of("pods", namespace, "two-a-0"), "add", "/metadata/ownerReferences/-", another)
            async with asyncio.timeout(60):
                while [len(pod["metadata"].get("ownerReferences", ())) for pod in await made.pods()] != [1, 1]:
                    await asyncio.sleep(0.1)
            for name in ("one", "two"):
                await api.request("DELETE", path_of("frameworks", namespace, name), {"propagationPolicy": "Background"})
            async with asyncio.timeout(60):
                while await made.pods():
                    await asyncio.sleep(0.1)

    run(work())


def test_a_config_map_put_in_the_place_of_the_attempts_holds_up_no_pods() -> None:
    """Whoever may write ConfigMaps orphaned the Pods, and had nothing decided any more: they ran on after a Stop and a deletion."""

    async def work(made: Lab) -> None:
        await running(made)
        config_map = path_of("configmaps", "default", "train-attempt")
        stored = (await made.api.request("GET", config_map)).body
        await made.kill()
        assert (await made.api.request("DELETE", config_map, {"propagationPolicy": "Orphan"})).ok
        await asyncio.sleep(1)
        for pod in await made.pods():
            assert "ownerReferences" not in pod["metadata"]
        metadata = {key: stored["metadata"][key] for key in ("name", "labels", "ownerReferences")}
        impostor = {"metadata": {**metadata, "finalizers": ["example.com/hold"]}}
        assert (await made.api.request("POST", collection("configmaps", "default"), impostor)).ok
        await made.restart()
        await made.edit("train", "executionType", "Stop")
        await asyncio.sleep(30)
        assert await made.pods() == []

    play(work)


def test_a_config_map_that_holds_up_the_beginning_is_told() -> None:
    async def work(made: Lab) -> None:
        spec = {"taskRoles": [role_spec("a", 1)]}
        owner = framework_owner(await made.make("train", {**spec, "executionType": "Create"}))
        name = "train-attempt"
        metadata = {"name": name, "labels": {FRAMEWORK_NAME: "train"}, "ownerReferences": [owner], "finalizers": ["example.com/hold"]}
        assert (await made.api.request("POST", collection("configmaps", "default"), {"metadata": metadata})).ok
        await made.edit("train", "executionType", "Start")
        await asyncio.sleep(40)
        conditions = {each["type"]: each for each in (await made.framework("train"))["status"]["conditions"]}
        assert conditions["ObjectsDeleted"]["reason"] == "Held"
        assert conditions["ObjectsDeleted"]["message"].startswith("ConfigMap `train-attempt` is still there")
        await patch(made, path_of("configmaps", "default", name), "remove", "/metadata/finalizers")
        await made.until("train", lambda status: status["state"] == "AttemptRunning")

    play(work)


def test_pods_end_even_if_their_config_map_has_lost_the_collectors_finalizer_and_is_held() -> None:
    async def work(made: Lab) -> None:
        await running(made)
        await patch(made, path_of("configmaps", "default", "train-attempt"), "add", "/metadata/finalizers", ["example.com/hold"])
        await made.edit("train", "executionType", "Stop")
        await asyncio.sleep(90)
        assert await made.pods() == []
        conditions = {each["type"]: each for each in (await made.framework("train"))["status"]["conditions"]}
        assert conditions["ObjectsDeleted"]["reason"] == "Held"

    play(work)


@pytest.mark.parametrize("finalizers", [["orphan"], ["example.com/hold", "orphan"], []])
def test_a_config_map_cannot_be_prepared_to_orphan_its_pods(finalizers: list[str]) -> None:
    """When the Framework was deleted, the garbage collector took the owner off the Pods, and they ran on for ever."""

    async def work(made: Lab) -> None:
        await running(made)
        config_map = path_of("configmaps", "default", "train-attempt")
        await patch(made, config_map, "add", "/metadata/finalizers", finalizers)
        await asyncio.sleep(1)
        stored = (await made.api.request("GET", config_map)).body["metadata"]["finalizers"]
        others = [finalizer for finalizer in finalizers if finalizer == "example.com/hold"]
        assert stored == ["foregroundDeletion", *others]
        assert (await made.api.request("DELETE", path_of("frameworks", "default", "train"), {"propagationPolicy": "Background"})).ok
        await asyncio.sleep(60)
        assert await made.pods() == []

    play(work)
