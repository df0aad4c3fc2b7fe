"""A dry run says what would be done next, and does nothing."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.dry_run import DryRun
from fcontroller.api import Api, Json, path_of
from fcontroller.dependencies import Dependencies
from fcontroller.reconcile.controller import Controller
from tests.controller.lab import SETTINGS, in_memory, lab, now, run_in_memory
from tests.decide.world import role_spec


async def said(api: Api, last: str) -> list[str]:
    """What is said until the line that ends in `last`."""
    lines: list[str] = []
    over = asyncio.Event()

    def say(message: str, **fields: Any) -> None:
        lines.append(" ".join([message.rsplit("/namespaces/default/")[-1], *fields.values()]))
        if lines[-1].endswith(last):
            over.set()

    dependencies = Dependencies(Dispatcher(DryRun(api, say)), SETTINGS, now, random.randint, dry_run=True)
    controller = asyncio.create_task(Controller(dependencies).run())
    async with asyncio.timeout(30):
        await over.wait()
    controller.cancel()
    return lines


def test_a_new_framework() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.kill()
            await made.make("f", {"taskRoles": [role_spec("a", 1)]})
            before = await made.framework("f")
            assert await said(made.api, "configmaps/f-attempt") == ["frameworks/f/status AttemptCreationPending", "configmaps/f-attempt"]
            assert await made.framework("f") == before
            assert await made.pods() == []

    run_in_memory(work())


def test_one_that_is_under_way() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 2)]})
            await made.until("f", lambda status: all(uid(task) for task in tasks(status)) and status["state"] == "AttemptRunning")
            await made.kill()
            options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
            await made.api.request("DELETE", path_of("pods", "default", "f-a-0"), options)
            assert "frameworks/f/status AttemptDeletionPending" in await said(made.api, "configmaps/f-attempt")
            assert len(await made.pods()) == 1
            assert (await made.framework("f"))["status"]["state"] == "AttemptRunning"

    run_in_memory(work())


def tasks(status: Json) -> list[Json]:
    found: list[Json] = status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]
    return found


def uid(task: Json) -> Any:
    return task["attemptStatus"]["podUID"]
