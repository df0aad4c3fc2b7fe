"""Edits that cannot be stored for some time: they are withdrawn, replaced, paused, or the attempt ends meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fcontroller.api import Answer, Json, Unreachable, collection, path_of
from tests.controller.lab import Lab, lab, refusal, run_in_memory
from tests.controller.test_kept_pods import pause
from tests.controller.test_late_answers import (
    CONFIG_MAP,
    FOR_ALL,
    FRAMEWORK,
    PS,
    QUOTA,
    SERVICES,
    WORKER,
    Late,
    conditions,
    delete,
    edit,
    play,
    runs,
)
from tests.decide.world import role_spec


def test_an_attempt_that_begins_while_an_edit_of_the_last_one_waits() -> None:
    """The edit was withdrawn: what waited to store it did not find it any more, and the Framework stood still for half a minute."""

    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        api.refuses = True
        await edit(api, WORKER, PS)
        await asyncio.sleep(40)
        await edit(api, WORKER)
        await asyncio.sleep(1)
        api.refuses = False
        await delete(api, CONFIG_MAP)
        await made.until("train", lambda status: (status["attemptStatus"]["id"], status["state"]) == (1, "AttemptRunning"))
        await edit(api, WORKER, PS)
        await asyncio.sleep(2)
        assert await api.service("train-ps")
        await asyncio.sleep(100)

    play(work)


@pytest.mark.parametrize("how", ["waits", "hangs"])
def test_nothing_of_an_edit_is_written_in_a_pause(how: str) -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        if how == "waits":
            api.refuses = True
        else:
            api.late = lambda method, path: 20 if (method, path) == ("POST", SERVICES) else 0
        await edit(api, PS)
        await asyncio.sleep(100 if how == "waits" else 1)
        await pause(made, "true")
        await asyncio.sleep(1)
        api.log.clear()
        api.refuses = False
        await asyncio.sleep(300)
        assert api.log == []
        await pause(made, "false")
        await asyncio.sleep(2)
        assert set(api.log) >= {("PUT", "train-attempt"), ("DELETE", "train-worker")}

    play(work)


def test_the_service_of_an_edit_that_is_withdrawn_while_nobody_leads_is_no_longer_said_to_be_refused() -> None:
    """It was for as long as the attempt ran: nobody asked for it again."""

    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        api.refuses = True
        await edit(api, WORKER, PS)
        await asyncio.sleep(100)
        assert (await conditions(made))["ServicesMade"] == "False"
        await made.kill()
        await edit(api, WORKER)
        await made.restart()
        await asyncio.sleep(10)
        assert (await conditions(made))["ServicesMade"] == "True"

    play(work)


def test_a_withdrawn_edit_leaves_nothing_behind() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        api.refuses = True
        await edit(api, WORKER, PS)
        await asyncio.sleep(100)
        assert await conditions(made) == {"ServicesMade": "False", "IntentStored": "False"}
        await delete(api, path_of("pods", "default", "train-worker-0"))  # Whatever else happens, it is still so.
        await asyncio.sleep(10)
        assert await conditions(made) == {"ServicesMade": "False", "IntentStored": "False"}
        await edit(api, WORKER)
        await asyncio.sleep(2)
        assert await conditions(made) == {"ServicesMade": "True", "IntentStored": "True"}
        api.refuses = False
        await edit(api, WORKER, PS)
        await asyncio.sleep(2)
        assert len(await made.pods()) == 2

    play(work)


def test_what_is_stopped_waits_for_no_service() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        api.refuses = True
        await delete(api, path_of("services", "default", "train-worker"))
        await asyncio.sleep(100)
        assert await conditions(made) == {"ServicesMade": "False"}
        assert (await api.at_once("PATCH", FRAMEWORK, [{"op": "replace", "path": "/spec/executionType", "value": "Stop"}])).ok
        await made.until("train", lambda status: status["state"] == "Completed")
        await asyncio.sleep(100)
        assert await conditions(made) == {"ServicesMade": "True"}

    play(work)


def test_the_next_edit_does_not_wait_for_the_refused_one() -> None:
    async def work(made: Lab, api: Late) -> None:
        await runs(made, WORKER)
        api.refuses = True
        await edit(api, WORKER, PS)
        await asyncio.sleep(100)
        await edit(api, WORKER, role_spec("ps", 1))
        await asyncio.sleep(2)
        assert len(await made.pods()) == 2
        assert await conditions(made) == {"ServicesMade": "True", "IntentStored": "True"}

    play(work)


def test_it_is_not_said_of_the_next_attempt_that_none_runs() -> None:
    async def work(made: Lab, api: Late) -> None:
        await made.make("train", {"retryPolicy": {"fancyRetryPolicy": True, "maxRetryCount": 0}, "taskRoles": [WORKER]})
        await made.until("train", lambda status: status["state"] == "AttemptRunning")
        api.refuses = True
        await edit(api, WORKER, PS)
        await asyncio.sleep(100)
        assert await conditions(made) == {"ServicesMade": "False", "IntentStored": "False"}
        api.refuses = False
        await delete(api, CONFIG_MAP)
        await made.until("train", lambda status: status["attemptStatus"]["id"] == 1 and status["state"] == "AttemptRunning")
        await asyncio.sleep(5)
        reasons = {each["type"]: each["reason"] for each in (await made.framework("train"))["status"]["conditions"]}
        assert (reasons["ServicesMade"], reasons["IntentStored"]) == ("Made", "Stored")

    play(work)


def test_a_policy_that_is_met_counts_as_soon_as_the_edit_that_brings_it_is_said_to_be_refused() -> None:
    async def work(made: Lab, api: Late) -> None:
        role = {**role_spec("worker", 2), "frameworkAttemptCompletionPolicy": {"minFailedTaskCount": -1, "minSucceededTaskCount": 2}}
        await runs(made, role)
        await end(api, "worker-0")
        await asyncio.sleep(5)
        api.late = lambda method, path: 1000 if (method, path) == ("PUT", CONFIG_MAP) else 0
        task = role["task"]
        template = {**task["pod"], "metadata": {**task["pod"]["metadata"], "labels": {"other": "template"}}}
        met = {"minFailedTaskCount": -1, "minSucceededTaskCount": 1}
        await edit(api, {**role, "frameworkAttemptCompletionPolicy": met, "task": {**task, "pod": template}})
        await made.until("train", lambda status: status["state"] == "Completed", 20)

    play(work)


@pytest.mark.parametrize("when", ["no controller runs", "the attempt begins"])
def test_new_tasks_are_made_of_the_edit_that_brings_them_whenever_it_comes(when: str) -> None:
    """A scale-up came into force before its template, and the new tasks ran for good what was there before the edit."""

    async def work(made: Lab, api: Late) -> None:
        if when == "the attempt begins":
            api.late = lambda method, path: 3 if method == "POST" and path.endswith("/configmaps") else 0
            await made.make("train", {"taskRoles": [labelled(2, "before")]})
            await asyncio.sleep(1)
        else:
            await runs(made, labelled(2, "before"))
        if when == "no controller runs":
            await made.kill()
        await edit(api, labelled(4, "after"))
        if when == "no controller runs":
            await made.restart()
        await made.until("train", lambda status: [task["state"] for task in tasks(status)] == ["AttemptRunning"] * 4)
        labels = {pod["metadata"]["name"]: pod["metadata"]["labels"]["made"] for pod in await made.pods()}
        assert (labels["train-worker-2"], labels["train-worker-3"]) == ("after", "after")

    play(work)


@pytest.mark.parametrize("code", [409, 404])
def test_a_service_that_is_always_refused_for_a_race_is_refused(code: int) -> None:
    """The attempt began, and an edit came into force, without it, and it was said that it was changed as soon as it was written."""

    async def work(made: Lab, api: Late) -> None:
        denied = refusal(code, "Refused", "not that")
        api.refusal = lambda method, path: denied if api.refuses and (method, path) == ("POST", SERVICES) else None
        api.refuses = True
        await made.make("train", {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 0}, "taskRoles": [WORKER]})
        for _ in ("the attempt", "an edit"):
            await asyncio.sleep(30)
            assert await conditions(made) == {"ServicesMade": "False", "IntentStored": "False"}
            found = (await made.framework("train"))["status"]["conditions"]
            assert all("not that" in each["message"] for each in found if each["status"] == "False" and each["reason"] == "Refused")
            before = len(await made.pods())
            api.refuses = False
            await asyncio.sleep(60)
            assert len(await made.pods()) == before + 1
            api.refuses = True
            await edit(api, WORKER, PS)

    play(work)


def test_new_tasks_are_made_of_an_edit_that_comes_while_the_one_before_it_is_not_answered() -> None:
    """It counted as refused before it was tried, and its new tasks ran for good what was there before both edits."""

    async def work(made: Lab, api: Late) -> None:
        await runs(made, labelled(1, "first"))
        api.late = lambda method, path: 40 if (method, path) == ("PUT", CONFIG_MAP) else 0
        await edit(api, labelled(1, "second"))
        await asyncio.sleep(20)
        assert await conditions(made) == {"IntentStored": "False"}
        await edit(api, labelled(2, "third"))
        await asyncio.sleep(3)
        api.late = lambda method, path: 0
        await asyncio.sleep(60)
        labels = {pod["metadata"]["name"]: pod["metadata"]["labels"]["made"] for pod in await made.pods()}
        assert labels == {"train-worker-0": "first", "train-worker-1": "third"}

    play(work)


def test_a_pod_that_was_made_before_an_edit_is_recognized_after_a_death() -> None:
    """It was looked at only once the edit was in force, and was deleted, since that makes another one."""

    async def work(made: Lab, api: Late) -> None:
        async def written(method: str, path: str, answered: Answer) -> Answer:
            if (method, path) == ("POST", collection("pods", "default")):
                api.refusal = lambda _, path: refusal(500, "InternalError", "not now") if path == f"{FRAMEWORK}/status" else None
            return answered

        api.written = written
        await made.make("train", {"taskRoles": [labelled(2, "before")]})
        await asyncio.sleep(5)
        before = {pod["metadata"]["uid"] for pod in await made.pods()}
        await made.kill()
        api.written, api.refusal = None, lambda method, path: None
        await edit(api, labelled(2, "after"))
        await made.restart()
        await asyncio.sleep(20)
        assert {pod["metadata"]["uid"] for pod in await made.pods()} == before
        assert len(before) == 2
        assert "PodNotRecognized" not in [event["reason"] for event in await made.events()]

    play(work)


@pytest.mark.parametrize("keeps", [{}, {"cleanPodPolicy": "None"}])
def test_a_role_that_an_unreviewed_edit_removes_is_retried_after_a_death_all_the_same(keeps: Json) -> None:
    """Before the intent was read, a task that had failed completed without a retry, and with it the attempt."""

    async def work() -> None:
        api = Late()
        async with lab(api) as made:
            spec = {"taskRoles": [role_spec(name, 1, task=FOR_ALL) for name in ("worker", "ps")], **keeps}
            await made.make("train", spec)
            await made.until("train", lambda status: status["taskCounts"]["running"] == 2)
            await made.kill()
            await end(api, "ps-0", phase="Failed")
            await edit(api, spec["taskRoles"][0])
            api.late = lambda method, path: 5 if (method, path) == ("GET", CONFIG_MAP) else 0
            await made.restart()
            await asyncio.sleep(30)
            status = (await made.framework("train"))["status"]
            assert (status["attemptStatus"]["id"], status["state"], status["taskCounts"]["running"]) == (0, "AttemptRunning", 2)

    run_in_memory(work())


@pytest.mark.parametrize("when", ["no controller runs", "its Service is refused"])
def test_what_has_completed_is_not_all_while_a_role_waits(when: str) -> None:
    """The scale-down of an edit came into force before the role that it brought, and the Framework ended well without it."""

    async def work(made: Lab, api: Late) -> None:
        await runs(made, role_spec("worker", 2))
        await end(api, "worker-0")
        await made.until("train", lambda status: tasks(status)[0]["state"] == "Completed")
        api.refuses = when == "its Service is refused"
        if when == "no controller runs":
            await made.kill()
        await edit(api, role_spec("worker", 1), PS)
        if when == "no controller runs":
            await made.restart()
        await asyncio.sleep(60)
        assert (await made.framework("train"))["status"]["state"] == "AttemptRunning"
        api.refuses = False
        await asyncio.sleep(60)
        assert [pod["metadata"]["name"] for pod in await made.pods()] == ["train-ps-0"]
        await end(api, "ps-0")
        await made.completed("train")

    play(work)


def labelled(count: int, label: str, **changes: Any) -> Json:
    """A role whose template is another one with each label."""
    role = role_spec("worker", count, **changes)
    role["task"]["pod"]["metadata"]["labels"] = {"made": label}
    return role


@pytest.mark.parametrize("roles", [[role_spec("worker", 2), PS], [labelled(3, "after")]], ids=["a role", "a task"])
def test_what_has_completed_is_not_all_while_an_edit_that_brings_more_is_being_stored(roles: list[Json]) -> None:
    """The Framework ended well, without what everybody had seen in its spec before its last task ended."""

    async def work(made: Lab, api: Late) -> None:
        await runs(made, role_spec("worker", 2))
        api.late = lambda method, path: 3 if (method, path) == ("PUT", CONFIG_MAP) else 0
        await edit(api, *roles)
        await asyncio.sleep(0.5)
        await end(api, "worker-0", "worker-1")
        await asyncio.sleep(60)
        assert [pod["metadata"]["name"] for pod in await made.pods()] == [f"train-{'ps-0' if len(roles) > 1 else 'worker-2'}"]

    play(work)


def test_what_ended_in_a_pause_is_decided_about_by_an_edit_of_the_pause() -> None:
    """The policies of before it decided, although the spec had others by the end of the pause, and the attempt had failed."""

    async def work(made: Lab, api: Late) -> None:
        await runs(made, labelled(2, "before"))
        await pause(made, "true")
        await end(api, "worker-0", phase="Failed")
        await end(api, "worker-1")
        await asyncio.sleep(5)
        await edit(api, labelled(3, "after", task=FOR_ALL))
        await asyncio.sleep(5)
        api.late = lambda method, path: 5 if (method, path) == ("PUT", CONFIG_MAP) else 0
        await pause(made, "false")
        await asyncio.sleep(60)
        assert (await made.framework("train"))["status"]["attemptStatus"]["id"] == 0
        labels = {pod["metadata"]["name"]: pod["metadata"]["labels"]["made"] for pod in await made.pods()}
        assert labels == {"train-worker-0": "after", "train-worker-2": "after"}

    play(work)


def test_a_role_that_a_second_unreviewed_edit_removes_keeps_what_the_first_has_scaled() -> None:
    """It fell back to the number that was stored: tasks that ran were ended, by an edit of which nobody had approved."""

    async def work() -> None:
        api = Late()
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [role_spec("worker", 1), role_spec("ps", 1)]})
            await made.until("train", lambda status: status["taskCounts"]["running"] == 2)
            await edit(api, labelled(1, "after"), role_spec("ps", 3))
            await made.until("train", lambda status: status["taskCounts"]["running"] == 4)
            before = {pod["metadata"]["uid"] for pod in await made.pods()}
            await edit(api, labelled(1, "after"))
            await asyncio.sleep(30)
            assert {pod["metadata"]["uid"] for pod in await made.pods()} == before

    run_in_memory(work())


@pytest.mark.parametrize("label", ["third", "first"])
@pytest.mark.parametrize("answer", ["comes after the controller's death", "is lost", "is an error"])
def test_an_edit_whose_storing_was_not_answered_is_not_taken_for_forged(answer: str, label: str) -> None:
    """When the next edit came, the one before it was forgotten, and so the controller did not know again what it had written itself."""

    async def work(made: Lab, api: Late) -> None:
        async def written(method: str, path: str, answered: Answer) -> Answer:
            if (method, path) == ("PUT", CONFIG_MAP) and not stored.is_set():
                stored.set()
                if answer == "is lost":
                    raise Unreachable("the connection was cut off")
                if answer == "is an error":
                    return refusal(500, "InternalError", "it took too long")
                await asyncio.sleep(1000)
            return answered

        await runs(made, labelled(1, "first", task=FOR_ALL))
        stored, api.written = asyncio.Event(), written
        await edit(api, labelled(1, "second", task=FOR_ALL))
        await stored.wait()
        if answer == "comes after the controller's death":
            await made.kill()
        await edit(api, labelled(1, label, task=FOR_ALL))
        if answer == "comes after the controller's death":
            await made.restart()
        generation = (await made.framework("train"))["metadata"]["generation"]
        await made.until("train", lambda status: status["intent"]["observedGeneration"] == generation)
        await asyncio.sleep(5)
        assert "IntentForged" not in [event["reason"] for event in await made.events()]
        await delete(api, path_of("pods", "default", "train-worker-0"))
        await asyncio.sleep(5)
        assert [pod["metadata"]["labels"]["made"] for pod in await made.pods()] == [label]

    play(work)


async def end(api: Late, *names: str, phase: str = "Succeeded") -> None:
    """Let Pods of the Framework end by themselves."""
    for name in names:
        ended = [{"op": "add", "path": "/status/phase", "value": phase}]
        assert (await api.at_once("PATCH", f"{path_of('pods', 'default', f'train-{name}')}/status", ended)).ok


def tasks(status: Json) -> list[Json]:
    """The tasks of the only role."""
    found: list[Json] = status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]
    return found


@pytest.mark.parametrize("answer", ["refused", "late"])
def test_what_becomes_of_a_service_of_an_attempt_that_was_given_up_is_not_said_of_the_next(answer: str) -> None:
    """It was said for as long as that ran."""

    async def work(made: Lab, api: Late) -> None:
        async def slow(refused: Answer) -> Answer | None:
            await asyncio.sleep(30)
            return refused if answer == "refused" else None

        slowly = [slow(QUOTA)]
        api.refusal = lambda method, path: slowly.pop() if slowly and (method, path) == ("POST", SERVICES) else None
        await made.make("train", {"taskRoles": [WORKER, PS]})
        await asyncio.sleep(1)
        await pause(made, "true")
        await asyncio.sleep(1)
        await pause(made, "false")
        await made.until("train", lambda status: status["state"] == "AttemptRunning", 5)
        await asyncio.sleep(15)
        assert "ServicesMade" not in await conditions(made)
        await asyncio.sleep(100)
        assert "ServicesMade" not in await conditions(made)

    play(work)


def test_the_service_of_an_edit_whose_attempt_ends_is_not_said_to_be_refused() -> None:
    async def work(made: Lab, api: Late) -> None:
        async def slow() -> Answer:
            await asyncio.sleep(20)
            return QUOTA

        await runs(made, WORKER)
        api.refusal = lambda method, path: slow() if (method, path) == ("POST", SERVICES) else None
        await edit(api, WORKER, PS)
        await asyncio.sleep(1)
        await delete(api, CONFIG_MAP)
        await edit(api, WORKER)
        await made.until("train", lambda status: (status["attemptStatus"]["id"], status["state"]) == (1, "AttemptRunning"))
        await asyncio.sleep(100)
        assert (await conditions(made)).get("ServicesMade", "True") == "True"

    play(work)
