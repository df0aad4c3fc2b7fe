"""When a status is stored."""

from __future__ import annotations

import asyncio
import tracemalloc
import uuid
from copy import deepcopy

import pytest

from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import path_of
from fcontroller.decide.status import Role, Status, Task
from fcontroller.decide.status_json import to_text
from fcontroller.mailbox import FrameworkSeen, Mailbox
from fcontroller.reconcile import status_writer
from fcontroller.reconcile.background import Background
from fcontroller.report import Report
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import Refusing, in_memory, lab, run_in_memory
from tests.decide.world import role_spec
from tests.safety.virtual_time import VirtualLoop, in_virtual_time


def test_what_must_be_stored_first_does_not_wait_however_large_the_status_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_writer, "_SHARE", 1e9)  # Changes of tasks are not stored for years.

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 3)]})
            async with asyncio.timeout(10):
                while len(await made.pods()) < 3:
                    await asyncio.sleep(0.05)

    run_in_memory(work())


def written(seconds: float) -> int:
    """How often the status of a Framework is written whose tasks end one after the other, when each time takes so long."""
    count = 0

    async def take_time(method: str, path: str) -> None:
        nonlocal count
        if method == "PUT" and path.endswith("/status"):
            count += 1
            await asyncio.sleep(seconds)

    async def work(_: VirtualLoop) -> None:
        async with lab(Refusing(take_time)) as made:
            await made.make("train", {"taskRoles": [role_spec(f"a{number}", 1, str(number * 0.3)) for number in range(30)]})
            await made.completed("train")

    in_virtual_time(work)
    return count


def test_a_busy_server_is_asked_less_often() -> None:
    assert written(0.1) < written(0) / 2
    assert written(0.3) < written(0.1) / 1.5


@pytest.mark.parametrize("seconds", [0.01, 1.0])
def test_the_end_is_stored_at_once_however_slow_the_server_is(seconds: float) -> None:
    async def take_time(method: str, path: str) -> None:
        if method == "PUT" and path.endswith("/status"):
            await asyncio.sleep(seconds)

    async def work(loop: VirtualLoop) -> None:
        async with lab(Refusing(take_time)) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 3, "1")]})
            await made.until("train", lambda found: found["state"] == "AttemptDeletionPending")
            ends = loop.passed
            await made.completed("train")
            assert loop.passed - ends < seconds + 1

    in_virtual_time(work)


def test_what_is_written_all_the_time_does_not_hold_up_the_status_for_long() -> None:
    """After a minute of it, a Stop was not carried out for another one."""

    async def work(loop: VirtualLoop) -> None:
        api, until = Refusing(lambda *_: None), 0.0

        async def write_first(method: str, path: str) -> None:
            if method == "PUT" and path.endswith("/status") and loop.passed < until:
                await annotate(api, str(loop.passed))

        api.refusal = write_first
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 1, run="forever")]})
            await made.until("train", lambda found: found["state"] == "AttemptRunning")
            until = loop.passed + 60
            await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda found: found["state"] == "Completed", 200)
            assert until < loop.passed < until + 5

    in_virtual_time(work)


async def annotate(api: Facade, value: str) -> None:
    patch = [{"op": "add", "path": "/metadata/annotations/note", "value": value}]
    assert (await Facade.request(api, "PATCH", path_of("frameworks", "default", "train"), patch)).ok


def test_a_status_that_waits_for_its_turn_takes_little_memory() -> None:
    """A thousand Frameworks may wait at once: their texts as they are sent took 170 MiB."""
    status, role = Status("train-attempt", 1.5), Role("a", "uid-a")
    role.tasks = [Task(index, str(uuid.uuid4()), f"train-a-{index}", 2.5) for index in range(300)]
    status.roles = [role]
    metadata = {"namespace": "n", "name": "train", "uid": "u", "resourceVersion": "1"}
    framework = {"apiVersion": "v1", "kind": "Framework", "metadata": metadata, "spec": {}}
    size = len(to_text(status))

    async def work() -> None:
        asked = asyncio.Event()

        async def hang(method: str, path: str) -> None:
            asked.set()
            await asyncio.Event().wait()

        api, background = Dispatcher(Refusing(hang)), Background()
        writer = status_writer.StatusWriter(api, Report(), framework, background.start, Mailbox(lambda _: None))
        tracemalloc.start()
        try:
            writer.see(status)
            await asked.wait()
            held, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most > size
        assert held < size / 4

    asyncio.run(work())


def test_one_copy_of_the_spec_is_in_memory() -> None:
    """A megabyte of JSON takes sixteen in memory, and each event of a watch is read anew."""

    async def work() -> None:
        api = in_memory()
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 1)]})
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            reconciler = made.controller.reconcilers["default", "train"]
            known = reconciler.framework["spec"]
            again = deepcopy(await made.framework("train"))
            again["metadata"]["resourceVersion"] = "1000000"
            reconciler.mailbox.put(FrameworkSeen(again))
            await asyncio.sleep(1)
            assert reconciler.framework["metadata"]["resourceVersion"] == "1000000"
            assert reconciler.framework["spec"] is known
            edited = deepcopy(again)
            edited["metadata"] |= {"resourceVersion": "1000001", "generation": again["metadata"]["generation"] + 1}
            reconciler.mailbox.put(FrameworkSeen(edited))
            await asyncio.sleep(1)
            assert reconciler.framework["spec"] is edited["spec"]

    run_in_memory(work())
