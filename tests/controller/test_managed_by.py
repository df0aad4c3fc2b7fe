"""A Framework that somebody else reconciles: no status, no children, no deletion, whatever state it is in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from fcontroller.api import Answer, Body, Json, Projection, collection, path_of
from fcontroller.testing.memory_api.facade import Facade
from tests.cluster import Cluster
from tests.controller.lab import Lab, in_memory, lab, real, run, run_in_memory
from tests.decide.world import role_spec

THEIRS = {"managedBy": "kueue.x-k8s.io/multikueue", "taskRoles": [role_spec("worker", 2, service={"ports": [{"port": 80}]})]}
OURS = {**THEIRS, "managedBy": "frameworkcontroller.microsoft.com/frameworkcontroller"}
LONG_AGO = "2001-01-01T00:00:00Z"


class Writes(Facade):
    """Keeps what is written about objects called `theirs…`, but for what a kubelet writes."""

    def __init__(self) -> None:
        super().__init__(in_memory().server)
        self.theirs: list[str] = []

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        answer = await super().request(method, path, body, query, projection)
        name = (answer.body.get("metadata") or {}).get("name", "") if method == "POST" else path.partition("/default/")[2].partition("/")[2]
        if method != "GET" and name.startswith("theirs") and not ("/pods/" in path and path.endswith(("/status", "/binding"))):
            self.theirs.append(f"{method} {path}")
        return answer


async def ours_runs(made: Lab, name: str) -> None:
    await made.make(name, OURS)
    await made.until(name, lambda status: status["state"] == "AttemptRunning")


async def write_status(made: Lab, status: Json) -> None:
    framework = await made.framework("theirs")
    assert (await made.api.request("PUT", f"{path_of('frameworks', made.namespace, 'theirs')}/status", {**framework, "status": status})).ok


@pytest.mark.parametrize("state", ["", "AttemptCreationPending", "AttemptRunning", "Completed"])
def test_nothing_of_it_is_written(state: str) -> None:
    """Its status is one that we wrote for another of the same spec."""

    async def work() -> None:
        api = Writes()
        async with lab(api) as made:
            await ours_runs(made, "theirsbefore")
            status = (await made.framework("theirsbefore"))["status"]
            await made.kill()
            await made.make("theirs", {**THEIRS, "executionType": "Stop"})
            if state:
                await write_status(made, {**status, "state": state, "transitionTime": LONG_AGO})
            api.theirs.clear()
            before = await made.framework("theirs")
            made.controller = made._controller()
            made.start()
            await made.edit("theirs", "taskRoles/0/taskNumber", 3)
            await ours_runs(made, "ours")
            assert (await made.framework("theirs")).get("status") == before.get("status")
            assert [write for write in api.theirs if "theirsbefore" not in write] == ["PATCH " + path_of("frameworks", "default", "theirs")]

    run_in_memory(work())


@pytest.mark.parametrize("annotations", [None, {}])
@pytest.mark.parametrize("manager", [None, "frameworkcontroller.microsoft.com/frameworkcontroller"])
def test_ours_runs_whatever_else_it_lacks(annotations: Any, manager: str | None) -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            metadata = {"name": "bare", **({} if annotations is None else {"annotations": annotations})}
            spec = {"taskRoles": [role_spec("worker", 1)], **({"managedBy": manager} if manager else {})}
            body = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": metadata, "spec": spec}
            assert (await made.api.request("POST", collection("frameworks", "default"), body)).ok
            await made.until("bare", lambda status: status["state"] == "AttemptRunning")

    run_in_memory(work())


@pytest.mark.parametrize("manager", ["kueue.x-k8s.io/multikueue", ""])
def test_one_that_is_handed_over_is_let_go(manager: str) -> None:
    """Our definition refuses that, and an empty name; others may not."""

    async def work() -> None:
        api = Writes()
        async with lab(api) as made:
            await made.make("theirs", OURS)
            await made.until("theirs", lambda status: status["state"] == "AttemptRunning")
            await made.edit("theirs", "managedBy", manager)
            api.theirs.clear()
            await made.edit("theirs", "executionType", "Stop")
            await ours_runs(made, "ours")
            assert api.theirs == ["PATCH " + path_of("frameworks", "default", "theirs")]

    run_in_memory(work())


def test_on_a_real_server(cluster: Cluster, namespace: str) -> None:
    async def work() -> None:
        async with real(cluster) as api, lab(api, namespace) as made:
            await made.make("theirs", THEIRS)
            await ours_runs(made, "ours")
            assert "status" not in await made.framework("theirs")
            for kind in ("pods", "configmaps", "services"):
                items = (await api.request("GET", collection(kind, namespace))).body["items"]
                assert [item for item in items if item["metadata"]["name"].startswith("theirs")] == []
            await asyncio.gather(*(made.edit(name, "executionType", "Stop") for name in ("ours", "theirs")))
            await made.completed("ours")
            assert "status" not in await made.framework("theirs")

    run(work())
