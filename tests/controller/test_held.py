"""What cannot be created, or does not go, is a condition of the Framework as long as that is so, and no longer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.act.pod_owners import PodOwners
from fcontroller.api import Answer, Body, Json, Projection, collection, path_of
from fcontroller.metrics import Metrics, Sources
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import LENIENT, Lab, Refusing, in_memory, lab, refusal, run_in_memory
from tests.controller.test_intent import RETRY, all_run
from tests.controller.test_kept_pods import pause
from tests.decide.world import role_spec

SPEC = {"taskRoles": [role_spec("worker", 2, task=RETRY)]}
NEVER = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
DENIED = refusal(403, "Forbidden", "a policy denies it")


async def condition(made: Lab, kind: str, status: str) -> Json:
    """Wait until a condition has that status; returns it."""

    def found(framework_status: Json) -> list[Json]:
        conditions = framework_status.get("conditions", ())
        return [each for each in conditions if (each["type"], each["status"]) == (kind, status)]

    said: Json = found(await made.until("train", lambda each: bool(found(each))))[0]
    return said


@pytest.mark.parametrize(("kind", "path", "value"), [("pods", "taskRoles/0/taskNumber", 1), ("configmaps", "executionType", "Stop")])
def test_what_may_not_be_deleted(kind: str, path: str, value: object) -> None:
    async def work() -> None:
        def denied(method: str, asked: str) -> Answer | None:
            return DENIED if method == "DELETE" and f"/{kind}/" in asked else None

        api = Refusing(denied)
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            await made.edit("train", path, value)
            said = await condition(made, "ObjectsDeleted", "False")
            assert (said["reason"], said["message"]) == ("Held", "a policy denies it")
            api.refusal = lambda *_: None
            assert (await condition(made, "ObjectsDeleted", "True"))["reason"] == "Gone"
            await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda status: status["state"] == "Completed", 60)

    run_in_memory(work())


@pytest.mark.parametrize("keeps", [False, True])
def test_pods_end_though_their_config_map_may_not_be_deleted(keeps: bool) -> None:
    """Whoever may write ConfigMaps can fill it to etcd's limit, so that nobody can delete it."""

    async def work() -> None:
        full = refusal(500, "", "etcdserver: request is too large")
        api = Refusing(lambda method, path: full if method == "DELETE" and "/configmaps/" in path else None)
        async with lab(api) as made:
            await made.make("train", {**SPEC, **({"cleanPodPolicy": "Running"} if keeps else {})})
            await all_run(made, "train", [0, 0])
            await made.edit("train", "executionType", "Stop")
            said = await condition(made, "ObjectsDeleted", "False")
            assert said["message"].startswith("`train-attempt` is so full")
            async with asyncio.timeout(100):
                while await made.pods():
                    await asyncio.sleep(1)
            await asyncio.sleep(60)
            assert not await made.pods()
            assert (await made.framework("train"))["status"]["state"] == "AttemptDeletionPending"
            api.refusal = lambda *_: None
            completed = await made.until("train", lambda status: status["state"] == "Completed", 100)
            assert completed["attemptStatus"]["completionStatus"]["code"] == -210

    run_in_memory(work())


def test_a_pod_that_is_too_full_to_be_deleted_is_named() -> None:
    """Its deletion is a write, for which etcd has no room where somebody has filled the Pod with labels."""

    async def work() -> None:
        refused = refusal(500, "", "etcdserver: request is too large")
        api = Refusing(lambda method, path: refused if method == "DELETE" and path.endswith("/pods/train-worker-1") else None)
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            await made.edit("train", "taskRoles/0/taskNumber", 1)
            said = await condition(made, "ObjectsDeleted", "False")
            assert said["reason"] == "Held"
            assert said["message"].startswith(
                "`train-worker-1` is so full of labels or other metadata that it cannot even be deleted: etcds"
            )

    run_in_memory(work())


@pytest.mark.parametrize(
    ("kind", "name", "about"),
    [("configmaps", "train-attempt", "IntentStored"), ("pods", "train-worker-1", "PodsCreated")],
)
def test_a_name_that_is_taken(kind: str, name: str, about: str) -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            other: dict[str, Any] = {"apiVersion": "v1", "metadata": {"name": name, "namespace": "default"}}
            other |= {"spec": {"containers": [{"name": "main", "image": "b"}]}} if kind == "pods" else {}
            assert (await made.api.request("POST", collection(kind, "default"), other)).ok
            await made.make("train", SPEC)
            said = await condition(made, about, "False")
            assert said["reason"] == "Refused"
            assert name in said["message"]
            # The kubelet does not let go of a Pod at once that somebody deletes.
            assert (await made.api.request("DELETE", path_of(kind, "default", name))).ok
            await condition(made, about, "True")
            await all_run(made, "train", [0, 0])

    run_in_memory(work())


