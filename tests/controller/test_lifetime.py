"""How long Frameworks may take, what stays of them, and for how long: on a real API server with its own garbage collector."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from fcontroller.act.client import Client
from fcontroller.api import Answer, Api, Body, Json, Projection, collection, path_of
from tests.cluster import Cluster
from tests.controller.lab import Lab, lab, real, run
from tests.decide.world import role_spec

RETRY = {"fancyRetryPolicy": True, "maxRetryCount": 1}
NEVER = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}


async def left(made: Lab) -> dict[str, tuple[str, str]]:
    """The Pods that there are: their phase, and the kind of their owner."""
    pods = [pod for pod in await made.pods() if "deletionTimestamp" not in pod["metadata"]]
    return {pod["metadata"]["name"]: (pod["status"]["phase"], pod["metadata"]["ownerReferences"][0]["kind"]) for pod in pods}


async def config_maps(made: Lab) -> list[str]:
    items = (await made.api.request("GET", collection("configmaps", made.namespace))).body["items"]
    return [item["metadata"]["name"] for item in items if item["metadata"]["name"] != "kube-root-ca.crt"]


async def comes(done: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 60
    while not await done():
        assert time.monotonic() < end
        await asyncio.sleep(0.1)


async def delete(made: Lab, name: str) -> None:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    assert (await made.api.request("DELETE", path_of("frameworks", made.namespace, name), options)).ok


def in_lab(cluster: Cluster, namespace: str, work: Callable[[Lab], Any], wrap: Callable[[Client], Api] = lambda api: api) -> None:
    async def all_of_it() -> None:
        async with real(cluster) as api, lab(wrap(api), namespace) as made:
            await work(made)

    run(all_of_it())


@pytest.mark.parametrize("keeps", [None, "All", "Running", "None"])
@pytest.mark.parametrize("code", ["0", "3"])
def test_what_stays_at_the_end(cluster: Cluster, namespace: str, keeps: str | None, code: str) -> None:
    """Pods of its own outlive the ConfigMap, whoever collects garbage, and go with the Framework."""
    both = {"minFailedTaskCount": 2, "minSucceededTaskCount": 2}
    roles = [role_spec("a", 2, run="0.2", exits=code, frameworkAttemptCompletionPolicy=both), role_spec("b", 1)]
    stays = ["train-a-0", "train-a-1"] if keeps in ("Running", "None") else []

    async def work(made: Lab) -> None:
        await made.make("train", {"cleanPodPolicy": keeps, "taskRoles": roles})
        status = await made.completed("train")
        assert status["attemptStatus"]["completionStatus"]["code"] == int(code)
        await asyncio.sleep(3)  # The garbage collector has had time to do what it should not.
        assert await left(made) == dict.fromkeys(stays, ("Succeeded" if code == "0" else "Failed", "Framework"))
        assert await config_maps(made) == []
        attempts = [task["attemptStatus"] for role in status["attemptStatus"]["taskRoleStatuses"] for task in role["taskStatuses"]]
        kept = {attempt["podName"]: attempt["podUID"] for attempt in attempts if attempt.get("podKept")}
        assert kept == {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await made.pods()}
        await delete(made, "train")

        async def gone() -> bool:
            return not await made.pods()

        await comes(gone)

    in_lab(cluster, namespace, work)


def test_a_retry_of_the_framework(cluster: Cluster, namespace: str) -> None:
    async def work(made: Lab) -> None:
        roles = [role_spec("a", 1, run="0.5", exits="1,0"), role_spec("b", 1, run="0.1", frameworkAttemptCompletionPolicy=NEVER)]
        await made.make("train", {"retryPolicy": RETRY, "cleanPodPolicy": "Running", "taskRoles": roles})
        status = await made.completed("train")
        assert (status["attemptStatus"]["id"], status["attemptStatus"]["completionStatus"]["code"]) == (1, 0)
        assert await left(made) == {f"train-{role}-0": ("Succeeded", "Framework") for role in "ab"}
        ids = {pod["metadata"]["annotations"]["FC_FRAMEWORK_ATTEMPT_ID"] for pod in await made.pods()}
        assert ids == {"1"}

    in_lab(cluster, namespace, work)


def test_an_index_that_is_used_again(cluster: Cluster, namespace: str) -> None:
    async def work(made: Lab) -> None:
        roles = [role_spec("a", 2, run="0.5", frameworkAttemptCompletionPolicy=NEVER), role_spec("b", 1)]
        await made.make("train", {"cleanPodPolicy": "Running", "taskRoles": roles})
        await made.until("train", lambda status: status["taskCounts"]["completed"] == 2)
        before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await made.pods()}
        assert set((await left(made)).values()) == {("Succeeded", "ConfigMap"), ("Running", "ConfigMap")}
        for count in (1, 2):
            await made.edit("train", "taskRoles/0/taskNumber", count)
            await made.until("train", lambda status: status["taskCounts"]["total"] == count + 1)  # noqa: B023
        await made.until("train", lambda status: status["taskCounts"]["completed"] == 2)
        after = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await made.pods()}
        assert (after.keys(), [name for name in before if before[name] != after[name]]) == (before.keys(), ["train-a-1"])
        await made.edit("train", "executionType", "Stop")
        await made.completed("train")
        assert await left(made) == {f"train-a-{index}": ("Succeeded", "Framework") for index in range(2)}

    in_lab(cluster, namespace, work)


def test_nothing_follows_from_what_becomes_of_it(cluster: Cluster, namespace: str) -> None:
    async def work(made: Lab) -> None:
        roles = [role_spec("a", 2, run="0.2", task={"retryPolicy": RETRY}), role_spec("b", 1, frameworkAttemptCompletionPolicy=NEVER)]
        await made.make("train", {"cleanPodPolicy": "Running", "taskRoles": roles})
        before = await made.until("train", lambda status: status["taskCounts"]["completed"] == 2 and status["taskCounts"]["running"] == 1)
        path = path_of("pods", namespace, "train-a-0")
        assert (await made.api.request("DELETE", path)).ok
        path = path_of("pods", namespace, "train-a-1")
        assert (await made.api.request("PATCH", path, [{"op": "remove", "path": "/metadata/labels"}])).ok
        await asyncio.sleep(5)
        assert (await made.framework("train"))["status"] == before
        await made.edit("train", "executionType", "Stop")
        await made.completed("train")
        assert await left(made) == {"train-a-1": ("Succeeded", "Framework")}

    in_lab(cluster, namespace, work)


class Failing(Api):
    """A server whose answer to the n-th change of a Pod never comes, and to no request after that: the controller is killed there."""

    def __init__(self, api: Api, number: int, stored: bool) -> None:
        self.api, self.number, self.stored = api, number, stored
        self.seen, self.dead, self.died = 0, asyncio.Event(), False
        self.spared: Any = None
        """The task whose requests are answered all the same: the test's own."""
        self.moves: list[str] = []
        """Those that were answered, or stored without an answer."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        is_move = method == "PATCH" and "/pods/" in path and not path.endswith("/status")
        self.seen += is_move
        if is_move and self.seen == self.number and not self.died:
            if self.stored:
                await self.api.request(method, path, body, query, projection)
                self.moves.append(path)
            self.dead.set()
        is_late = self.dead.is_set() or (is_move and self.seen >= self.number)
        if not self.died and is_late and asyncio.current_task() is not self.spared:
            await asyncio.Event().wait()
        answer = await self.api.request(method, path, body, query, projection)
        if is_move and answer.ok:
            self.moves.append(path)
        return answer

    def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> Any:
        return self.api.watch(path, query, projection)


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_killed_while_pods_move(cluster: Cluster, namespace: str, number: int, stored: bool) -> None:
    """Each Pod has another owner after one write, whichever of them is the controller's last, and no Pod is lost."""

    async def work() -> None:
        async with real(cluster) as api:
            failing = Failing(api, number, stored)
            async with lab(failing, namespace) as made:
                failing.spared = asyncio.current_task()
                await made.make("train", {"cleanPodPolicy": "Running", "taskRoles": [role_spec("a", 4, run="0.2")]})
                async with asyncio.timeout(60):
                    await failing.dead.wait()
                await made.kill()
                owners = [owner for _, owner in (await left(made)).values()]
                assert owners.count("ConfigMap") >= (4 - number if stored else 5 - number)
                assert (await made.framework("train"))["status"]["state"] == "AttemptDeletionPending"
                failing.died = True
                await made.restart()
                await made.completed("train")
                await asyncio.sleep(2)
                assert await left(made) == {f"train-a-{index}": ("Succeeded", "Framework") for index in range(4)}
                assert len(failing.moves) == len(set(failing.moves))

    run(work())


