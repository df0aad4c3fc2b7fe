"""Requests take turns: nobody waits for long behind somebody else's, and nothing is sent that nobody wants any more."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from fcontroller.act import dispatcher as module
from fcontroller.act.dispatcher import AT_A_TIME, GUARANTEED, PER_TENANT, Dispatcher, Group, Priority
from fcontroller.api import Answer, Api, Body, Json, Projection, Unreachable, Unwanted, collection, path_of, target_of
from tests.safety.virtual_time import VirtualLoop, in_virtual_time

WEBHOOK = 20.0
"""Seconds for which the API server waits for some webhooks."""
SOON = 0.05


class Slow(Api):
    """A server that takes its time: by namespace and method."""

    def __init__(self, seconds: Callable[[str, str], float]) -> None:
        self.seconds = seconds
        self.sent: list[tuple[float, str, str]] = []
        """When, the method, and the namespace."""
        self.under_way: Counter[str] = Counter()
        self.most = 0
        self.busy: Callable[[str, str], bool] = lambda namespace, method: False
        """Who is told to come back later."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        namespace = target_of(path).namespace
        self.sent.append((asyncio.get_running_loop().time(), method, namespace))
        self.under_way[namespace] += 1
        self.most = max(self.most, self.under_way.total())
        try:
            await asyncio.sleep(self.seconds(namespace, method))
        finally:
            self.under_way[namespace] -= 1
        return Answer(429, {}, 20) if self.busy(namespace, method) else Answer(200, {})

    def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        raise NotImplementedError


def slow_in(*namespaces: str, method: str = "POST") -> Callable[[str, str], float]:
    return lambda namespace, asked: WEBHOOK if namespace in namespaces and asked == method else 0.01


def create(api: Dispatcher, namespace: str, **options: Any) -> Coroutine[Any, Any, Answer]:
    return api.request("POST", collection("pods", namespace), {}, **options)


def delete(api: Dispatcher, namespace: str) -> Coroutine[Any, Any, Answer]:
    return api.request("DELETE", path_of("pods", namespace, "a"), {})


async def took(work: Awaitable[Any]) -> float:
    began = asyncio.get_running_loop().time()
    await work
    return asyncio.get_running_loop().time() - began


async def give_up(api: Dispatcher, hanging: Sequence[asyncio.Task[Any]]) -> None:
    """Give up what hangs: no trace of it is left."""
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    assert api.under_way == 0


@pytest.mark.parametrize("bad", [1, 3, 30, 300])
def test_a_tenant_behind_slow_webhooks_stops_nobody_else(bad: int) -> None:
    async def work(loop: VirtualLoop) -> None:
        names = [f"bad{number}" for number in range(bad)]
        server = Slow(slow_in(*names))
        api = Dispatcher(server)
        hanging = [loop.create_task(create(api, name)) for _ in range(100) for name in names]
        await asyncio.sleep(0.001)
        # Until the others are seen to hang, a newcomer has what is guaranteed.
        assert await took(create(api, "good")) < SOON
        await asyncio.sleep(2)
        several = asyncio.gather(*(create(api, "good") for _ in range(50)))
        assert await took(several) < 50 / GUARANTEED * 0.01 + SOON
        assert max(server.under_way.values()) <= PER_TENANT
        await give_up(api, hanging)

    in_virtual_time(work)


@pytest.mark.parametrize("bad", [1000, 2000])
def test_nobody_waits_for_long_behind_a_thousand_tenants_that_hang(bad: int) -> None:
    async def work(loop: VirtualLoop) -> None:
        names = [f"bad{number}" for number in range(bad)]
        api = Dispatcher(Slow(slow_in(*names)))
        hanging = [loop.create_task(create(api, name)) for _ in range(3) for name in names]
        await asyncio.sleep(0.001)
        assert await took(create(api, "good")) < bad * GUARANTEED / module._MOST_ACTIVE + 1
        await asyncio.sleep(10)
        assert await took(create(api, "good")) < SOON
        await give_up(api, hanging)

    in_virtual_time(work)


def test_what_deletes_passes_what_creates() -> None:
    async def work(loop: VirtualLoop) -> None:
        api = Dispatcher(Slow(slow_in("bad")))
        hanging = [loop.create_task(create(api, "bad")) for _ in range(1000)]
        await asyncio.sleep(5)
        assert await took(asyncio.gather(*(delete(api, "bad") for _ in range(20)))) < SOON
        creations = {Priority.CREATION: 1000 - module._MOST[Priority.CREATION]}
        assert {priority: count for priority, count in api.waiting.items() if count} == creations
        for task in hanging:
            task.cancel()

    in_virtual_time(work)


