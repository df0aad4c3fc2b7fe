"""Following a collection through everything that can happen to a watch."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Answer, Api, Body, Json, Name, Projection, Unreachable, WentBack, collection
from fcontroller.dependencies import Dependencies
from fcontroller.observe import reflector as reflector_module
from fcontroller.observe.reflector import TIMEOUT, Reflector
from fcontroller.reconcile.controller import Controller
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import SETTINGS, in_memory, now, run_in_memory

PODS = collection("configmaps", "default")


class Failing(Api):
    """An API server whose n-th watch fails in the n-th way."""

    def __init__(self, api: Facade, ways: list[Callable[[], Json | None]]) -> None:
        self.api, self.ways = api, ways
        self.lists = self.watches = 0

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        self.lists += method == "GET" and (query or {}).get("limit") != "1"
        return await self.api.request(method, path, body, query)

    async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        assert query["allowWatchBookmarks"] == "true"
        self.watches += 1
        if self.watches <= len(self.ways):
            event = self.ways[self.watches - 1]()
            if event is not None:
                yield event
            return
        async for event in self.api.watch(path, query):
            yield event


class Seen:
    """What a reflector has told."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def seen(self, value: Json) -> None:
        self.names.add(value["metadata"]["name"])

    def deleted(self, value: Json) -> None:
        self.names.discard(value["metadata"]["name"])

    def retain(self, present: set[Name]) -> None:
        self.names &= {name for _, name in present}


def ends() -> None:
    return None


def breaks() -> None:
    raise Unreachable("cut in the middle of a line")


def expired() -> Json:
    return {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}


def refuses() -> Json:
    return {"type": "ERROR", "object": {"kind": "Status", "code": 500, "message": "etcd leader changed"}}


def no_metadata() -> Json:
    return {"type": "ADDED", "object": {"metadata": ["x"]}}


