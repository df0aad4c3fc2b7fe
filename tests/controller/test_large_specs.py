"""A large spec is lowered in turns: meanwhile others have theirs, and nothing but what depends on it waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator
from types import ModuleType
from typing import Any, cast

import pytest

from fcompile.default import Defaulted, default
from fcontroller import breath
from fcontroller.api import path_of
from fcontroller.decide.spec import read_spec
from fcontroller.decide.status import Status
from fcontroller.mailbox import IntentLowered, Mailbox
from fcontroller.reconcile import lowering, reconciler
from fcontroller.reconcile.attempt_intent import AttemptIntent
from tests.controller import test_adoption, test_intent, test_played, test_refused_edits, test_review, test_trust
from tests.controller.lab import LENIENT, Lab, in_memory, lab, run_in_memory
from tests.controller.test_intent import all_run
from tests.controller.test_kept_pods import pause
from tests.controller.test_review import IMAGE
from tests.controller.test_trust import SPEC, pods
from tests.decide.world import role_spec
from tests.safety.test_turns import Longest

STATUS = Status("train-attempt", 0)
PARTS = [test_intent, test_trust, test_review, test_refused_edits, test_adoption, test_played]


def simple(module: ModuleType) -> list[Callable[[], None]]:
    """The tests of a module that take nothing."""
    found = [value for name, value in vars(module).items() if name.startswith("test_") and callable(value)]
    own = [test for test in found if test.__module__ == module.__name__]
    return [test for test in own if not test.__code__.co_argcount and not hasattr(test, "pytestmark")]


@pytest.mark.parametrize("test", [test for module in PARTS for test in simple(module)], ids=lambda test: test.__name__)
def test_in_turns_it_is_as_it_is_at_once(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "LARGE", 0)
    test()


def many_containers(count: int) -> dict[str, Any]:
    """A spec of 500 roles with so many containers each."""
    containers = [{"name": f"c{number}", "image": "a"} for number in range(count)]
    roles = [role_spec(f"r{number}", 0) for number in range(500)]
    for role in roles:
        role["task"]["pod"]["spec"]["containers"] = containers
    return {"taskRoles": roles}


@pytest.mark.usefixtures("without_collections")
def test_others_have_their_turn_meanwhile() -> None:
    """It took a second for a megabyte, and one user could edit a hundred."""
    metadata = {"name": "train", "namespace": "default", "generation": 1}
    framework = {"metadata": metadata, "spec": {"executionType": "Start", **many_containers(14)}}

    async def work() -> None:
        mailbox, unused = Mailbox(lambda _: None), cast(Any, None)
        async with lab(in_memory()) as made, asyncio.TaskGroup() as tasks:
            dependencies = made.controller.dependencies
            intent = AttemptIntent(dependencies, framework, unused, tasks.create_task, mailbox, unused)
            longest = Longest()
            assert not intent.may_run(STATUS, framework)
        assert [type(message) for message in mailbox.take()] == [IntentLowered]
        assert intent.may_run(STATUS, framework)
        assert longest.turn < 0.1

    run_in_memory(work())


def test_counts_and_policies_are_read_without_the_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """To fill in the defaults of a megabyte took a third of a second at each edit, in one turn."""
    spec = many_containers(2)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}
    spec["taskRoles"][0]["task"]["pod"]["metadata"] = {"ownerReferences": [owner]}
    framework = {"metadata": {"name": "train"}, "spec": spec}
    filled: list[dict[str, Any]] = []

    def noted(value: dict[str, Any]) -> Defaulted:
        filled.append(value)
        return default(value)

    monkeypatch.setattr(reconciler, "default", noted)
    found = reconciler._spec(framework)
    assert "containers" not in json.dumps(filled)
    assert found == read_spec(default(framework).framework)
    assert found.roles["r0"].owners == 2


def test_one_that_nobody_could_read_again_is_refused() -> None:
    """It ran until the next start of a controller, who could not read it and said that it was forged."""

    async def work() -> None:
        async with lab(in_memory(), rules=LENIENT) as made:
            await made.make("train", many_containers(20))
            status = await made.until("train", lambda status: bool(status.get("conditions")))
            (said,) = status["conditions"]
            assert (said["type"], said["status"], said["reason"]) == ("IntentReviewed", "False", "Uncompilable")
            assert said["message"].startswith("The spec cannot be compiled: its intent has ")
            assert "bytes, and may have 4,194,304: see" in said["message"]
            assert status["state"] == "AttemptCreationPending"
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")

    run_in_memory(work())


class Slow:
    """Lowering takes its time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.times = 0.0, 0
        monkeypatch.setattr(lowering, "LARGE", 0)
        monkeypatch.setattr(lowering, "unhurried", self._unhurried)

    async def _unhurried(self, steps: Generator[None, None, Any]) -> tuple[Any, float]:
        self.times += 1
        await asyncio.sleep(self.seconds)
        return await breath.unhurried(steps)


@pytest.mark.parametrize("begun", [False, True])
def test_nothing_waits_for_it_but_what_depends_on_it(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)

    async def work() -> None:
        async with lab(in_memory(), rules=LENIENT) as made:
            slow.seconds = 0 if begun else 1000
            await made.make("train", SPEC)
            if begun:
                await all_run(made, "train", [0, 0, 0])
                slow.seconds = 1000
                await made.edit("train", IMAGE, "b")
                await asyncio.sleep(5)
                assert {spec["containers"][0]["image"] for spec in (await pods(made)).values()} == {"a"}
            await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda status: status["state"] == "Completed", 20)

    run_in_memory(work())


def test_the_newest_edit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)

    async def work() -> None:
        async with lab(in_memory(), rules=LENIENT) as made:
            slow.seconds = 5
            await made.make("train", SPEC)
            for image in ("b", "c", "d"):
                await asyncio.sleep(2)
                await made.edit("train", IMAGE, image)
            await all_run(made, "train", [0, 0, 0])
            assert await ps_image(made) == "d"
            for image in ("e", "f"):
                await made.edit("train", IMAGE, image)
                await asyncio.sleep(2)
            await made.restart()
            await made.edit("train", "taskRoles/1/taskNumber", 2)
            await all_run(made, "train", [0, 0, 0, 0])
            assert {name: spec["containers"][0]["image"] for name, spec in (await pods(made)).items() if "ps" in name} == {
                "train-ps-0": "d",
                "train-ps-1": "f",
            }

    run_in_memory(work())


async def ps_image(made: Lab) -> str:
    """The image of the role that is edited."""
    return str((await pods(made))["train-ps-0"]["containers"][0]["image"])


def test_what_begins_again_and_again_lowers_no_more_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time that somebody else writes the status, all begins anew."""
    slow = Slow(monkeypatch)

    async def work() -> None:
        async with lab(in_memory(), rules=LENIENT) as made:
            slow.seconds = 100
            await made.make("train", SPEC)
            await made.until("train", lambda status: status["state"] == "AttemptCreationPending")
            for number in range(20):
                framework = await made.framework("train")
                framework["status"]["retryPolicyStatus"]["totalRetriedCount"] = number + 1
                answer = await made.api.request("PUT", f"{path_of('frameworks', 'default', 'train')}/status", framework)
                assert answer.ok, answer.message
                await pause(made, "false" if number % 2 else "true")  # Which it stores, and finds what the other has written.
                await asyncio.sleep(2)
            await made.until("train", lambda status: status["state"] == "AttemptRunning", 500)
            assert slow.times == 2  # The first, which was under way, and the last.

    run_in_memory(work())
