"""Objects of whatever size are listed, a few at a time: whoever may make large ones in one namespace holds up nobody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

from fcontroller.act import http, requests
from fcontroller.act import pages as pages_module
from fcontroller.act.client import from_kubeconfig
from fcontroller.act.pages import Pages
from fcontroller.act.pod_owners import PodOwners
from fcontroller.api import Answer, Body, Projection, TooLong, TooSlow, Unreachable, collection
from fcontroller.decide.owners import controller_of
from fcontroller.log import Log
from fcontroller.observe.cache import Cache
from fcontroller.observe.reflector import Reflector
from fcontroller.reconcile.inspector import Inspector
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import in_memory, lab, run_in_memory
from tests.controller.test_http import ENDLESS, Server, get
from tests.controller.test_inspector import edit
from tests.controller.test_intent import SPEC, all_run
from tests.controller.test_watch import PODS, Seen, make
from tests.safety.test_turns import Longest

MOST = 20_000
"""Bytes of an answer that are read here."""


class Reads(Facade):
    """Reads no more of an answer than so much, as the client does."""

    def __init__(self) -> None:
        super().__init__(in_memory().server)
        self.limits: list[int] = []
        self.busy = 0
        """Lists that are turned away, as flow control does it: the client makes such a body of its plain text."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        answer = await super().request(method, path, body, query, projection)
        if method == "GET" and query and "limit" in query:
            if self.busy:
                self.busy -= 1
                return Answer(429, {"code": 429, "reason": "TooManyRequests", "message": "Too many requests"}, 60)
            self.limits.append(int(query["limit"]))
            if len(json.dumps(answer.body)) > MOST:
                raise TooLong(f"GET {path}: too long")
        return answer


async def make_large(api: Facade, kind: str, name: str, size: int) -> None:
    value: dict[str, Any] = {"metadata": {"name": name, "labels": {"FC_FRAMEWORK_NAME": "x"}, "annotations": {"a": "x" * size}}}
    if kind == "pods":
        value["spec"] = {"containers": [{"name": "a", "image": "a"}]}
    answer = await api.request("POST", collection(kind, "default"), value)
    assert answer.ok, answer.message


def test_large_objects_are_listed_a_few_at_a_time() -> None:
    async def work() -> None:
        api, seen = Reads(), Seen()
        for number in range(40):
            await make_large(api, "configmaps", f"large-{number:02}", 6000)
        for number in range(50):
            await make(api, f"small-{number}")
        reflector = Reflector(api, PODS, seen)
        following = asyncio.create_task(reflector.run())
        async with asyncio.timeout(5):
            await reflector.listed.wait()
        following.cancel()
        assert len(seen.names) == 90
        assert (api.limits[0], min(api.limits)) == (500, 2)
        assert api.limits[-1] > 10, "it grows again"
        assert len(api.limits) < 60

    run_in_memory(work())


def test_pods_of_a_framework_are_found_among_large_ones() -> None:
    async def work() -> None:
        api = Reads()
        for number in range(9):
            await make_large(api, "pods", f"x-{number}", 6000)
        assert len(await requests.list_owned(api, "pods", "default", "x")) == 9

    run_in_memory(work())


def test_little_is_kept_of_the_metadata_of_many() -> None:
    """A list of a Framework's objects is in memory as a whole: 340 Pods of one user with 16,000 owners each took 2.4 GB of it."""

    async def work() -> None:
        api = Facade(in_memory().server)
        owner: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Any", "name": "a"}
        owners = [
            {**owner, "uid": "x" * 10_000},
            *({**owner, "uid": str(number)} for number in range(1000)),
            {**owner, "uid": "u", "controller": True},
        ]
        labels = {"FC_FRAMEWORK_NAME": "x", **{f"l-{number}": "" for number in range(1000)}}
        about = {"name": "x-a-0", "labels": labels, "ownerReferences": owners, "finalizers": [f"a.b/{number}" for number in range(1000)]}
        made = await api.request("POST", collection("pods", "default"), {"metadata": about, "spec": {"containers": []}})
        assert made.ok, made.message
        (pod,) = await requests.list_owned(api, "pods", "default", "x")
        assert len(json.dumps(pod)) < 2000
        assert controller_of(pod) == "u"
        assert len(pod["ownerReferences"]) > 1

    run_in_memory(work())