@pytest.mark.parametrize("kind", ["configmaps", "pods"])
def test_a_name_that_is_taken_again_and_again(kind: str) -> None:
    """By an object that says it is ours: it is deleted each time, and yet what is refused is not asked for each time."""
    creations: list[str] = []

    def taken(method: str, path: str) -> Answer | None:
        if method != "POST" or not path.endswith(kind):
            return None
        creations.append(path)
        return refusal(409, "AlreadyExists", "somebody was faster")

    async def work() -> None:
        api = Refusing(taken)
        async with lab(api) as made:
            others = Facade(api.server)
            owner = (await made.make("train", {"taskRoles": [role_spec("worker", 1, task=RETRY)]}))["metadata"]["uid"]
            if kind == "pods":
                status = await made.until("train", lambda status: status["attemptStatus"]["configMapUID"] is not None)
                owner = status["attemptStatus"]["configMapUID"]
            name = "train-attempt" if kind == "configmaps" else "train-worker-0"
            reference = {"apiVersion": "v1", "kind": "Any", "name": "any", "uid": owner, "controller": True}
            metadata = {"name": name, "namespace": "default", "labels": {names.FRAMEWORK_NAME: "train"}, "ownerReferences": [reference]}
            forged = {"metadata": metadata} | ({"spec": {"containers": [{"name": "main", "image": "b"}]}} if kind == "pods" else {})
            loop = asyncio.get_running_loop()
            times, end = 0, loop.time() + 3
            while loop.time() < end:
                times += (await others.request("POST", collection(kind, "default"), forged)).ok
                await asyncio.sleep(0.005)
            assert times > 1
            assert len(creations) <= 8

    run_in_memory(work())


@pytest.mark.parametrize("message", ["exceeded quota: pods", 'service account n/default: serviceaccount "default" not found'])
def test_stop_ends_at_once_what_has_no_pods(message: str) -> None:
    """Each change of the status is to be stored at once, and the one before it is not on its way yet."""

    async def work() -> None:
        denied = refusal(403, "Forbidden", message)
        async with lab(Refusing(lambda method, path: denied if method == "POST" and path.endswith("/pods") else None)) as made:
            await made.make("train", SPEC)
            assert message in (await condition(made, "PodsCreated", "False"))["message"]
            await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda status: status["state"] == "Completed", 10)
            # It is not said that the API server takes Pods again, of which nobody knows anything.
            said = await condition(made, "PodsCreated", "True")
            assert said["reason"] == "NotNeeded"
            assert message in said["message"]

    run_in_memory(work())


class _Uncollected(Refusing):
    """One whose garbage collector does nothing."""

    async def collect(self) -> None:
        await asyncio.Event().wait()


def test_a_pod_that_somebody_deletes_with_a_longer_grace_period() -> None:
    """He decides how long a container may run on that ignores SIGTERM, and nobody was told what a Stop waited for."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            role = role_spec("worker", 1)
            role["task"]["pod"]["metadata"]["annotations"]["sim/stop"] = "never"
            role["task"]["pod"]["spec"]["terminationGracePeriodSeconds"] = 5
            await made.make("train", {"taskRoles": [role]})
            await all_run(made, "train", [0])
            assert (await made.api.request("DELETE", path_of("pods", "default", "train-worker-0"), {"gracePeriodSeconds": 10**9})).ok
            await made.edit("train", "executionType", "Stop")
            said = await condition(made, "ObjectsDeleted", "False")
            held = "Pod `train-worker-0` is still there: a finalizer, a longer grace period, or the node of a Pod, holds it"
            assert (said["reason"], said["message"]) == ("Held", held)

    run_in_memory(work())


@pytest.mark.parametrize(("kind", "name"), [("pods", "train-worker-1"), ("configmaps", "train-attempt")])
def test_what_is_held_is_not_said_to_be_gone_by_the_next_controller(kind: str, name: str) -> None:
    """It counts anew how long the deletion takes, and said meanwhile that all is gone."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            path = path_of(kind, "default", name)
            there = (await made.api.request("GET", path)).body["metadata"].get("finalizers") or []
            held = [{"op": "add", "path": "/metadata/finalizers", "value": [*there, "test/held"]}]
            assert (await made.api.request("PATCH", path, held)).ok
            await made.edit("train", "executionType", "Stop")
            await condition(made, "ObjectsDeleted", "False")
            await made.restart()
            seen = set[str]()
            for _ in range(600):
                await asyncio.sleep(0.1)
                conditions = (await made.framework("train"))["status"]["conditions"]
                seen.update(each["status"] for each in conditions if each["type"] == "ObjectsDeleted")
            assert seen == {"False"}
            left = (await made.api.request("GET", path)).body["metadata"]["finalizers"]
            released = [{"op": "add", "path": "/metadata/finalizers", "value": [each for each in left if each != "test/held"]}]
            assert (await made.api.request("PATCH", path, released)).ok
            await condition(made, "ObjectsDeleted", "True")

    run_in_memory(work())


