"""What others write into a status, which takes anything, meets one Framework only: the others go on, and the numbers are told."""

from __future__ import annotations

import asyncio
import re
from copy import deepcopy
from typing import Any

import pytest

from fcontroller.api import Json, path_of
from fcontroller.decide.status import from_time
from fcontroller.observe.reflector import Reflector
from fcontroller.reconcile.reconciler import Reconciler
from fcontroller.reconcile.retention import Retention
from tests.controller.lab import Refusing, in_memory, lab, run_in_memory
from tests.controller.test_defects import SPEC, told, write
from tests.controller.test_metrics import metrics_of
from tests.controller.test_watch import PODS, Seen, make
from tests.decide.world import role_spec

NO_TIME = "0001-01-01T00:00:00+23:59"
CONDITION = {"type": "IntentStored", "status": "False"}
ODD: dict[str, Json] = {
    "over since no time": {"state": "Completed", "transitionTime": NO_TIME},
    "over, with no attempt": {"state": "Completed", "attemptStatus": [1]},
    "no time": {"startTime": NO_TIME},
    "no state": {"state": ["x"]},
    "no state either": {"state": {"a": 1}},
    "an unknown state": {"state": "x"},
    "no conditions": {"conditions": ["x"]},
    "a condition since no time": {"conditions": [{**CONDITION, "lastTransitionTime": NO_TIME}]},
    "a condition since nothing": {"conditions": [CONDITION]},
}


@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_it_is_in_nobodys_way(odd: Json, restarted: bool) -> None:
    async def work() -> None:
        async with lab(in_memory(), broken=["bad"]) as made:
            await made.make("bad", {**SPEC, "executionType": "Create"})
            await made.until("bad", lambda status: status["state"] == "AttemptCreationPending")
            if restarted:
                await made.kill()
            bad = await made.framework("bad")
            await write(made, {**bad, "status": {**bad["status"], **odd}})
            if restarted:
                await made.restart()
            await made.make("good", SPEC)
            await made.completed("good")
            assert b"fcontroller_frozen_frameworks" in metrics_of(made).text()
            await made.controller.finish(1)

    run_in_memory(work())


ELSEWHERE = "x HTTP/1.1\r\nHost: a\r\n\r\nDELETE /api/v1/namespaces/other/pods/victim?x="
"""Sent in a path, it deletes a Pod of another namespace, with the controller's token."""


@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("name", [ELSEWHERE, "a/../../../other/pods/victim?x=", "a/status"])
def test_a_name_in_it_leads_to_no_other_object(name: str, restarted: bool) -> None:
    paths = set[str]()

    async def work() -> None:
        api = Refusing(lambda _, path: paths.add(path))
        async with lab(api, broken=["bad"]) as made:
            await made.make("bad", {"taskRoles": [role_spec("a", 1)]})
            await made.until("bad", lambda status: status["state"] == "AttemptRunning")
            if restarted:
                await made.kill()
            bad = await made.framework("bad")
            (role,) = bad["status"]["attemptStatus"]["taskRoleStatuses"]
            odd = deepcopy(role)
            odd["name"], odd["taskStatuses"][0]["attemptStatus"]["podUID"] = name, "gone"
            bad["status"]["attemptStatus"]["taskRoleStatuses"] = [role, odd]
            await write(made, bad)
            if restarted:
                await made.restart()
            await asyncio.sleep(10)
        assert set(told(made)) == ({"bad"} if restarted else set())  # Without a reason to write it, the controller goes on by its own.
        assert {path for path in paths if not re.fullmatch("[/a-z0-9.-]+", path) or "/.." in path or name in path} == set()

    run_in_memory(work())


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a?b", "a#b", "a%2fb", "a b", "a\r\nb", "a\n", "A", "-a", "é"])
def test_no_path_is_made_of_what_nothing_can_be_called(name: str) -> None:
    with pytest.raises(ValueError, match="no object can be called '"):
        path_of("pods", "default", name)
    assert path_of("pods", "default", "a.b-0") == "/api/v1/namespaces/default/pods/a.b-0"


def test_one_that_is_over_is_told_once() -> None:
    async def work() -> None:
        async with lab(in_memory(), broken=["bad"]) as made:
            await made.make("bad", {**SPEC, "executionType": "Create"})
            await made.until("bad", lambda status: status["state"] == "AttemptCreationPending")
            for number in range(5):
                bad = await made.framework("bad")
                await write(made, {**bad, "status": {**bad["status"], **ODD["over since no time"], "number": number}})
            await made.restart()
            await made.make("good", SPEC)
            await made.completed("good")
            assert told(made).count("bad") <= 2  # By each of the two.
            assert made.report.warnings["ControllerFailed",] > 0

    run_in_memory(work())


def test_one_that_cannot_be_kept_after_its_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the schema of the CRD, a `ttlSecondsAfterFinished` can be a list."""
    keep = Retention.keep

    def odd(self: Retention, framework: Json, ended: float | None, retained: bool = False) -> None:
        if framework["metadata"]["name"] == "bad":
            raise TypeError("no number")
        keep(self, framework, ended, retained)

    monkeypatch.setattr(Retention, "keep", odd)

    async def work() -> None:
        unhandled: list[Json] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
        async with lab(in_memory(), broken=["bad"]) as made:
            for name in ("bad", "good"):
                await made.make(name, SPEC)
                await made.completed(name)
            await asyncio.sleep(1)
            assert set(told(made)) == {"bad"}
        assert not unhandled

    run_in_memory(work())


def test_what_the_others_have_done_is_stored_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    finished = []

    async def fails(self: Reconciler, seconds: float) -> None:
        if self.key[1] == "bad":
            raise TypeError("an odd status")
        finished.append(self.key[1])

    monkeypatch.setattr(Reconciler, "finish", fails)

    async def work() -> None:
        async with lab(in_memory(), broken=["bad"]) as made:
            for name in ("bad", "good"):
                await made.make(name, {**SPEC, "executionType": "Create"})
                await made.until(name, lambda status: status["state"] == "AttemptCreationPending")
            await made.kill()
            await made.controller.finish(1)
            assert (finished, told(made)) == (["good"], ["bad"])

    run_in_memory(work())


@pytest.mark.parametrize("text", [NO_TIME, "9999-12-31T23:59:59-23:59", "no time", "2026-01-01T00:00:60Z"])
def test_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|isoformat|second"):
        from_time(text)


def test_an_object_of_whatever_oddity_is_set_aside_and_is_there() -> None:
    """What cannot be understood any more has not gone."""

    class Breaks(Seen):
        def seen(self, value: Json) -> None:
            if value["metadata"]["name"] == "bad" and "bad" in self.names:
                raise ArithmeticError("x" * 1_000)
            super().seen(value)

    async def work() -> None:
        memory, seen, said = in_memory(), Breaks(), list[Any]()
        reflector = Reflector(memory, PODS, seen, failed=said.append)
        await make(memory, "bad")
        await reflector._list()
        await make(memory, "good")
        await reflector._list()
        assert seen.names == {"bad", "good"}
        assert ["default/bad is not understood" in line and len(line) < 500 for line in said] == [True]

    run_in_memory(work())
