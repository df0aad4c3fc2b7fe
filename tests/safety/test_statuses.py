"""Statuses that are not stored at once: when the process ends, when the server says that the Framework is gone, when others write them."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from fcontroller.api import Json, path_of
from fcontroller.testing.memory_api.answers import failure
from tests.decide.world import role_spec as role
from tests.safety.faults import Call, Fault
from tests.safety.server import Connection, Hangs
from tests.safety.world import Process, World

NOT_SERVED = Fault((404, failure(404, "NotFound", "the server could not find the requested resource")))


def ended(world: World) -> list[bool]:
    """The process ends in good order; returns of which Frameworks a status was being written then."""
    process = world.process
    assert process is not None

    async def end() -> list[bool]:
        process.main.cancel()
        await asyncio.wait([process.main])
        writing = [reconciler.writer._writing for reconciler in process.controller.reconcilers.values()]
        await process.controller.finish(10)
        return writing

    ending = world.loop.create_task(end())
    world.process = None
    world.run(10.5)
    return ending.result()


def unknown(world: World) -> set[str]:
    """Pods that were made and of which the status does not tell."""
    told = str(world.status())
    world.watcher.violations.clear()  # Nobody runs now who could end what is not told.
    return {pod["metadata"]["name"] for pod in world.all("pods").values() if pod["metadata"]["uid"] not in told}


def test_a_process_that_ends_stores_all_that_was_done() -> None:
    writing = []
    for wait in range(30):
        with World(restarts=False) as world:
            world.server.latency = lambda: 0.05
            world.make({"taskRoles": [role("w", 40)]})
            world.run(0.5 + wait * 0.04)
            writing += ended(world)
            assert not unknown(world), f"it ended {wait * 0.04} s later"
    assert any(writing)


def test_it_tries_again_for_as_long_as_it_may() -> None:
    with World(restarts=False) as world:
        world.server.latency = lambda: 0.05
        world.make({"taskRoles": [role("w", 40)]})
        world.until(lambda: len(world.all("pods")) > 5, step=0.05)
        down = Fault((500, failure(500, "InternalError", "down")))
        world.server.fault = lambda call: down if call.path.endswith("/status") else None
        world.loop.call_later(7, setattr, world.server, "fault", lambda call: None)
        ended(world)
        assert not unknown(world)


@pytest.mark.parametrize("stored", [True, False])
def test_a_write_that_hangs_holds_up_neither_the_end_nor_what_came_after_it(stored: bool) -> None:
    """A later write takes its place. Whether the one that hangs was carried out is found out by that."""
    with World(restarts=False) as world:
        world.server.latency = lambda: 0.05
        world.make({"taskRoles": [role("w", 40)]})
        world.until(lambda: len(world.all("pods")) > 5, step=0.05)
        hangs = itertools.chain([Fault(Hangs(), stored)], itertools.repeat(None))
        world.server.fault = lambda call: next(hangs) if call.path.endswith("/status") and call.method == "PUT" else None
        world.run(3)
        assert ended(world) == [True]
        assert not unknown(world)
        assert world.status()["taskCounts"]["running"] == 40


@pytest.mark.parametrize("where", ["/frameworks/f", "/frameworks"])
def test_frameworks_that_are_not_served_for_a_while_go_on(where: str) -> None:
    with World() as world:
        world.make({"taskRoles": [role("w", 2, "30")]})
        world.run(29)
        world.server.fault = lambda call: NOT_SERVED if where in call.path else None
        world.run(100)
        world.server.fault = lambda call: None
        world.until(lambda: world.status()["state"] == "Completed", 60)


@pytest.mark.parametrize("code", [404, 409, 422])
def test_a_lasting_refusal_is_told_and_a_race_is_not(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(World, "unsaved", lambda self, framework, error: told.append(str(error)), raising=False)
    with World() as world:
        refused, calls = Fault((code, failure(code, "Refused", "no"))), itertools.count()

        def first(call: Call) -> Fault | None:
            return refused if call.path.endswith("/status") and (next(calls) < 3 or lasts) else None

        lasts, world.server.fault = False, first
        world.make({"taskRoles": [role("w", 1)]})
        world.until(lambda: bool(world.all("pods")), 60)
        assert len(told) == (3 if code == 422 else 0)
        lasts = True
        world.stop()
        world.run(120)
        assert told[-1] == "no"


def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    reasons: list[str] = []
    monkeypatch.setattr(World, "warn", lambda self, framework, reason, message: reasons.append(reason), raising=False)
    return reasons


def test_another_writer_is_told_of_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = warned(monkeypatch)
    with World() as world:
        world.make({"taskRoles": [role("w", 1)]})
        world.run(5)
        first: Json = world.framework()
        for count in range(1, 21):
            number = world.framework()["metadata"]["resourceVersion"]
            status = {**first["status"], "conditions": [{"type": "Theirs", "status": "True", "reason": f"R{count}"}]}
            theirs = {**first, "metadata": {**first["metadata"], "resourceVersion": number}, "status": status}
            assert world.server.write("PUT", path_of("frameworks", "default", "f") + "/status", theirs).ok
            world.annotate("frameworkcontroller.microsoft.com/pause", str(count % 2 > 0).lower())
            world.run(20)
            assert reasons == ["StatusOverwritten"] * (count >= 2)


def test_two_controllers(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = warned(monkeypatch)
    with World() as world:
        Process(world, Connection(world.server))
        world.make({"taskRoles": [role("w", 20)]})
        world.run(60)
        assert "StatusOverwritten" in reasons
        world.watcher.violations.clear()  # It is ended, which is why nobody is to do this.
