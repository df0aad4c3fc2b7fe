"""What the whole controller does, and leaves, while a Framework is paused; and on a real API server, by `kubectl annotate`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Json, collection, path_of
from tests.cluster import Cluster
from tests.controller.lab import Lab, lab, real, refusal, run
from tests.decide.world import role_spec
from tests.decide.world import role_spec as role
from tests.safety import world as worlds
from tests.safety.faults import Fault
from tests.safety.scenarios import is_in, runs
from tests.safety.world import NAMESPACE, RETRY, World

HEADLESS = {"ports": [{"name": "p", "port": 80}]}
LABEL = f"/metadata/labels/{names.FRAMEWORK_NAME}"


def uids(world: World) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in world.all("pods").items()}


def test_services_are_neither_made_nor_deleted() -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 1, service=HEADLESS), role("b", 1)]})
        runs(world, 2)
        world.pause()
        world.delete("services", "f-a")
        world.edit("taskRoles/1/service", HEADLESS)
        world.run(100)
        assert world.all("services") == {}
        world.pause(False)
        world.until(lambda: set(world.all("services")) == {"f-a", "f-b"}, 60)
        world.pause()
        world.apply({"taskRoles": [role("a", 1), role("b", 1)]})
        world.run(100)
        assert set(world.all("services")) == {"f-a", "f-b"}
        world.pause(False)
        world.until(lambda: world.all("services") == {}, 60)


def test_an_edit_is_in_force_once_it_goes_on() -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 2, task={"retryPolicy": RETRY})]})
        runs(world, 2)
        world.pause()
        world.edit("taskRoles/0/task/pod/spec/containers/0/image", "b")
        world.delete("pods", "f-a-0")
        world.run(60)
        assert set(world.all("pods")) == {"f-a-1"}
        world.pause(False)
        runs(world, 2)
        assert [world.all("pods")[f"f-a-{index}"]["spec"]["containers"][0]["image"] for index in (0, 1)] == ["b", "a"]


def test_pods_that_wait_to_be_asked_for_are_not_asked_for() -> None:
    with World() as world:
        world.server.latency = lambda: 0.3
        world.make({"taskRoles": [role("a", 200)]})
        world.until(lambda: len(world.all("pods")) > 10, step=0.1)
        world.annotate(names.PAUSE_ANNOTATION, "true")
        world.run(2)  # What was sent arrives.
        made = uids(world)
        assert len(made) < 150
        world.run(100)
        assert uids(world) == made
        world.pause(False)
        runs(world, 200)
        assert made.items() <= uids(world).items()


def test_a_pod_that_has_lost_its_label_stays() -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 1, task={"retryPolicy": RETRY})]})
        runs(world, 1)
        world.pause()
        before = uids(world)
        assert world.server.write("PATCH", path_of("pods", NAMESPACE, "f-a-0"), [{"op": "remove", "path": LABEL}]).ok
        world.run(100)
        assert uids(world) == before
        world.watcher.late = True  # It is deleted in AttemptRunning then, as without a pause.
        world.pause(False)
        world.until(lambda: bool(world.all("pods")) and uids(world) != before, 90)
        runs(world, 1)


def test_what_went_with_its_config_map_after_a_death_is_not_said_to_run() -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 2)]})
        runs(world, 2)
        world.die()
        world.annotate(names.PAUSE_ANNOTATION, "true")
        world.delete("configmaps", "f-attempt")
        world.until(lambda: not world.all("configmaps"), 100)
        assert not world.all("pods")
        world.start()
        world.run(60)
        assert (world.status()["state"], world.status()["taskCounts"]["running"]) == ("AttemptCompleted", 0)


def test_after_a_death_its_own_pods_are_recognized_and_strange_ones_stay() -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 2)]})
        world.until(lambda: len(world.all("pods")) == 1, step=0.001)
        world.die()  # The uid of the first one is not stored, and the second one was not made.
        world.annotate(names.PAUSE_ANNOTATION, "true")
        make_strange(world)
        before = uids(world)
        world.start()
        world.until(lambda: world.task("a", 0)["state"] == "AttemptRunning", 60)
        world.run(60)
        assert (uids(world), world.task("a", 1)["state"]) == (before, "AttemptCreationPending")
        world.pause(False)
        runs(world, 2)
        assert (uids(world)["f-a-0"], world.all("pods")["f-a-1"]["spec"]["containers"][0]["image"]) == (before["f-a-0"], "a")


def test_a_look_that_began_before_deletes_nothing_in_it() -> None:
    """The answer comes when the pause is known, and says of one Pod that it has lost its label, of the other that it is a strange one."""
    with World() as world:
        world.server.admit = lambda pod: refusal(403, "Forbidden", "exceeded quota") if pod["metadata"]["name"] == "f-a-1" else None
        world.make({"taskRoles": [role("a", 2, task={"retryPolicy": RETRY})]})
        runs(world, 1)
        world.server.latency = lambda: 8
        make_strange(world)
        assert world.server.write("PATCH", path_of("pods", NAMESPACE, "f-a-0"), [{"op": "remove", "path": LABEL}]).ok
        world.run(1)
        world.pause()
        before = uids(world)
        world.run(100)
        assert uids(world) == before
        world.watcher.late = True
        world.pause(False)
        world.until(lambda: not before.items() & uids(world).items(), 200)


@pytest.mark.parametrize(("kind", "run"), [("pods", "forever"), ("configmaps", "20")])
def test_a_deletion_that_is_told_to_come_back_does_so_after_it(kind: str, run: str) -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 2, run)]})
        runs(world, 2)
        world.server.fault = lambda call: Fault.too_many() if call.method == "DELETE" and f"/{kind}/" in call.path else None
        if kind == "pods":
            world.edit("taskRoles/0/taskNumber", 1)
        world.until(lambda: bool(deletions(world, kind)), 60, 0.1)
        world.pause()
        world.run(0.1)  # What was sent has arrived.
        world.server.fault = lambda call: None
        before = len(deletions(world, kind)), set(world.all(kind))
        world.run(100)
        assert (len(deletions(world, kind)), set(world.all(kind))) == before
        world.pause(False)
        world.until(lambda: set(world.all(kind)) < before[1], 10)


def deletions(world: World, kind: str) -> list[str]:
    """What the controller has asked the server to delete."""
    return [path for _, method, path, _ in world.server.tries if method == "DELETE" and f"/{kind}/" in path]


def make_strange(world: World) -> None:
    """Make a Pod that says that it is the other task's, and is not what the controller makes."""
    pod = world.all("pods")["f-a-0"]
    metadata = {key: pod["metadata"][key] for key in ("labels", "annotations", "ownerReferences")}
    for kind in ("labels", "annotations"):
        metadata[kind] = {**metadata[kind], names.TASK_INDEX: "1"}
    strange = {"metadata": {**metadata, "name": "f-a-1"}, "spec": {"containers": [{"name": "x", "image": "y"}]}}
    assert world.server.write("POST", collection("pods", NAMESPACE), strange).ok