def code(status: Json) -> Any:
    return (status["attemptStatus"]["completionStatus"] or {}).get("code")


class TestDeadline:
    def test_while_it_runs(self, cluster: Cluster, namespace: str) -> None:
        async def work(made: Lab) -> None:
            await made.make("train", {"activeDeadlineSeconds": 3, "retryPolicy": {"maxRetryCount": -2}, "taskRoles": [role_spec("a", 2)]})
            status = await made.completed("train")
            assert (code(status), status["attemptStatus"]["id"], await made.pods(), await config_maps(made)) == (-240, 0, [], [])
            assert any("-240 ActiveDeadlineExceeded" in event["message"] for event in await made.events())

        in_lab(cluster, namespace, work)

    def test_while_a_retry_waits(self, cluster: Cluster, namespace: str) -> None:
        async def work() -> None:
            async with real(cluster) as api, lab(api, namespace) as made:
                made.controller.dependencies = made.controller.dependencies._replace(random_delay=lambda low, high: 1000)
                roles = [role_spec("a", 1, run="0.2", exits="201")]
                await made.make("train", {"activeDeadlineSeconds": 1000, "retryPolicy": RETRY, "taskRoles": roles})
                await made.until("train", lambda status: status["retryPolicyStatus"]["retryDelaySec"] == 1000)
                await made.edit("train", "activeDeadlineSeconds", 1)
                status = await made.completed("train")
                assert (code(status), status["attemptStatus"]["id"], await config_maps(made)) == (-240, 1, [])

        run(work())

    @pytest.mark.parametrize("what", ["pods", "configmaps"])
    def test_while_creation_is_refused(self, cluster: Cluster, namespace: str, what: str) -> None:
        """By a quota. Of a Framework's first ConfigMap nothing counts yet; here it is that of its second attempt."""

        async def work(made: Lab) -> None:
            if what == "pods":
                await use_up(made.api, namespace, what)
            await made.make("train", {"activeDeadlineSeconds": 1000, "retryPolicy": RETRY, "taskRoles": [role_spec("a", 1)]})
            if what == "configmaps":
                await made.until("train", lambda status: status["taskCounts"]["running"] == 1)
                await use_up(made.api, namespace, what)
                assert (await made.api.request("DELETE", path_of("pods", namespace, "train-a-0"))).ok
            waits = await made.until("train", lambda status: "exceeded quota" in str(status.get("conditions")))
            assert code(waits) is None
            await made.edit("train", "activeDeadlineSeconds", 1)
            status = await made.completed("train")
            assert (code(status), status["attemptStatus"]["id"]) == (-240, 0 if what == "pods" else 1)

        in_lab(cluster, namespace, work)


async def use_up(api: Api, namespace: str, what: str) -> None:
    """A quota that is used up. Nobody else writes its status here."""
    path = f"/api/v1/namespaces/{namespace}/resourcequotas"
    answer = await api.request("POST", path, {"metadata": {"name": "small"}, "spec": {"hard": {what: "0"}}})
    assert answer.ok, answer.message
    value = {"hard": {what: "0"}, "used": {what: "0"}}
    answer = await api.request("PATCH", f"{path}/small/status", [{"op": "add", "path": "/status", "value": value}])
    assert answer.ok, answer.message


@pytest.mark.parametrize("seconds", [0, 3])
def test_time_to_live(cluster: Cluster, namespace: str, seconds: int) -> None:
    async def work(made: Lab) -> None:
        roles = [role_spec("a", 2, run="0.2")]
        await made.make("train", {"ttlSecondsAfterFinished": seconds, "cleanPodPolicy": "Running", "taskRoles": roles})

        async def gone() -> bool:
            found = await made.api.request("GET", path_of("frameworks", namespace, "train"))
            return found.code == 404 and not await made.pods() and not await config_maps(made)

        await comes(gone)

    in_lab(cluster, namespace, work)
