"""A defect that one Framework meets is told, and is not in the way of others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fcontroller.api import Json, path_of
from fcontroller.decide.context import ReconcileContext
from fcontroller.decide.framework import reconcile_framework
from fcontroller.reconcile import reconciler, workers
from fcontroller.reconcile.perform import perform
from tests.controller.lab import Lab, in_memory, lab, run_in_memory
from tests.decide.world import role_spec

SPEC = {"taskRoles": [role_spec("a", 1, run="0.1")]}


def told(made: Lab) -> list[str]:
    return [line["framework"] for line in made.lines if line["level"] == "error"]


def test_while_deciding(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(context: ReconcileContext, *rest: Any, **more: Any) -> None:
        if context.name == "bad" and context.status.state == "AttemptRunning":
            raise LookupError("a defect")
        reconcile_framework(context, *rest, **more)

    async def work() -> None:
        async with lab(in_memory(), broken=["bad"]) as made:
            monkeypatch.setattr(reconciler, "_BROKEN_DELAY", 0.5)
            monkeypatch.setattr(reconciler, "reconcile_framework", failing)
            await made.make("bad", SPEC)
            await made.make("good", SPEC)
            await made.completed("good")
            assert set(told(made)) == {"bad"}
            assert made.report.warnings["ControllerFailed",] > 0
            monkeypatch.setattr(reconciler, "reconcile_framework", reconcile_framework)
            await made.completed("bad")

    run_in_memory(work())


def test_an_edit_is_tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(context: ReconcileContext, *rest: Any, **more: Any) -> None:
        if context.spec.execution_type != "Start":
            raise LookupError("a defect")
        reconcile_framework(context, *rest, **more)

    async def work() -> None:
        async with lab(in_memory(), broken=["bad"]) as made:
            monkeypatch.setattr(reconciler, "_BROKEN_DELAY", 3600)
            monkeypatch.setattr(reconciler, "reconcile_framework", failing)
            await made.make("bad", {**SPEC, "executionType": "Create"})
            async with asyncio.timeout(10):
                while not told(made):
                    await asyncio.sleep(0.01)
            await made.edit("bad", "executionType", "Start")
            await made.completed("bad")

    run_in_memory(work())


def test_while_acting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(*_: Any) -> None:
        raise LookupError("a defect")

    async def work() -> None:
        async with lab(in_memory(), broken=["bad"]) as made:
            monkeypatch.setattr(reconciler, "_BROKEN_DELAY", 0.5)
            monkeypatch.setattr(workers, "perform", failing)
            await made.make("bad", SPEC)
            await made.until("bad", lambda _: bool(told(made)))
            monkeypatch.setattr(workers, "perform", perform)
            await made.make("good", SPEC)
            await made.completed("good")
            await made.completed("bad")

    run_in_memory(work())


def test_a_status_that_cannot_be_read() -> None:
    async def work() -> None:
        async with lab(in_memory(), broken=["bad"]) as made:
            bad = await made.make("bad", {**SPEC, "executionType": "Create"})
            await made.until("bad", lambda status: status["state"] == "AttemptCreationPending")
            await made.kill()
            await write(made, {**(await made.framework("bad")), "status": {"attemptStatus": {"taskRoleStatuses": 5}}})
            await made.restart()
            await made.make("good", SPEC)
            await made.completed("good")
            assert set(told(made)) == {"bad"}
            await write(made, {**(await made.framework("bad")), "status": None})
            await made.edit("bad", "executionType", "Start")
            await made.completed("bad")
            assert bad["metadata"]["uid"] == (await made.framework("bad"))["metadata"]["uid"]

    run_in_memory(work())


async def write(made: Lab, framework: Json) -> None:
    answer = await made.api.request("PUT", path_of("frameworks", made.namespace, framework["metadata"]["name"]) + "/status", framework)
    assert answer.ok, answer.message