@pytest.mark.parametrize(
    ("method", "kind", "about"),
    [
        ("POST", "/pods", "PodsCreated"),
        ("POST", "/configmaps", "IntentStored"),
        ("PUT", "/configmaps/train-attempt", "IntentStored"),
        ("DELETE", "/pods/train-worker-1", "ObjectsDeleted"),
    ],
)
def test_what_is_refused_is_not_said_to_be_over_before_it_was_asked_for_again(method: str, kind: str, about: str) -> None:
    """After each start of the controller the condition was True until the first answer came."""
    is_denied = [method == "POST"]

    async def answer(asked: str, path: str) -> Answer | None:
        if not is_denied[0] or asked != method or not path.endswith(kind):
            return None
        await asyncio.sleep(3)
        return refusal(403, "Forbidden", "exceeded quota: none")

    async def work() -> None:
        async with lab(Refusing(answer), rules=LENIENT) as made:
            await made.make("train", SPEC)
            if method != "POST":
                await all_run(made, "train", [0, 0])
                is_denied[0] = True
                edit = ("taskNumber", 1) if method == "DELETE" else ("task/pod/spec/containers/0/image", "another")
                await made.edit("train", f"taskRoles/0/{edit[0]}", edit[1])
            await condition(made, about, "False")
            await made.restart()
            seen = set[str]()
            for _ in range(600):
                await asyncio.sleep(0.1)
                conditions = (await made.framework("train"))["status"]["conditions"]
                seen.update(each["status"] for each in conditions if each["type"] == about)
            assert seen == {"False"}
            is_denied[0] = False
            await made.restart()
            await condition(made, about, "True")

    run_in_memory(work())


def test_what_has_gone_in_a_pause_is_not_held_any_more() -> None:
    """The condition, and the alert on it, stayed as long as the pause."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            pod = path_of("pods", "default", "train-worker-1")
            assert (await made.api.request("PATCH", pod, [{"op": "add", "path": "/metadata/finalizers", "value": ["test/held"]}])).ok
            await made.edit("train", "taskRoles/0/taskNumber", 1)
            await condition(made, "ObjectsDeleted", "False")
            await pause(made, "true")
            await made.until("train", lambda status: any(each["type"] == "Paused" for each in status["conditions"]))
            assert (await made.api.request("PATCH", pod, [{"op": "remove", "path": "/metadata/finalizers"}])).ok
            await condition(made, "ObjectsDeleted", "True")

    run_in_memory(work())


def test_a_config_map_that_nobody_asks_for_in_a_pause_is_not_held_after_it() -> None:
    """It was gone for a minute when an Event said that it was still there: without a look, the state alone counted."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            config_map = path_of("configmaps", "default", "train-attempt")
            assert (await made.api.request("DELETE", config_map, {"apiVersion": "v1", "kind": "DeleteOptions"})).ok
            await made.until("train", lambda status: status["state"] == "AttemptDeleting")
            await made.kill()
            await pause(made, "true")
            await asyncio.sleep(2)
            await made.restart()
            await asyncio.sleep(60)
            await pause(made, "false")
            await made.completed("train")
            await asyncio.sleep(5)
            assert "DeletionHeld" not in [event["reason"] for event in await made.events()]

    run_in_memory(work())


def test_no_pod_is_said_to_be_refused_in_a_pause() -> None:
    """None is asked for, so that nobody knew when that was over; and an alert said that the API server takes no Pod of any Framework."""
    full = [True]

    async def work() -> None:
        denied = refusal(403, "Forbidden", "exceeded quota: none")
        async with lab(Refusing(lambda method, path: denied if full[0] and method == "POST" and path.endswith("/pods") else None)) as made:
            await made.make("train", SPEC)
            await condition(made, "PodsCreated", "False")
            await pause(made, "true")
            said = await condition(made, "PodsCreated", "True")
            assert said["reason"] == "NotNeeded"
            assert "exceeded quota" in said["message"]
            await asyncio.sleep(100)
            await pause(made, "false")
            assert "exceeded quota" in (await condition(made, "PodsCreated", "False"))["message"]
            await pause(made, "true")
            await condition(made, "PodsCreated", "True")
            full[0] = False
            await pause(made, "false")
            await all_run(made, "train", [0, 0])
            await asyncio.sleep(60)
            assert (await condition(made, "PodsCreated", "True"))["reason"] == "Created"

    run_in_memory(work())