class _Weak(dict[str, Any]):
    """An object of which it is known whether anybody still holds it."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class Watched(Facade):
    """Has four objects on a page, and counts those of earlier pages that are still in memory when the next is asked for."""

    def __init__(self) -> None:
        super().__init__(in_memory().server)
        self.alive: WeakSet[_Weak] = WeakSet()
        self.most = 0

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        self.most = max(self.most, len(self.alive))
        few = {**query, "limit": "4"} if query and "limit" in query else query
        answer = await super().request(method, path, body, few, projection)
        if "items" in answer.body:
            items = [_Weak(item) for item in answer.body["items"]]
            self.alive.update(items)
            answer = answer._replace(body={**answer.body, "items": items})
        return answer


def test_no_page_is_kept_beside_the_next() -> None:
    """While a watch lagged, all of a Framework's Pods were in memory with all that somebody wrote into them."""

    async def work() -> None:
        api = Watched()
        for number in range(40):
            await make_large(api, "pods", f"x-a-{number}", 10)
        cache = Cache(api, "default", lambda name, message: None)
        await cache.refresh(("default", "x"))
        assert len(cache.of(("default", "x")).pods) == 40
        assert 0 < api.most <= 8

    run_in_memory(work())


def test_only_owners_that_are_looked_for_are_kept() -> None:
    """340 Pods of one user with 16,000 owners each took 337 MiB, for each Framework that ended in the namespace."""

    async def work() -> None:
        api = Facade(in_memory().server)
        owner: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Any", "name": "a"}
        owners = [{**owner, "uid": str(number)} for number in range(1000)]
        about = {"name": "x-a-0", "ownerReferences": owners}
        made = await api.request("POST", collection("pods", "default"), {"metadata": about, "spec": {"containers": []}})
        assert made.ok, made.message
        found = await requests.pods_of(api, "default", {"7", "none"})
        assert {uid: pod.name for uid, pod in found.items()} == {"7": "x-a-0"}
        pod_owners = PodOwners(api)
        first, second, none = await asyncio.gather(*(pod_owners.pod_of("default", uid) for uid in ("7", "8", "none")))
        assert (first, second, none) == (found["7"], found["7"], None)

    run_in_memory(work())


def test_one_object_that_is_too_long_is_told_as_that() -> None:
    async def work() -> None:
        api = Reads()
        await make_large(api, "configmaps", "huge", MOST)
        with pytest.raises(TooLong, match=r"too long, with one object in it"):
            await Pages(api, PODS, {}).next()

    run_in_memory(work())


