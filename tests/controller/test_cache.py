"""What is known of a Framework's objects, where watches and reads of the API server overtake each other."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator

import pytest

from fcompile.model import names
from fcontroller.api import Answer, Api, Body, Json, Name, Projection, Query, collection, path_of
from fcontroller.mailbox import Due, Message, PodSeen
from fcontroller.observe.cache import Cache, essence
from fcontroller.testing.memory_api.answers import failure
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import in_memory, run_in_memory

FRAMEWORK = ("default", "f")
OBJECTS = [("configmaps", "f-attempt"), *(("pods", f"f-w-{index}") for index in range(4))]


class Late(Api):
    """Answers and events are on their way for a while; lists come in pages of one object; watches end now and then."""

    def __init__(self, chance: random.Random) -> None:
        self.memory, self.chance = Facade(in_memory().server), chance

    async def request(
        self, method: str, path: str, body: Body | None = None, query: Query | None = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        query = {**query, "limit": "1"} if query and "limit" in query else query
        await asyncio.sleep(self.chance.choice([0, 0.01, 0.3]))
        answer = await self.memory.request(method, path, body, query)
        await asyncio.sleep(self.chance.choice([0, 0.01, 0.3]))
        return answer

    async def watch(self, path: str, query: Query, projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        async for event in self.memory.watch(path, query):
            if self.chance.random() < 0.3:
                yield {"type": "ERROR", "object": failure(410, "Expired", "too old resource version")}
                return
            await asyncio.sleep(self.chance.choice([0, 0, 0.01, 0.3]))
            yield event


async def write(api: Api, kind: str, name: str) -> None:
    """Make an object, or delete it if it is there."""
    if (await api.request("DELETE", path_of(kind, "default", name), {"gracePeriodSeconds": 0})).code == 404:
        about = {"name": name, "labels": {names.FRAMEWORK_NAME: "f"}}
        value = {"apiVersion": "v1", "metadata": about, "spec": {"containers": [{"name": "main", "image": "a"}]}}
        if kind == "configmaps":
            del value["spec"]
        assert (await api.request("POST", collection(kind, "default"), {"kind": "Pod" if kind == "pods" else "ConfigMap", **value})).ok


async def there(api: Api, kind: str) -> dict[str, str]:
    """The uids of what there is, by name."""
    items = (await api.request("GET", collection(kind, "default"))).body["items"]
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in items}


def known(cache: Cache) -> dict[str, dict[str, str]]:
    owned = cache.of(FRAMEWORK)
    pods = {names.pod_name("f", *key): pod.uid for key, pod in owned.pods.items()}
    return {"configmaps": {names.config_map_name("f"): owned.config_map.uid} if owned.config_map else {}, "pods": pods}


async def refresh(cache: Cache, memory: Facade) -> None:
    version = memory.server.revision
    await cache.refresh(FRAMEWORK)
    assert cache.has_seen(FRAMEWORK, version)


async def play(chance: random.Random) -> None:
    api = Late(chance)
    cache = Cache(api, "default", lambda name, message: None)
    following = [asyncio.create_task(reflector.run()) for reflector in cache.reflectors]
    refreshing = list[asyncio.Task[None]]()
    for _ in range(chance.choice([3, 10, 30])):
        await asyncio.sleep(chance.choice([0, 0.01, 0.1, 0.5]))
        await write(api.memory, *chance.choice(OBJECTS))
        if chance.random() < 0.5:
            refreshing.append(asyncio.create_task(refresh(cache, api.memory)))
    await asyncio.gather(*refreshing)
    await asyncio.sleep(200)
    assert known(cache) == {kind: await there(api.memory, kind) for kind in ("configmaps", "pods")}
    for task in following:
        task.cancel()


@pytest.mark.parametrize("batch", range(10))
def test_what_is_known_is_what_there_is(batch: int) -> None:
    for seed in range(100):
        run_in_memory(play(random.Random(f"{batch} {seed}")))


LONG = "x" * 100_000
MANY = {f"k{number}": "" for number in range(10_000)}
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "any", "uid": "u", "controller": True}
LARGE: dict[str, Json] = {
    "an annotation": {"metadata": {"annotations": {"note": LONG}}},
    "labels": {"metadata": {"labels": {**MANY, names.FRAMEWORK_NAME: "f"}}},
    "finalizers": {"metadata": {"finalizers": [f"example.com/{key}" for key in MANY]}},
    "owners": {"metadata": {"ownerReferences": [OWNER, *({**OWNER, "controller": False, "uid": key} for key in MANY)]}},
    "the name of an owner": {"metadata": {"ownerReferences": [{**OWNER, "name": LONG, "kind": LONG}]}},
    "ports": {"spec": {"ports": [{"name": f"p{port}", "port": port} for port in range(1, 10_000)]}},
    "a selector": {"spec": {"selector": MANY}},
    "addresses": {"spec": {"loadBalancerSourceRanges": [LONG], "externalIPs": list(MANY)}},
}


@pytest.mark.parametrize("large", LARGE.values(), ids=LARGE)
def test_little_is_kept_of_a_service(large: Json) -> None:
    """Whoever may write Services could fill the controller's memory, and so stop it for all."""
    metadata = {"name": "f-a", "namespace": "default", "uid": "u", "resourceVersion": "1", "ownerReferences": [OWNER]}
    kept = essence({"metadata": {**metadata, **large.get("metadata", {})}, "spec": {"clusterIP": "None", **large.get("spec", {})}})
    assert len(json.dumps(kept)) < 2000


def test_what_a_read_shows_first_is_told() -> None:
    """The watches say nothing of it any more: it is not new then."""

    async def work() -> None:
        api, told = in_memory(), list[tuple[Name, Message]]()
        cache = Cache(api, "default", lambda name, message: told.append((name, message)))

        async def read(*expected: Message) -> None:
            await cache.refresh(FRAMEWORK)
            assert told == [(FRAMEWORK, message) for message in expected]
            told.clear()

        for kind, name in OBJECTS[:3]:
            await write(api, kind, name)
        await read(Due(None), PodSeen(("w", 0)), PodSeen(("w", 1)))
        await write(api, "pods", "f-w-0")
        await write(api, "pods", "f-w-2")
        await read(PodSeen(("w", 0)), PodSeen(("w", 2)))
        end = [{"op": "add", "path": "/status/phase", "value": "Succeeded"}]
        assert (await api.request("PATCH", path_of("pods", "default", "f-w-1") + "/status", end)).ok
        await read(PodSeen(("w", 1)))
        await write(api, "configmaps", "f-attempt")
        await read(Due(None))
        await write(api, "configmaps", "of-somebody-else")
        await read()

    run_in_memory(work())
