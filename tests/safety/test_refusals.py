"""What is refused, held or not answered is said in time, and holds up nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Answer, Unreachable, path_of
from fcontroller.reconcile.reconciler import Reconciler
from fcontroller.testing.memory_api.answers import failure
from tests.decide.world import role_spec as role
from tests.safety.faults import Fault
from tests.safety.scenarios import runs
from tests.safety.server import Connection
from tests.safety.world import NAMESPACE, World

SERVICE = {"ports": [{"port": 80}]}
DENIED = failure(403, "Forbidden", "a policy denies it")
Slow = Callable[[str, str], float]


def slow(monkeypatch: pytest.MonkeyPatch, seconds: Slow, error: Exception | None = None) -> None:
    """Have requests take so long; those that do end with the error."""
    request = Connection.request

    async def later(self: Connection, method: str, path: str, *rest: Any, **more: Any) -> Answer:
        delay = seconds(method, path)
        await asyncio.sleep(delay)
        if delay and error:
            raise error
        return await request(self, method, path, *rest, **more)

    monkeypatch.setattr(Connection, "request", later)


def refuse(world: World, method: str, part: str) -> None:
    world.server.fault = lambda call: Fault((403, DENIED)) if call.method == method and part in call.path else None


def change(world: World, kind: str, name: str, *patch: dict[str, Any]) -> None:
    answer = world.server.write("PATCH", path_of(kind, NAMESPACE, name), list(patch))
    assert answer.ok, answer.message


HELD = {
    "a Pod that has finished, by a finalizer": ("pods", "f-w-0", "30"),
    "a Pod that is stopped, by a finalizer": ("pods", "f-w-0", "forever"),
    "a Pod, by its node": ("", "", "forever"),
    "the ConfigMap, by a finalizer": ("configmaps", "f-attempt", "forever"),
}


@pytest.mark.parametrize("what", HELD)
def test_what_is_held_is_said(what: str) -> None:
    kind, name, run = HELD[what]
    with World() as world:
        world.make({"taskRoles": [role("w", 2, run)]})
        world.run(10)
        if kind:
            path = "/metadata/finalizers" + ("/-" if kind == "configmaps" else "")
            change(world, kind, name, {"op": "add", "path": path, "value": "a.b/c" if kind == "configmaps" else ["a.b/c"]})
        else:
            world.kubelet.lost = True
        if run == "forever":
            world.stop()
        world.run(90)
        assert world.condition("ObjectsDeleted") == "False"
        if kind == "pods" and run == "forever":
            change(world, kind, name, {"op": "remove", "path": "/metadata/finalizers"})
            world.until(lambda: world.status()["state"] == "Completed", 60)
            assert world.condition("ObjectsDeleted") == "True"


def test_what_is_held_for_long_is_looked_at_no_more_often_for_all_that_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    reconciled = list[None]()
    reconcile = Reconciler.reconcile

    def counted(self: Reconciler) -> None:
        reconciled.append(None)
        reconcile(self)

    monkeypatch.setattr(Reconciler, "reconcile", counted)
    with World() as world:
        world.make({"taskRoles": [role("w", 2, "forever")]})
        world.run(10)
        change(world, "pods", "f-w-0", {"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]})
        world.edit("taskRoles/0/taskNumber", 1)
        world.stop()
        world.run(60)
        for number in range(50):
            world.annotate("a.b/c", str(number))
            world.run(1)
        reconciled.clear()
        world.run(600)
        assert world.condition("ObjectsDeleted") == "False"
        assert len(reconciled) < 200
        change(world, "pods", "f-w-0", {"op": "remove", "path": "/metadata/finalizers"})
        world.until(lambda: world.status()["state"] == "Completed", 60)


def test_stop_goes_on_when_the_config_map_cannot_have_its_label_again() -> None:
    with World() as world:
        world.make({"taskRoles": [role("w", 2, "forever")]})
        world.run(10)
        refuse(world, "PUT", "/configmaps/")
        change(world, "configmaps", "f-attempt", {"op": "remove", "path": "/metadata/labels"})
        world.run(30)
        assert world.condition("IntentStored") == "False"
        world.stop()
        world.until(lambda: world.status()["state"] == "Completed", 60)
        assert not world.all("pods")


@pytest.mark.parametrize("how", ["pause", "restart"])
def test_what_is_refused_stays_said(how: str) -> None:
    with World() as world:
        world.make({"taskRoles": [role("w", 2, "forever")]})
        world.run(20)
        refuse(world, "DELETE", "/pods/")
        world.edit("taskRoles/0/taskNumber", 1)
        world.run(60)
        if how == "pause":
            world.annotate(names.PAUSE_ANNOTATION, "true")
        else:
            world.restart()
        for _ in range(100):
            world.run(0.1)
            assert world.condition("ObjectsDeleted") == "False"


@pytest.mark.parametrize(
    "what", ["POST pods", "POST configmaps", "POST services", "DELETE configmaps", "PUT configmaps", "GET configmaps", "PUT services"]
)
def test_what_does_not_answer_is_said(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verb, kind = what.split()
    begun = list[bool]()
    slow(monkeypatch, lambda method, path: 60 if begun and method == verb and f"/{kind}" in path else 0, Unreachable("no answer"))
    with World() as world:
        begun += [True] if verb == "POST" else []
        world.make({"taskRoles": [role("w", 2, "forever", service=SERVICE)]})
        if verb == "DELETE":
            world.run(10)
            begun.append(True)
            world.stop()
        elif verb != "POST":
            world.run(10)
            begun.append(True)
            # Somebody changes what we keep, and somebody else edits what Pods are made from, which is to be stored.
            change(world, "configmaps", "f-attempt", {"op": "add", "path": "/metadata/annotations/mine", "value": "yes"})
            change(world, "services", "f-w", {"op": "replace", "path": "/spec/publishNotReadyAddresses", "value": False})
            world.edit("taskRoles/0/task/pod/spec/containers/0/image", "another")
        conditions = ("PodsCreated", "IntentStored", "ServicesMade", "ObjectsDeleted")
        world.until(lambda: any(world.condition(kind) == "False" for kind in conditions), 31)


def test_what_is_gone_is_not_said_to_be_held_where_no_answer_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Framework ends while an answer is waited for, and what it says then stays."""
    slow(monkeypatch, lambda method, path: 60 if method == "DELETE" and path.endswith("/pods/f-w-0") else 0, Unreachable("no answer"))
    with World() as world:
        world.make({"taskRoles": [role("w", 1, "1"), role("v", 1, "forever")]})
        world.until(lambda: world.condition("ObjectsDeleted") == "False", 31)
        world.stop()
        world.until(lambda: world.status()["state"] == "Completed", 10)
        assert not world.all("pods")
        world.run(100)
        assert world.condition("ObjectsDeleted") == "True"