def test_a_framework_that_is_over_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "SETTINGS", worlds.SETTINGS._replace(completed_retention=100))
    with World() as world:
        for name in "fg":
            world.make({"taskRoles": [role("a", 1, run="1")]}, name)
            is_in(world, "Completed", name)
        world.annotate(names.PAUSE_ANNOTATION, "true")
        world.run(200)
        world.restart()
        world.run(200)
        assert set(world.all("frameworks")) == {"f"}
        world.annotate(names.PAUSE_ANNOTATION, None)
        world.run(10)
        assert world.all("frameworks") == {}


def test_a_value_that_does_not_pause_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """`kubectl annotate framework … pause=True` was taken without a word, and everything went on."""
    warnings: list[tuple[str, str]] = []
    monkeypatch.setattr(World, "warn", lambda self, framework, reason, message, topic: warnings.append((reason, message)), raising=False)
    with World() as world:
        world.make({"taskRoles": [role("a", 1)]})
        runs(world, 1)
        for value in ("false", "", "true", None):
            world.annotate(names.PAUSE_ANNOTATION, value)
            world.run(5)
        assert warnings == []
        for value in ("True", "True", "yes"):
            world.annotate(names.PAUSE_ANNOTATION, value)
            world.run(5)
        said = f"The annotation {names.PAUSE_ANNOTATION} is {{}}, and does not pause: only true does"
        assert warnings == [("PauseIgnored", said.format('"True"')), ("PauseIgnored", said.format('"yes"'))]
        assert world.condition("Paused") == "False"


