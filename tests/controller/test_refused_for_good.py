"""A Pod that the API server refuses fails its task at once. A retry policy without an end must not make that a loop without a wait."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Answer, Json, path_of
from tests.controller.lab import LENIENT, Lab, Refusing, lab, refusal, run_in_memory
from tests.controller.test_held import NEVER, condition
from tests.decide.world import role_spec

ALWAYS, ONCE = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": -1}}, {"retryPolicy": {"fancyRetryPolicy": False}}
FORBIDDEN = refusal(403, "Forbidden", 'pods "train-worker-0" is forbidden: no PriorityClass with name nope was found')
DENIED = refusal(422, "Invalid", "a policy denies it")
OF = pytest.mark.parametrize("of", ["framework", "task"])


def spec(of: str, count: int = 2) -> Json:
    """Without an end the Framework, or each task, is tried again."""
    role = role_spec("worker", count, task=ALWAYS if of == "task" else ONCE)
    return {"taskRoles": [role], **(ALWAYS if of == "framework" else ONCE)}


def creations(answer: Answer | None = FORBIDDEN) -> tuple[Refusing, list[float]]:
    """An API server that takes no Pod, and when it was asked for one."""
    asked: list[float] = []

    def refused(method: str, path: str) -> Answer | None:
        if method != "POST" or not path.endswith("/pods"):
            return None
        asked.append(asyncio.get_running_loop().time())
        return answer

    return Refusing(refused), asked


async def ten_minutes(asked: list[float]) -> None:
    """Let time pass, unless it takes for ever since the API server is asked all the time."""
    before = len(asked)
    for _ in range(60):
        await asyncio.sleep(10)
        assert len(asked) < before + 100


async def annotate(made: Lab, annotation: str, value: str) -> None:
    patch = [{"op": "add", "path": "/metadata/annotations/" + annotation.replace("/", "~1"), "value": value}]
    assert (await made.api.request("PATCH", path_of("frameworks", "default", "train"), patch)).ok


async def retried(made: Lab, of: str) -> int:
    status: Any = (await made.framework("train"))["status"]
    of_task = status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][0]
    return int((of_task if of == "task" else status)["retryPolicyStatus"]["totalRetriedCount"])


@OF
@pytest.mark.parametrize("answer", [FORBIDDEN, DENIED])
def test_it_is_asked_again_less_and_less_often(of: str, answer: Answer) -> None:
    """There were five attempts a second, each of which wrote the Framework six times: etcd was full after minutes."""

    async def work() -> None:
        api, asked = creations(answer)
        async with lab(api) as made:
            await made.make("train", spec(of))
            await asyncio.sleep(10)
            assert await retried(made, of) >= 5  # What comes by itself within seconds is not waited for.
            await ten_minutes(asked)
            before = len(asked)
            await ten_minutes(asked)
            each = 2 if of == "task" else 1  # An attempt of the Framework ends with its first Pod.
            assert 8 * each <= len(asked) - before <= 14 * each
            assert await retried(made, of) < 40

    run_in_memory(work())


@OF
@pytest.mark.parametrize("how", ["edit", "restart", "pause"])
def test_what_somebody_does_is_tried_at_once(of: str, how: str) -> None:
    async def work() -> None:
        api, asked = creations()
        async with lab(api) as made:
            await made.make("train", spec(of, 1))
            await ten_minutes(asked)
            api.refusal = lambda *_: None
            async with asyncio.timeout(5):
                if how == "edit":
                    await made.edit("train", "description", "with a class that is there")
                elif how == "restart":
                    await annotate(made, names.RESTART_ANNOTATION, "a")
                else:
                    await annotate(made, names.PAUSE_ANNOTATION, "true")
                    await made.until("train", lambda status: any(one["type"] == "Paused" for one in status["conditions"]))
                    await annotate(made, names.PAUSE_ANNOTATION, "false")
                await made.until("train", lambda status: status["state"] == "AttemptRunning")

    run_in_memory(work())


@OF
def test_stop_does_not_wait(of: str) -> None:
    async def work() -> None:
        api, asked = creations()
        async with lab(api) as made:
            await made.make("train", spec(of))
            await ten_minutes(asked)
            await made.edit("train", "executionType", "Stop")
            status = await made.until("train", lambda status: status["state"] == "Completed", 5)
            assert status["attemptStatus"]["completionStatus"]["code"] == -210

    run_in_memory(work())


def test_a_pod_that_is_made_begins_the_count_anew() -> None:
    """What is refused later is another problem."""

    async def work() -> None:
        api, asked = creations()
        async with lab(api) as made:
            await made.make("train", spec("task", 1))
            await ten_minutes(asked)
            denied, api.refusal = api.refusal, lambda *_: None
            await made.until("train", lambda status: status["taskCounts"]["running"] == 1)  # The last refusal may not be stored yet.
            api.refusal = denied
            asked.clear()
            pod = (await made.pods())[0]["metadata"]["name"]
            await made.api.request("DELETE", path_of("pods", "default", pod))
            await asyncio.sleep(10)
            assert len(asked) >= 5

    run_in_memory(work())


@OF
def test_it_is_said_while_it_lasts(of: str) -> None:
    """State and attempt alone looked as if it had just begun, and no metric counted it."""

    async def work() -> None:
        api, asked = creations()
        async with lab(api) as made:
            await made.make("train", spec(of))
            await ten_minutes(asked)
            said = await condition(made, "PodsCreated", "False")
            assert (said["reason"], said["lastTransitionTime"] < "2027-01-15T08:00:10Z") == ("Refused", True)
            assert "no PriorityClass with name nope" in said["message"]
            api.refusal = lambda *_: None
            await annotate(made, names.RESTART_ANNOTATION, "a")
            assert (await condition(made, "PodsCreated", "True"))["reason"] == "Created"
            await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda status: status["state"] == "Completed")

    run_in_memory(work())


@OF
def test_of_a_role_that_is_gone_nothing_is_said(of: str) -> None:
    """Why its Pods were refused stood beside why others are, for as long as these were."""

    async def work() -> None:
        api, asked = creations()
        async with lab(api, rules=LENIENT) as made:
            roles = spec(of)["taskRoles"]
            await made.make("train", {**spec(of), "taskRoles": [*roles, {**roles[0], "name": "ps"}]})
            await ten_minutes(asked)
            assert "role ps" in (await condition(made, "PodsCreated", "False"))["message"]
            await made.edit("train", "taskRoles", roles)
            await ten_minutes(asked)
            said = (await condition(made, "PodsCreated", "False"))["message"]
            assert ("role worker" in said, "role ps" in said) == (True, False)

    run_in_memory(work())


def test_no_more_is_kept_of_refusals_than_of_the_roles_that_there_are() -> None:
    """Each edit could bring a new role, and 64 KB of an answer that shows what is wrong: the controller of all of them grew for ever."""

    async def work() -> None:
        api, _ = creations()
        async with lab(api, rules=LENIENT) as made:
            await made.make("train", spec("task", 1))
            for number in range(20):
                await made.edit("train", "taskRoles", [role_spec(f"role{number}", 1, task=ALWAYS)])
                await asyncio.sleep(20)
            workers = made.controller.reconcilers["default", "train"].workers
            assert len(workers._refusals) <= 4  # A role and its task, and perhaps those before the last edit.

    run_in_memory(work())


def test_of_what_is_over_nothing_is_said() -> None:
    """Tasks that are not tried again, in an attempt that goes on; and a Framework that is not."""

    async def work() -> None:
        api, _ = creations()
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [{**role_spec("worker", 5, task=ONCE), "frameworkAttemptCompletionPolicy": NEVER}]})
            status = await made.until("train", lambda status: status["state"] == "Completed")
            assert all(one["type"] != "PodsCreated" or one["status"] == "True" for one in status["conditions"])

    run_in_memory(work())


def test_a_configmap_that_others_delete_at_once_is_made_less_and_less_often() -> None:
    """As a tool does that prunes what it does not know: five attempts a second were made for ever, each with Pods."""

    async def work() -> None:
        made_at: list[float] = []

        def noted(method: str, path: str) -> None:
            if method == "POST" and path.endswith("/configmaps"):
                made_at.append(asyncio.get_running_loop().time())

        async def prune(made: Lab) -> None:
            while True:
                await made.api.request("DELETE", path_of("configmaps", "default", names.config_map_name("train")))
                await asyncio.sleep(0.05)

        async with lab(Refusing(noted)) as made:
            pruning = asyncio.create_task(prune(made))
            await made.make("train", {"retryPolicy": {"fancyRetryPolicy": True}, "taskRoles": [role_spec("worker", 2)]})
            await ten_minutes(made_at)
            assert 10 < len(made_at) < 40
            assert 30 < made_at[-1] - made_at[-2] < 90
            # An edit may have put an end to it.
            pruning.cancel()
            began = asyncio.get_running_loop().time()
            await made.edit("train", "taskRoles/0/taskNumber", 1)
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            assert asyncio.get_running_loop().time() < began + 2

    run_in_memory(work())


def test_a_configmap_that_is_deleted_now_and_then_is_made_again_at_once() -> None:
    def runs(attempt: int, status: Json) -> bool:
        return bool(status["attemptStatus"]["id"] == attempt and status["state"] == "AttemptRunning")

    async def work() -> None:
        async with lab(Refusing(lambda *_: None)) as made:
            await made.make("train", {"retryPolicy": {"fancyRetryPolicy": True}, "taskRoles": [role_spec("worker", 2)]})
            for attempt in range(15):
                await made.until("train", partial(runs, attempt), 5)
                await asyncio.sleep(61)
                await made.api.request("DELETE", path_of("configmaps", "default", names.config_map_name("train")))

    run_in_memory(work())
