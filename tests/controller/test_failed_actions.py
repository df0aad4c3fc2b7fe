"""A failed action is kept as what it says, not with the frames of its request: those of 100,000 failures would take 400 MB."""

from __future__ import annotations

import asyncio
import gc
import socket
import tracemalloc
from typing import Any, cast

from fcontroller.act.client import Client
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.plain import Server
from fcontroller.act.pod_owners import PodOwners
from fcontroller.decide.actions import DeletePod
from fcontroller.decide.status import Role, Status, Task
from fcontroller.dependencies import Dependencies
from fcontroller.mailbox import Mailbox, Performed
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.perform import ActionContext
from fcontroller.reconcile.services import Services
from fcontroller.reconcile.workers import Workers
from tests.controller.lab import run

TASKS = 2000


def nobody() -> int:
    """A port where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_failures_are_small() -> None:
    async def work() -> None:
        api = Dispatcher(Client(Server(f"http://127.0.0.1:{nobody()}", None, dict)))
        status, role = Status("train-attempt", 0), Role("a", "uid")
        role.tasks = [Task(index, str(index), f"train-a-{index}", 0) for index in range(TASKS)]
        status.roles = [role]
        framework = {"metadata": {"name": "train", "namespace": "default"}}
        context = ActionContext(framework, status, None, cast(Services, None), PodOwners(api), None, paused=False, ends=False)
        mailbox = Mailbox(lambda _: None)
        workers = Workers(cast(Dependencies, cast(Any, type("", (), {"api": api}))), mailbox, Alarms(mailbox))

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
