"""Why Pods do not start is a condition of the Framework, which says so without a storm of writes, and not for longer than it is so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fcontroller.api import Json, path_of
from fcontroller.decide import waiting
from fcontroller.reconcile import starting
from fcontroller.testing.kubelet import running
from tests.cluster import Cluster
from tests.controller.lab import Lab, Refusing, in_memory, lab, run_in_memory
from tests.controller.test_held import condition
from tests.controller.test_lifetime import in_lab
from tests.decide.world import role_spec


class Counting(Refusing):
    """Counts the writes of statuses of Frameworks."""

    def __init__(self) -> None:
        super().__init__(self.count)
        self.writes = 0

    def count(self, method: str, path: str) -> None:
        self.writes += method == "PUT" and path.endswith("/train/status")


def stays(name: str, count: int) -> Json:
    """A role whose Pods get no node."""
    annotations = {"sim/start": "never"}
    return role_spec(
        name, count, task={"pod": {"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "main", "image": "a"}]}}}
    )


async def says(made: Lab, name: str, status: Json) -> None:
    """Write the status of a Pod, as the scheduler or a kubelet does."""
    patch = [{"op": "replace", "path": "/status", "value": status}]
    answer = await made.api.request("PATCH", f"{path_of('pods', made.namespace, name)}/status", patch)
    assert answer.ok, answer.message


def unschedulable(message: str) -> Json:
    return {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]}


async def all_wait(made: Lab, count: int) -> None:
    """Wait until all Pods are there."""

    def seen(status: Json) -> bool:
        roles = status["attemptStatus"]["taskRoleStatuses"] or []
        return [task["state"] for role in roles for task in role["taskStatuses"]] == ["AttemptPreparing"] * count

    await made.until("train", seen)


def test_it_is_said_within_half_a_minute_and_until_it_is_over() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [stays("worker", 2), role_spec("ps", 1)]})
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            await says(made, "train-worker-1", unschedulable("no room"))
            began = asyncio.get_running_loop().time()
            said = await condition(made, "PodsStarted", "False")
            assert asyncio.get_running_loop().time() - began < 31
            assert said["reason"] == "Unschedulable"
            assert said["message"] == (
                "2 of 3 tasks wait for their Pods to start (2 of role worker). Unschedulable, Pod `train-worker-1`: no room; "
                "Pending, Pod `train-worker-0`: no scheduler has said anything about it yet"
            )
            for pod in await made.pods():
                await says(made, pod["metadata"]["name"], running(pod, "2026-11-21T14:01:03Z"))
            began = asyncio.get_running_loop().time()
            assert (await condition(made, "PodsStarted", "True"))["reason"] == "Started"
            assert asyncio.get_running_loop().time() - began < 3

    run_in_memory(work())


def test_it_is_over_when_what_waits_is_scaled_away() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [stays("worker", 1), role_spec("ps", 1)]})
            await condition(made, "PodsStarted", "False")
            await made.edit("train", "taskRoles/0/taskNumber", 0)
            assert (await condition(made, "PodsStarted", "True"))["reason"] == "Started"

    run_in_memory(work())


@pytest.mark.parametrize("how", ["Stop", "deadline"])
def test_what_was_waited_for_is_still_said_at_the_end(how: str) -> None:
    """A deadline passes mostly because of what the Pods waited for."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            deadline = {"activeDeadlineSeconds": 90} if how == "deadline" else {}
            await made.make("train", {**deadline, "taskRoles": [stays("worker", 2)]})
            before = await condition(made, "PodsStarted", "False")
            if how == "Stop":
                await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda status: status["state"] == "Completed", 120)
            said = await condition(made, "PodsStarted", "True")
            assert (said["reason"], said["message"]) == ("NotNeeded", f"No Pod is to start any more. Before: {before['message']}")

    run_in_memory(work())


def test_what_the_attempt_before_waited_for_is_said_until_the_next_one_waits_for_nothing() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [stays("worker", 1)]})
            await condition(made, "PodsStarted", "False")
            restart = [{"op": "add", "path": "/metadata/annotations/frameworkcontroller.microsoft.com~1restart", "value": "now"}]
            assert (await made.api.request("PATCH", path_of("frameworks", "default", "train"), restart)).ok
            await made.until("train", lambda status: status["attemptStatus"]["id"] == 1 and status["state"] == "AttemptPreparing")
            await says(made, "train-worker-0", running((await made.pods())[0], "2026-11-21T14:01:03Z"))
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            assert (await condition(made, "PodsStarted", "True"))["reason"] == "Started"

    run_in_memory(work())