def test_pods_that_nobody_asks_for_since_the_intent_is_unknown_are_not_said_to_be_taken_again() -> None:
    """It was said after a restart, for as long as the ConfigMap could not be read."""
    pods, unread = [True], [False]

    def answer(method: str, path: str) -> Answer | None:
        if pods[0] and method == "POST" and path.endswith("/pods"):
            return refusal(403, "Forbidden", "exceeded quota: pods")
        return DENIED if unread[0] and method == "GET" and path.endswith("/configmaps/train-attempt") else None

    async def work() -> None:
        async with lab(Refusing(answer)) as made:
            await made.make("train", SPEC)
            await condition(made, "PodsCreated", "False")
            unread[0] = True
            await made.restart()
            said = await condition(made, "IntentStored", "False")
            assert "cannot be read, and no Pod is created until it is" in said["message"]
            await asyncio.sleep(100)
            found = (await made.framework("train"))["status"]["conditions"]
            assert [each["status"] for each in found if each["type"] == "PodsCreated"] == ["False"]
            unread[0] = False
            await condition(made, "IntentStored", "True")
            await asyncio.sleep(30)
            await condition(made, "PodsCreated", "False")
            pods[0] = False
            await all_run(made, "train", [0, 0])
            await condition(made, "PodsCreated", "True")

    run_in_memory(work())


def test_what_the_garbage_collector_leaves_is_deleted() -> None:
    """All but what is nobody's task, and holds the ConfigMap nevertheless."""

    async def work() -> None:
        api = _Uncollected(lambda *_: None)
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            config_map = path_of("configmaps", "default", "train-attempt")
            found = (await made.api.request("GET", config_map)).body
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "train-attempt", "uid": found["metadata"]["uid"]}
            other: dict[str, Any] = {"metadata": {"name": "other", "namespace": "default", "ownerReferences": [owner]}}
            other |= {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "b"}]}}
            assert (await made.api.request("POST", collection("pods", "default"), other)).ok
            holds = [*found["metadata"]["finalizers"], "example.com/hold"]
            assert (await made.api.request("PUT", config_map, {**found, "metadata": {**found["metadata"], "finalizers": holds}})).ok
            await made.edit("train", "executionType", "Stop")
            said = await condition(made, "ObjectsDeleted", "False")
            while "other" not in said["message"]:
                await asyncio.sleep(1)
                said = await condition(made, "ObjectsDeleted", "False")
            assert "train-attempt is being deleted and still there; it still owns Pod `other`" in said["message"]
            assert "Refused" not in [event["reason"] for event in await made.events()], "nothing was"
            pods = (await made.api.request("GET", collection("pods", "default"))).body["items"]
            assert [pod["metadata"]["name"] for pod in pods] == ["other"]
            assert (await made.api.request("DELETE", path_of("pods", "default", "other"))).ok
            while (found := (await made.api.request("GET", config_map)).body)["metadata"]["finalizers"] != ["example.com/hold"]:
                await asyncio.sleep(1)
            assert (await made.framework("train"))["status"]["state"] == "AttemptDeleting"
            assert (await made.api.request("PUT", config_map, {**found, "metadata": {**found["metadata"], "finalizers": []}})).ok
            await made.completed("train")

    run_in_memory(work())


