"""What hangs of one Framework in a webhook holds up no other of its namespace, and not its own end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fcontroller.api import Answer, Json
from tests.controller.lab import LENIENT, Lab, Refusing, lab, refusal, run_in_memory
from tests.controller.test_kept_pods import POLICY, is_move, play, spec
from tests.decide.world import role_spec

ANOTHER = role_spec("b", 1, run="forever")


async def slow() -> Answer:
    """Take as long as the API server waits for a webhook."""
    await asyncio.sleep(30)
    return refusal(500, "InternalError", "failed calling webhook: context deadline exceeded")


def test_deletions_that_hang_hold_up_no_other_framework() -> None:
    """Its Stop took two minutes."""

    async def work(made: Lab) -> None:
        loop = asyncio.get_running_loop()
        await made.make("runs", {"taskRoles": [role_spec("a", 1, run="forever")]})
        await made.until("runs", lambda status: status["taskCounts"]["running"] == 1)
        roles = [role_spec("a", 100, run="1", frameworkAttemptCompletionPolicy=POLICY), role_spec("b", 1, run="forever")]
        await made.make("train", {"taskRoles": roles})
        await asyncio.sleep(15)
        began = loop.time()
        await made.edit("runs", "executionType", "Stop")
        await made.until("runs", lambda status: status["state"] == "Completed", 2000)
        assert loop.time() - began < 20

    def refuse(method: str, path: str) -> Any:
        return slow() if method == "DELETE" and "/pods/train-" in path else None

    play(work, refuse)


@pytest.mark.parametrize(
    ("method", "kind", "edit"),
    [
        ("POST", "configmaps", {}),
        ("POST", "services", {}),
        ("PUT", "configmaps", {"taskRoles": [ANOTHER]}),
        ("DELETE", "configmaps", {"executionType": "Stop"}),
        ("DELETE", "services", {"taskRoles": [ANOTHER]}),
    ],
)
def test_writes_of_other_objects_that_hang_hold_up_no_other_framework(method: str, kind: str, edit: Json) -> None:
    """Its statuses waited behind all ConfigMaps and Services of the namespace that hung: its Stop took a quarter of an hour."""

    hangs = False

    async def work() -> None:
        nonlocal hangs
        async with lab(Refusing(refuse), rules=LENIENT) as made:
            loop, others = asyncio.get_running_loop(), [f"other{number}" for number in range(200)]
            await made.make("runs", {"taskRoles": [role_spec("a", 1, run="60"), role_spec("b", 1, run="forever")]})
            await made.until("runs", lambda status: status["taskCounts"]["running"] == 2)
            hangs = True
            for name in others:
                await made.make(name, {"taskRoles": [role_spec("a", 1, run="forever", service={})]})
            if edit:
                await made.until(others[-1], lambda status: status["taskCounts"]["running"] == 1)
            for name in others:
                for field, value in edit.items():
                    await made.edit(name, field, value)
            await asyncio.sleep(100 - loop.time())
            completed = (await made.framework("runs"))["status"]["taskCounts"]["completed"]
            await made.edit("runs", "executionType", "Stop")
            if method != "DELETE":  # Otherwise its own ConfigMap waits.
                await made.until("runs", lambda status: status["state"] == "Completed", 2000)
            assert (completed, loop.time() < 105) == (1, True)

    def refuse(asked: str, path: str) -> Any:
        return slow() if hangs and asked == method and f"/{kind}" in path and "/runs-" not in path else None

    run_in_memory(work())


@pytest.mark.parametrize(("kind", "name"), [("configmaps", "train199"), ("services", "train199"), ("services", "train0")])
def test_one_that_waits_for_its_turn_to_begin_can_be_stopped(kind: str, name: str) -> None:
    """Its Stop waited for minutes for the turn of what is not wanted any more; or for the answer to a Service."""
    cut = list[str]()

    async def work() -> None:
        async with lab(Refusing(refuse)) as made:
            for number in range(200):
                await made.make(f"train{number}", {"taskRoles": [role_spec(role, 1, run="forever", service={}) for role in "ab"]})
            await asyncio.sleep(20)
            began = asyncio.get_running_loop().time()
            await made.edit(name, "executionType", "Stop")
            await made.until(name, lambda status: status["state"] == "Completed", 2000)
            assert asyncio.get_running_loop().time() < began + 5
            await asyncio.sleep(100)
            said = {each["type"]: each["status"] for each in (await made.framework(name))["status"]["conditions"]}
            assert (said.get("ServicesMade", "True"), cut) == ("True", [])

    async def hangs(path: str) -> Answer:
        try:
            return await slow()
        except asyncio.CancelledError:
            cut.append(path)
            raise

    def refuse(asked: str, path: str) -> Any:
        return hangs(path) if asked == "POST" and path.endswith(f"/{kind}") else None

    run_in_memory(work())


def test_deletions_that_hang_do_not_hold_up_the_frameworks_own_end() -> None:
    async def work(made: Lab) -> None:
        loop = asyncio.get_running_loop()
        roles = [role_spec("a", 100, run="1", frameworkAttemptCompletionPolicy=POLICY), role_spec("b", 1, run="forever")]
        await made.make("train", {"taskRoles": roles})
        await asyncio.sleep(15)
        began = loop.time()
        await made.edit("train", "executionType", "Stop")
        await made.until("train", lambda status: status["state"] in ("AttemptDeletionRequested", "AttemptDeleting"), 2000)
        assert loop.time() - began < 5

    def refuse(method: str, path: str) -> Any:
        return slow() if method == "DELETE" and "/pods/train-" in path else None

    play(work, refuse)


@pytest.mark.parametrize("ending", [1, 2, 5])
def test_moves_that_hang_hold_up_no_other_framework(ending: int) -> None:
    """From two on, another's Stop took a minute and a half, and the last one's own end two minutes."""

    async def work(made: Lab) -> None:
        for number in range(ending):
            await made.make(f"train{number}", spec(50))
        await made.make("runs", {"taskRoles": [role_spec("a", 1, run="forever")]})
        for number in range(ending):
            await made.until(f"train{number}", lambda status: status["taskCounts"]["completed"] == 50, 600)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(ending):
            await made.edit(f"train{number}", "executionType", "Stop")
        await asyncio.sleep(3)
        stopped = loop.time()
        await made.edit("runs", "executionType", "Stop")
        await made.until("runs", lambda status: status["state"] == "Completed", 2000)
        held = loop.time() - stopped
        for number in range(ending):
            await made.until(f"train{number}", lambda status: status["state"] == "Completed", 2000)
        ended = loop.time() - began
        assert held < 20
        assert ended < 60 + 50 // 20 + 35

    def refuse(method: str, path: str) -> Any:
        return slow() if is_move(method, path) else None

    play(work, refuse)