def test_what_is_urgent_passes_all_that_hangs() -> None:
    """Where all deletions of Pods hung in a webhook, no Framework of the namespace could be stopped."""

    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.01 if method == "PUT" else 30)
        api, pod = Dispatcher(server), path_of("pods", "bad", "p")
        hanging = [loop.create_task(api.request(method, pod, {})) for method in ("DELETE", "PATCH") for _ in range(100)]
        hanging += [loop.create_task(create(api, "bad")) for _ in range(100)]
        hanging += [loop.create_task(api.request("POST", collection("events", "bad"), {})) for _ in range(100)]
        await asyncio.sleep(5)
        assert await took(api.request("PUT", f"{path_of('frameworks', 'bad', 'f')}/status", {})) < SOON
        for task in hanging:
            task.cancel()

    in_virtual_time(work)


ASKED = {
    "POST": [collection(kind, "bad") for kind in ("configmaps", "services", "pods", "events")],
    "PATCH": [path_of("pods", "bad", "a")],
    "DELETE": [path_of(kind, "bad", "a") for kind in ("configmaps", "services", "pods")],
    "PUT": [f"{path_of('frameworks', 'bad', 'f')}/status"],
}


@pytest.mark.parametrize("hang", [("POST",), ("PATCH",), ("DELETE",), ("POST", "PATCH"), ("POST", "DELETE"), ("POST", "PATCH", "DELETE")])
def test_what_hangs_holds_up_nothing_of_another_kind(hang: Sequence[str]) -> None:
    """Statuses waited behind ConfigMaps that hung in a webhook as they were made: a Stop took a quarter of an hour."""

    async def work(loop: VirtualLoop) -> None:
        api = Dispatcher(Slow(lambda namespace, method: 30 if method in hang else 0.01))
        hanging = [loop.create_task(api.request(method, path, {})) for method in hang for path in ASKED[method] for _ in range(100)]
        await asyncio.sleep(5)
        for method in ASKED.keys() - set(hang):
            for path in ASKED[method]:
                assert await took(api.request(method, path, {})) < SOON, (method, path)
        for task in hanging:
            task.cancel()

    in_virtual_time(work)


@pytest.mark.parametrize("tenants", [5, 25, 400, 1000])
def test_what_hangs_everywhere_holds_up_no_status_and_no_end(tenants: int) -> None:
    """As where a webhook for all Pods is slow. Above 512 requests that hung, a Stop took ten minutes."""

    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 30 if method == "POST" else 0.01)
        api = Dispatcher(server)

        async def endless(namespace: str) -> None:
            while True:
                await create(api, namespace)

        async def stop() -> None:
            for _ in range(5):
                await api.request("PUT", f"{path_of('frameworks', 'tenant0', 'f')}/status", {})
                await api.request("DELETE", path_of("configmaps", "tenant0", "f"), {})

        hanging = [loop.create_task(endless(f"tenant{number}")) for number in range(tenants) for _ in range(30)]
        await asyncio.sleep(100)
        assert await took(asyncio.gather(*(stop() for _ in range(20)))) < 3
        assert max(server.under_way.values()) <= PER_TENANT
        await give_up(api, hanging)

    in_virtual_time(work)


def test_deletions_go_on_beside_statuses_without_an_end() -> None:
    """A thousand Frameworks that stored how their Pods had ended kept these from being deleted."""

    async def work(loop: VirtualLoop) -> None:
        api = Dispatcher(Slow(lambda namespace, method: 0.1))

        async def statuses(namespace: str) -> None:
            while True:
                await api.request("PUT", f"{path_of('frameworks', namespace, 'f')}/status", {})

        endless = [loop.create_task(statuses(f"tenant{number % 50}")) for number in range(1000)]
        await asyncio.sleep(5)
        async with asyncio.timeout(20):
            await asyncio.gather(*(delete(api, "tenant7") for _ in range(100)))
        for task in endless:
            task.cancel()

    in_virtual_time(work)


def test_pods_are_made_beside_statuses_without_an_end() -> None:
    """Where several namespaces had a thousand Frameworks each, no Pod was made for minutes: their statuses took all slots."""

    async def work(loop: VirtualLoop) -> None:
        api = Dispatcher(Slow(lambda namespace, method: 0.1))

        async def write(namespace: str) -> None:
            while True:
                await api.request("PUT", path_of("frameworks", namespace, "a") + "/status", {})

        tenants = ("one", "two", "three", "four")
        writing = [loop.create_task(write(tenant)) for tenant in tenants for _ in range(300)]
        await asyncio.sleep(1)
        events = asyncio.gather(*[api.request("POST", collection("events", tenant), {}) for tenant in tenants])
        pods = asyncio.gather(*[create(api, tenant) for tenant in tenants for _ in range(100)])
        async with asyncio.timeout(6):
            await asyncio.gather(events, pods)
        for task in writing:
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)

    in_virtual_time(work)


