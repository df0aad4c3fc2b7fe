"""Each row of the table in docs/diff.md against the controller at work: what `diff` says of an edit is what becomes of it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pytest

from fcompile.diff.effects import Effect
from fcompile.diff.frameworks import compare
from fcompile.model.names import PAUSE_ANNOTATION, RESTART_ANNOTATION
from fcompile.pipeline.compiled import compile_framework
from fcontroller import intent as intents
from fcontroller.api import path_of
from fcontroller.reconcile.reconciler import Reconciler
from fcontroller.testing.kubelet import Kubelet
from tests.controller.lab import PREFIX, Lab, in_memory, lab, run_in_memory, stored_document
from tests.diff.frameworks import Json, annotated, effects, framework, role, side, spec

FOREVER = {"annotations": {f"{PREFIX}/run": "forever"}}
Seen = dict[str, tuple[str, str]]
"""By a Pod's name: its uid and image."""


def _is_quiet(reconciler: Reconciler | None, generation: int) -> bool:
    """Whether all is stored that follows from a generation. A Framework that is over has no reconciler any more."""
    if reconciler is None:
        return True
    saved = reconciler.status is None or reconciler.status.revision <= reconciler.status.stored
    return saved and not reconciler.under_way and reconciler.framework["metadata"]["generation"] == generation


class Edited:
    """A Framework that runs, is edited, and is looked at."""

    def __init__(self, made: Lab, before: Json) -> None:
        self.made, self.before = made, before

    async def start(self) -> None:
        await self.made.make("train", self.before)
        tasks = sum(one["taskNumber"] for one in self.before["taskRoles"])
        await self.made.until("train", lambda status: count(status, "AttemptRunning") == tasks)

    async def edit(self, after: Json) -> None:
        """Apply the spec, and wait until the controller has done what it does because of it."""
        await self.apply(after)
        await self.quiet()

    async def apply(self, after: Json) -> None:
        new = compile_framework(framework(after), "default").framework
        patch = [{"op": "replace", "path": f"/{path}", "value": at(new, path)} for path in ("spec", "metadata/annotations")]
        answer = await self.made.api.request("PATCH", path_of("frameworks", "default", "train"), patch)
        assert answer.ok, answer.message

    async def quiet(self) -> None:
        """Wait until there is nothing to do for the controller and the kubelet."""
        still = 0
        for _ in range(600):
            pods = await self.made.pods()
            status = (await self.made.framework("train")).get("status") or {}
            reconciler = self.made.controller.reconcilers.get(("default", "train"))
            generation = (await self.made.framework("train"))["metadata"]["generation"]
            waits = any(pod.get("status", {}).get("phase") != "Running" or "deletionTimestamp" in pod["metadata"] for pod in pods)
            still = still + 1 if status and not waits and _is_quiet(reconciler, generation) else 0
            if still == 4:
                return
            await asyncio.sleep(0.03)
        raise AssertionError("it does not come to rest")

    async def seen(self) -> Seen:
        return {pod["metadata"]["name"]: (pod["metadata"]["uid"], pod["spec"]["containers"][0]["image"]) for pod in await self.made.pods()}

    async def fail(self, pod: str) -> None:
        """Somebody deletes a Pod, which ends the attempt of its task."""
        await self.made.api.request("DELETE", path_of("pods", "default", pod), {"apiVersion": "v1", "kind": "DeleteOptions"})
        await self.quiet()

    async def finish(self, pod: str) -> None:
        """The containers of a Pod come to their end."""
        patch = [{"op": "add", "path": "/status/phase", "value": "Succeeded"}]
        answer = await self.made.api.request("PATCH", f"{path_of('pods', 'default', pod)}/status", patch)
        assert answer.ok, answer.message


def count(status: Json, state: str) -> int:
    roles = (status.get("attemptStatus") or {}).get("taskRoleStatuses") or []
    return sum(task["state"] == state for one in roles for task in one["taskStatuses"])


