"""Frameworks that are over: what holds one of them up holds no other, is said, and does not pile up. What GitOps tools track stays."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Answer, Json
from fcontroller.testing.memory_api.answers import failure
from tests.decide.world import role_spec as role
from tests.safety import world as worlds
from tests.safety.faults import Call, Fault
from tests.safety.server import Connection
from tests.safety.world import World

SPEC = {"taskRoles": [role("w", 1, "5")]}
RETAINED = 60
OWN = f"{names.GROUP}/Framework:default/f"
ARGO_CD, FLUX, INSTANCE = "argocd.argoproj.io/tracking-id", "helm.toolkit.fluxcd.io/name", "app.kubernetes.io/instance"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "SETTINGS", worlds.SETTINGS._replace(completed_retention=RETAINED))


def deletion(call: Call) -> bool:
    return call.method == "DELETE" and "/frameworks/" in call.path


def tries(world: World) -> int:
    return len([path for _, method, path, _ in world.server.tries if method == "DELETE" and "/frameworks/" in path])


def label(world: World, **labels: str) -> None:
    path = "/apis/" + names.API_VERSION + "/namespaces/default/frameworks/f"
    assert world.server.write("PATCH", path, [{"op": "add", "path": "/metadata/labels", "value": labels}]).ok


def test_edits_and_lists_of_one_that_is_over_do_not_pile_up() -> None:
    with World() as world:
        world.make(SPEC)
        world.run(20)
        assert world.process is not None
        retention = world.process.controller.retention
        for number in range(100):
            world.annotate("x", str(number))
            world.annotate(names.PAUSE_ANNOTATION, str(number % 2 > 0).lower())
            world.run(0.1)
        assert (len(retention.kept), len(retention._due) < 5) == (1, True)


def test_those_that_were_deleted_do_not_pile_up() -> None:
    with World() as world:
        assert world.process is not None
        for _ in range(10):
            world.make(SPEC)
            world.run(15)
            world.delete("frameworks", "f")
            world.run(1)
        assert len(world.process.controller.retention._due) < 5


def test_a_refusal_is_said_and_asked_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(World, "refused", lambda self, framework, key, error, failures: told.append(str(error)), raising=False)
    with World() as world:
        refused = Fault((403, failure(403, "Forbidden", "a policy denies it")))
        world.server.fault = lambda call: refused if deletion(call) else None
        world.make(SPEC)
        world.run(3600)
        assert 5 < tries(world) < 30
        assert told == ["its deletion, a while after its end: a policy denies it"] * tries(world)
        world.server.fault = lambda call: None
        world.until(lambda: not world.framework(), 900)


def test_a_404_is_not_believed_for_ever() -> None:
    with World() as world:
        world.make(SPEC)
        world.run(20)
        world.server.fault = lambda call: Fault((404, failure(404, "NotFound", "not served"))) if "/frameworks/" in call.path else None
        world.run(RETAINED)
        world.server.fault = lambda call: None
        world.until(lambda: not world.framework(), 900)


def test_webhooks_that_hang_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Connection.request

    async def slow(self: Connection, method: str, path: str, *rest: Any, **more: Any) -> Answer:
        if method == "DELETE" and "/frameworks/a" in path:
            await asyncio.sleep(30)
            return Answer(500, failure(500, "InternalError", "the webhook has not answered"))
        return await before(self, method, path, *rest, **more)

    monkeypatch.setattr(Connection, "request", slow)
    with World() as world:
        for number in range(20):
            world.make(SPEC, f"a{number}")
        world.run(5)
        world.make(SPEC, "b")
        world.until(lambda: not world.framework("b"), 2 * RETAINED)


@pytest.mark.parametrize(
    ("annotations", "labels", "setting", "stays"),
    [
        ({ARGO_CD: f"lab:{OWN}"}, {}, "", True),
        ({ARGO_CD: f"argocd_lab:{OWN}"}, {}, "", True),
        ({ARGO_CD: f"lab:{OWN}-copied-from"}, {}, "", False),
        ({}, {FLUX: "lab"}, "", True),
        ({}, {INSTANCE: "lab"}, "", False),
        ({}, {INSTANCE: "lab"}, INSTANCE, True),
    ],
)
def test_what_a_gitops_tool_tracks_stays(
    annotations: Json, labels: Json, setting: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "SETTINGS", worlds.SETTINGS._replace(tracking_label=setting))
    with World() as world:
        world.make(SPEC)
        for key, value in annotations.items():
            world.annotate(key, value)
        label(world, **labels)
        world.run(3 * RETAINED)
        assert bool(world.framework()) is stays
        if not stays:
            return
        assert world.condition("Retained") == "True"
        assert not {**world.all("pods"), **world.all("configmaps")}
        assert world.process is not None
        assert [kept.outlived for kept in world.process.controller.retention.kept.values()] == [True]
        world.restart()
        written = world.server.writes
        world.run(3 * RETAINED)
        assert world.server.writes == written
        for key in annotations:
            world.annotate(key, None)
        label(world)
        world.until(lambda: not world.framework(), RETAINED)


def test_a_tracker_that_no_watch_has_told_of_yet() -> None:
    with World() as world:
        world.make(SPEC)
        world.run(20)
        world.server.lags, world.server.patience = {"frameworks": 10}, 1000
        world.annotate(ARGO_CD, f"lab:{OWN}")
        world.run(3 * RETAINED)
        assert world.condition("Retained") == "True"