def test_the_server_is_not_run_over() -> None:
    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.01)
        api = Dispatcher(server)
        await asyncio.gather(*(create(api, f"tenant{number % 50}") for number in range(5000)))
        assert server.most <= AT_A_TIME + 50 * GUARANTEED
        assert loop.passed <= 5000 / AT_A_TIME * 0.01 * 1.1

    in_virtual_time(work)


def test_ten_thousand_tenants_take_turns_too() -> None:
    """As after a failover: two requests of each were under way at once, with a connection each, which no process may have."""

    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.01)
        api = Dispatcher(server)
        await asyncio.gather(*(create(api, f"tenant{number}") for number in range(10_000)))
        assert server.most <= module._MOST_ACTIVE < 1024
        assert loop.passed <= 10_000 / AT_A_TIME * 0.01 * 1.1

    in_virtual_time(work)


def test_tenants_take_turns() -> None:
    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.01)
        api = Dispatcher(server)
        many = [loop.create_task(create(api, name)) for name in ("a", "b", "c", "d") for _ in range(1000)]
        await asyncio.sleep(0.2)
        counts = Counter(namespace for _, _, namespace in server.sent)
        assert max(counts.values()) - min(counts.values()) <= PER_TENANT
        await asyncio.gather(*many)

    in_virtual_time(work)


async def created(api: Dispatcher, name: str, pods: int, done: list[str]) -> None:
    """Have the Pods of a Framework created, a few at a time; each writes down the Framework's name when it is there."""
    group = Group()
    group.left = asked = pods

    async def work() -> None:
        nonlocal asked
        while asked:
            asked -= 1
            await create(api, "a", group=group)
            group.left -= 1
            done.append(name)

    await asyncio.gather(*(work() for _ in range(32)))


def test_one_framework_of_a_namespace_after_the_other_has_its_pods_created() -> None:
    """Where all grew alike, each held resources, and none had all of its Pods until the end."""

    async def work(loop: VirtualLoop) -> None:
        api, done = Dispatcher(Slow(lambda namespace, method: 0.1)), list[str]()
        await asyncio.gather(*(created(api, f"train{number}", 100, done) for number in range(20)))
        last = {name: at for at, name in enumerate(done)}
        assert [end <= 100 * (number + 4) for number, end in enumerate(sorted(last.values()))] == [True] * 20

    in_virtual_time(work)


def test_a_framework_that_lacks_few_pods_does_not_wait_for_one_that_lacks_many() -> None:
    async def work(loop: VirtualLoop) -> None:
        api, done = Dispatcher(Slow(lambda namespace, method: 0.1)), list[str]()
        large = [loop.create_task(created(api, f"large{number}", 1000, done)) for number in range(10)]
        await asyncio.sleep(1)
        assert await took(created(api, "small", 5, done)) < 0.5
        assert await took(asyncio.gather(*large)) > 20

    in_virtual_time(work)


def test_a_large_framework_goes_on_beside_small_ones_without_an_end() -> None:
    async def work(loop: VirtualLoop) -> None:
        api, done = Dispatcher(Slow(lambda namespace, method: 0.1)), list[str]()

        async def small() -> None:
            while True:
                await created(api, "small", 5, done)

        endless = [loop.create_task(small()) for _ in range(30)]
        # It is older, and always has something waiting.
        endless += [loop.create_task(created(api, "huge", 1_000_000, done))]
        await asyncio.sleep(1)
        began = len(done)
        await created(api, "large", 100, done)
        assert len(done) < began + 2000
        await give_up(api, endless)

    in_virtual_time(work)


def test_a_moment_in_which_the_server_is_slow_does_not_change_the_order_for_long() -> None:
    """Those that had nearly all of their Pods were the last ones then, since their requests had hung."""

    async def work(loop: VirtualLoop) -> None:
        api, done = Dispatcher(Slow(lambda namespace, method: 1.5 if 2 <= loop.passed < 2.1 else 0.1)), list[str]()
        await asyncio.gather(*(created(api, f"train{number}", 300, done) for number in range(20)))
        last = {name: at for at, name in enumerate(done)}
        first = Counter(done[:480])  # Until then.
        assert max(last[name] for name, made in first.items() if 50 < made < 300) < 2200

    in_virtual_time(work)