def with_image(before: Json, image: str, place: int = 0) -> Json:
    after = copy.deepcopy(before)
    after["taskRoles"][place]["task"]["pod"]["spec"]["containers"][0]["image"] = image
    return after


def changed(before: Json, change: Callable[[Json], Any]) -> Json:
    after = copy.deepcopy(before)
    change(after)
    return after


def at(value: Json, path: str) -> Any:
    for step in path.split("/"):
        value = value[step]
    return value


def play(before: Json, work: Callable[[Edited], Any]) -> None:
    async def all_of_it() -> None:
        async with lab(in_memory()) as made:
            edited = Edited(made, before)
            await edited.start()
            await work(edited)

    run_in_memory(all_of_it())


IMAGE = "worker: spec.containers[main].image"
TOLERANT = {"minFailedTaskCount": -1}


def test_a_description_changes_nothing() -> None:
    before = spec(role(retry=3))
    after = {**before, "description": "another"}
    assert effects(before, after) == {"spec.description": "nothing"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        assert await edited.seen() == pods
        await edited.fail("train-worker-0")
        assert {name: image for name, (_, image) in (await edited.seen()).items()} == {name: image for name, (_, image) in pods.items()}

    play(before, work)


def test_a_template_waits_for_the_next_retry() -> None:
    before = spec(role(retry=3))
    after = with_image(before, "a:2")
    assert effects(before, after) == {IMAGE: "next-retry"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        assert await edited.seen() == pods
        await edited.fail("train-worker-0")
        now = await edited.seen()
        assert now["train-worker-1"] == pods["train-worker-1"]
        assert now["train-worker-0"][1] == "a:2"

    play(before, work)


@pytest.mark.parametrize("scaled", ["never", "before", "after"])
@pytest.mark.parametrize("retry", [0, 3])
def test_to_go_back_from_an_edit_that_was_not_reviewed_changes_nothing(retry: int, scaled: str) -> None:
    """It was not in force. What `diff --live` said here had people delete the Framework."""
    before = spec(role(retry=retry, service={"ports": [{"port": 80}]}))

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        path = path_of("frameworks", "default", "train")
        of_role = "/spec/taskRoles/0"
        patch: list[Json] = [
            {"op": "replace", "path": f"{of_role}/task/pod/spec/containers/0/image", "value": "evil:1"},
            {"op": "replace", "path": f"{of_role}/service/ports/0/port", "value": 81},
        ]
        scale: list[Json] = [{"op": "replace", "path": f"{of_role}/taskNumber", "value": 1}]  # this needs no review, and is in force
        for one in {"never": [patch], "before": [scale, patch], "after": [patch, scale]}[scaled]:
            answer = await edited.made.api.request("PATCH", path, one)
            assert answer.ok, answer.message
            await edited.quiet()
        there = await edited.made.framework("train")
        found = compare(side(there, there["status"]), side(framework(before)))
        assert found is not None
        said = {change.part: (change.effect, [pods.what for pods in change.pods]) for change in found.changes}
        created = ["created"] * (scaled != "never")
        scaling = {"role": (Effect.ON_THE_FLY, created)} if created else {}
        assert said == {**scaling, "pod": (Effect.NOTHING, created), "service": (Effect.NOTHING, [])}
        another = compare(side(there, there["status"]), side(framework(with_image(before, "a:2"))))
        assert another is not None
        assert another.effect is (Effect.NEXT_RETRY if retry else Effect.NEW_ATTEMPT)
        await edited.edit(before)
        now = await edited.seen()
        assert {name: pod for name, pod in now.items() if scaled == "never" or name == "train-worker-0"} == (
            pods if scaled == "never" else {"train-worker-0": pods["train-worker-0"]}
        )
        assert now.keys() == pods.keys()
        assert {image for _, image in now.values()} == {"a:1"}

    play(before, work)


def test_a_template_of_tasks_that_are_never_retried_waits_for_a_new_attempt() -> None:
    before = spec(role(retry=0, frameworkAttemptCompletionPolicy=TOLERANT), retryPolicy={"maxRetryCount": 1})
    after = with_image(before, "a:2")
    assert effects(before, after) == {IMAGE: "new-attempt"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        assert await edited.seen() == pods
        await edited.fail("train-worker-0")
        assert await edited.seen() == {"train-worker-1": pods["train-worker-1"]}, "the task is not retried"
        await edited.edit(changed(after, lambda value: value["taskRoles"][0].update(frameworkAttemptCompletionPolicy={})))
        await edited.made.until("train", lambda status: status["attemptStatus"]["id"] == 1 and count(status, "AttemptRunning") == 2)
        assert {image for _, image in (await edited.seen()).values()} == {"a:2"}

    play(before, work)


def test_a_template_of_what_is_never_retried_needs_another_framework() -> None:
    before = spec(role(frameworkAttemptCompletionPolicy=TOLERANT))
    after = with_image(before, "a:2")
    assert effects(before, after) == {IMAGE: "new-attempt"}

    async def work(edited: Edited) -> None:
        await edited.edit(after)
        await edited.fail("train-worker-0")
        await edited.fail("train-worker-1")
        assert await edited.seen() == {}
        assert (await edited.made.framework("train"))["status"]["state"] == "Completed"
        assert effects(before, after, {"state": "Completed"}) == {IMAGE: "nothing"}

    play(before, work)


def test_tasks_that_are_added_have_the_new_template_at_once() -> None:
    before = spec(role(retry=3))
    after = changed(with_image(before, "a:2"), lambda value: value["taskRoles"][0].update(taskNumber=3))
    assert effects(before, after) == {IMAGE: "next-retry", "worker: taskNumber": "on-the-fly"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        now = await edited.seen()
        assert now.pop("train-worker-2")[1] == "a:2"
        assert now == pods

    play(before, work)


def test_a_rescale_is_followed_from_the_tail() -> None:
    before = spec(role(count=3))
    after = changed(before, lambda value: value["taskRoles"][0].update(taskNumber=1))
    assert effects(before, after) == {"worker: taskNumber": "on-the-fly"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        assert await edited.seen() == {"train-worker-0": pods["train-worker-0"]}

    play(before, work)


def test_a_role_renamed_is_one_removed_and_one_added() -> None:
    before = spec(role(), role("ps", 1))
    after = spec(role("main"), role("ps", 1))
    assert effects(before, after) == dict.fromkeys(("worker: role", "worker: spec", "main: role", "main: spec"), "on-the-fly")

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        now = await edited.seen()
        assert sorted(now) == ["train-main-0", "train-main-1", "train-ps-0"]
        assert now["train-ps-0"] == pods["train-ps-0"]

    play(before, work)


def test_a_completion_policy_is_held_at_once_against_what_has_completed() -> None:
    before = spec(role(frameworkAttemptCompletionPolicy=TOLERANT))
    after = spec(role())
    assert effects(before, after) == {"worker: frameworkAttemptCompletionPolicy.minFailedTaskCount": "on-the-fly"}

    async def work(edited: Edited) -> None:
        await edited.fail("train-worker-0")
        assert sorted(await edited.seen()) == ["train-worker-1"]
        await edited.edit(after)
        assert (await edited.made.completed("train"))["attemptStatus"]["completionStatus"]["code"] == -101

    play(before, work)


def test_a_retry_policy_decides_the_next_time() -> None:
    before = spec(role(retry=0, frameworkAttemptCompletionPolicy=TOLERANT))
    after = spec(role(retry=1, frameworkAttemptCompletionPolicy=TOLERANT))
    assert effects(before, after) == {"worker: task.retryPolicy.maxRetryCount": "on-the-fly"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        assert await edited.seen() == pods
        await edited.fail("train-worker-0")
        assert sorted(await edited.seen()) == ["train-worker-0", "train-worker-1"]

    play(before, work)


def test_the_retry_policy_of_the_framework_decides_the_next_time() -> None:
    before = spec(role())
    after = {**before, "retryPolicy": {"maxRetryCount": 1}}
    assert effects(before, after) == {"spec.retryPolicy.maxRetryCount": "on-the-fly"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        assert await edited.seen() == pods
        await edited.fail("train-worker-0")
        await edited.made.until("train", lambda status: status["attemptStatus"]["id"] == 1 and count(status, "AttemptRunning") == 2)

    play(before, work)


def test_stop_ends_everything_and_nothing_else_of_the_edit_matters() -> None:
    before = spec(role(retry=-2), retryPolicy={"maxRetryCount": -2})
    after = {**with_image(before, "a:2"), "executionType": "Stop", "retryPolicy": {"maxRetryCount": 5}}
    assert effects(before, after) == {"spec.executionType": "on-the-fly", IMAGE: "nothing", "spec.retryPolicy.maxRetryCount": "nothing"}

    async def work(edited: Edited) -> None:
        await edited.edit(after)
        assert (await edited.made.completed("train"))["attemptStatus"]["completionStatus"]["code"] == -210
        assert await edited.seen() == {}

    play(before, work)


def test_a_deadline_that_is_lowered_ends_everything_once_it_is_over() -> None:
    before = spec(role(retry=-2), retryPolicy={"maxRetryCount": -2}, activeDeadlineSeconds=3600)
    after = {**before, "activeDeadlineSeconds": 1}
    assert effects(before, after) == {"spec.activeDeadlineSeconds": "on-the-fly"}

    async def work(edited: Edited) -> None:
        await edited.edit(before)
        await edited.apply(after)
        assert (await edited.made.completed("train"))["attemptStatus"]["completionStatus"]["code"] == -240
        assert await edited.seen() == {}

    play(before, work)


@pytest.mark.parametrize("later", [{"activeDeadlineSeconds": 7200}, {}])
def test_a_deadline_that_is_later_or_gone_ends_nothing(later: Json) -> None:
    before, after = spec(role(), activeDeadlineSeconds=3600), spec(role(), **later)
    assert effects(before, after) == {"spec.activeDeadlineSeconds": "on-the-fly"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        assert await edited.seen() == pods

    play(before, work)


def test_pods_that_finish_stay_as_the_clean_up_says_by_then() -> None:
    before = spec(role(count=3))
    after = {**before, "cleanPodPolicy": "Running"}
    assert effects(before, after) == effects(after, before) == {"spec.cleanPodPolicy": "on-the-fly"}

    async def work(edited: Edited) -> None:
        made = edited.made
        await edited.finish("train-worker-0")
        await made.until("train", lambda status: status["taskCounts"]["completed"] == 1)
        assert sorted(await edited.seen()) == ["train-worker-1", "train-worker-2"]
        await edited.edit(after)
        await edited.finish("train-worker-1")
        await made.until("train", lambda status: status["taskCounts"]["completed"] == 2)
        assert sorted(await edited.seen()) == ["train-worker-1", "train-worker-2"]
        await edited.apply(before)
        await edited.finish("train-worker-2")
        await made.completed("train")
        assert await edited.seen() == {}

    play(before, work)


def test_a_stop_leaves_what_has_finished_as_the_same_edit_says() -> None:
    before = spec(role(), cleanPodPolicy="Running")
    after = {**before, "cleanPodPolicy": "All", "executionType": "Stop"}
    assert effects(before, after) == {"spec.cleanPodPolicy": "on-the-fly", "spec.executionType": "on-the-fly"}

    async def work(edited: Edited) -> None:
        await edited.finish("train-worker-0")
        await edited.made.until("train", lambda status: status["taskCounts"]["completed"] == 1)
        assert sorted(await edited.seen()) == ["train-worker-0", "train-worker-1"]
        await edited.apply(after)
        await edited.made.completed("train")
        assert await edited.seen() == {}

    play(before, work)


def test_a_time_to_live_counts_after_the_end_too() -> None:
    before = spec(role(count=1))
    after = {**before, "ttlSecondsAfterFinished": 0}
    assert effects(before, after, {"state": "Completed"}) == {"spec.ttlSecondsAfterFinished": "on-the-fly"}

    async def work(edited: Edited) -> None:
        await edited.finish("train-worker-0")
        await edited.made.completed("train")
        await edited.apply(after)
        for _ in range(600):
            if (await edited.made.api.request("GET", path_of("frameworks", "default", "train"))).code == 404:
                return
            await asyncio.sleep(0.03)
        raise AssertionError("it is not deleted")

    play(before, work)


def test_a_pause_holds_and_what_is_held_goes_on_without_it() -> None:
    before = spec(role(retry=3))
    after = annotated(before, PAUSE_ANNOTATION, "true")
    label = f'metadata.annotations["{PAUSE_ANNOTATION}"]'
    assert effects(before, after) == effects(after, before) == {label: "on-the-fly"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.edit(after)
        await edited.fail("train-worker-0")
        assert await edited.seen() == {"train-worker-1": pods["train-worker-1"]}
        await edited.edit(before)
        assert (await edited.seen()).keys() == pods.keys()

    play(before, work)


def test_a_restart_ends_every_task_and_the_next_attempt_begins() -> None:
    before = spec(role())
    after = annotated(before, RESTART_ANNOTATION, "now")
    assert effects(before, after) == {f'metadata.annotations["{RESTART_ANNOTATION}"]': "on-the-fly"}

    async def work(edited: Edited) -> None:
        pods = await edited.seen()
        await edited.apply(after)
        await edited.made.until("train", lambda status: status["attemptStatus"]["id"] == 1 and count(status, "AttemptRunning") == 2)
        now = await edited.seen()
        assert now.keys() == pods.keys()
        assert not {uid for uid, _ in now.values()} & {uid for uid, _ in pods.values()}

    play(before, work)


@pytest.mark.parametrize(("to", "state"), [("Start", "AttemptRunning"), ("Stop", "Completed")])
def test_what_waits_begins_like_the_new_one(to: str, state: str) -> None:
    before = spec(role(count=1), executionType="Create")
    after = {**with_image(before, "a:2"), "executionType": to}
    found = effects(before, after)
    assert found["spec.executionType"] == "on-the-fly"
    assert found[IMAGE] == ("on-the-fly" if to == "Start" else "nothing")

    async def work() -> None:
        async with lab(in_memory()) as made:
            edited = Edited(made, before)
            await made.make("train", before)
            await made.until("train", lambda status: status["state"] == "AttemptCreationPending")
            await edited.edit(after)
            await made.until("train", lambda status: status["state"] == state)
            assert {image for _, image in (await edited.seen()).values()} == ({"a:2"} if to == "Start" else set())

    run_in_memory(work())


def service(ports: list[int], count: int = 1) -> Json:
    return role(count=count, retry=3, service={"ports": [{"name": f"p{port}", "port": port} for port in ports]})


def test_services() -> None:
    none, one, other = spec(role(count=1, retry=3)), spec(service([80])), spec(service([81]))
    assert effects(none, one)["worker: service"] == "on-the-fly"
    assert set(effects(one, other).values()) == {"on-the-fly"}
    assert effects(one, none)["worker: service"] == "on-the-fly"
    assert set(effects(one, other, {"state": "AttemptDeleting"}).values()) == {"new-attempt"}
    assert set(effects(one, other, {"state": "Completed"}).values()) == {"nothing"}

    async def work(edited: Edited) -> None:
        async def ports() -> Any:
            answer = await edited.made.api.request("GET", path_of("services", "default", "train-worker"))
            return [port["port"] for port in answer.body["spec"]["ports"]] if answer.ok else None

        pods = await edited.seen()
        for after, wanted in ((one, [80]), (other, [81]), (none, None)):
            await edited.edit(after)
            assert (await ports(), await edited.seen()) == (wanted, pods)

    play(none, work)


def test_the_time_until_force_holds_for_what_is_being_deleted_already(monkeypatch: pytest.MonkeyPatch) -> None:
    before = spec(role(count=1, retry=1))
    after = changed(before, lambda value: value["taskRoles"][0]["task"].update(podGracefulDeletionTimeoutSec=0))
    assert effects(before, after) == {"worker: task.podGracefulDeletionTimeoutSec": "on-the-fly"}

    async def never(self: Kubelet, pod: Json) -> None:
        await asyncio.sleep(3600)

    async def work(edited: Edited) -> None:
        monkeypatch.setattr(Kubelet, "_end", never)
        ((uid, _),) = (await edited.seen()).values()
        answer = await edited.made.api.request(
            "DELETE", path_of("pods", "default", "train-worker-0"), {"apiVersion": "v1", "kind": "DeleteOptions"}
        )
        assert answer.ok
        await edited.made.edit("train", "taskRoles/0/task/podGracefulDeletionTimeoutSec", 0)
        await edited.made.until(
            "train", lambda status: status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][0]["attemptStatus"]["id"] == 1
        )
        await edited.made.until("train", lambda status: count(status, "AttemptRunning") == 1)
        assert (await edited.seen())["train-worker-0"][0] != uid

    play(before, work)


def test_what_ends_has_the_new_one_in_its_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the attempt is being deleted neither scale nor templates matter; the retry policy does."""
    before = spec(role())
    scaled = changed(with_image(before, "a:2"), lambda value: value["taskRoles"][0].update(taskNumber=3))
    after = {**scaled, "retryPolicy": {"maxRetryCount": 1}}
    found = effects(before, after, {"state": "AttemptDeleting"})
    assert found == {IMAGE: "new-attempt", "worker: taskNumber": "new-attempt", "spec.retryPolicy.maxRetryCount": "on-the-fly"}
    end, may_end = Kubelet._end, asyncio.Event()

    async def slowly(self: Kubelet, pod: Json) -> None:
        if pod["metadata"]["name"] == "train-worker-1":
            await may_end.wait()
        await end(self, pod)

    async def work(edited: Edited) -> None:
        monkeypatch.setattr(Kubelet, "_end", slowly)
        gone = {"apiVersion": "v1", "kind": "DeleteOptions"}
        await edited.made.api.request("DELETE", path_of("pods", "default", "train-worker-0"), gone)
        await edited.made.until("train", lambda status: status["state"] == "AttemptDeleting")
        pods = await edited.seen()
        await edited.apply(after)
        await asyncio.sleep(0.5)  # nothing is to happen
        assert await edited.seen() == {name: pods[name] for name in ("train-worker-1",)}
        may_end.set()
        await edited.made.until("train", lambda status: status["attemptStatus"]["id"] == 1 and count(status, "AttemptRunning") == 3)
        assert {image for _, image in (await edited.seen()).values()} == {"a:2"}

    play(before, work)


def test_another_controller() -> None:
    before = spec(role(retry=3), managedBy="kueue.x-k8s.io/multikueue")
    after = with_image(before, "a:2")
    assert effects(before, after) == {IMAGE: "nothing"}

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", before)
            await made.make("other", spec(role(count=1)))
            await made.until("other", lambda status: status["state"] == "AttemptRunning")
            assert [pod["metadata"]["name"] for pod in await made.pods()] == ["other-worker-0"]
            assert "status" not in await made.framework("train")

    run_in_memory(work())


def test_the_stored_intent_is_the_new_one() -> None:
    """A template that waits is in the attempt's ConfigMap at once: a controller that restarts goes on from there."""
    before = spec(role(retry=3))
    after = with_image(before, "a:2")

    async def work(edited: Edited) -> None:
        await edited.edit(after)
        stored = (await edited.made.api.request("GET", path_of("configmaps", "default", "train-attempt"))).body
        assert intents.read_document(stored_document(stored)) == compile_framework(framework(after), "default").intent

    play(before, work)