@pytest.mark.parametrize("answer", ["body", "announced body"])
def test_an_answer_that_is_too_long_says_so(answer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(http, "ANSWER_BYTES", 1 << 20)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    async def work() -> None:
        server = Server(ENDLESS[answer], ENDLESS[answer])
        async with server.origin() as origin:
            with pytest.raises(TooLong, match="more than 1 MiB"):
                await get(origin)
            client = from_kubeconfig(address=server.url)
            with pytest.raises(TooLong, match="more than 1 MiB"):
                await client.request("GET", PODS)
            await client.close()

    run_in_memory(work())


@pytest.mark.parametrize("nested", ["{}", '{"f:a":' * 9_000 + "{}" + "}" * 9_000], ids=["plain", "nested too deep"])
@pytest.mark.usefixtures("without_collections")
def test_the_first_page_of_large_objects_is_decoded_in_many_turns(nested: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """25 Pods of a megabyte each took 0.2 to 0.5 seconds, in one turn. That the page is long is seen only afterwards."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    env = [{"name": f"E{number}", "value": "\xe9", "optional": [number]} for number in range(15_000)]
    spec = {"containers": [{"name": "c", "image": "a", "env": env}]}
    pods = [{"metadata": {"name": f"p-{number}", "managedFields": [{"fieldsV1": {}}]}, "spec": spec} for number in range(25)]
    text = json.dumps({"metadata": {"continue": "more"}, "items": pods}).replace('"fieldsV1": {}', f'"fieldsV1": {nested}', 1).encode()
    assert 20 < len(text) / 1024 / 1024 < 24

    async def work() -> float:
        server = Server(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
        async with server.origin():
            client = from_kubeconfig("", address=server.url)
            # Receiving it is done in pieces: only what follows is measured.
            taken, longest = http._Connection._taken, list[Longest]()

            def then(connection: http._Connection) -> bytes:
                found = taken(connection)
                longest.append(Longest())
                return found

            monkeypatch.setattr(http._Connection, "_taken", then)
            answer = await client.request("GET", PODS)
            await longest[0].look_twice()
            await client.close()
            assert (answer.body["metadata"], len(answer.body["items"]), answer.size) == ({"continue": "more"}, 25, len(text))
            assert [pod["spec"] == spec for pod in answer.body["items"]] == [True] * 25
            return longest[0].turn

    assert asyncio.run(work()) < 0.1


def test_the_inspector_is_not_blinded_by_large_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcontroller.reconcile.inspector._BREATH", 0)

    async def work() -> None:
        api = Reads()
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            for number in range(9):
                await make_large(api, "pods", f"a-{number}", 6000)
            await edit(made, "train-ps-0", "/spec/containers/0/image", "b")
            inspector = Inspector(made.controller, Log("error"))
            await inspector._round()
            assert inspector.differing["other"] == 1

    run_in_memory(work())


@pytest.mark.parametrize("trouble", ["busy", "unreachable", "a defect"])
def test_nothing_that_a_round_meets_ends_the_inspector(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcontroller.act.dispatcher._PATIENCE", 0)
    monkeypatch.setattr("fcontroller.reconcile.inspector._BREATH", 0)

    async def work() -> None:
        api, said = Reads(), list[str]()
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await edit(made, "train-ps-0", "/spec/containers/0/image", "b")
            failures = {"unreachable": Unreachable("no answer"), "a defect": ZeroDivisionError()}

            async def fails(pages: Pages) -> Answer:
                raise failures[trouble]

            if trouble == "busy":
                api.busy = 1_000
            else:
                monkeypatch.setattr(Pages, "next", fails)
            inspector = Inspector(made.controller, Log("info", said.append), pause=0.02)
            looking = asyncio.create_task(inspector.run())
            await asyncio.sleep(0.5)
            assert [json.loads(line)["message"].partition(",")[0] for line in said] == ["the Pods cannot be looked at"]
            assert not looking.done()
            looking.cancel()

    run_in_memory(work())


class Measured(Reads):
    """Tells the bytes of an answer, as the client does."""

    async def request(self, method: str, *rest: Any, **options: Any) -> Answer:
        answer = await super().request(method, *rest, **options)
        return answer._replace(size=len(json.dumps(answer.body)))


@pytest.mark.parametrize(("projection", "limits"), [(Projection.WHOLE, [20, 3, 2, 3]), (Projection.METADATA, [20, 20])])
def test_after_a_long_page_of_whole_objects_the_next_is_short(
    projection: Projection, limits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To decode 24 MiB of whole Pods took half a second, in one turn, for each page of them."""
    monkeypatch.setattr(pages_module, "_LONG", 2000)

    async def work() -> None:
        api = Measured()
        for number in range(26):
            await make_large(api, "configmaps", f"large-{number:02}", 400)
        pages = Pages(api, collection("configmaps", "default"), {}, projection, largest=20)
        while pages.more:
            await pages.next()
        assert api.limits == limits

    run_in_memory(work())


class Slow(Facade):
    """Takes a second for each object of a list, and is not waited for longer than a minute."""

    def __init__(self) -> None:
        super().__init__(in_memory().server)
        self.limits: list[int] = []

    async def request(self, method: str, path: str, *rest: Any, **options: Any) -> Answer:
        answer = await super().request(method, path, *rest, **options)
        if method == "GET" and "items" in answer.body:
            self.limits.append(len(answer.body["items"]))
            await asyncio.sleep(min(self.limits[-1], 60))
            if self.limits[-1] > 60:
                raise TooSlow("nothing came for 60 s")
        return answer


def test_a_list_that_takes_too_long_is_asked_for_in_shorter_pages() -> None:
    """It was asked for at the same length for ever: nobody's Frameworks began."""

    async def work() -> None:
        api, seen = Slow(), Seen()
        for number in range(300):
            await make(api, f"small-{number}")
        said = list[str]()
        reflector = Reflector(api, PODS, seen, failed=said.append)
        following = asyncio.create_task(reflector.run())
        async with asyncio.timeout(500):
            await reflector.listed.wait()
        following.cancel()
        assert len(seen.names) == 300
        assert (api.limits[:3], said) == ([300, 62, 7], ["nothing came for 60 s"] * 2)
        assert max(api.limits[2:]) == 31, "it grows again, and not to what took too long"

    run_in_memory(work())