@pytest.mark.parametrize("how", ["pause", "stop"])
def test_an_attempt_does_not_begin_behind_slow_services(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, lambda method, path: 20 if method == "POST" and path.endswith("/services") else 0)
    with World() as world:
        world.make({"taskRoles": [role("w", 1, "forever", service=SERVICE), role("v", 1, "forever", service=SERVICE)]})
        world.run(5)
        if how == "pause":
            world.annotate(names.PAUSE_ANNOTATION, "true")
        else:
            world.stop()
        world.run(60)
        assert not world.all("configmaps")
        assert len(world.all("services")) == 1
        assert how == "pause" or world.status()["state"] == "Completed"
        world.watcher.violations.clear()  # The Service that was asked for before came after.


def test_a_refusal_of_any_length_fits() -> None:
    with World() as world:
        world.server.fault = lambda call: (
            Fault((403, failure(403, "Forbidden", f"exceeded quota: {'x' * 9_000}")))
            if call.method == "POST" and call.path.endswith("/pods")
            else None
        )
        world.make({"taskRoles": [role(f"w{number}", 1, "forever") for number in range(9)]})
        world.until(lambda: world.condition("PodsCreated") == "False", 60)
        (message,) = [each["message"] for each in world.status()["conditions"] if each["type"] == "PodsCreated"]
        assert len(message) <= 4096


@pytest.mark.parametrize("code", [403, 500])
def test_pods_that_cannot_be_kept_hold_up_nothing_for_long(code: int) -> None:
    """Whoever refuses that Pods have another owner: the Framework ends a minute later, without them."""
    with World() as world:
        world.watcher.moves = False
        refused = Fault((code, failure(code, "Forbidden" if code == 403 else "InternalError", "a policy denies it")))
        world.server.fault = lambda call: refused if call.method == "PATCH" and "/pods/" in call.path else None
        world.make({"cleanPodPolicy": "Running", "taskRoles": [role("w", 2, "5")]})
        world.until(lambda: world.condition("ObjectsDeleted") == "False", 40)
        said = next(one["message"] for one in world.status()["conditions"] if one["type"] == "ObjectsDeleted")
        assert "is to outlive the ConfigMap, and cannot be given to the Framework: a policy denies it" in said
        world.until(lambda: world.status()["state"] == "Completed", 70)
        world.settle()
        assert (world.all("pods"), world.all("configmaps"), world.condition("ObjectsDeleted")) == ({}, {}, "True")


def test_pods_that_take_long_to_keep_hold_up_nothing_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, lambda method, path: 25.0 if method == "PATCH" and "/pods/" in path else 0)
    with World() as world:
        world.make({"cleanPodPolicy": "Running", "taskRoles": [role("w", 2, "5")]})
        world.until(lambda: world.status().get("state") == "Completed", 100)
        world.settle()
        assert set(world.all("pods")) == {"f-w-0", "f-w-1"}


def test_a_deadline_does_not_wait_for_the_rest_of_its_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor for the intent to be stored, which never comes about here."""
    slow(monkeypatch, lambda method, path: 3600.0 if method == "PUT" and "/configmaps/" in path else 0)
    with World() as world:
        world.make({"taskRoles": [role("w", 1)]})
        world.run(10)
        image = role("w", 1)
        image["task"]["pod"]["spec"]["containers"][0]["image"] = "b"
        world.apply({"activeDeadlineSeconds": 20, "taskRoles": [image]})
        world.until(lambda: world.status()["state"] == "Completed", 30)
        assert world.status()["attemptStatus"]["completionStatus"]["code"] == -240


def test_a_framework_that_is_gone_is_not_read_any_more() -> None:
    """Its reconciler could not read it at its start, and was stopped."""
    with World() as world:
        path = path_of("frameworks", NAMESPACE, "f")
        world.make({"taskRoles": [role("w", 1)]})
        runs(world, 1)
        refuse(world, "GET", path)
        world.restart()
        world.run(10)
        world.delete("frameworks", "f")
        world.until(lambda: not world.framework())
        world.run(1)
        before = len(reads(world, path))
        world.run(3600)
        assert before == len(reads(world, path)) > 1


def reads(world: World, path: str) -> list[float]:
    return [when for when, method, called, _ in world.server.tries if (method, called) == ("GET", path)]
