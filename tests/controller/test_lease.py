"""At most one leads, and who leads no longer does not write."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import pytest

from fcompile.model.names import RUNS_ANNOTATION
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.lease import Lease, LostLease
from fcontroller.api import Answer, Api, Body, Json, Projection, Unreachable, WentBack
from fcontroller.testing.memory_api.answers import failure
from tests.controller.lab import in_memory, run_in_memory

PATH = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "x"}}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


class Cut(Api):
    """A connection that can be cut, before a request is carried out or after."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.before = self.after = False

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if self.before:
            raise Unreachable("cut")
        answer = await self.api.request(method, path, body, query)
        if self.after:
            raise Unreachable("cut")
        return answer

    def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> Any:
        return self.api.watch(path, query)


class Refusing(Cut):
    """An API server that lets nobody write."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if method == "GET":
            return await super().request(method, path, body, query, projection)
        verb = {"POST": "create", "PUT": "update"}[method]
        return Answer(403, failure(403, "Forbidden", f"you may not {verb} leases"))


async def tried(lease: Lease) -> bool:
    return await lease._try()


@pytest.mark.parametrize("as_new_again", [False, True])
def test_who_leads_notices_that_the_server_went_back(as_new_again: bool) -> None:
    """Versions of other objects tell nothing once so much was written that they are as new as before."""

    async def work() -> None:
        now, backup = in_memory(), in_memory()
        cut, clock = Cut(backup), Clock()
        lease = Lease(cut, "default", "x", "one", clock=clock)
        assert await tried(lease)
        cut.api = now
        for memory in (now, backup):
            for number in range(9 if memory is now or as_new_again else 0):
                await memory.request("POST", PATH, {**CONFIG_MAP, "metadata": {"name": f"a{number}"}})
        assert await tried(Lease(now, "default", "x", "one", clock=clock))
        assert await tried(lease)
        cut.api = backup
        clock.time = 3
        with pytest.raises(WentBack, match="was at 1"):
            await tried(lease)
        assert lease.held
        assert await tried(lease)

    run_in_memory(work())


def test_a_backup_from_before_there_was_a_lease() -> None:
    """As from before this controller was installed, in the place of another one."""

    async def work() -> None:
        now, backup = in_memory(), in_memory()
        cut = Cut(now)
        for number in range(9):
            await now.request("POST", PATH, {**CONFIG_MAP, "metadata": {"name": f"a{number}"}})
        lease = Lease(cut, "default", "x", "one", clock=Clock())
        assert await tried(lease)
        cut.api = backup
        with pytest.raises(WentBack, match="was at"):
            await tried(lease)
        assert lease.held
        assert await tried(lease)

    run_in_memory(work())


def test_a_lease_that_somebody_deletes_is_made_again() -> None:
    async def work() -> None:
        memory = in_memory()
        lease = Lease(memory, "default", "x", "one", clock=Clock())
        assert await tried(lease)
        assert (await memory.request("DELETE", f"{LEASES}/x")).ok
        assert await tried(lease)
        assert await tried(lease)

    run_in_memory(work())


def test_the_end_of_keeping_says_that_the_server_went_back() -> None:
    async def work() -> None:
        backup, now = in_memory(), in_memory()
        cut = Cut(now)
        lease = Lease(cut, "default", "x", "one", clock=asyncio.get_running_loop().time)
        await backup.request("POST", LEASES, {**LEASE, "spec": {"holderIdentity": "one"}})
        for _ in range(3):
            assert await tried(lease)
        cut.api = backup
        with pytest.raises(WentBack):
            await lease.keep()
        keeping = asyncio.create_task(lease.keep())
        await asyncio.sleep(60)
        assert lease.held
        keeping.cancel()

    run_in_memory(work())


def test_a_lease_without_a_spec_is_free() -> None:
    async def work() -> None:
        memory = in_memory()
        await memory.request("POST", LEASES, LEASE)
        lease = Lease(memory, "default", "x", "one")
        assert await tried(lease)
        assert lease.held

    run_in_memory(work())


@pytest.mark.parametrize("spec", [{"leaseTransitions": 2**31 - 1}, {"leaseTransitions": 2**31 - 1, "holderIdentity": "other"}])
def test_a_lease_with_the_most_transitions_can_be_taken(spec: Json) -> None:
    """One more is no int32: the API server refused it, and nobody led any more."""

    async def work() -> None:
        memory, clock = in_memory(), Clock()
        await memory.request("POST", LEASES, {**LEASE, "spec": spec})
        lease = Lease(memory, "default", "x", "one", clock=clock)
        await tried(lease)
        clock.time = 15
        assert await tried(lease)
        stored = (await memory.request("GET", f"{LEASES}/x")).body["spec"]
        assert stored["leaseTransitions"] == 2**31 - 1

    run_in_memory(work())


def test_a_lease_that_is_taken_for_years_and_not_renewed_is_told() -> None:
    async def work() -> None:
        memory, clock, told = in_memory(), Clock(), list[str]()
        await memory.request("POST", LEASES, {**LEASE, "spec": {"holderIdentity": "x" * 999, "leaseDurationSeconds": 2**31 - 1}})
        lease = Lease(memory, "default", "x", "one", clock=clock, failed=told.append)
        assert not await tried(lease)
        assert not told
        clock.time = 15
        assert not await tried(lease)
        (said,) = told
        assert said.endswith("has taken it for 2147483647 s, and does not renew it: delete it unless that one is at work")
        assert len(said) < 400

    run_in_memory(work())


def test_one_of_two_leads_until_it_lets_go() -> None:
    async def work() -> None:
        api, clock = in_memory(), Clock()
        one, two = (Lease(api, "default", "x", name, clock=clock) for name in ("one", "two"))
        assert await tried(one)
        assert not await tried(two)
        clock.time = 9
        assert await tried(one)
        clock.time = 18
        assert not await tried(two)
        assert (one.held, two.held) == (True, False)
        await one.release()
        assert await tried(two)
        assert (one.held, two.held) == (False, True)

    run_in_memory(work())


@pytest.mark.parametrize("answered", [True, False], ids=["nothing arrives", "no answer arrives"])
def test_who_is_cut_off_stops_before_another_begins(answered: bool) -> None:
    async def work() -> None:
        memory = in_memory()
        cut, clock = Cut(memory), Clock()
        one, two = Lease(cut, "default", "x", "one", clock=clock), Lease(memory, "default", "x", "two", clock=clock)
        assert await tried(one)
        assert not await tried(two)
        cut.before, cut.after = answered, not answered
        led = {"one": [0.0], "two": [0.0]}
        for tick in range(1, 400):
            clock.time = tick / 10
            await tried(one)
            await tried(two)
            assert not (one.held and two.held)
            if not answered and tick == 100:
                cut.before = True  # Until then its renewals are stored, though it never learns of that.
            for name, lease in (("one", one), ("two", two)):
                if lease.held:
                    led[name].append(clock.time)
        assert max(led["one"]) < 15 <= min(led["two"][1:])

    run_in_memory(work())


def test_why_it_cannot_be_had_is_told() -> None:
    async def work() -> None:
        memory, told, clock = in_memory(), list[str](), Clock()
        cut = Cut(memory)
        lease = Lease(cut, "default", "x", "one", clock=clock, failed=told.append)
        cut.before = True
        assert not await tried(lease)
        cut.before = False
        refused = Lease(Refusing(memory), "default", "x", "one", clock=clock, failed=told.append)
        assert not await tried(refused)
        assert told == ["cut", "you may not create leases"]
        assert await tried(lease)
        assert not await tried(refused)
        # That somebody else is faster, or leads, is nothing to tell.
        other = Lease(memory, "default", "x", "two", clock=clock, failed=told.append)
        assert not await tried(other)
        assert told == ["cut", "you may not create leases", "you may not update leases"]

    run_in_memory(work())


def test_a_process_that_was_stopped_writes_nothing_when_it_wakes() -> None:
    async def work() -> None:
        api, clock = in_memory(), Clock()
        lease = Lease(api, "default", "x", "one", clock=clock)
        fenced = Dispatcher(api, lambda: lease.held)
        with pytest.raises(Unreachable):
            await fenced.request("POST", PATH, CONFIG_MAP)
        assert await tried(lease)
        assert (await fenced.request("POST", PATH, CONFIG_MAP)).ok
        clock.time = 1000
        with pytest.raises(Unreachable):
            await fenced.request("DELETE", f"{PATH}/a")
        assert (await fenced.request("GET", f"{PATH}/a")).ok

    run_in_memory(work())


@pytest.mark.parametrize("minutes", [-10, 10])
def test_clocks_need_not_agree(minutes: int) -> None:
    async def work() -> None:
        api, ours, theirs = in_memory(), Clock(), Clock()
        theirs.time = minutes * 60
        one, two = Lease(api, "default", "x", "one", clock=ours), Lease(api, "default", "x", "two", clock=theirs)
        assert await tried(one)
        for _ in range(300):
            ours.time += 1
            theirs.time += 1
            assert await tried(one)
            assert not await tried(two)

    run_in_memory(work())


def test_waiting_and_keeping() -> None:
    async def work() -> None:
        memory, clock = in_memory(), asyncio.get_running_loop().time
        cut = Cut(memory)
        one, two = Lease(cut, "default", "x", "one", duration=5, clock=clock), Lease(memory, "default", "x", "two", duration=5, clock=clock)
        await one.acquire()
        keeping = asyncio.create_task(one.keep())
        waiting = asyncio.create_task(two.acquire())
        await asyncio.sleep(20)
        assert (keeping.done(), waiting.done()) == (False, False)
        cut.before = True
        with pytest.raises(LostLease, match=r"^it was renewed 3 s ago for the last time; cut$"):
            async with asyncio.timeout(6):
                await keeping
        assert not waiting.done()
        async with asyncio.timeout(6):
            await waiting

    run_in_memory(work())


def test_a_lease_that_is_let_go_is_taken_soon_however_long_it_lasts() -> None:
    """A longer lease is for an API server that is far away: at each rollout nobody led for a fifth of it."""

    async def work() -> None:
        memory, clock = in_memory(), asyncio.get_running_loop().time
        one, two = (Lease(memory, "default", "x", name, duration=600, clock=clock) for name in ("one", "two"))
        await one.acquire()
        waiting = asyncio.create_task(two.acquire())
        await asyncio.sleep(10)
        await one.release()
        async with asyncio.timeout(4):
            await waiting

    run_in_memory(work())


def test_a_lease_of_another_namespace_is_told() -> None:
    """One Lease for two namespaces: whoever came second waited for ever, and nobody was told that no Framework of his runs."""

    async def work() -> None:
        memory, clock, told = in_memory(), Clock(), list[str]()

        def lease(name: str, runs: str) -> Lease:
            return Lease(memory, "default", "x", name, clock=clock, runs=runs, failed=told.append)

        one, same, other, everything = lease("one", "a"), lease("two", "a"), lease("three", "b"), lease("four", "")
        assert await tried(one)
        assert not await tried(same)
        assert not told
        assert not await tried(other)
        assert not await tried(everything)
        why = "/x: 'one' holds it, and runs only the Frameworks of namespace a: this controller, which is for"
        assert [said.partition("/leases")[2] for said in told] == [
            f"{why} {what}, runs none meanwhile: give it another --lease-name" for what in ("namespace b", "all namespaces")
        ]
        await one.release()
        assert await tried(everything)
        told.clear()
        clock.time = 3
        assert await tried(everything)
        assert not await tried(other)  # Its Frameworks run.
        assert not told

    run_in_memory(work())


@pytest.mark.parametrize("annotations", [None, {"a": "b"}])
def test_a_lease_that_does_not_say_what_its_holder_runs(annotations: Json | None) -> None:
    """As that of an older version."""

    async def work() -> None:
        memory, told = in_memory(), list[str]()
        metadata = {"name": "x", "annotations": annotations}
        await memory.request("POST", LEASES, {**LEASE, "metadata": metadata, "spec": {"holderIdentity": "one"}})
        clock = Clock()
        two = Lease(memory, "default", "x", "two", clock=clock, runs="b", failed=told.append)
        assert not await tried(two)
        assert not told
        clock.time = 15
        assert await tried(two)
        found = (await memory.request("GET", f"{LEASES}/x")).body["metadata"]["annotations"]
        assert found == {**(annotations or {}), RUNS_ANNOTATION: "b"}

    run_in_memory(work())


class Late(Cut):
    """An API server that takes long for everything."""

    def __init__(self, api: Api, seconds: float) -> None:
        super().__init__(api)
        self.seconds = seconds
        self.asked: list[str] = []

    async def request(
        self, method: str, path: str, body: Any = None, query: Any = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        self.asked.append(method)
        await asyncio.sleep(self.seconds)
        return await self.api.request(method, path, body, query, projection)


def test_a_server_that_is_slow_does_not_cost_the_lease() -> None:
    """With a read before each write, and a pause after it, 2 seconds for an answer were too many."""

    async def work() -> None:
        late = Late(in_memory(), 0)
        lease = Lease(late, "default", "x", "one", clock=asyncio.get_running_loop().time)
        await lease.acquire()
        late.seconds = 4
        keeping = asyncio.create_task(lease.keep())
        await asyncio.sleep(300)
        assert lease.held
        assert late.asked[:2] == ["GET", "POST"]
        assert set(late.asked[2:]) == {"PUT"}
        late.seconds = 0
        await asyncio.sleep(300)
        assert len(late.asked) < 2 + 300 / 4 + 300 / 3 + 2, "and no more is asked than every three seconds"
        keeping.cancel()

    run_in_memory(work())


@pytest.mark.parametrize(
    ("stopped", "why"),
    [
        (0, f"it was renewed 10 s ago for the last time; {LEASES}/x: no answer"),
        (60, "it was renewed 63 s ago for the last time; this process was stopped, or could not run"),
    ],
)
def test_it_is_said_why_the_lease_is_lost(stopped: float, why: str) -> None:
    """An API server that was silent has given no error."""

    async def work() -> None:
        late, clock = Late(in_memory(), 0), Clock()
        loop = asyncio.get_running_loop()
        lease = Lease(late, "default", "x", "one", clock=lambda: loop.time() + clock.time)
        await lease.acquire()
        keeping = asyncio.create_task(lease.keep())
        await asyncio.sleep(1)
        late.seconds, clock.time = 1000, stopped
        with pytest.raises(LostLease, match=f"^{re.escape(why)}$"):
            async with asyncio.timeout(60):
                await keeping

    run_in_memory(work())


def test_it_is_said_that_somebody_else_has_taken_the_lease() -> None:
    async def work() -> None:
        memory = in_memory()
        lease = Lease(memory, "default", "x", "one", clock=asyncio.get_running_loop().time)
        await lease.acquire()
        keeping = asyncio.create_task(lease.keep())
        found = (await memory.request("GET", f"{LEASES}/x")).body
        await memory.request("PUT", f"{LEASES}/x", {**found, "spec": {**found["spec"], "holderIdentity": "two"}})
        with pytest.raises(LostLease, match=f"{LEASES}/x: somebody else has written it$"):
            async with asyncio.timeout(60):
                await keeping

    run_in_memory(work())


class Overloaded(Cut):
    """An API server that carries out so many requests a second, one after the other."""

    def __init__(self, api: Api, a_second: float) -> None:
        super().__init__(api)
        self._takes, self._turn, self.under_way, self.most = 1 / a_second, asyncio.Lock(), 0, 0

    async def request(
        self, method: str, path: str, body: Any = None, query: Any = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            async with self._turn:
                await asyncio.sleep(self._takes)
        finally:
            self.under_way -= 1
        return await self.api.request(method, path, body, query, projection) if path.startswith(LEASES) else Answer(201, {})


def test_the_lease_outlasts_a_server_that_is_slow_for_all() -> None:
    """All requests took longer than a second, so they were said to hang, and 576 were sent at once. The lease waited behind them."""

    async def work() -> None:
        server, loop = Overloaded(in_memory(), 30), asyncio.get_running_loop()
        lease = Lease(server, "default", "x", "one", clock=loop.time)
        await lease.acquire()
        keeping = asyncio.create_task(lease.keep())
        api = Dispatcher(server, lambda: lease.held, lambda: lease.latency)
        creations = [asyncio.create_task(api.request("POST", f"/api/v1/namespaces/{number % 20}/pods", {})) for number in range(9_000)]
        await asyncio.wait(creations, timeout=400)
        assert not keeping.done(), keeping.exception()
        assert all(creation.done() and creation.result().ok for creation in creations)
        assert server.most < 200, "some were taken to hang before the first renewal"
        keeping.cancel()

    run_in_memory(work())


class Slow(Cut):
    """A connection on which writes wait until they are let through: they were sent, and have not arrived."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.through = asyncio.Event()

    async def request(
        self, method: str, path: str, body: Any = None, query: Any = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        if method != "GET":
            await self.through.wait()
        return await self.api.request(method, path, body, query, projection)


def test_what_was_under_way_when_the_lease_ran_out_changes_nothing() -> None:
    async def work() -> None:
        memory, clock = in_memory(), Clock()
        one, two = (Lease(memory, "default", "x", name, clock=clock) for name in ("one", "two"))
        assert await tried(one)
        slow = Slow(memory)
        old, new = Dispatcher(slow, lambda: one.held), Dispatcher(memory, lambda: two.held)
        made = (await memory.request("POST", PATH, CONFIG_MAP)).body
        uid = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": made["metadata"]["uid"]}}
        late = [asyncio.create_task(old.request("PUT", f"{PATH}/a", {**made, "data": {"by": "one"}}))]
        late.append(asyncio.create_task(old.request("DELETE", f"{PATH}/a", uid)))
        await asyncio.sleep(0)
        assert not await tried(two)
        clock.time = 20
        assert await tried(two)
        # The new leader deletes it and makes another one of that name.
        assert (await new.request("DELETE", f"{PATH}/a", uid)).ok
        again = await new.request("POST", PATH, {**CONFIG_MAP, "data": {"by": "two"}})
        slow.through.set()
        assert [(await answer).code for answer in late] == [409, 409]
        assert (await memory.request("GET", f"{PATH}/a")).body == again.body
        with pytest.raises(Unreachable):
            await old.request("PUT", f"{PATH}/a", again.body)

    run_in_memory(work())


class Silent(Cut):
    """Answers one request late or never, as where one of several servers has died without a word, and all others at once."""

    def __init__(self, api: Api, seconds: float) -> None:
        super().__init__(api)
        self.seconds, self.asked = seconds, 0

    async def request(
        self, method: str, path: str, body: Any = None, query: Any = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        self.asked += 1
        is_late = self.asked == 5
        answer = await self.api.request(method, path, body, query, projection)
        await asyncio.sleep(self.seconds if is_late else 0)
        return answer


@pytest.mark.parametrize("seconds", [4.9, 5, 5.1, 6, 3600])
def test_one_renewal_that_is_not_answered_does_not_cost_the_lease(seconds: float) -> None:
    """It had all the time that the leader had."""

    async def work() -> None:
        silent = Silent(in_memory(), seconds)
        lease = Lease(silent, "default", "x", "one", clock=asyncio.get_running_loop().time)
        await lease.acquire()
        keeping = asyncio.create_task(lease.keep())
        await asyncio.sleep(120)
        assert not keeping.done()
        assert silent.asked < 2 + 120 / 3 + 5
        keeping.cancel()

    run_in_memory(work())


class Failing(Cut):
    """Answers everything late, and one write with an error, as an API server does whose etcd was busy."""

    asked = 0

    async def request(
        self, method: str, path: str, body: Any = None, query: Any = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        self.asked += 1
        await asyncio.sleep(2 if self.asked > 2 else 0)
        if self.asked == 6:
            return Answer(504, failure(504, "Timeout", "etcdserver: request timed out"))
        return await self.api.request(method, path, body, query, projection)


def test_one_error_of_a_slow_server_does_not_cost_the_lease() -> None:
    """The next try came three seconds later, and it needs two answers."""

    async def work() -> None:
        lease = Lease(Failing(in_memory()), "default", "x", "one", clock=asyncio.get_running_loop().time)
        await lease.acquire()
        keeping = asyncio.create_task(lease.keep())
        await asyncio.sleep(60)
        assert not keeping.done()
        keeping.cancel()

    run_in_memory(work())