def no_version() -> Json:
    return {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9" * 5_000}}}


async def make(api: Api, name: str) -> None:
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    assert (await api.request("POST", PODS, value)).ok


@pytest.mark.parametrize(("way", "lists"), [(ends, 1), (breaks, 1), (expired, 2), (refuses, 1), (no_metadata, 2), (no_version, 2)])
def test_nothing_is_lost(way: Callable[[], Json | None], lists: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector_module, "_FIRST_DELAY", 0.05)

    async def work() -> None:
        memory = in_memory()
        api, seen = Failing(memory, [way]), Seen()
        await make(memory, "before")
        reflector = Reflector(api, PODS, seen)
        task = asyncio.create_task(reflector.run())
        async with asyncio.timeout(5):
            await reflector.listed.wait()
        await make(memory, "meanwhile")
        while api.watches < 2:
            assert not task.done()
            await asyncio.sleep(0.01)
        await make(memory, "after")
        await memory.request("DELETE", f"{PODS}/before")
        for _ in range(300):
            await asyncio.sleep(0.01)
            if seen.names == {"meanwhile", "after"}:
                break
        assert seen.names == {"meanwhile", "after"}
        assert api.lists == lists
        task.cancel()

    run_in_memory(work())


@pytest.mark.parametrize("way", [ends, breaks, expired, refuses])
def test_a_server_that_is_in_trouble_is_not_run_over(way: Callable[[], Json | None]) -> None:
    async def work() -> None:
        api, seen = Failing(in_memory(), [way] * 1000), Seen()
        task = asyncio.create_task(Reflector(api, PODS, seen).run())
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(2.5):
                await asyncio.shield(task)
        task.cancel()
        assert 1 <= api.watches <= 6

    run_in_memory(work())


def unknown() -> Json:
    return {"type": "HEARTBEAT", "object": {}}


@pytest.mark.parametrize("way", [expired, unknown])
def test_everything_is_listed_less_and_less_often_where_no_watch_lasts(way: Callable[[], Json | None]) -> None:
    async def work() -> None:
        api = Failing(in_memory(), [way] * 1000)
        task = asyncio.create_task(Reflector(api, PODS, Seen()).run())
        await asyncio.sleep(600)
        many = api.lists
        await asyncio.sleep(600)
        assert 10 < api.lists - many < 45
        task.cancel()

    run_in_memory(work())


@pytest.mark.parametrize("quiet", [False, True])
def test_after_a_watch_that_has_lasted_a_list_is_quick_again(quiet: bool) -> None:
    """Whether it told of something, or was silent until the server ended it."""

    class Lasting(Failing):
        expired = 0.0

        async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
            self.watches += 1
            if self.watches == 7 and quiet:
                await asyncio.sleep(TIMEOUT)
                return
            if self.watches == 7:
                await make(self.api, "a")
                yield await anext(self.api.watch(path, query))
            if self.watches > 7 + quiet:
                await asyncio.sleep(1000)
            self.expired = asyncio.get_running_loop().time()
            yield expired()

    async def work() -> None:
        api = Lasting(in_memory(), [])
        task = asyncio.create_task(Reflector(api, PODS, Seen()).run())
        while api.watches < 8 + quiet:
            await asyncio.sleep(0.1)
        assert asyncio.get_running_loop().time() < api.expired + 1.7
        assert api.lists == 8
        task.cancel()

    run_in_memory(work())


@pytest.mark.parametrize("lags", [True, False])
def test_a_server_that_is_older_than_before_is_not_watched(lags: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take the watch, and be silent until its data is as new again: for a moment, or, out of a backup, for hours."""
    monkeypatch.setattr(reflector_module, "_FIRST_DELAY", 0.05)

    async def work() -> None:
        older, newer, seen, said = in_memory(), in_memory(), Seen(), list[str]()
        for memory in (older, newer):
            await make(memory, "before")
        for number in range(9):
            await make(newer, f"lost-{number}")
        api = Failing(newer, [breaks])
        following = asyncio.create_task(Reflector(api, PODS, seen, failed=said.append).run())
        async with asyncio.timeout(5):
            while api.watches < 1:
                await asyncio.sleep(0.001)
            api.api = older
            while len(said) < 3:
                await asyncio.sleep(0.001)
            assert api.watches == 1
            if not lags:
                with pytest.raises(WentBack, match="was at 11 before"):
                    await following
                return
            for number in range(20):
                await make(older, f"new-{number}")
            while api.watches < 2:
                await asyncio.sleep(0.001)
        assert seen.names == {"before", *(f"new-{number}" for number in range(20))}
        following.cancel()

    run_in_memory(work())


class Nulls(Facade):
    """Writes an empty list as null, as a real API server does where only metadata is asked for."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        answer = await super().request(method, path, body, query, projection)
        return answer._replace(body={**answer.body, "items": answer.body["items"] or None}) if method == "GET" else answer


def test_an_empty_list_may_be_null() -> None:
    async def work() -> None:
        seen = Seen()
        reflector = Reflector(Nulls(in_memory().server), PODS, seen)
        following = asyncio.create_task(reflector.run())
        async with asyncio.timeout(5):
            await reflector.listed.wait()
        following.cancel()

    run_in_memory(work())


class Nonsense(Facade):
    """Answers the first two lists with what no API server does, as a proxy may."""

    lists = 0

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        self.lists += 1
        wrong = {1: Answer(200, {}), 2: Answer(200, {"metadata": {"resourceVersion": "latest"}, "items": []})}.get(self.lists)
        return wrong or await super().request(method, path, body, query, projection)


def test_what_is_no_list_is_told_and_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector_module, "_FIRST_DELAY", 0.02)

    async def work() -> None:
        said: list[str] = []
        reflector = Reflector(Nonsense(in_memory().server), PODS, Seen(), failed=said.append)
        following = asyncio.create_task(reflector.run())
        async with asyncio.timeout(5):
            await reflector.listed.wait()
        following.cancel()
        assert ["not a list" in line for line in said] == [True, True]

    run_in_memory(work())


def test_a_reflector_with_a_defect_ends_the_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Reflector) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Reflector, "_list", fails)
    dependencies = Dependencies(Dispatcher(in_memory()), SETTINGS, now, random.randint)

    async def work() -> None:
        async with asyncio.timeout(5):
            await Controller(dependencies).run()

    with pytest.raises(ExceptionGroup):
        run_in_memory(work())


def test_while_many_events_are_taken_in_others_have_their_turns() -> None:
    """A thousand may have come in one piece, after a server was busy: the lease was not renewed until all were taken in."""
    events = 1_000

    class Many(Facade):
        async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
            version = int(query["resourceVersion"])
            for number in range(1, events + 1):
                yield {"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": str(version + number)}}}
            await asyncio.sleep(1_000)

    class Slow(Seen):
        def seen(self, value: Json) -> None:
            told.append(turn)
            time.sleep(0.0005)

    told, turn = list[int](), 0

    async def work() -> None:
        nonlocal turn
        reflecting = asyncio.create_task(Reflector(Many(in_memory().server), PODS, Slow()).run())
        while len(told) < events:
            turn += 1
            await asyncio.sleep(0)
        reflecting.cancel()
        assert max(Counter(told).values()) < events / 10

    asyncio.run(work())
