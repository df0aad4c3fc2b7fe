"""What somebody's admission or somebody's edit has made of Pods is seen and told; what others add to them is not our concern."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from fcompile.model import names
from fcompile.pipeline.compiled import compile_framework
from fcontroller.act.compare import contains
from fcontroller.api import Answer, Body, Json, Projection, collection, content_of, path_of
from fcontroller.decide.status import Role, Task
from fcontroller.log import Log
from fcontroller.reconcile import inspector as inspector_module
from fcontroller.reconcile.inspector import Inspector
from fcontroller.reconcile.pod_renderer import PodRenderer
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import Lab, in_memory, lab, run_in_memory
from tests.controller.test_intent import SPEC, all_run, delete_pod
from tests.controller.test_review import DIGEST, IMAGE, digested, patched
from tests.safety.test_turns import Longest


class Mutates(Facade):
    """Counts lists of Pods, and has an admission webhook that takes images from elsewhere, and adds its container."""

    def __init__(self, mirror: str = "") -> None:
        super().__init__(in_memory().server)
        self.mirror, self.lists = mirror, 0

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        self.lists += method == "GET" and path.endswith("/pods")
        if method == "POST" and path.endswith("/pods"):
            sent = content_of(body)
            assert isinstance(sent, bytes)
            pod = json.loads(sent)
            pod["spec"]["containers"][0]["image"] = self.mirror + pod["spec"]["containers"][0]["image"]
            pod["spec"]["containers"].append({"name": "proxy", "image": "proxy"})
            pod["metadata"]["annotations"]["proxy"] = "yes"
            body = json.dumps(pod).encode()
        return await super().request(method, path, body, query, projection)


@contextlib.asynccontextmanager
async def inspected(made: Lab) -> AsyncIterator[Inspector]:
    inspector = Inspector(made.controller, Log("error"), pause=0.02)
    looking = asyncio.create_task(inspector.run())
    try:
        yield inspector
    finally:
        looking.cancel()


async def counts(inspector: Inspector, other: int, edit: int = 0, unknown: int = 0) -> None:
    async with asyncio.timeout(30):
        while inspector.differing != {"other": other, "edit": edit, "unknown": unknown}:
            await asyncio.sleep(0.02)


async def edit(made: Lab, pod: str, path: str, value: Any) -> None:
    patch = [{"op": "add", "path": path, "value": value}]
    assert (await made.api.request("PATCH", path_of("pods", "default", pod), patch)).ok


async def events(made: Lab) -> list[str]:
    items = (await made.api.request("GET", collection("events", "default"))).body["items"]
    return [event["message"] for event in items if event["reason"] == "PodsDiffer"]


def test_edits_of_pods_are_seen_and_told_once() -> None:
    async def work() -> None:
        async with lab(Mutates()) as made, inspected(made) as inspector:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await edit(made, "train-ps-0", "/spec/containers/0/image", "b")
            await counts(inspector, 1)
            await edit(made, "train-worker-1", "/metadata/labels/FC_TASKROLE_NAME", "ps")
            await counts(inspector, 2)
            await edit(made, "train-ps-0", "/spec/containers/0/image", "a")
            await edit(made, "train-worker-1", "/metadata/labels/team", "a")
            await counts(inspector, 1)
            assert [("`train-ps-0`" in said, "`spec.containers[main].image`" in said) for said in await events(made)] == [(True, True)]
            async with inspected(made) as another:
                await counts(another, 1)
            await delete_pod(made, "train-worker-1")
            await counts(inspector, 0)

    run_in_memory(work())


def test_what_admission_changes_is_seen_and_what_it_adds_is_not() -> None:
    async def work() -> None:
        for mirror, number in (("mirror/", 3), ("", 0)):
            async with lab(Mutates(mirror)) as made:
                await made.make("train", SPEC)
                await all_run(made, "train", [0, 0, 0])
                inspector = Inspector(made.controller, Log("error"))
                await inspector._round()
                assert inspector.differing["other"] == number

    run_in_memory(work())


class ForgetsLists(Mutates):
    """A list that was begun is soon gone: to go on with it is answered as a real server answers then."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if method == "GET" and query and "continue" in query and not query["continue"].startswith("new "):
            return Answer(410, {"metadata": {"continue": f"new {query['continue']}"}, "reason": "Expired"})
        if query and "continue" in query:
            query = {**query, "continue": query["continue"].removeprefix("new ")}
        return await super().request(method, path, body, query, projection)


def test_many_pods_are_looked_at_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector_module, "_PAGE", 1)
    monkeypatch.setattr(inspector_module, "_BREATH", 0)

    async def work() -> None:
        api = ForgetsLists("mirror/")
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            lists, inspector = api.lists, Inspector(made.controller, Log("error"))
            await inspector._round()
            assert (inspector.differing["other"], api.lists - lists) == (3, 3)

    run_in_memory(work())


def test_pods_of_before_an_edit_are_told_from_those_that_somebody_has_changed() -> None:
    """Also when the scale is edited after that. Who has not seen what was before cannot tell."""

    async def work() -> None:
        async with lab(in_memory()) as made, inspected(made) as inspector:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            async with asyncio.timeout(30):
                while not inspector._seen:
                    await asyncio.sleep(0.02)
            await made.edit("train", IMAGE, "b")
            await digested(made, "train")
            await counts(inspector, 0, edit=1)
            await made.edit("train", "taskRoles/0/taskNumber", 3)
            await all_run(made, "train", [0, 0, 0, 0])
            await edit(made, "train-worker-1", "/spec/containers/0/image", "c")
            await counts(inspector, 1, edit=1)
            async with asyncio.timeout(30):  # An Event is written a moment later.
                while not await events(made):
                    await asyncio.sleep(0.02)
            async with inspected(made) as another:
                await counts(another, 1, unknown=1)
            await delete_pod(made, "train-ps-0")
            await counts(inspector, 1)

    run_in_memory(work())


