"""What FrameworkController left when it was killed is taken over: no Pod is replaced, and all come to the end that it came to."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from fcompile.lower.digest import V1, digest_text
from fcompile.model import names
from fcontroller.api import Api, Json, path_of
from fcontroller.decide.states import CREATED
from tests.cluster import Cluster
from tests.controller.lab import SETTINGS, in_memory, lab, now, real, run, run_in_memory, stored_document
from tests.controller.play import Stage
from tests.controller.test_played import differences
from tests.decide.world import role_spec

RECORD: Json = json.loads((Path(__file__).parent / "data" / "left_by_upstream.json").read_text("utf-8"))
GOES_ON = {"pendingdeletion", "pendingframework"}
"""Something was about to be deleted there, so that more happens at once."""
COMPRESSED = "running"
"""Stored as upstream stores what is large."""
_TIME = re.compile(r"2026-11-\d\dT\d\d:\d\d:\d\dZ")
_SERVERS_OWN = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")


def compressed(status: Json) -> Json:
    """A status with the statuses of its tasks compressed."""
    attempt = status["attemptStatus"]
    packed = base64.b64encode(gzip.compress(json.dumps(attempt["taskRoleStatuses"]).encode())).decode()
    return {**status, "attemptStatus": {**attempt, "taskRoleStatuses": None, "taskRoleStatusesCompressed": packed}}


class Leftovers:
    """The objects of one Framework, put onto another server, which gives them other uids."""

    def __init__(self, api: Api, namespace: str, left: Json) -> None:
        self.api, self.namespace = api, namespace
        self._text = _left_just_now(json.dumps(left["objects"])).replace(f'"{RECORD["namespace"]}"', f'"{namespace}"')

    def objects(self, kind: str) -> list[Json]:
        return [value for value in json.loads(self._text) if value["kind"] == kind]

    async def load(self) -> None:
        for kind in ("Framework", "ConfigMap", "Pod"):
            for value in self.objects(kind):
                await self._create(value)
        for value in (*self.objects("Pod"), *self.objects("Framework")):
            status = compressed(value["status"]) if value["metadata"]["name"] == COMPRESSED else value["status"]
            await self._ask("PATCH", f"{self._path(value)}/status", [{"op": "add", "path": "/status", "value": status}])
        for value in (*self.objects("ConfigMap"), *self.objects("Pod")):
            if "deletionTimestamp" in value["metadata"]:
                await self._ask("DELETE", self._path(value), {"apiVersion": "v1", "kind": "DeleteOptions"})

    async def _create(self, value: Json) -> None:
        metadata = {name: item for name, item in value["metadata"].items() if name not in _SERVERS_OWN}
        made = await self._ask("POST", self._path(value).rpartition("/")[0], {**value, "metadata": metadata})
        self._text = self._text.replace(value["metadata"]["uid"], made["metadata"]["uid"])

    def _path(self, value: Json) -> str:
        return path_of(f"{value['kind'].lower()}s", self.namespace, value["metadata"]["name"])

    async def _ask(self, method: str, path: str, body: Any) -> Json:
        answer = await self.api.request(method, path, body)
        assert answer.ok, answer.message
        return answer.body


def _left_just_now(text: str) -> str:
    """The same with all times so much later that the record ends now: retries and retention become due."""
    age = datetime.fromtimestamp(int(now()), UTC) - max(map(datetime.fromisoformat, _TIME.findall(json.dumps(RECORD))))
    return _TIME.sub(lambda found: f"{datetime.fromisoformat(found[0]) + age:%Y-%m-%dT%H:%M:%SZ}", text)


async def _adopted(stage: Stage, leftovers: Leftovers) -> list[str]:
    """What is wrong with how a Framework was taken over."""
    (framework,) = leftovers.objects("Framework")
    name, before = framework["metadata"]["name"], framework["status"]
    if before["state"] in CREATED:
        await stage.play({"name": name, "steps": [{"object": [f"frameworks/{name}", {"status": {"conditions": "*"}}]}]})
        await _told(stage, name)
    if name in GOES_ON:
        return []
    wrong = differences(
        {key: item for key, item in stage.status(name).items() if key not in ("conditions", "taskCounts", "intent")}, before, name
    )
    for pod in leftovers.objects("Pod"):
        now = stage.objects[f"pods/{pod['metadata']['name']}"]
        if now["metadata"]["uid"] != pod["metadata"]["uid"]:
            wrong.append(f"{pod['metadata']['name']} is another Pod")
    if before["state"] in CREATED:
        answer = await stage.api.request("GET", path_of("configmaps", stage.namespace, names.config_map_name(name)))
        record, hashed = stage.status(name)["intent"], sha256(stored_document(answer.body)).hexdigest()
        if not record["adopted"] or record["digest"] != digest_text(hashed, V1):
            wrong.append(f"{name}: the ConfigMap does not hold the adopted intent")
    return wrong


async def _told(stage: Stage, name: str) -> None:
    """Wait until it is said whether the Pods are what the intent says, and look at what is said; an end of the attempt comes first."""
    while not (found := [one for one in stage.status(name)["conditions"] if one["type"] == "Adopted"]):
        if stage.status(name)["state"] not in CREATED:
            return
        await stage.changed.wait()
    if name == "edited":
        assert found[0]["reason"] == "PodsDiffer"
        assert "`edited-a-0` in `spec.containers[main].image`" in found[0]["message"]
    else:
        assert found[0]["reason"] == "PodsMatch", found[0]


async def _same_end(stage: Stage, left: Json) -> list[str]:
    return [f"{left['name']}{found}" for found in differences(await stage.play(left), left["notes"])]


async def _all(api: Api, namespace: str) -> None:
    every = [Leftovers(api, namespace, left) for left in RECORD["frameworks"]]
    await asyncio.gather(*(leftovers.load() for leftovers in every))
    async with lab(api, namespace, settings=SETTINGS._replace(conflict_delay=(100_000, 100_000))):
        stage = Stage(api, namespace)
        watching = asyncio.create_task(stage.watch())
        await stage.listed()
        wrong = [line for leftovers in every for line in await _adopted(stage, leftovers)]
        assert not wrong, "\n".join(wrong)
        ends = await asyncio.gather(*(_same_end(stage, left) for left in RECORD["frameworks"]))
        watching.cancel()
    lines = [line for some in ends for line in some]
    assert not lines, "\n".join(lines)


def test_what_stands_in_labels_of_its_pods_holds_up_nothing() -> None:
    """Whoever may write Pods may write anything there. Each Pod is compared with the task that its name says."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 3)]})
            await made.until("train", lambda status: status["state"] == "AttemptRunning" and status["taskCounts"]["running"] == 3)
            await made.kill()
            for name, labels in {"train-a-1": {names.TASK_INDEX: "x"}, "train-a-2": {}}.items():
                change = {"op": "replace", "path": "/metadata/labels", "value": {names.FRAMEWORK_NAME: "train", **labels}}
                assert (await made.api.request("PATCH", path_of("pods", "default", name), [change])).ok
            framework = await made.framework("train")
            framework["status"].pop("intent")
            assert (await made.api.request("PUT", f"{path_of('frameworks', 'default', 'train')}/status", framework)).ok
            config_map = path_of("configmaps", "default", names.config_map_name("train"))
            stored = (await made.api.request("GET", config_map)).body
            assert (await made.api.request("PUT", config_map, {key: stored[key] for key in ("apiVersion", "kind", "metadata")})).ok
            await made.restart()
            status = await made.until("train", lambda status: any(one["type"] == "Adopted" for one in status["conditions"]))
            (adopted,) = [one["message"] for one in status["conditions"] if one["type"] == "Adopted"]
            assert "`train-a-1` in `metadata.labels" in adopted
            assert "`train-a-2` in `metadata.labels" in adopted
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")

    run_in_memory(work())


def test_in_memory() -> None:
    run_in_memory(_all(in_memory(), "default"))


def test_on_a_real_server(cluster: Cluster, namespace: str) -> None:
    async def work() -> None:
        async with real(cluster) as api:
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}}
            await api.request("POST", "/api/v1/nodes", node)
            await _all(api, namespace)

    run(work())