def test_what_the_garbage_collector_leaves_is_deleted_even_if_it_has_lost_its_label() -> None:
    """No watch shows it any more, and the ConfigMap waited for it for ever: here of a task that has ended, whose Pod was to stay."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            tasks = [role_spec("worker", 2, run="1", frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1}), role_spec("other", 1)]
            await made.make("train", {"cleanPodPolicy": "Running", "taskRoles": tasks})
            await made.until("train", lambda status: status["taskCounts"]["completed"] == 2)
            options = {"propagationPolicy": "Foreground"}
            assert (await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"), options)).ok
            for index in range(2):
                patch = [{"op": "remove", "path": "/metadata/labels"}]
                assert (await made.api.request("PATCH", path_of("pods", "default", f"train-worker-{index}"), patch)).ok
            await made.until("train", lambda status: status["state"] == "Completed", 120)
            assert await made.pods() == []

    run_in_memory(work())


@pytest.mark.parametrize("execution", ["Start", "Stop"])
def test_what_the_garbage_collector_leaves_is_deleted_even_if_its_config_map_is_gone(execution: str) -> None:
    """After `kubectl delete configmap` a Stop was over while they ran on, and another attempt waited for their names for ever."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", {**SPEC, "retryPolicy": {"fancyRetryPolicy": True}})
            await all_run(made, "train", [0, 0])
            left = {pod["metadata"]["uid"] for pod in await made.pods()}
            options = {"propagationPolicy": "Background"}
            assert (await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"), options)).ok
            await made.edit("train", "executionType", execution)
            await asyncio.sleep(25)
            assert {pod["metadata"]["uid"] for pod in await made.pods()} == left
            await made.restart()
            if execution == "Stop":
                await made.completed("train")
                assert await made.pods() == []
            else:
                await made.until("train", lambda status: status["attemptStatus"]["id"] == 1)
                status = await made.until("train", lambda status: status["taskCounts"]["running"] == 2)
                assert status["retryPolicyStatus"]["accountableRetriedCount"] == 0
                assert left.isdisjoint(pod["metadata"]["uid"] for pod in await made.pods())

    run_in_memory(work())


def test_a_config_map_that_is_being_deleted_gets_back_its_label() -> None:
    """Without it no watch shows it, and where the garbage collector does nothing it was never released."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda status: status["state"] == "AttemptDeleting")
            patch = [{"op": "remove", "path": "/metadata/labels"}]
            assert (await made.api.request("PATCH", path_of("configmaps", "default", "train-attempt"), patch)).ok
            await made.until("train", lambda status: status["state"] == "Completed", 120)
            assert await made.pods() == []

    run_in_memory(work())


def test_what_is_left_of_many_frameworks_is_looked_for_together() -> None:
    """Each looked at all Pods of the namespace: with a thousand Frameworks of 100 Pods, a hundred million."""
    lists = list[float]()

    class Counting(_Uncollected):
        async def request(
            self,
            method: str,
            path: str,
            body: Body | None = None,
            query: Mapping[str, str] | None = None,
            projection: Projection = Projection.WHOLE,
        ) -> Answer:
            if (method, path) == ("GET", collection("pods", "default")) and "labelSelector" not in (query or {}):
                lists.append(asyncio.get_running_loop().time())
                await asyncio.sleep(3)
            return await super().request(method, path, body, query, projection)

    async def work() -> None:
        async with lab(Counting(lambda *_: None)) as made:
            names = [f"train{index}" for index in range(20)]
            for name in names:
                await made.make(name, SPEC)
            for name in names:
                await all_run(made, name, [0, 0])
            lists.clear()
            for name in names:
                await made.edit(name, "executionType", "Stop")
            for name in names:
                await made.completed(name)
            assert 0 < len(lists) <= 3
            assert all(second - first >= 3 for first, second in pairwise(lists)), "one at a time"

    run_in_memory(work())


def test_a_list_that_fails_late_does_so_for_all_who_wait_for_it() -> None:
    """And one that was given up is begun again by the next."""

    async def late(answer: Answer) -> Answer:
        await asyncio.sleep(60)
        return answer

    async def work() -> None:
        api = Refusing(lambda *_: late(DENIED))
        owners, loop = PodOwners(api), asyncio.get_running_loop()
        first = asyncio.create_task(owners.pod_of("default", "uid"))
        await asyncio.sleep(1)
        given_up, *others = [asyncio.create_task(owners.pod_of("default", "uid")) for _ in range(20)]
        await asyncio.wait([first])
        given_up.cancel()
        await asyncio.wait(others)
        assert loop.time() == 120
        assert {str(task.exception()) for task in (first, *others)} == {"a policy denies it"}
        api.refusal = lambda *_: None
        assert await owners.pod_of("default", "uid") is None

    run_in_memory(work())


def test_a_list_of_which_each_page_comes_late_has_an_end() -> None:
    """An hour of it held up all Frameworks of the namespace that end, and began anew when the last page failed."""

    is_late = True

    async def page() -> Answer:
        await asyncio.sleep(59 * is_late)
        return Answer(200, {"metadata": {"resourceVersion": "1", "continue": "more" * is_late}, "items": []})

    async def work() -> None:
        nonlocal is_late
        api = _Uncollected(lambda *_: None)
        async with lab(api) as made:
            for name in ("train", "other"):
                await made.make(name, SPEC)
                await all_run(made, name, [0, 0])
            api.refusal = lambda method, path: page() if (method, path) == ("GET", collection("pods", "default")) else None
            for name in ("train", "other"):
                await made.edit(name, "executionType", "Stop")
            for name in ("train", "other"):
                await made.until(name, lambda status: "could not be listed within 300 s" in str(status["conditions"]), 700)
            is_late = False
            await made.completed("train")
            await made.completed("other")

    run_in_memory(work())


def test_stop_does_not_wait_for_a_list_that_is_not_answered() -> None:
    """An earlier Framework's ConfigMap was to be released first, and its Pods were looked for."""
    asked = list[str]()

    async def never(_: str, path: str) -> None:
        asked.append(path)
        await asyncio.sleep(600)

    async def work() -> None:
        api = _Uncollected(lambda *_: None)
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            assert (await made.api.request("DELETE", path_of("frameworks", "default", "train"))).ok
            assert (await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"))).ok
            await made.make("train", SPEC)
            api.refusal = lambda method, path: never(method, path) if (method, path) == ("GET", collection("pods", "default")) else None
            async with asyncio.timeout(60):
                while not asked:
                    await asyncio.sleep(1)
            await made.edit("train", "executionType", "Stop")
            await made.until("train", lambda status: status["state"] == "Completed", 5)

    run_in_memory(work())


def test_another_framework_of_the_name_begins_as_soon_as_what_was_left_is_gone() -> None:
    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            assert (await made.api.request("DELETE", path_of("frameworks", "default", "train"))).ok
            assert (await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"))).ok
            began = asyncio.get_running_loop().time()
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            assert 30 <= asyncio.get_running_loop().time() - began < 45

    run_in_memory(work())


def test_another_framework_of_the_name_begins_even_if_the_garbage_collector_has_not_heard_that_the_first_is_gone() -> None:
    """After `kubectl delete framework` the name was taken for ever."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            options = {"propagationPolicy": "Background"}
            assert (await made.api.request("DELETE", path_of("frameworks", "default", "train"), options)).ok
            began = asyncio.get_running_loop().time()
            await made.make("train", SPEC)
            await asyncio.sleep(60)
            await all_run(made, "train", [0, 0])
            assert asyncio.get_running_loop().time() - began < 80

    run_in_memory(work())


@pytest.mark.parametrize("clean", ["All", "Running"])
def test_another_framework_of_the_name_runs_even_if_pods_of_the_first_are_left(clean: str) -> None:
    """Somebody has deleted the ConfigMap too. Their names were taken for ever, and after a Stop they still ran."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            roles = [role_spec("worker", 2, task=RETRY), role_spec("ends", 1, run="1", frameworkAttemptCompletionPolicy=NEVER)]
            await made.make("train", {"cleanPodPolicy": clean, "taskRoles": roles})
            await made.until("train", lambda status: (status["taskCounts"]["running"], status["taskCounts"]["completed"]) == (2, 1))
            left = {pod["metadata"]["uid"] for pod in await made.pods()}
            if clean == "Running":  # Then the first has ended, and a Pod stays for its log.
                await made.edit("train", "executionType", "Stop")
                await asyncio.sleep(100)
                left = {pod["metadata"]["uid"] for pod in await made.pods()}
                assert len(left) == 1
            options = {"propagationPolicy": "Background"}
            await made.api.request("DELETE", path_of("frameworks", "default", "train"), options)
            await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"), options)
            roles[1] = role_spec("ends", 1)
            await made.make("train", {"taskRoles": roles})
            await made.until("train", lambda status: status["taskCounts"]["running"] == 3)
            assert left.isdisjoint(pod["metadata"]["uid"] for pod in await made.pods())
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")
            assert await made.pods() == []

    run_in_memory(work())


@pytest.mark.parametrize("change", [{"uid": "other"}, {"name": "another-attempt"}, {"kind": "Secret"}, {"apiVersion": "v2"}, None])
def test_a_pod_that_may_have_an_owner_keeps_the_name_of_a_tasks(change: Json | None) -> None:
    """Only one whose single owner is surely gone, and was ours by its name, is deleted. The first of these is; None is a second owner."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "train-attempt", "uid": "gone", "controller": True}
            owners = [owner | change] if change else [owner, {**owner, "uid": "second", "controller": False}]
            metadata = {"name": "train-worker-0", "namespace": "default", "ownerReferences": owners}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "main", "image": "b"}]}}
            assert (await made.api.request("POST", collection("pods", "default"), pod)).ok
            await made.make("train", SPEC)
            await asyncio.sleep(100)
            assert ("b" in [pod["spec"]["containers"][0]["image"] for pod in await made.pods()]) == (change != {"uid": "other"})

    run_in_memory(work())


@pytest.mark.parametrize("meanwhile", [False, True])
def test_what_a_framework_has_left_is_told_of_and_deleted(meanwhile: bool) -> None:
    """:param meanwhile: whether no controller runs when the Framework is deleted."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            for name in ("train", "stops", "ends"):
                await made.make(name, {"taskRoles": [role_spec("worker", 2, task=RETRY, service={"ports": [{"port": 80}]})]})
                await all_run(made, name, [0, 0])
            await made.edit("stops", "executionType", "Stop")
            await made.until("stops", lambda status: status["state"] == "AttemptDeleting")
            uid = (await made.framework("train"))["metadata"]["uid"]
            if meanwhile:
                await made.kill()
            options = {"propagationPolicy": "Background"}
            for name in ("train", "stops", "ends"):
                assert (await made.api.request("DELETE", path_of("frameworks", "default", name), options)).ok
            if meanwhile:
                await made.restart()
            await asyncio.sleep(25)
            assert [line for line in made.lines if line["level"] == "warning"] == []
            assert len(await made.pods()) == 6
            assert (await made.api.request("DELETE", path_of("configmaps", "default", "ends-attempt"), options)).ok
            await asyncio.sleep(15)
            said = [line for line in made.lines if line["level"] == "warning"]
            assert {(line["reason"], line["framework"]) for line in said} == {("GarbageLeft", "train"), ("GarbageLeft", "stops")}
            events = [event["involvedObject"] for event in await made.events() if event["reason"] == "GarbageLeft"]
            assert sorted(about["name"] for about in events) == ["stops", "train"]
            assert uid in [about["uid"] for about in events]
            await asyncio.sleep(40)
            assert await made.pods() == []
            assert (await made.api.request("GET", collection("services", "default"))).body["items"] == []

    run_in_memory(work())


def test_what_many_frameworks_have_left_goes_soon() -> None:
    """One was looked at after the other: after an outage, the Pods of the last of 10,000 ran on for half an hour."""
    is_slow = False

    async def slow(method: str, path: str) -> None:
        await asyncio.sleep(0.05 * is_slow)

    async def work() -> None:
        nonlocal is_slow
        async with lab(_Uncollected(slow)) as made:
            for number in range(200):
                await made.make(f"train{number}", {"taskRoles": [role_spec("worker", 1)]})
            await asyncio.sleep(20)
            is_slow, options = True, {"propagationPolicy": "Background"}
            paths = [path_of("frameworks", "default", f"train{number}") for number in range(200)]
            assert all([answer.ok for answer in await asyncio.gather(*[made.api.request("DELETE", path, options) for path in paths])])
            await asyncio.sleep(30)
            assert len(await made.pods()) > 150
            await asyncio.sleep(20)
            assert await made.pods() == []
            await asyncio.sleep(20)
            assert made.report.warnings["GarbageLeft",] == 200

    run_in_memory(work())


@pytest.mark.parametrize("way", ["foreground", "without its ConfigMap"])
def test_what_a_framework_has_left_is_told_of_again_and_again(way: str) -> None:
    """An alert must not end while its Pods run on: we may not delete them."""

    async def work() -> None:
        api = _Uncollected(lambda *_: None)
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            framework = path_of("frameworks", "default", "train")
            policy = "Foreground" if way == "foreground" else "Background"
            assert (await made.api.request("DELETE", framework, {"propagationPolicy": policy})).ok
            if way == "foreground":
                patch = [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]
                assert (await made.api.request("PATCH", framework, patch)).ok, "it is seen twice"
            else:
                config_map = path_of("configmaps", "default", "train-attempt")
                assert (await made.api.request("DELETE", config_map, {"propagationPolicy": policy})).ok
            began = asyncio.get_running_loop().time()
            told = {25: 0, 40: 1, 325: 1, 340: 2, 625: 2, 640: 3}
            if way != "foreground":  # Where the Framework still is, another Pod follows.
                await asyncio.sleep(20)
                assert (await made.api.request("DELETE", path_of("pods", "default", "train-worker-0"))).ok
                told = {55: 0, 70: 1, 355: 1, 370: 2, 655: 2, 670: 3}
            api.refusal = lambda method, path: DENIED if method == "DELETE" else None
            for seconds, times in told.items():
                await asyncio.sleep(began + seconds - asyncio.get_running_loop().time())
                assert made.report.warnings["GarbageLeft",] == times
            assert made.report.warnings["Refused",] > 0
            first = made.report
            await made.restart()
            await asyncio.sleep(400)
            assert (first.warnings["GarbageLeft",], made.report.warnings["GarbageLeft",]) == (3, 2), "each tells only as long as it runs"
            api.refusal = lambda *_: None
            await asyncio.sleep(1000)
            assert made.report.warnings["GarbageLeft",] == 3
            assert all("deletionTimestamp" in pod["metadata"] for pod in await made.pods())

    run_in_memory(work())


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("loses_label", [False, True])
@pytest.mark.parametrize("restart", [False, True])
def test_pods_that_are_no_tasks_of_another_framework_of_the_name_are_deleted(stops: bool, loses_label: bool, restart: bool) -> None:
    """Its own, and its ConfigMap, are not."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            options = {"propagationPolicy": "Background"}
            assert (await made.api.request("DELETE", path_of("frameworks", "default", "train"), options)).ok
            assert (await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"), options)).ok
            await made.make("train", {"taskRoles": [role_spec("worker", 1)]})
            await made.until("train", lambda status: status["taskCounts"]["running"] == 1)
            if loses_label:
                patch = [{"op": "remove", "path": "/metadata/labels"}]
                assert (await made.api.request("PATCH", path_of("configmaps", "default", "train-attempt"), patch)).ok
            if stops:
                await made.edit("train", "executionType", "Stop")
                await made.completed("train")
            first = made.report
            if restart:
                await made.restart()
            await asyncio.sleep(140)
            assert sum(report.warnings["GarbageLeft",] for report in {first, made.report}) == 1
            assert [pod["metadata"]["name"] for pod in await made.pods()] == ([] if stops else ["train-worker-0"])
            if not stops:
                assert (await made.framework("train"))["status"]["taskCounts"]["running"] == 1
            await asyncio.sleep(1000)
            assert sum(report.warnings["GarbageLeft",] for report in {first, made.report}) == 1

    run_in_memory(work())


@pytest.mark.parametrize("config_map", ["stays", "is gone"])
def test_pods_of_an_earlier_framework_do_not_run_on_when_another_of_the_name_is_stopped_at_once(config_map: str) -> None:
    """Before it came to make its own."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            options = {"propagationPolicy": "Background"}
            assert (await made.api.request("DELETE", path_of("frameworks", "default", "train"), options)).ok
            if config_map == "is gone":
                assert (await made.api.request("DELETE", path_of("configmaps", "default", "train-attempt"), options)).ok
            await made.make("train", {**SPEC, "executionType": "Stop"})
            await made.until("train", lambda status: status["state"] == "Completed", 5)
            assert len(await made.pods()) == 2
            await asyncio.sleep(50)
            assert await made.pods() == []
            assert made.report.warnings["GarbageLeft",] == 1

    run_in_memory(work())


def test_many_pods_of_an_earlier_framework_are_deleted_at_the_same_time() -> None:
    """One after the other took minutes, since each of another Framework's had to meet one first."""

    async def slow() -> None:
        await asyncio.sleep(1)

    async def work() -> None:
        api = _Uncollected(lambda *_: None)
        async with lab(api) as made:
            await made.make("train", {"taskRoles": [role_spec("worker", 200, task=RETRY)]})
            await made.until("train", lambda status: status["taskCounts"]["running"] == 200)
            options = {"propagationPolicy": "Background"}
            assert (await made.api.request("DELETE", path_of("frameworks", "default", "train"), options)).ok
            api.refusal = lambda method, path: slow() if method == "DELETE" and "/pods/" in path else None
            await asyncio.sleep(30)
            assert len(await made.pods()) == 200
            await asyncio.sleep(20)
            assert await made.pods() == []

    run_in_memory(work())


def test_what_another_controllers_framework_has_is_not_left() -> None:
    """After each start it was told of, and could be deleted."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            await made.kill()
            await made.edit("train", "managedBy", "example.com/another")
            await made.restart()
            await asyncio.sleep(1000)
            assert made.report.warnings["GarbageLeft",] == 0
            assert len(await made.pods()) == 2

    run_in_memory(work())


def test_a_framework_that_somebody_holds_leaves_nothing_yet() -> None:
    """The garbage collector does nothing before it is gone, and is not at fault."""

    async def work() -> None:
        async with lab(_Uncollected(lambda *_: None)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            framework = path_of("frameworks", "default", "train")
            patch = [{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/hold"]}]
            assert (await made.api.request("PATCH", framework, patch)).ok
            assert (await made.api.request("DELETE", framework, {"propagationPolicy": "Background"})).ok
            await asyncio.sleep(500)
            assert "deletionTimestamp" in (await made.framework("train"))["metadata"]
            assert made.report.warnings["GarbageLeft",] == 0

    run_in_memory(work())


@pytest.mark.parametrize("answer", [DENIED, refusal(500, "InternalError", "a conversion fails")])
def test_a_framework_that_cannot_be_read_at_the_start(answer: Answer) -> None:
    """Everything else waits for that: it stood still, and nobody said so."""

    async def work() -> None:
        api, framework = Refusing(lambda *_: None), path_of("frameworks", "default", "train")
        async with lab(api) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0])
            api.refusal = lambda method, path: answer if (method, path) == ("GET", framework) else None
            await made.restart()
            async with asyncio.timeout(30):
                while not (
                    found := [line["answer" if answer.code == 500 else "message"] for line in made.lines if line["level"] == "warning"]
                ):
                    await asyncio.sleep(0.05)
            assert "reading it, before anything else can be done" in found[0]
            metrics = Metrics()
            metrics.sources = Sources(made.controller)
            (waits,) = re.findall(r"^fcontroller_oldest_unsaved_status_seconds (.+)", metrics.text().decode(), re.MULTILINE)
            assert float(waits) > 0
            api.refusal = lambda *_: None
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")

    run_in_memory(work())
