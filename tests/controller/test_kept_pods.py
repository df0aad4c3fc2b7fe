"""Pods that stay for their logs, and those who upset it: other people's writes, refusals, answers that do not come, pauses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Answer, Json, Projection, path_of
from fcontroller.reconcile.workers import Workers
from tests.controller.lab import Lab, Refusing, lab, refusal, run_in_memory
from tests.decide.world import role_spec

POLICY = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}


def spec(count: int, run: str = "1") -> Json:
    """Tasks that end, and one that runs."""
    roles = [
        role_spec("a", count, run=run, frameworkAttemptCompletionPolicy=POLICY),
        role_spec("b", 1, frameworkAttemptCompletionPolicy=POLICY),
    ]
    return {"cleanPodPolicy": "Running", "taskRoles": roles}


def is_move(method: str, path: str) -> bool:
    return method == "PATCH" and "/pods/" in path and not path.endswith("/status")


def play(work: Callable[[Lab], Awaitable[None]], refuse: Callable[[str, str], Any] = lambda *_: None) -> None:
    async def all_of_it() -> None:
        async with lab(Refusing(refuse)) as made:
            await work(made)

    run_in_memory(all_of_it())


async def completed(made: Lab, count: int) -> None:
    """Wait until so many tasks are."""
    await made.until("train", lambda status: status["taskCounts"]["completed"] == count, 600)


async def left(made: Lab) -> dict[str, str]:
    """The Pods that there are, and the kind of their owner."""
    return {pod["metadata"]["name"]: pod["metadata"]["ownerReferences"][0]["kind"] for pod in await made.pods()}


async def patch(made: Lab, path: str, op: str, field: str, value: Any = None) -> None:
    answer = await made.api.request("PATCH", path, [{"op": op, "path": field, "value": value}])
    assert answer.ok, answer.message


async def pause(made: Lab, value: str) -> None:
    field = f"/metadata/annotations/{names.PAUSE_ANNOTATION.replace('/', '~1')}"
    await patch(made, path_of("frameworks", "default", "train"), "add", field, value)


def test_moves_that_hang_hold_up_no_other_framework_and_not_the_end_for_longer_than_is_said() -> None:
    gone = list[float]()

    async def slow() -> Answer:
        await asyncio.sleep(30)
        return refusal(500, "InternalError", "failed calling webhook: context deadline exceeded")

    def refuse(method: str, path: str) -> Any:
        if (method, path) == ("DELETE", path_of("configmaps", "default", "train-attempt")):
            gone.append(asyncio.get_running_loop().time())
        return slow() if is_move(method, path) else None

    async def work(made: Lab) -> None:
        await made.make("train", spec(200))
        await completed(made, 200)
        began = asyncio.get_running_loop().time()
        await made.edit("train", "executionType", "Stop")
        await asyncio.sleep(2)
        await made.make("other", {"taskRoles": [role_spec("a", 1, run="1")]})
        await made.until("other", lambda status: status["state"] == "Completed", 20)
        await made.until("train", lambda status: status["state"] == "Completed", 600)
        assert 60 <= gone[0] - began <= 60 + 200 // 20 + 5

    play(work, refuse)


@pytest.mark.parametrize("seconds", [20, 90])
def test_a_pause_during_the_moves_costs_no_logs(seconds: int) -> None:
    allowed = False

    async def answer() -> Answer | None:
        await asyncio.sleep(0.1)
        return None if allowed else refusal(403, "Forbidden", "you may not patch pods")

    def refuse(method: str, path: str) -> Any:
        return answer() if is_move(method, path) else None

    async def work(made: Lab) -> None:
        nonlocal allowed
        await made.make("train", {**spec(3), "activeDeadlineSeconds": 10})
        await made.until("train", lambda status: status["state"] == "AttemptDeletionPending", 60)
        await asyncio.sleep(2)
        await pause(made, "true")
        await asyncio.sleep(seconds)
        allowed = True
        await pause(made, "false")
        await made.completed("train")
        assert await left(made) == {f"train-a-{index}": "Framework" for index in range(3)}

    play(work, refuse)


def test_a_pod_that_is_being_scaled_away_delays_no_end() -> None:
    async def work(made: Lab) -> None:
        await made.make("train", spec(2))
        await completed(made, 2)
        await patch(made, path_of("pods", "default", "train-a-1"), "add", "/metadata/finalizers", ["example.com/hold"])
        await made.edit("train", "taskRoles/0/taskNumber", 1)
        await asyncio.sleep(2)
        await made.edit("train", "executionType", "Stop")
        await asyncio.sleep(10)
        assert "train-b-0" not in await left(made)

    play(work)


def test_a_pod_that_runs_goes_whatever_somebody_wrote_of_it() -> None:
    async def work(made: Lab) -> None:
        await made.make("train", spec(1, run="forever"))
        await made.until("train", lambda status: status["taskCounts"]["running"] == 2)
        for phase in ("Succeeded", "Running"):
            await patch(made, path_of("pods", "default", "train-a-0") + "/status", "replace", "/status/phase", phase)
            await asyncio.sleep(3)
        await made.edit("train", "executionType", "Stop")
        await made.completed("train")
        await asyncio.sleep(60)
        assert await left(made) == {}

    play(work)


@pytest.mark.parametrize(("version", "code"), [("other.example/v1", 0), (names.API_VERSION, -101)])
def test_a_pod_that_somebody_gives_to_a_framework_is_not_forgotten(version: str, code: int) -> None:
    """Those that are a Framework's are hidden, as the ones are that we have moved: we would wait for their end for ever."""

    async def work(made: Lab) -> None:
        await made.make("train", {"taskRoles": [role_spec("a", 1, run="20")]})
        await made.until("train", lambda status: status["taskCounts"]["running"] == 1)
        uid = (await made.framework("train"))["metadata"]["uid"]
        owner = {"apiVersion": version, "kind": names.KIND, "name": "x", "uid": uid, "controller": True}
        await patch(made, path_of("pods", "default", "train-a-0"), "replace", "/metadata/ownerReferences", [owner])
        status = await made.until("train", lambda status: status["state"] == "Completed", 120)
        assert status["attemptStatus"]["completionStatus"]["code"] == code

    play(work)


