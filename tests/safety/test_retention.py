"""Frameworks that are over: what holds one of them up holds no other, is said, and does not pile up. What GitOps tools track stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Answer, Json, collection, path_of
from fcontroller.testing.memory_api.answers import failure
from fcontroller.testing.memory_api.store import Change, Collection
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
        assert len(retention.kept) == 1


def test_those_that_were_deleted_do_not_pile_up() -> None:
    with World() as world:
        assert world.process is not None
        for _ in range(10):
            world.make(SPEC)
            world.run(15)
            world.delete("frameworks", "f")
            world.run(1)
        assert not world.process.controller.retention.kept


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


def retained(world: World) -> tuple[str, str] | None:
    """What the status says of it, and why."""
    return next(((one["status"], one["reason"]) for one in world.status()["conditions"] if one["type"] == "Retained"), None)


def counted(world: World) -> bool:
    """Whether the metric counts it."""
    assert world.process is not None
    (kept,) = world.process.controller.retention.kept.values()
    return kept.outlived


class TestRetained:
    """The condition is true as long as what it says is so, whatever is edited when."""

    def edited(self, world: World, restarts: bool, what: Callable[[], None]) -> tuple[tuple[str, str] | None, bool]:
        if restarts:
            world.die()
        what()
        if restarts:
            world.start()
        world.run(10)
        return retained(world), counted(world)

    @pytest.mark.parametrize("restarts", [True, False])
    def test_more_time_and_less(self, restarts: bool) -> None:
        with World() as world:
            world.make({**SPEC, "ttlSecondsAfterFinished": 10})
            world.annotate(ARGO_CD, f"lab:{OWN}")
            world.run(50)
            assert (retained(world), counted(world)) == (("True", "Tracked"), True)
            for seconds, said in ((1000, ("False", "NotDue")), (20, ("True", "Tracked")), (None, ("True", "Tracked"))):
                answer = self.edited(world, restarts, lambda: world.edit("ttlSecondsAfterFinished", seconds))  # noqa: B023
                assert answer == (said, said[0] == "True")
            self.edited(world, restarts, lambda: world.edit("ttlSecondsAfterFinished", 300))
            assert retained(world) == ("False", "NotDue")
            world.until(lambda: retained(world) == ("True", "Tracked"), 300)

    @pytest.mark.parametrize("restarts", [True, False])
    def test_a_pause(self, restarts: bool) -> None:
        with World() as world:
            world.make({**SPEC, "ttlSecondsAfterFinished": 10})
            world.annotate(ARGO_CD, f"lab:{OWN}")
            world.run(50)
            paused = self.edited(world, restarts, lambda: world.annotate(names.PAUSE_ANNOTATION, "true"))
            assert paused == (("False", "Paused"), False)
            self.edited(world, restarts, lambda: world.annotate(ARGO_CD, None))
            assert retained(world) == ("False", "Paused")
            self.edited(world, restarts, lambda: world.annotate(ARGO_CD, f"lab:{OWN}"))
            goes_on = self.edited(world, restarts, lambda: world.annotate(names.PAUSE_ANNOTATION, None))
            assert goes_on == (("True", "Tracked"), True)

    @pytest.mark.parametrize("restarts", [True, False])
    def test_tracking_that_comes_goes_and_is_anothers(self, restarts: bool) -> None:
        with World() as world:
            world.make({**SPEC, "ttlSecondsAfterFinished": 60})
            world.run(20)
            assert world.status()["state"] == "Completed"
            assert self.edited(world, restarts, lambda: world.annotate(ARGO_CD, f"lab:{OWN}")) == (None, False)
            world.until(lambda: retained(world) == ("True", "Tracked"), 90)
            label(world, **{FLUX: "lab"})
            self.edited(world, restarts, lambda: world.annotate(ARGO_CD, None))
            assert (retained(world), counted(world)) == (("True", "Tracked"), True)
            assert "Flux tracks it" in str(world.status()["conditions"])
            # Nothing tracks it, and nobody may delete it.
            refused = Fault((403, failure(403, "Forbidden", "a policy denies it")))
            world.server.fault = lambda call: refused if deletion(call) else None
            assert self.edited(world, restarts, lambda: label(world)) == (("False", "NotTracked"), False)
            world.server.fault = lambda call: None
            world.until(lambda: not world.framework(), 600)

    def test_where_it_was_never_said_nothing_is(self) -> None:
        with World() as world:
            world.make({**SPEC, "ttlSecondsAfterFinished": 60})
            world.annotate(ARGO_CD, f"lab:{OWN}")
            world.run(20)
            world.annotate(names.PAUSE_ANNOTATION, "true")
            world.edit("ttlSecondsAfterFinished", 1000)
            world.run(100)
            assert (world.status()["state"], retained(world)) == ("Completed", None)


def pods(world: World) -> set[str]:
    return set(world.all("pods"))


def test_pods_that_were_kept_go_where_the_record_stays() -> None:
    """Their time is over, and the tool would make the Framework again if it went too."""
    with World() as world:
        world.make({**SPEC, "cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 30})
        world.annotate(ARGO_CD, f"lab:{OWN}")
        world.run(25)
        assert (world.status()["state"], pods(world)) == ("Completed", {"f-w-0"})
        world.until(lambda: not pods(world), 60)
        world.settle()
        assert (world.status()["state"], world.condition("Retained")) == ("Completed", "True")
        assert world.process is not None
        assert [kept.outlived for kept in world.process.controller.retention.kept.values()] == [True]
        written = world.server.writes
        world.restart()
        world.run(3 * RETAINED)
        assert world.server.writes == written


def test_so_do_those_that_have_lost_their_label() -> None:
    """No list shows such a Pod, and nobody would find it again; one that is somebody else's by now stays."""
    with World() as world:
        world.make({"taskRoles": [role("w", 3, "5")], "cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 30})
        world.annotate(ARGO_CD, f"lab:{OWN}")
        world.run(25)
        assert (world.status()["state"], pods(world)) == ("Completed", {"f-w-0", "f-w-1", "f-w-2"})
        for pod, field in (("f-w-0", "labels"), ("f-w-1", "labels"), ("f-w-1", "ownerReferences")):
            path = path_of("pods", "default", pod)
            assert world.server.write("PATCH", path, [{"op": "remove", "path": f"/metadata/{field}"}]).ok
        world.run(100)
        assert (pods(world), retained(world)) == ({"f-w-1"}, ("True", "Tracked"))


def test_a_pod_of_somebody_else_stays() -> None:
    with World() as world:
        world.make({**SPEC, "cleanPodPolicy": "Running"})
        world.annotate(ARGO_CD, f"lab:{OWN}")
        world.run(20)
        theirs = {
            "metadata": {"name": "theirs", "labels": {names.FRAMEWORK_NAME: "f"}},
            "spec": {"containers": [{"name": "a", "image": "a"}]},
        }
        assert world.server.write("POST", collection("pods", "default"), theirs).ok
        world.run(2 * RETAINED)
        assert pods(world) == {"theirs"}


def test_pods_that_cannot_be_deleted_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(World, "refused", lambda self, framework, key, error, failures: told.append(str(error)), raising=False)
    with World() as world:
        refused = Fault((403, failure(403, "Forbidden", "a policy denies it")))
        world.server.fault = lambda call: refused if call.method == "DELETE" and "/pods/" in call.path and len(told) < 3 else None
        world.make({**SPEC, "cleanPodPolicy": "Running"})
        world.annotate(ARGO_CD, f"lab:{OWN}")
        world.until(lambda: not pods(world) and bool(world.status()), 900)
        assert len(told) == 3


class TestTimeToLive:
    @pytest.mark.parametrize("seconds", [0, 30, 100])
    def test_it_comes_before_the_setting(self, seconds: int) -> None:
        with World() as world:
            over: list[float] = []

            def note(collection: Collection, change: Change) -> None:
                if collection.kind.plural == "frameworks" and ((change.new or {}).get("status") or {}).get("state") == "Completed":
                    over.append(world.loop.passed)

            world.server.memory._store.listen(note)
            world.make({**SPEC, "ttlSecondsAfterFinished": seconds})
            world.until(lambda: not world.framework(), 300, 0.05)
            assert seconds - 1 < world.loop.passed - over[0] < seconds + 3  # The time of the end is stored in whole seconds.

    @pytest.mark.parametrize("restarts", [True, False])
    def test_edits_count(self, restarts: bool) -> None:
        with World() as world:
            world.make({**SPEC, "ttlSecondsAfterFinished": 1000})
            world.run(200)
            # The last one leaves it to the setting.
            for seconds, stays in ((2000, True), (300, True), (None, False)):
                world.edit("ttlSecondsAfterFinished", seconds)
                if restarts:
                    world.restart()
                world.run(5)
                assert bool(world.framework()) is stays

    def test_a_longer_one_that_no_watch_has_told_of_yet(self) -> None:
        with World() as world:
            world.make({**SPEC, "ttlSecondsAfterFinished": 30})
            world.run(20)
            world.server.lags, world.server.patience = {"frameworks": 10}, 1000
            world.edit("ttlSecondsAfterFinished", 5000)
            world.run(300)
            assert world.framework()
            assert tries(world) == 0

    def test_by_the_slower_clock(self) -> None:
        with World() as world:
            world.slow = 500
            world.make({**SPEC, "ttlSecondsAfterFinished": 60})
            world.run(60)
            # All times are by the controller's clock, which is behind: what counts is the difference.
            world.until(lambda: not world.framework(), 60)

    @pytest.mark.parametrize("restarts", [True, False])
    def test_a_slow_clock_that_is_put_right_does_not_let_it_come_early(self, restarts: bool) -> None:
        """It was deleted at once, with the Pods that had stayed for their logs: its end was long ago, by a clock that had been behind."""
        with World() as world:
            world.tells_time, world.slow = True, 3600
            world.make({**SPEC, "cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 600})
            world.until(lambda: world.status().get("state") == "Completed", 60, 0.05)
            world.slow = 0
            if restarts:
                world.restart()
            world.run(590)
            assert pods(world)
            world.until(lambda: not world.framework(), 20)

    def test_paused_it_stays(self) -> None:
        with World() as world:
            world.make({**SPEC, "ttlSecondsAfterFinished": 30})
            world.until(lambda: world.status().get("state") == "Completed", 60, 0.05)
            world.annotate(names.PAUSE_ANNOTATION, "true")
            world.run(100)
            assert world.framework()
            world.annotate(names.PAUSE_ANNOTATION, None)
            world.until(lambda: not world.framework(), 5)
