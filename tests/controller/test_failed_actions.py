"""What is kept and said of actions that fail or wait. A failure is what it says: the frames of 100,000 requests would take 400 MB."""

from __future__ import annotations

import asyncio
import gc
import socket
import tracemalloc
from typing import Any, cast

import pytest

from fcontroller.act.client import Client
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.plain import Server
from fcontroller.act.pod_owners import PodOwners
from fcontroller.act.retry import QUEUED, SILENT, SLOW
from fcontroller.api import path_of
from fcontroller.decide.actions import ConfirmPodGone, DeletePod
from fcontroller.decide.status import Role, Status, Task
from fcontroller.dependencies import Dependencies
from fcontroller.mailbox import Mailbox, Performed
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.perform import ActionContext
from fcontroller.reconcile.services import Services
from fcontroller.reconcile.workers import Workers
from tests.controller.lab import Refusing, run, run_in_memory

TASKS = 2000


def nobody() -> int:
    """A port where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def workers_of(api: Dispatcher, status: Status, mailbox: Mailbox | None = None) -> tuple[Workers, ActionContext]:
    """Workers of a Framework, and the inputs of its actions."""
    mailbox = mailbox or Mailbox(lambda _: None)
    framework = {"metadata": {"name": "train", "namespace": "default"}}
    context = ActionContext(framework, status, None, cast(Services, None), PodOwners(api), None, paused=False, ends=False)
    dependencies = cast(Dependencies, cast(Any, type("", (), {"api": api})))
    return Workers(dependencies, "default", mailbox, Alarms(mailbox)), context


def test_failures_are_small() -> None:
    async def work() -> None:
        api = Dispatcher(Client(Server(f"http://127.0.0.1:{nobody()}", None, dict)))
        status, role = Status("train-attempt", 0), Role("a", "uid")
        role.tasks = [Task(index, str(index), f"train-a-{index}", 0) for index in range(TASKS)]
        status.roles = [role]
        mailbox = Mailbox(lambda _: None)
        workers, context = workers_of(api, status, mailbox)

        def note(message: object) -> bool:
            is_result = isinstance(message, Performed)
            if isinstance(message, Performed):
                assert message.error is not None
                workers.note(message, status)
            return is_result

        todo = [DeletePod(("a", index), f"uid-{index}") for index in range(TASKS)]
        gc.collect()
        tracemalloc.start(1)
        try:
            before = tracemalloc.get_traced_memory()[0]
            failed = 0
            workers.advance(todo, lambda: context)
            while failed < TASKS:
                await asyncio.sleep(0.001)
                failed += sum([note(message) for message in mailbox.take()])
                workers.advance([], lambda: context)
            todo.clear()
            gc.collect()
            each = (tracemalloc.get_traced_memory()[0] - before) / TASKS
        finally:
            tracemalloc.stop()
            workers.stop()
        assert each < 2000

    run(work())


@pytest.mark.parametrize(("others", "why"), [(0, SILENT), (40, QUEUED)])
def test_an_action_whose_read_waits_for_its_turn_is_not_said_to_have_no_answer(others: int, why: str) -> None:
    async def work() -> None:
        async def hangs(*_: str) -> None:
            await asyncio.sleep(1000)

        api, status, role = Dispatcher(Refusing(hangs)), Status("train-attempt", 0), Role("a", "uid")
        role.tasks, status.roles = [Task(0, "0", "train-a-0", 0)], [role]
        path = path_of("pods", "default", "train-a-0")
        async with asyncio.TaskGroup() as group:
            reads = [group.create_task(api.request("GET", path)) for _ in range(others)]
            await asyncio.sleep(0)
            workers, context = workers_of(api, status)
            workers.advance([ConfirmPodGone(("a", 0), "uid", {})], lambda: context)
            await asyncio.sleep(SLOW + 1)
            assert workers.failing(status, ConfirmPodGone) == [why]
            for each in (*reads, *workers.under_way):
                each.cancel()

    run_in_memory(work())