@pytest.mark.parametrize(("run", "policy", "lost"), [("1", "Running", True), ("forever", "Running", False), ("1", "All", False)])
@pytest.mark.parametrize("ends", [True, False])
def test_a_config_map_that_others_delete_takes_the_pods_with_it(run: str, policy: str, lost: bool, ends: bool) -> None:
    """The status still named them as kept."""

    async def work(made: Lab) -> None:
        await made.make("train", {**spec(3, run), **({"activeDeadlineSeconds": 10} if ends else {})})
        await asyncio.sleep(5)
        await made.edit("train", "cleanPodPolicy", policy)
        await asyncio.sleep(15 if ends and policy == "Running" else 2)
        await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"), {"propagationPolicy": "Foreground"})
        status = await made.completed("train")
        assert "podKept" not in str(status)
        said = [one["message"].partition(":")[0] for one in status["conditions"] if one["type"] == "PodsKept"]
        assert said == ["3 Pods that were to stay went with the ConfigMap, which others deleted"] * lost

    play(work, lambda method, path: refusal(403, "Forbidden", "you may not patch pods") if is_move(method, path) else None)


class _Late(Refusing):
    """One whose garbage collector does nothing, and whose watch of Pods can fall silent."""

    is_silent = False

    async def collect(self) -> None:
        await asyncio.Event().wait()

    async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        async for event in super().watch(path, query, projection):
            while self.is_silent and path.endswith("/pods") and "labelSelector" in query:
                await asyncio.sleep(1)
            yield event