def test_what_starts_soon_is_not_said() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("worker", 3)]})
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            await asyncio.sleep(120)
            assert not any(one["type"] == "PodsStarted" for one in (await made.framework("train"))["status"]["conditions"])

    run_in_memory(work())


def test_reasons_that_change_all_the_time_cost_few_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler writes each Pod anew for each node that comes or goes. The Framework has the last of it all the same."""

    async def work() -> None:
        api, count = Counting(), 300
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [stays("worker", count)]})
            await all_wait(made, count)
            await condition(made, "PodsStarted", "False")
            reconciler, before = made.controller.reconcilers["default", "train"], api.writes
            turns = list[float]()
            monkeypatch.setattr(reconciler.dependencies.report, "looked", turns.append)
            for second in range(0, 600, 5):
                for index in range(0, count, 10):
                    await says(made, f"train-worker-{index}", unschedulable(f"0/{second} nodes are available"))
                await asyncio.sleep(5)
            assert api.writes - before <= 4
            assert len(turns) < 100, "nothing follows from a change of a reason"
            await asyncio.sleep(600)
            said = await condition(made, "PodsStarted", "False")
            assert "0/595 nodes are available" in said["message"]
            before = api.writes
            await asyncio.sleep(3600)
            assert api.writes == before, "while nothing changes, nothing is written"

    run_in_memory(work())


def test_pods_that_come_in_batches_cost_few_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a crowd of 1,000 Frameworks most statuses were written since the condition came and went with each batch of Pods."""

    async def work() -> None:
        api, looks = Counting(), 0

        def in_batches(*_: object) -> tuple[str, str]:
            nonlocal looks
            looks += 1
            return ("Pending", f"look {looks}") if looks % 2 and looks < 30 else ("", "")

        monkeypatch.setattr(starting, "waiting", in_batches)
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [stays("worker", 2)]})
            await condition(made, "PodsStarted", "False")
            before = api.writes
            await asyncio.sleep(29 * 20)
            assert looks >= 29
            assert api.writes - before <= 2
            await asyncio.sleep(60)
            assert (await condition(made, "PodsStarted", "True"))["reason"] == "Started"

    run_in_memory(work())


def test_another_controller_goes_on_with_it_without_a_write() -> None:
    async def work() -> None:
        api = Counting()
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [stays("worker", 2)]})
            said, before = await condition(made, "PodsStarted", "False"), api.writes
            await made.restart()
            await asyncio.sleep(120)
            assert (await condition(made, "PodsStarted", "False"), api.writes) == (said, before)

    run_in_memory(work())


NOT_FOUND = 'Back-off pulling image "a": ErrImagePull: not found'


def test_what_kubectl_shows_of_it(cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_WAITS_FROM", 1)
    monkeypatch.setattr(starting, "_EVERY", 1.0)

    async def work(made: Lab) -> None:
        await made.make("train", {"taskRoles": [stays("worker", 1), stays("ps", 1)]})
        await condition(made, "PodsStarted", "False")
        bound = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "train-ps-0"}}
        bound["target"] = {"apiVersion": "v1", "kind": "Node", "name": "node"}
        assert (await made.api.request("POST", f"{path_of('pods', namespace, 'train-ps-0')}/binding", bound)).ok
        waits: dict[str, Any] = {"waiting": {"reason": "ImagePullBackOff", "message": NOT_FOUND}}
        about = {"ready": False, "restartCount": 0, "image": "a", "imageID": "", "state": waits}
        await says(made, "train-ps-0", {"phase": "Pending", "containerStatuses": [{"name": "main", **about}]})
        await says(made, "train-worker-0", unschedulable("0/1 nodes are available"))
        monkeypatch.setattr(starting, "_REASON_STAYS", 1.0)
        said = await made.until("train", lambda status: any(one["reason"] == "ImagePullBackOff" for one in status["conditions"]))
        assert said["state"] == "AttemptPreparing"
        shown = (await asyncio.to_thread(cluster.kubectl, "-n", namespace, "describe", "framework", "train")).stdout
        assert f"ImagePullBackOff, Pod `train-ps-0`: container main: {NOT_FOUND}; Unschedulable, Pod `train-worker-0`: 0/1 nodes" in shown

    in_lab(cluster, namespace, work)
