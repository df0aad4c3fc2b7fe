"""The whole controller comes to the end states that FrameworkController itself came to, in memory and on a real API server."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from fcontroller.api import path_of
from fcontroller.testing.memory_api.facade import Facade
from tests.cluster import Cluster
from tests.controller.lab import Lab, in_memory, lab, real, run_in_memory
from tests.decide.test_as_upstream import SCENARIOS, compared


async def do(what: str, lab: Lab, name: str) -> None:
    """What somebody does while the Framework runs, in the words of the record. All Pods ran then, and those scaled down were gone."""
    if what == "taskNumber of a: 3 → 1 after 2 s, → 4 after 4 s":
        await lab.until(name, lambda status: status["taskCounts"]["running"] == 3)
        await lab.edit(name, "taskRoles/0/taskNumber", 1)
        await lab.until(name, lambda status: status["taskCounts"]["total"] == 1)
        await lab.edit(name, "taskRoles/0/taskNumber", 4)
    elif what == "the attempt ConfigMap is deleted (foreground) by somebody else after 2 s":
        await lab.until(name, lambda status: status["taskCounts"]["running"] == 1)
        path = path_of("configmaps", lab.namespace, f"{name}-attempt")
        await lab.api.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"})
    elif what == "executionType: Stop after 2 s":
        await lab.until(name, lambda status: status["taskCounts"]["running"] == 2)
        await lab.edit(name, "executionType", "Stop")
    else:
        assert what == "nothing"


async def scenario(lab: Lab, name: str, *, dies: bool = False) -> None:
    spec = copy.deepcopy(SCENARIOS[name]["spec"])
    if name in REFUSED:
        # The recorded one has a port of 99999, which our definition refuses already.
        container = spec["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]
        container["ports"], container["volumeMounts"] = [], [{"name": "nowhere", "mountPath": "/a"}]
    await lab.make(name, spec)
    await do(SCENARIOS[name]["then"], lab, name)
    ended, expected = compared(await lab.completed(name)), copy.deepcopy(SCENARIOS[name]["end_status"])
    if dies or not isinstance(lab.api, Facade):
        # Pods that are made together end together: which is the last is chance, also where a controller has to come to know of them first.
        for status in (ended, expected):
            status["attemptStatus"]["completionStatus"].pop("trigger", None)
    assert ended == expected, name


# A Pod that the API server refuses: there is no validation in memory.
REFUSED = {"invalidpod"}


def test_in_memory() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await asyncio.gather(*(scenario(made, name) for name in SCENARIOS if name not in REFUSED))
            assert await made.pods() == []

    run_in_memory(work())


def test_on_a_real_server(cluster: Cluster) -> None:
    # Their Pods go by the clock: where the machine is busy, what was to end first may end last. Then they are played once more.
    failed: list[BaseException] = []
    for _ in range(3):
        with cluster.namespace() as namespace:
            failed = asyncio.run(_on(cluster, namespace))
        if not failed:
            return
    raise failed[0]


async def _on(cluster: Cluster, namespace: str) -> list[BaseException]:
    """The scenarios that ended otherwise."""
    async with real(cluster) as api, lab(api, namespace) as made:
        ended = await asyncio.gather(*(scenario(made, name) for name in SCENARIOS), return_exceptions=True)
        assert await made.pods() == []
    return [error for error in ended if error is not None]


@pytest.mark.parametrize("name", ["succeed", "retrytwo", "scaledownup"])
def test_in_memory_with_a_controller_that_dies_again_and_again(name: str) -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            task: asyncio.Task[Any] = asyncio.create_task(scenario(made, name, dies=True))
            while not task.done():
                await asyncio.sleep(0.9)
                await made.restart()
            task.result()

    run_in_memory(work())