@pytest.mark.parametrize("restart", [False, True])
def test_what_others_delete_during_the_moves_is_known_after_a_restart(restart: bool) -> None:
    """The status named 20 Pods as kept that were gone, and each took half a minute to go."""
    refused = refusal(403, "Forbidden", "you may not patch pods")

    async def work() -> None:
        async with lab(_Late(lambda method, path: refused if is_move(method, path) else None)) as made:
            await made.make("train", {**spec(20), "activeDeadlineSeconds": 10})
            await made.until("train", lambda status: status["state"] == "AttemptDeletionPending")
            path = path_of("configmaps", "default", "train-attempt")
            assert (await made.api.request("DELETE", path, {"propagationPolicy": "Foreground"})).ok
            await made.until("train", lambda status: status["state"] == "AttemptDeleting")
            if restart:
                await made.restart()
            status = await made.completed("train")
            assert "podKept" not in str(status)
            assert [one["message"].partition(" ")[0] for one in status["conditions"] if one["type"] == "PodsKept"] == ["20"]
            assert await left(made) == {}

    run_in_memory(work())


@pytest.mark.parametrize("collects", [False, True])
@pytest.mark.parametrize("propagation", ["Foreground", "Background"])
def test_what_others_delete_while_no_controller_runs_is_known_by_the_next(propagation: str, collects: bool) -> None:
    """It took the Pods that had not been moved for moved ones: the end took 12 minutes, or they stayed for ever, and nobody said so."""
    refused, moved = refusal(403, "Forbidden", "you may not patch pods"), [f"train-a-{index}" for index in range(5)]
    allowed = [path_of("pods", "default", name) for name in moved]
    api = (Refusing if collects else _Late)(lambda method, path: refused if is_move(method, path) and path not in allowed else None)

    async def work() -> None:
        async with lab(api) as made:
            await made.make("train", {**spec(20), "activeDeadlineSeconds": 10})
            await made.until("train", lambda status: status["state"] == "AttemptDeletionPending")
            await asyncio.sleep(5)
            await made.kill()
            path = path_of("configmaps", "default", "train-attempt")
            assert (await made.api.request("DELETE", path, {"propagationPolicy": propagation})).ok
            await asyncio.sleep(5)
            await made.restart()
            status = await made.completed("train")
            assert await left(made) == dict.fromkeys(moved, "Framework")
            (tasks,) = [role["taskStatuses"] for role in status["attemptStatus"]["taskRoleStatuses"] if role["name"] == "a"]
            assert [task["attemptStatus"]["podName"] for task in tasks if task["attemptStatus"].get("podKept")] == moved
            assert [one["message"].partition(" ")[0] for one in status["conditions"] if one["type"] == "PodsKept"] == ["15"]

    run_in_memory(work())


@pytest.mark.parametrize("label", ["label", "no label"])
@pytest.mark.parametrize("propagation", ["Foreground", "Background"])
def test_a_pod_that_was_moved_is_known_by_the_next_controller_whatever_its_labels(propagation: str, label: str) -> None:
    """One that had lost its label counted as gone: the condition said that it had not been kept."""
    is_dead = False

    async def dies(method: str, path: str) -> Answer | None:
        stays = method == "DELETE" and path.endswith("/train-attempt") and not is_dead
        return refusal(500, "InternalError", "no answer") if stays else None

    async def work() -> None:
        nonlocal is_dead
        async with lab(_Late(dies)) as made:
            await made.make("train", {**spec(3), "activeDeadlineSeconds": 10})
            await made.until("train", lambda status: status["state"] == "AttemptDeletionPending")
            await asyncio.sleep(5)
            await made.kill()
            is_dead = True
            if label == "no label":
                await patch(made, path_of("pods", "default", "train-a-1"), "remove", "/metadata/labels")
            path = path_of("configmaps", "default", "train-attempt")
            assert (await made.api.request("DELETE", path, {"propagationPolicy": propagation})).ok
            await made.restart()
            status = await made.completed("train")
            assert await left(made) == {f"train-a-{index}": "Framework" for index in range(3)}
            assert [one for one in status["conditions"] if one["type"] == "PodsKept"] == []
            assert str(status).count("podKept") == 3

    run_in_memory(work())


