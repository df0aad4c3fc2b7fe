"""No Pod comes to an attempt that has gone, and none waits for all Pods of other roles."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any, cast

import pytest

from fcompile.model import names
from fcontroller.act.dispatcher import Dispatcher, Priority
from fcontroller.act.pod_owners import PodOwners
from fcontroller.act.retry import QUEUED, SILENT
from fcontroller.api import Answer, Body, Json, Projection, collection, content_of, path_of
from fcontroller.decide.actions import CreatePod
from fcontroller.decide.conditions import problems
from fcontroller.decide.status import Status
from fcontroller.dependencies import Dependencies
from fcontroller.mailbox import Decided, Mailbox, Performed
from fcontroller.observe.cache import task_of
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.perform import ActionContext, _recognize_pod
from fcontroller.reconcile.pod_renderer import PodRenderer
from fcontroller.reconcile.services import Services
from fcontroller.reconcile.workers import Workers
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import Lab, Refusing, in_memory, lab, now, refusal, run_in_memory
from tests.decide.world import role_spec


class Slow(Facade):
    """Takes its time with some Pods."""

    def __init__(self, api: Facade) -> None:
        super().__init__(api.server)
        self.log: list[str] = []

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if method == "POST" and path.endswith("/pods"):
            self.log.append("asked")
            if self.log.count("asked") == 2:
                await asyncio.sleep(1)
            self.log.append("answered")
        elif method == "DELETE" and "/configmaps/" in path:
            self.log.append("ends")
        return await super().request(method, path, body, query, projection)


@pytest.mark.parametrize(("kind", "code"), [("pods", -111), ("configmaps", -110)])
def test_what_was_made_and_no_watch_shows_counts_as_deleted_after_five_minutes(kind: str, code: int) -> None:
    class Blind(Facade):
        async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
            async for event in super().watch(path, query, projection):
                if event["type"] == "BOOKMARK" or not path.endswith(f"/{kind}"):
                    yield event

    async def work() -> None:
        async with lab(Blind(in_memory().server)) as made:
            began = now()
            await made.make("train", {"taskRoles": [role_spec("a", 2)]})
            status = await made.until("train", lambda status: status["state"] == "Completed", 400)
            assert status["attemptStatus"]["completionStatus"]["code"] == code
            assert now() - began < 310

    run_in_memory(work())


def test_an_attempt_ends_when_all_pods_that_were_asked_for_are_there() -> None:
    async def work() -> None:
        api = Slow(in_memory())
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 2)]})
            await made.until("train", lambda _: api.log.count("asked") == 2)
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")
            assert api.log[-1] == "ends"
            assert sorted(api.log[:-1]) == ["answered", "answered", "asked", "asked"]
            assert await made.pods() == []

    run_in_memory(work())


def test_a_pod_whose_task_is_scaled_away_while_it_is_read_is_left_to_the_next_look() -> None:
    async def work() -> None:
        api, status = Dispatcher(in_memory()), Status("train-attempt", 0)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-a-1"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
        made = await api.request("POST", collection("pods", "default"), pod)
        framework = {"metadata": {"name": "train", "namespace": "default"}}
        context = ActionContext(
            framework, status, cast(PodRenderer, object()), cast(Services, None), PodOwners(api), None, paused=False, ends=False
        )
        assert await _recognize_pod(cast(Dependencies, None), api, context, ("a", 1), made.body["metadata"]["uid"]) is None
        assert (await api.request("GET", path_of("pods", "default", "train-a-1"))).ok

    run_in_memory(work())


def late_pods(seconds: float) -> Refusing:
    """An API server that takes so long for each Pod that it creates."""

    async def late(method: str, path: str) -> None:
        await asyncio.sleep(seconds if (method, path) == ("POST", collection("pods", "default")) else 0)

    return Refusing(late)


async def make_crowd(made: Lab, more: int = 0) -> None:
    """40 Frameworks that want more Pods than the namespace may ask for at once.

    :param more: how many more each has than the one before.
    """
    for number in range(40):
        await made.make(f"large{number}", {"taskRoles": [role_spec("a", 100 + more * number, run="forever")]})


async def pods_of(made: Lab) -> Counter[str]:
    """How many Pods each Framework has."""
    return Counter(pod["metadata"]["labels"][names.FRAMEWORK_NAME] for pod in await made.pods())


def test_one_framework_after_the_other_has_all_of_its_pods() -> None:
    """All of them grew alike: each held nodes, and none had all of its Pods until the end."""

    async def work() -> None:
        async with lab(late_pods(0.5)) as busy:
            await make_crowd(busy)
            await asyncio.sleep(50)
            pods = await pods_of(busy)
            assert pods.total() < 2500
            assert sum(count == 100 for count in pods.values()) >= 18

    run_in_memory(work())


def test_a_pod_that_takes_long_to_start_is_none_that_its_framework_lacks() -> None:
    """A Framework with nearly all of its Pods waited for smaller ones that had none, for as long as its images were pulled."""

    async def work() -> None:
        async with lab(late_pods(0.5)) as busy:
            role = role_spec("a", 400)
            role["task"]["pod"]["metadata"]["annotations"]["sim/start"] = "bound"
            await busy.make("train", {"taskRoles": [role]})
            while len(await busy.pods()) < 250:
                await asyncio.sleep(0.1)
            await make_crowd(busy)
            await asyncio.sleep(8)
            assert (await pods_of(busy))["train"] == 400

    run_in_memory(work())


class BusyFor(Refusing):
    """A server that takes half a second for each Pod, and is too busy for the next one of a Framework, once it is told so."""

    def __init__(self, framework: str) -> None:
        super().__init__(late_pods(0.5).refusal)
        self.framework, self.waits, self.told = framework.encode(), False, asyncio.Event()

    async def request(self, method: str, path: str, body: Body | None = None, *others: Any, **more: Any) -> Answer:
        if self.waits and (method, path) == ("POST", collection("pods", "default")) and self.framework in cast(bytes, content_of(body)):
            self.waits = False
            self.told.set()
            return Answer(429, refusal(429, "TooManyRequests", "busy").body, 1)
        return await super().request(method, path, body, *others, **more)


def test_a_request_that_was_put_off_and_waits_for_its_turn_is_not_said_to_have_no_answer() -> None:
    async def work() -> None:
        server = BusyFor("large39-a-")
        async with lab(server) as busy:
            await make_crowd(busy, more=1)
            await asyncio.sleep(5)
            server.waits = True
            await server.told.wait()
            said = set[str]()
            for _ in range(30):
                await asyncio.sleep(1)
                said |= {each["message"] for each in (await busy.framework("large39"))["status"].get("conditions") or ()}
            assert any(QUEUED in message for message in said)
            assert not any(SILENT in message for message in said)

    run_in_memory(work())


def test_roles_take_turns() -> None:
    """The first two took every place until all their Pods were made: one of another role that had failed was not made again until then."""

    async def work() -> None:
        made = Counter[str]()

        async with lab(late_pods(0.1)) as busy:
            await busy.make("train", {"taskRoles": [role_spec(name, 150, run="forever") for name in "abcd"]})
            await asyncio.sleep(2)
            made.update(task_of(pod["metadata"]["name"])[1][0] for pod in await busy.pods())
            assert sum(made.values()) > 300
            assert max(made.values()) - min(made.values()) <= 4

    run_in_memory(work())


def test_a_creation_that_was_not_sent_does_not_let_more_go_at_once() -> None:
    """Each pause of a role over its quota had twice as many of its Pods requested at once afterwards."""

    async def work() -> None:
        action, status = CreatePod(("a", 1)), Status("train-attempt", 0)
        mailbox = Mailbox(lambda _: None)
        workers = Workers(cast(Dependencies, None), "default", mailbox, Alarms(mailbox))
        workers.note(Performed(action, Decided(0, None, None), None, None), status)
        assert workers.windows["a"].size == 1
        workers.note(Performed(action, Decided(0, None, None), lambda _: None, None), status)
        assert workers.windows["a"].size == 2

    run_in_memory(work())


def test_in_a_crowd_few_pods_of_each_framework_wait_for_their_turn() -> None:
    """Those of 40 large ones took 100 MiB to wait, and all of them had to go before one of a small Framework."""

    async def work() -> None:
        async with lab(late_pods(0.1)) as busy:
            await make_crowd(busy)
            await asyncio.sleep(8)
            api = busy.controller.dependencies.api
            assert api.under_way >= 24
            assert 0 < api.waiting[Priority.CREATION] <= 24 + 40 * 8
            await busy.make("small", {"taskRoles": [role_spec("a", 5, run="forever")]})
            await busy.until("small", lambda status: status.get("taskCounts", {}).get("running") == 5, 10)

    run_in_memory(work())


def test_a_server_is_not_said_to_be_silent_before_it_was_asked() -> None:
    async def work() -> None:
        async with lab(late_pods(4)) as busy:
            await make_crowd(busy)
            await asyncio.sleep(80)
            said = [await busy.framework(f"large{number}") for number in range(40)]
            found = [one for each in said for one in each["status"]["conditions"] if one["type"] == "PodsCreated"]
            assert {one["reason"] for one in found if one["status"] == "False"} == {"WaitsForTurn"}
            assert any(QUEUED in one["message"] for one in found)
            assert not any(SILENT in one["message"] for one in found)
            statuses = [reconciler.status for reconciler in busy.controller.reconcilers.values()]
            assert not any(problems(status) for status in statuses if status is not None)

    run_in_memory(work())


def test_in_a_crowd_counts_of_tasks_are_stored_now_and_then() -> None:
    """A thousand Frameworks that each wrote theirs every few seconds kept the API server from making their Pods."""

    async def work() -> None:
        late, asked = late_pods(4).refusal, Counter[tuple[str, str]]()

        def counted(method: str, path: str) -> Any:
            asked[method, path] += 1
            return late(method, path)

        async with lab(Refusing(counted)) as busy:
            await make_crowd(busy)
            await asyncio.sleep(20)
            asked.clear()
            await asyncio.sleep(180)
            writes = [count for (method, path), count in asked.items() if method == "PUT" and path.endswith("/status")]
            assert len(writes) == 40
            assert max(writes) <= 180 / 60 + 2  # One when all of its Pods run.
            assert sum(writes) <= 40 * 3

    run_in_memory(work())


def test_in_a_crowd_what_happens_to_pods_is_taken_in_together() -> None:
    """Each Pod had its Framework reconciled four times, and most of what that decided had to wait."""

    async def work() -> None:
        turns = count()

        async def uneven(method: str, path: str) -> None:
            asks = (method, path) == ("POST", collection("pods", "default"))
            await asyncio.sleep(0.05 + next(turns) * 37 % 100 / 1000 if asks else 0)

        async with lab(Refusing(uneven)) as busy:
            looks = list[float]()
            busy.report.looked = looks.append  # type: ignore[assignment]
            await make_crowd(busy)
            await asyncio.sleep(5)
            looks.clear()
            before = len(await busy.pods())
            await asyncio.sleep(10)
            made = len(await busy.pods()) - before
            assert made > 1000
            assert len(looks) < made

    run_in_memory(work())


def test_a_pod_is_rendered_when_its_turn_has_come() -> None:
    """Thousands that waited took four kilobytes each."""

    async def work() -> None:
        async with lab(late_pods(0.1)) as busy:
            rendered = list[int]()
            pod = PodRenderer.pod

            def counted(*arguments: Any) -> bytes:
                rendered.append(1)
                return pod(*arguments)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(PodRenderer, "pod", counted)
                await make_crowd(busy)
                await asyncio.sleep(5)
                api = busy.controller.dependencies.api
                assert api.waiting[Priority.CREATION] > 100
                assert len(rendered) <= len(await busy.pods()) + api.under_way

    run_in_memory(work())


def test_deletions_that_wait_for_their_turn_are_not_said_to_be_held() -> None:
    """Where all Pods of many Frameworks ended at the same time, an alert was raised for each Framework."""

    async def work() -> None:
        async def late(method: str, path: str) -> None:
            await asyncio.sleep(2 if method == "DELETE" and "/pods/" in path else 0)

        async with lab(Refusing(late)) as busy:
            for number in range(40):
                await busy.make(f"many{number}", {"taskRoles": [role_spec("a", 20, run="30")]})
            await asyncio.sleep(80)
            assert busy.controller.dependencies.api.longest_wait(Priority.DELETION) > 15
            said = [await busy.framework(f"many{number}") for number in range(40)]
            assert not [one for each in said for one in each["status"]["conditions"] if one["type"] == "ObjectsDeleted"]

    run_in_memory(work())


def test_in_a_crowd_what_waits_for_its_deletion_is_stored_now_and_then() -> None:
    """A thousand Frameworks stored the end of nearly each Pod by itself, and the API server did little else."""

    async def work() -> None:
        writes = Counter[str]()

        async def late(method: str, path: str) -> None:
            if method == "PUT" and path.endswith("/status"):
                writes[path] += 1
                await asyncio.sleep(1)
            elif method == "DELETE" and "/pods/" in path:
                await asyncio.sleep(2)

        async with lab(Refusing(late)) as busy:
            for number in range(40):
                roles = [role_spec(f"a{index}", 1, run=str(20 + index * 1.7)) for index in range(30)]
                await busy.make(f"many{number}", {"taskRoles": roles})
            await asyncio.sleep(30)
            writes.clear()
            await asyncio.sleep(60)
            assert len(writes) == 40
            assert writes.total() < 40 * 60 / 8

    run_in_memory(work())


def test_in_a_crowd_what_ends_while_others_wait_to_be_made_is_stored_now_and_then() -> None:
    """A Framework stored the ends of its first Pods every few seconds while the others were made."""

    async def work() -> None:
        late, writes = late_pods(0.5).refusal, Counter[str]()

        def counted(method: str, path: str) -> Any:
            if method == "PUT" and path.endswith("/status"):
                writes[path] += 1
            return late(method, path)

        async with lab(Refusing(counted)) as busy:
            for number in range(10):
                await busy.make(f"many{number}", {"taskRoles": [role_spec("a", 2000, run="5")]})
            await asyncio.sleep(10)
            writes.clear()
            await asyncio.sleep(40)
            ended = [(await busy.framework(f"many{number}"))["status"]["taskCounts"]["completed"] for number in range(10)]
            assert sum(ended) > 400
            assert max(ended) < 2000
            assert all(1 <= count <= 40 / 12 + 1 for count in writes.values())

    run_in_memory(work())


@pytest.mark.parametrize(("exits", "policy"), [("1", {}), ("0", {"minFailedTaskCount": -1, "minSucceededTaskCount": 1})])
def test_in_a_crowd_an_end_that_ends_the_attempt_is_stored_soon(exits: str, policy: Json) -> None:
    """The others ran on in vain, and with the end of another the order of the two was not known any more."""

    async def work() -> None:
        async with lab(late_pods(0.5)) as busy:
            roles = [role_spec("first", 1, run="3", exits=exits, frameworkAttemptCompletionPolicy=policy), role_spec("rest", 100)]
            await busy.make("train", {"taskRoles": roles})
            await make_crowd(busy)
            await asyncio.sleep(2)
            status = await busy.until("train", lambda status: status["state"] != "AttemptRunning" and status["runTime"], 8)
            assert status["taskCounts"]["running"] < 100

    run_in_memory(work())


@pytest.mark.parametrize("what", ["the last end", "a scale-down"])
def test_in_a_crowd_who_has_all_pods_does_not_wait_for_those_who_start(what: str) -> None:
    """The end of each Framework, and the deletion of what an edit had scaled away, came 15 seconds late."""

    async def work() -> None:
        async with lab(late_pods(0.5)) as busy:
            roles = [role_spec("a", 2, run="8"), *([] if what == "the last end" else [role_spec("b", 4)])]
            await busy.make("train", {"taskRoles": roles})
            await busy.until("train", lambda status: status["taskCounts"]["running"] == sum(role["taskNumber"] for role in roles))
            await make_crowd(busy)
            await asyncio.sleep(3)
            if what == "the last end":
                await busy.until("train", lambda status: status["state"] == "Completed", 10)
            else:
                await busy.edit("train", "taskRoles/1/taskNumber", 1)
                await asyncio.sleep(4)
                assert sum(pod["metadata"]["name"].startswith("train-b-") for pod in await busy.pods()) == 1

    run_in_memory(work())