def test_a_restart_takes_what_the_same_edit_brings() -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 1)]})
        runs(world, 1)
        world.die()
        world.edit("taskRoles/0/task/pod/spec/containers/0/image", "b")
        world.annotate(names.RESTART_ANNOTATION, "now")
        world.start()
        world.until(lambda: world.status()["attemptStatus"]["id"] == 1)
        runs(world, 1)
        assert world.all("pods")["f-a-0"]["spec"]["containers"][0]["image"] == "b"


def test_a_restart_waits_until_the_next_attempt_may_begin() -> None:
    """What runs would end for nothing."""
    with World() as world:
        world.make({"taskRoles": [role("a", 1)]})
        runs(world, 1)
        before = uids(world)
        image = "/spec/taskRoles/0/task/pod/spec/containers/0/image"
        patch = [{"op": "replace", "path": image, "value": "b"}]
        assert world.server.write("PATCH", path_of("frameworks", NAMESPACE, "f"), patch).ok
        world.annotate(names.RESTART_ANNOTATION, "now")
        world.run(60)
        assert (uids(world), world.condition("IntentReviewed")) == (before, "False")
        world.edit(image.removeprefix("/spec/"), "b")  # It is reviewed.
        world.until(lambda: world.status()["attemptStatus"]["id"] == 1, 60)
        runs(world, 1)
        assert world.all("pods")["f-a-0"]["spec"]["containers"][0]["image"] == "b"


def test_by_kubectl_on_a_real_server(cluster: Cluster, namespace: str) -> None:
    """As docs/operations.md says it."""

    async def work() -> None:
        async with real(cluster) as api, lab(api, namespace) as made:

            async def annotate(*words: str) -> None:
                await asyncio.to_thread(cluster.kubectl, "-n", namespace, "annotate", "framework", "train", *words)

            await made.make("train", {"taskRoles": [role_spec("worker", 2, task={"retryPolicy": RETRY})]})
            await made.until("train", lambda status: status["taskCounts"]["running"] == 2)
            await annotate(f"{names.PAUSE_ANNOTATION}=true")
            await made.until("train", lambda status: said(status) == "True")
            before = await by_name(made)
            await asyncio.to_thread(cluster.kubectl, "-n", namespace, "delete", "pod", "train-worker-0")
            await made.until("train", lambda status: "AttemptCompleted" in json.dumps(status["attemptStatus"]))
            await asyncio.sleep(3)
            assert await by_name(made) == {"train-worker-1": before["train-worker-1"]}
            await annotate(f"{names.PAUSE_ANNOTATION}-")
            await made.until("train", lambda status: said(status) == "False" and status["taskCounts"]["running"] == 2)
            assert (await by_name(made))["train-worker-1"] == before["train-worker-1"]
            for attempt, value in ((1, "2026-11-21T14:01:03+00:00"), (1, "2026-11-21T14:01:03+00:00"), (2, "2026-11-21T15:00:00+00:00")):
                await annotate("--overwrite", f"{names.RESTART_ANNOTATION}={value}")
                await made.until("train", lambda status: (status["attemptStatus"]["id"], status["taskCounts"]["running"]) == (attempt, 2))  # noqa: B023
            status = (await made.framework("train"))["status"]
            assert (status["retryPolicyStatus"]["accountableRetriedCount"], status["observedRestart"]) == (0, "2026-11-21T15:00:00+00:00")
            assert any("-130 RestartFrameworkRequested: A restart" in event["message"] for event in await made.events())

    run(work())


def said(status: Json) -> Any:
    return next((one["status"] for one in status.get("conditions", ()) if one["type"] == "Paused"), None)


async def by_name(made: Lab) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await made.pods()}