@pytest.mark.parametrize("reviewed", [True, False])
def test_of_pods_from_before_an_edit_that_was_not_seen_nobody_can_tell(reviewed: bool) -> None:
    """As of one before the controller was started. They were told of as if somebody had changed them."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            if not reviewed:
                await patched(made, "train", {"op": "remove", "path": DIGEST})
            await made.edit("train", IMAGE, "b")
            if reviewed:
                await digested(made, "train")
            await made.until("train", lambda status: status["intent"]["observedGeneration"] == 2)
            await made.restart()
            async with inspected(made) as inspector:
                await counts(inspector, 0, unknown=1)
                await edit(made, "train-worker-1", "/spec/containers/0/image", "c")
                await counts(inspector, 1, unknown=1)
                async with asyncio.timeout(30):
                    while not (told := await events(made)):
                        await asyncio.sleep(0.02)
                assert [("`train-worker-1`" in said, "reviewed" in said) for said in told] == [(True, False)]
                await made.edit("train", IMAGE, "d")
                if reviewed:
                    await digested(made, "train")
                await counts(inspector, 1, unknown=1)
                await delete_pod(made, "train-ps-0")
                await counts(inspector, 1)

    run_in_memory(work())


def test_pods_of_an_edit_that_was_not_reviewed_are_told_once_what_was_reviewed_is_back() -> None:
    """They were taken for those of before an edit, of which nobody is told, while the Framework said that what runs was reviewed."""

    async def noted(inspector: Inspector, image: str) -> None:
        async with asyncio.timeout(30):
            while not any(seen.last.intent.roles[-1].pod["spec"]["containers"][0]["image"] == image for seen in inspector._seen.values()):
                await asyncio.sleep(0.02)

    async def work() -> None:
        async with lab(in_memory()) as made, inspected(made) as inspector:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await noted(inspector, "a")
            digest = (await made.framework("train"))["metadata"]["annotations"][names.DIGEST_ANNOTATION]
            await patched(made, "train", {"op": "remove", "path": DIGEST})
            await made.edit("train", IMAGE, "b")
            await noted(inspector, "b")
            await delete_pod(made, "train-ps-0")
            await all_run(made, "train", [0, 0, 1])
            await made.edit("train", IMAGE, "a")
            await patched(made, "train", {"op": "add", "path": "/metadata/annotations", "value": {names.DIGEST_ANNOTATION: digest}})
            await made.until("train", lambda status: status["conditions"][0]["reason"] == "DigestMatches")
            await counts(inspector, 1)
            async with asyncio.timeout(30):
                while not await events(made):
                    await asyncio.sleep(0.02)

    run_in_memory(work())


def test_nothing_is_asked_where_nothing_runs() -> None:
    async def work() -> None:
        api = Mutates()
        async with lab(api) as made:
            await made.make("train", {**SPEC, "executionType": "Create"})
            await made.until("train", lambda status: True)
            lists = api.lists
            await Inspector(made.controller, Log("error"))._round()
            assert api.lists == lists

    run_in_memory(work())


@pytest.mark.parametrize(("reviewed", "there", "variables"), [(60, 60, 300), (1, 10_000, 0)])
@pytest.mark.usefixtures("without_collections")
def test_a_large_pod_that_differs_holds_nobody_up(reviewed: int, there: int, variables: int) -> None:
    """One of a megabyte took half a second, in one turn. A page may be full of them, and anybody may make one under a task's name."""
    env = [{"name": f"E{number}", "value": "x" * 12} for number in range(variables)]

    def template(containers: int) -> Json:
        return {"spec": {"containers": [{"name": f"c{number}", "image": "a", "env": env} for number in range(containers)]}}

    framework = {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": {"name": "train", "namespace": "default", "uid": "f"}}
    roles = [{"name": "w", "taskNumber": 1, "task": {"pod": template(reviewed)}}]
    renderer = PodRenderer(compile_framework({**framework, "spec": {"taskRoles": roles}}, "default").intent, framework, "c")
    role, task = Role("w", "r"), Task(0, "t", "train-w-0", 0)
    pod = json.loads(renderer.pod(0, role, task))
    added = template(there)["spec"]["containers"]
    pod["spec"]["containers"] = [*pod["spec"]["containers"][:there], *added[reviewed:]]
    pod["spec"]["containers"][0]["image"] = "b"

    async def work() -> float:
        longest = Longest()
        assert "spec.containers[c0].image" in (await renderer.differing_fields(pod, 0, role, task, added=True) or ())
        await longest.look_twice()
        return longest.turn

    assert asyncio.run(work()) < 0.1


POD: Json = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "args": ["-v"], "env": [{"name": "e", "value": "1"}]}]},
}


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("metadata", "labels", "c"), "d", True),
        (("metadata", "labels", "a"), "c", False),
        (("spec", "containers", 1), {"name": "d"}, True),
        (("spec", "containers", 0, "env", 1), {"name": "f"}, True),
        (("spec", "containers", 0, "env", 0, "value"), "2", False),
        (("spec", "containers", 0, "args", 1), "-x", False),
        (("spec", "containers", 0, "image"), "i", True),
        (("spec", "containers", 0, "name"), None, False),
    ],
)
def test_having_all_that_was_asked_for(path: tuple[Any, ...], value: Any, expected: bool) -> None:
    live = json.loads(json.dumps(POD))
    at = live
    for step in path[:-1]:
        at = at[step]
    if isinstance(at, list) and path[-1] == len(at):
        at.append(value)
    else:
        at[path[-1]] = value
    assert contains(POD, POD)
    assert contains(live, POD) is expected