def test_to_find_the_next_of_thousands_of_frameworks_takes_no_longer_than_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def rank(group: Group, now: float) -> tuple[bool, int, int]:
        nonlocal looked
        looked += 1
        return original(group, now)

    original = Group.rank
    monkeypatch.setattr(Group, "rank", rank)

    async def work(loop: VirtualLoop) -> None:
        api, done = Dispatcher(Slow(lambda namespace, method: 0.1)), list[str]()
        await asyncio.gather(*(created(api, f"train{number}", 1, done) for number in range(5000)))
        assert looked < 100 * len(done)

    in_virtual_time(work)


def test_frameworks_whose_pods_hang_do_not_hold_up_another_one() -> None:
    """As where a webhook looks at some Pods alone. What hangs keeps few Pods from being asked for of what does not."""

    class SlowPods(Slow):
        async def request(self, method: str, path: str, body: Body | None = None, *others: Any) -> Answer:
            return Answer(200, await asyncio.sleep(WEBHOOK if body == b"hangs" else 0.01, {}))

    async def work(loop: VirtualLoop) -> None:
        api = Dispatcher(SlowPods(lambda namespace, method: 0))

        async def bad(group: Group) -> None:
            while True:
                await api.request("POST", collection("pods", "a"), b"hangs", group=group)

        hanging = [loop.create_task(bad(group)) for group in (Group(), Group(), Group()) for _ in range(8)]
        await asyncio.sleep(30)
        good = Group()
        good.left = 1000
        assert await took(asyncio.gather(*(create(api, "a", group=good) for _ in range(50)))) < WEBHOOK + SOON
        await give_up(api, hanging)

    in_virtual_time(work)


def test_who_gives_up_at_the_same_time_as_a_turn_comes_leaves_nothing_behind() -> None:
    async def work(loop: VirtualLoop) -> None:
        api = Dispatcher(Slow(lambda namespace, method: 0.01))
        many = [loop.create_task(create(api, "a")) for _ in range(100)]
        await asyncio.sleep(0.005)
        for task in many:
            task.cancel()  # Those under way leave first, and others have their turns.
        await asyncio.gather(*many, return_exceptions=True)
        assert (api.under_way, sum(api.waiting.values())) == (0, 0)

    in_virtual_time(work)


def test_who_waits_for_retry_after_holds_no_slot() -> None:
    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.01)
        server.busy = lambda namespace, method: namespace == "busy" and method == "POST" and loop.passed < 30
        api = Dispatcher(server)
        waiting = [loop.create_task(create(api, "busy")) for _ in range(200)]
        await asyncio.sleep(1)
        asked = len(server.sent)
        assert asked <= module._MOST[Priority.CREATION]
        assert await took(create(api, "other")) < SOON
        assert await took(delete(api, "busy")) < SOON
        await asyncio.sleep(18)
        assert len(server.sent) == asked + 2
        # Those that were sent within the 30 s have been told so; the others have waited for them.
        refused = 2 * module._MOST[Priority.CREATION]
        assert Counter(answer.code for answer in await asyncio.gather(*waiting)) == {429: refused, 200: 200 - refused}

    in_virtual_time(work)


def test_a_deletion_that_is_to_come_back_later_holds_up_no_status() -> None:
    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.01)
        server.busy = lambda namespace, method: method == "DELETE"
        api = Dispatcher(server)
        waiting = [loop.create_task(delete(api, "a")) for _ in range(60)]
        await asyncio.sleep(1)
        assert await took(api.request("PUT", f"{path_of('frameworks', 'a', 'f')}/status", {})) < SOON
        assert await took(api.request("GET", path_of("pods", "a", "p"))) < SOON
        for task in waiting:
            task.cancel()

    in_virtual_time(work)


def test_what_is_not_wanted_any_more_is_not_sent() -> None:
    async def work(loop: VirtualLoop) -> None:
        wanted, server = [True], Slow(slow_in("bad"))
        api = Dispatcher(server)
        many = [loop.create_task(create(api, "bad", wanted=partial(all, wanted))) for _ in range(100)]
        await asyncio.sleep(1)
        sent = len(server.sent)
        wanted.append(False)
        results = await asyncio.gather(*many, return_exceptions=True)
        assert len(server.sent) == sent
        assert Counter(type(result).__name__ for result in results) == {"Answer": sent, Unwanted.__name__: 100 - sent}

    in_virtual_time(work)