def test_a_watch_that_falls_silent_during_the_moves_costs_no_logs() -> None:
    """What is not seen to be the Framework's was deleted together with what the garbage collector had left."""

    async def work() -> None:
        api = _Late(lambda *_: None)
        async with lab(api) as made:
            await made.make("train", spec(3))
            await completed(made, 3)
            api.is_silent = True
            await made.edit("train", "executionType", "Stop")
            await asyncio.sleep(50)
            assert await left(made) == {f"train-a-{index}": "Framework" for index in range(3)}
            api.is_silent = False
            await made.completed("train")

    run_in_memory(work())


def test_a_config_map_that_loses_its_label_during_the_moves_costs_no_logs() -> None:
    allowed = False

    def refuse(method: str, path: str) -> Any:
        return refusal(403, "Forbidden", "you may not patch pods") if is_move(method, path) and not allowed else None

    async def work(made: Lab) -> None:
        nonlocal allowed
        await made.make("train", {**spec(3), "activeDeadlineSeconds": 10})
        await made.until("train", lambda status: status["state"] == "AttemptDeletionPending", 60)
        await patch(made, path_of("configmaps", "default", "train-attempt"), "remove", "/metadata/labels")
        await asyncio.sleep(10)
        allowed = True
        await made.completed("train")
        assert await left(made) == {f"train-a-{index}": "Framework" for index in range(3)}

    play(work, refuse)


def test_moves_that_are_refused_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status names no Pod as kept that is not. Each refusal has the Framework looked at: not each look goes through all of them."""
    looks, failing = list[float](), Workers.failing

    def counted(workers: Workers, *arguments: Any) -> list[str]:
        looks.append(asyncio.get_running_loop().time())
        return failing(workers, *arguments)

    async def work(made: Lab) -> None:
        await made.make("train", {**spec(100), "activeDeadlineSeconds": 10})
        await made.until("train", lambda status: status["state"] == "AttemptDeletionPending", 60)
        began = asyncio.get_running_loop().time()
        monkeypatch.setattr(Workers, "failing", counted)
        status = await made.until("train", lambda status: status["state"] == "Completed", 600)
        assert await left(made) == {}
        assert "podKept" not in str(status)
        (said,) = [one for one in status["conditions"] if one["type"] == "PodsKept"]
        assert (said["status"], said["reason"]) == ("False", "NotMoved")
        assert said["message"].startswith("100 Pods that were to stay went with the ConfigMap")
        assert "cannot be given to the Framework: you may not patch pods" in said["message"]
        during = [at for at in looks if began + 5 < at < began + 55]
        assert 0 < len(during) <= 3 * 3 * 50

    play(work, lambda method, path: refusal(403, "Forbidden", "you may not patch pods") if is_move(method, path) else None)


def test_a_pod_that_may_not_be_deleted_later_holds_up_no_other() -> None:
    async def work(made: Lab) -> None:
        await made.make("train", {**spec(3), "taskRoles": spec(3)["taskRoles"][:1], "ttlSecondsAfterFinished": 30})
        path, tracking = path_of("frameworks", "default", "train"), "app:frameworkcontroller.microsoft.com/Framework:default/train"
        await patch(made, path, "add", "/metadata/annotations/argocd.argoproj.io~1tracking-id", tracking)
        await made.completed("train")
        assert await left(made) == dict.fromkeys(("train-a-0", "train-a-1", "train-a-2"), "Framework")
        await asyncio.sleep(60)
        assert await left(made) == {"train-a-1": "Framework"}
        (event,) = [event for event in await made.events() if event["reason"] == "Refused"]
        assert "its deletion, a while after its end: Pod `train-a-1`: denied" in event["message"]

    denied = refusal(403, "Forbidden", "denied")
    play(work, lambda method, path: denied if method == "DELETE" and path.endswith("/train-a-1") else None)
