"""Frameworks that are over: deleted in time, by the clocks of both sides, and never one that has only the name."""

from __future__ import annotations

import asyncio
import random

import pytest

from fcompile.model import names
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Answer, Json, collection, path_of
from fcontroller.dependencies import Dependencies
from fcontroller.reconcile import retention as module
from fcontroller.reconcile.retention import Retention
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import SETTINGS, Refusing, in_memory, lab, now, refusal, run_in_memory
from tests.decide.world import role_spec

RETAINED = SETTINGS.completed_retention
PATH = path_of("frameworks", "default", "train")


class Clocks:
    """What both sides take the time for."""

    def __init__(self) -> None:
        self.ours = self.servers = now()


def retention(api: Facade, clocks: Clocks) -> Retention:
    def server_now() -> float:
        return clocks.servers

    return Retention(Dependencies(Dispatcher(api), SETTINGS, lambda: clocks.ours, random.randint, server_now=server_now))


async def completed(api: Facade) -> tuple[Json, float]:
    """A Framework that has just come to its end, and when it did."""
    made = await api.request(
        "POST",
        collection("frameworks", "default"),
        {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": {"name": "train"}, "spec": {}},
    )
    assert made.ok, made.message
    return made.body, now()


async def is_there(api: Facade) -> bool:
    found = await api.request("GET", PATH)
    return found.ok and "deletionTimestamp" not in found.body["metadata"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_EVERY", 0.02)


@pytest.mark.parametrize(("ours", "servers"), [(RETAINED + 9, 0), (0, RETAINED + 9), (0, 0)])
def test_one_clock_is_not_enough(ours: float, servers: float) -> None:
    async def work() -> None:
        api, clocks = in_memory(), Clocks()
        kept = retention(api, clocks)
        kept.keep(*await completed(api))
        clocks.ours, clocks.servers = clocks.ours + ours, clocks.servers + servers
        running = asyncio.ensure_future(kept.run())
        await asyncio.sleep(0.2)
        assert await is_there(api)
        clocks.ours = clocks.servers = now() + RETAINED + 9
        async with asyncio.timeout(10):
            while await is_there(api):
                await asyncio.sleep(0.01)
        running.cancel()

    run_in_memory(work())


def test_one_that_was_made_anew_stays() -> None:
    async def work() -> None:
        api, clocks = in_memory(), Clocks()
        kept = retention(api, clocks)
        kept.keep(*await completed(api))
        assert (await api.request("DELETE", PATH)).ok
        await completed(api)
        clocks.ours = clocks.servers = now() + RETAINED + 9
        running = asyncio.ensure_future(kept.run())
        await asyncio.sleep(0.2)
        assert await is_there(api)
        running.cancel()

    run_in_memory(work())


@pytest.mark.parametrize("seen", [False, True])
def test_one_that_is_paused_or_given_more_time_after_it_was_read_stays(seen: bool) -> None:
    """Whether the watch has shown it while the deletion waited, or not: it was read before, and its deletion cannot be undone."""

    async def work() -> None:
        asked = 0

        async def change() -> Json:
            pause = {"op": "add", "path": "/metadata/annotations", "value": {names.PAUSE_ANNOTATION: "true"}}
            more = {"op": "add", "path": "/spec/ttlSecondsAfterFinished", "value": RETAINED * 9}
            return (await Facade.request(api, "PATCH", PATH, [pause, more])).body

        async def refuse(method: str, path: str) -> Answer | None:
            nonlocal asked
            if method != "DELETE":
                return None
            asked += 1
            framework = await change() if asked == 1 else {}
            if not seen or asked > 1:
                return None
            kept.keep(framework, ended)
            return refusal(429, "TooManyRequests", "later")

        api, clocks = Refusing(refuse), Clocks()
        kept = retention(api, clocks)
        framework, ended = await completed(api)
        kept.keep(framework, ended)
        clocks.ours = clocks.servers = now() + RETAINED + 9
        running = asyncio.ensure_future(kept.run())
        for _ in range(9):
            await asyncio.sleep(10)
            clocks.ours = clocks.servers = clocks.ours + 10
        assert (await is_there(api), asked) == (True, 1)
        running.cancel()

    run_in_memory(work())


def test_a_pause_that_was_read_and_is_over_by_then_holds_nothing() -> None:
    """The watch has shown it without one before and after: only the slow answer in between tells of it."""

    async def work() -> None:
        reads = 0

        async def paused_for_a_moment(method: str, path: str) -> Answer | None:
            nonlocal reads
            reads += method == "GET" and path == PATH
            if reads != 1:
                return None
            where = {"path": "/metadata/annotations"}
            await Facade.request(api, "PATCH", PATH, [{"op": "add", **where, "value": {names.PAUSE_ANNOTATION: "true"}}])
            found = await Facade.request(api, "GET", PATH)
            kept.keep((await Facade.request(api, "PATCH", PATH, [{"op": "remove", **where}])).body, ended)
            return found

        api, clocks = Refusing(paused_for_a_moment), Clocks()
        kept = retention(api, clocks)
        framework, ended = await completed(api)
        kept.keep(framework, ended)
        clocks.ours = clocks.servers = now() + RETAINED + 9
        running = asyncio.ensure_future(kept.run())
        await asyncio.sleep(1)
        assert await is_there(api)
        clocks.ours = clocks.servers = clocks.ours + 10
        await asyncio.sleep(10)
        assert not await is_there(api)
        running.cancel()

    run_in_memory(work())


@pytest.mark.parametrize("turns", range(6))
def test_it_ends_when_it_is_told_to_while_a_framework_comes_to_its_end(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_EVERY", 60)

    async def work() -> None:
        api = in_memory()
        kept, over = retention(api, Clocks()), await completed(api)
        running = asyncio.ensure_future(kept.run())
        await asyncio.sleep(0.01)
        kept.keep(*over)
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        done, _ = await asyncio.wait([running], timeout=5)
        assert done

    run_in_memory(work())


def test_what_the_watch_tells_late_begins_nothing_anew() -> None:
    """In a crowd the watch tells of states before the end after that was stored: a third of 300 Frameworks were read again."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 1, run="0.1")]})
            before = None
            while before is None or before["status"]["state"] == "AttemptCreationPending":
                found = await made.framework("train")
                before = found if found.get("status") else None
                await asyncio.sleep(0.01)
            await made.completed("train")
            while made.controller.reconcilers:
                await asyncio.sleep(0.01)
            kept = dict(made.controller.retention.kept)
            made.controller.seen(before)
            assert not made.controller.reconcilers
            assert made.controller.retention.kept == kept
            anew = {**before, "metadata": {**before["metadata"], "uid": "another", "resourceVersion": "999999"}}
            made.controller.seen(anew)
            assert made.controller.reconcilers

    run_in_memory(work())