def test_nothing_is_written_once_the_lease_is_over() -> None:
    """Neither what waits for its turn nor what was told to come back later; reading goes on."""

    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.5)
        server.busy = lambda namespace, method: namespace == "busy"
        api = Dispatcher(server, lambda: loop.passed < 2)
        many = [loop.create_task(create(api, name)) for name in ("busy", "slow") for _ in range(200)]
        results = await asyncio.gather(*many, return_exceptions=True)
        assert max(when for when, _, _ in server.sent) < 2
        assert sum(isinstance(result, Unreachable) for result in results) > 100
        assert (await api.request("GET", collection("pods", "slow"))).ok

    in_virtual_time(work)


def test_who_gives_up_leaves_nothing_behind() -> None:
    async def work(loop: VirtualLoop) -> None:
        api = Dispatcher(Slow(slow_in("bad")))
        for _ in range(3):
            many = [loop.create_task(create(api, "bad")) for _ in range(100)]
            await asyncio.sleep(2)
            for task in many:
                task.cancel()
            await asyncio.gather(*many, return_exceptions=True)
            assert (api.under_way, sum(api.waiting.values())) == (0, 0)

    in_virtual_time(work)


@pytest.mark.parametrize(
    ("method", "path", "tenant", "priority"),
    [
        ("POST", "/api/v1/namespaces/a/pods", "a", Priority.CREATION),
        ("POST", "/api/v1/namespaces/a/configmaps", "a", Priority.INTENT),
        ("PUT", "/api/v1/namespaces/a/configmaps/b", "a", Priority.INTENT),
        ("GET", "/api/v1/namespaces/a/configmaps/b", "a", Priority.URGENT),
        ("POST", "/api/v1/namespaces/a/services", "a", Priority.INTENT),
        ("PUT", "/api/v1/namespaces/a/services/b", "a", Priority.INTENT),
        ("DELETE", "/api/v1/namespaces/a/services/b", "a", Priority.END),
        ("POST", "/api/v1/namespaces/a/events", "a", Priority.EVENT),
        ("PATCH", "/api/v1/namespaces/a/events/b", "a", Priority.EVENT),
        ("DELETE", "/api/v1/namespaces/a/pods/b", "a", Priority.DELETION),
        ("DELETE", "/apis/frameworkcontroller.microsoft.com/v1/namespaces/a/frameworks/b", "a", Priority.DELETION),
        ("DELETE", "/api/v1/namespaces/a/configmaps/b", "a", Priority.END),
        ("PATCH", "/api/v1/namespaces/a/pods/b", "a", Priority.OWNERS),
        ("PUT", "/apis/frameworkcontroller.microsoft.com/v1/namespaces/a/frameworks/b/status", "a", Priority.URGENT),
        ("POST", "/api/v1/namespaces/events/pods", "events", Priority.CREATION),
        ("POST", "/api/v1/namespaces/events-prod/configmaps", "events-prod", Priority.INTENT),
        ("POST", "/api/v1/namespaces/a/pods/b/binding", "a", Priority.URGENT),
        ("GET", "/api/v1/pods", "", Priority.URGENT),
        ("GET", "/api/v1/namespaces/a", "", Priority.URGENT),
    ],
)
def test_whose_a_request_is_and_how_important(method: str, path: str, tenant: str, priority: Priority) -> None:
    target = target_of(path)
    assert (target.namespace, module._priority(method, target)) == (tenant, priority)


def test_a_request_that_outlives_its_event_loop_is_thrown_away_in_silence() -> None:
    """As by a process that ends while requests are under way. There is no loop then in which another could have a turn."""
    api = Dispatcher(Slow(lambda namespace, method: WEBHOOK))

    async def begun() -> Coroutine[Any, Any, Answer]:
        work = create(api, "a")
        work.send(None)  # Its turn.
        return work

    work = asyncio.run(begun())
    work.close()


def test_namespaces_that_have_nothing_to_do_are_forgotten() -> None:
    """Test environments come and go by the thousand. A pause that the server has asked for is not forgotten."""

    async def work(loop: VirtualLoop) -> None:
        server = Slow(lambda namespace, method: 0.01)
        server.busy = lambda namespace, method: namespace == "busy"
        api = Dispatcher(server)
        await api.request("POST", collection("pods", "busy"), {})
        await asyncio.gather(*[api.request("GET", path_of("pods", f"n{number}", "p")) for number in range(1000)])
        assert list(api._tenants) == ["busy"]
        await asyncio.sleep(30)
        assert not api._tenants

    in_virtual_time(work)


def test_a_request_that_is_thrown_away_when_no_loop_runs_starts_no_other() -> None:
    """As at the end of a process: what is left of its coroutines is closed then."""

    async def begin() -> Coroutine[Any, Any, Answer]:
        asked = Dispatcher(Slow(slow_in("a"))).request("POST", collection("pods", "a"))
        asked.send(None)
        return asked

    asyncio.run(begin()).close()
