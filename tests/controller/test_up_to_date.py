"""The condition `PodsUpToDate`: an edit changes no Pod that runs, and whoever has reviewed it is told which ones are as before."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from fcompile.model import names
from fcontroller.api import Answer, Json, path_of
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import Lab, Refusing, in_memory, lab, run_in_memory
from tests.controller.test_defects import write
from tests.controller.test_intent import RETRY, SPEC, all_run, delete_pod
from tests.controller.test_review import IMAGE, digested, patched
from tests.decide.world import role_spec

WORKER = "taskRoles/0/task/pod/spec/containers/0/image"
RESTART = "/metadata/annotations/" + names.RESTART_ANNOTATION.replace("/", "~1")


def up_to_date(status: Json) -> Json:
    found = [condition for condition in status["conditions"] if condition["type"] == "PodsUpToDate"]
    return found[0] if found else {}


@contextlib.asynccontextmanager
async def running(api: Facade | None = None) -> AsyncIterator[Lab]:
    """A lab in which all tasks of a Framework run."""
    async with lab(api or in_memory()) as made:
        await made.make("train", SPEC)
        await all_run(made, "train", [0, 0, 0])
        yield made


async def edited(made: Lab, path: str, value: str) -> None:
    """Edit what a role's Pods are made from, with its digest, and wait until that is in force."""
    await made.edit("train", path, value)
    await digested(made, "train")
    generation = (await made.framework("train"))["metadata"]["generation"]
    await made.until("train", lambda status: status["intent"]["observedGeneration"] == generation)


async def said(made: Lab, reason: str, *parts: str) -> Json:
    """Wait until the condition has a reason, and its message all of the parts; return it."""
    status = await made.until("train", lambda found: up_to_date(found).get("reason") == reason)
    if parts:
        status = await made.until("train", lambda found: all(part in up_to_date(found)["message"] for part in parts))
    return up_to_date(status)


def test_pods_of_before_an_edit_are_counted_until_they_are_made_anew() -> None:
    async def work() -> None:
        async with running() as made:
            await made.edit("train", "taskRoles/0/taskNumber", 3)
            await all_run(made, "train", [0, 0, 0, 0])
            assert up_to_date(await made.until("train", lambda _: True)) == {}, "an edit of counts changes no Pod"
            await edited(made, WORKER, "b")
            condition = await said(made, "BeforeEdit", "3 of 4 tasks have Pods from before the last edit (3 of role worker)")
            assert (condition["status"], names.RESTART_ANNOTATION in condition["message"]) == ("False", True)
            await delete_pod(made, "train-worker-1")
            await said(made, "BeforeEdit", "2 of 4 tasks")
            await made.edit("train", "taskRoles/0/taskNumber", 2)
            await said(made, "BeforeEdit", "1 of 3 tasks")
            await delete_pod(made, "train-worker-0")
            condition = await said(made, "UpToDate")
            assert condition["status"] == "True"

    run_in_memory(work())


def test_an_edit_that_is_taken_back_leaves_those_of_the_edit() -> None:
    async def work() -> None:
        async with running() as made:
            await edited(made, WORKER, "b")
            await said(made, "BeforeEdit", "2 of 3 tasks")
            await delete_pod(made, "train-worker-0")
            await said(made, "BeforeEdit", "1 of 3 tasks")
            await all_run(made, "train", [1, 0, 0])
            await edited(made, IMAGE, "c")
            await said(made, "BeforeEdit", "2 of 3 tasks", "(1 of role worker, 1 of role ps)")
            await edited(made, WORKER, "a")
            await said(made, "BeforeEdit", "2 of 3 tasks", "(1 of role worker, 1 of role ps)")
            await delete_pod(made, "train-worker-0")
            await said(made, "BeforeEdit", "1 of 3 tasks", "(1 of role ps)")

    run_in_memory(work())


def test_a_controller_that_was_started_since_the_edit_knows_it() -> None:
    async def work() -> None:
        async with running() as made:
            await edited(made, WORKER, "b")
            await made.restart()
            await delete_pod(made, "train-worker-0")
            await said(made, "BeforeEdit", "1 of 3 tasks")
            await edited(made, WORKER, "a")
            await said(made, "BeforeEdit", "1 of 3 tasks")
            await delete_pod(made, "train-worker-0")
            await said(made, "UpToDate")

    run_in_memory(work())


async def stored_before_it_died(work: Callable[[Lab], Awaitable[None]]) -> None:
    """Do something with a Framework whose edit of role worker was stored when the controller died.

    Its status says only that this was about to happen: nobody has what was in force before.
    """
    down = False

    def refuses(method: str, path: str) -> Answer | None:
        return Answer(503, {}) if down and method != "GET" and path.endswith("/status") else None

    async def config_map(made: Lab) -> Json:
        found: Json = (await made.api.request("GET", path_of("configmaps", "default", "train-attempt"))).body
        return found

    async with lab(Refusing(refuses)) as made:
        await made.make("train", {"taskRoles": [*SPEC["taskRoles"], role_spec("evaluator", 1, task=RETRY)]})
        await all_run(made, "train", [0, 0, 0, 0])
        before = await config_map(made)
        await made.edit("train", WORKER, "b")
        await digested(made, "train")
        async with asyncio.timeout(60):
            while (await config_map(made))["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]:
                down = down or bool((await made.framework("train"))["status"]["intent"]["nextDigest"])
                await asyncio.sleep(0)
        await made.kill()
        status = (await made.framework("train"))["status"]
        assert status["intent"]["nextDigest"] not in (None, status["intent"]["digest"])
        assert up_to_date(status) == {}
        down = False
        await work(made)


def test_an_edit_that_the_controller_has_stored_before_it_died() -> None:
    async def work(made: Lab) -> None:
        await made.restart()
        await said(made, "BeforeEdit", "2 of 4 tasks")

    run_in_memory(stored_before_it_died(work))


def test_another_edit_before_the_next_controller_begins_is_not_of_roles_that_none_has_changed() -> None:
    async def work(made: Lab) -> None:
        await made.edit("train", IMAGE, "c")
        await digested(made, "train")
        await made.restart()
        await said(made, "BeforeEdit", "3 of 4 tasks", "(2 of role worker, 1 of role ps)")

    run_in_memory(stored_before_it_died(work))


async def forgotten(made: Lab) -> None:
    """Have a controller of another version write the status, which knows no hashes and keeps the conditions; then ours takes over."""
    await made.kill()
    framework = await made.framework("train")
    for role in framework["status"]["attemptStatus"]["taskRoleStatuses"]:
        role.pop("podTemplateHash", None)
        for task in role["taskStatuses"]:
            task["attemptStatus"].pop("podTemplateHash", None)
    await write(made, framework)
    await made.restart()


def test_it_is_not_said_that_all_are_new_after_another_version_of_the_controller_ran() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {**SPEC, "retryPolicy": RETRY["retryPolicy"]})
            await all_run(made, "train", [0, 0, 0])
            await edited(made, WORKER, "b")
            await said(made, "BeforeEdit", "2 of 3 tasks")
            await forgotten(made)
            for _ in range(2):
                await asyncio.sleep(30)
                condition = await said(made, "Forgotten", "It is not known any more", "Before: 2 of 3 tasks")
                assert condition["status"] == "Unknown"
                await made.restart()
            await edited(made, IMAGE, "c")
            await delete_pod(made, "train-ps-0")
            await all_run(made, "train", [0, 0, 1])
            await said(made, "Forgotten")  # Those of role worker are as they were.

    run_in_memory(work())


def test_a_restart_ends_that_it_is_not_known() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {**SPEC, "retryPolicy": RETRY["retryPolicy"]})
            await all_run(made, "train", [0, 0, 0])
            await edited(made, WORKER, "b")
            await said(made, "BeforeEdit")
            await forgotten(made)
            await said(made, "Forgotten")
            await patched(made, "train", {"op": "add", "path": RESTART, "value": "1"})
            await said(made, "UpToDate")
            await made.restart()
            await asyncio.sleep(30)
            await said(made, "UpToDate")

    run_in_memory(work())


def test_after_the_end_it_says_what_ran() -> None:
    async def work() -> None:
        async with running() as made:
            await edited(made, WORKER, "b")
            await said(made, "BeforeEdit", "2 of 3 tasks")
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")
            condition = await said(made, "NotNeeded", "Before: 2 of 3 tasks have Pods from before the last edit")
            assert condition["status"] == "True"

    run_in_memory(work())


def test_a_restart_makes_all_pods_anew() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {**SPEC, "retryPolicy": RETRY})
            await all_run(made, "train", [0, 0, 0])
            await edited(made, WORKER, "b")
            await said(made, "BeforeEdit")
            await patched(made, "train", {"op": "add", "path": RESTART, "value": "1"})
            await said(made, "UpToDate")

    run_in_memory(work())


def test_pods_of_what_is_lost_are_taken_for_older() -> None:
    """Somebody has written into the ConfigMap while no controller ran, and the spec was edited then."""

    async def work() -> None:
        async with running() as made:
            await made.kill()
            patch = [{"op": "remove", "path": "/data"}]
            assert (await made.api.request("PATCH", path_of("configmaps", "default", "train-attempt"), patch)).ok
            await made.edit("train", WORKER, "b")
            await digested(made, "train")
            await made.restart()
            await said(made, "BeforeEdit", "3 of 3 tasks")
            await delete_pod(made, "train-worker-0")
            await said(made, "BeforeEdit", "2 of 3 tasks")

    run_in_memory(work())


def test_a_pod_that_was_asked_for_before_an_edit_and_made_after_it() -> None:
    gate = asyncio.Event()
    gate.set()

    async def waits(method: str, path: str) -> Answer | None:
        if method == "POST" and path.endswith("/pods"):
            await gate.wait()
        return None

    async def work() -> None:
        async with running(Refusing(waits)) as made:
            gate.clear()
            await delete_pod(made, "train-worker-0")
            await made.until("train", lambda status: status["taskCounts"]["running"] == 2)
            await asyncio.sleep(1)
            await edited(made, WORKER, "b")
            await said(made, "BeforeEdit", "1 of 3 tasks")
            gate.set()
            await said(made, "BeforeEdit", "2 of 3 tasks")
            assert {pod["spec"]["containers"][0]["image"] for pod in await made.pods()} == {"a"}

    run_in_memory(work())
