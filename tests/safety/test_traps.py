"""The traps that controllers are known to fall into, each by itself. Those that are lives (`scenarios.py`) go through all rows as well."""

from __future__ import annotations

import random
from functools import partial
from itertools import count

import pytest

from fcompile.model import names
from fcontroller.api import Json, collection, path_of
from fcontroller.testing.memory_api.answers import failure
from tests.decide.world import role_spec as role
from tests.safety.faults import Call, Fault
from tests.safety.scenarios import SCENARIOS, calm, live, runs
from tests.safety.world import NAMESPACE, RETRY, World, compiled

OTHER_LABEL = [{"op": "replace", "path": f"/metadata/labels/{names.FRAMEWORK_NAME}", "value": "another"}]


def test_a_pod_is_deleted_and_one_that_looks_the_same_is_made() -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 1, task={"retryPolicy": RETRY})]})
        runs(world, 1)
        pod = world.all("pods")["f-a-0"]
        world.delete("pods", "f-a-0", gracePeriodSeconds=0)
        twin = {**pod, "metadata": {key: pod["metadata"][key] for key in ("name", "labels", "annotations", "ownerReferences")}}
        answer = world.server.write("POST", collection("pods", NAMESPACE), {**twin, "spec": {"containers": pod["spec"]["containers"]}})
        assert answer.ok
        world.settle()
        task, now = world.task("a", 0), world.all("pods")["f-a-0"]
        assert (task["state"], task["attemptStatus"]["id"], task["retryPolicyStatus"]["accountableRetriedCount"]) == (
            "AttemptRunning",
            1,
            0,
        )
        assert now["metadata"]["uid"] == task["attemptStatus"]["podUID"] not in (pod["metadata"]["uid"], answer.body["metadata"]["uid"])


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_answer_to_a_status_is_lost_once(name: str) -> None:
    expected, _ = calm(name)
    with World() as world:
        statuses = count()

        def fault(call: Call) -> Fault | None:
            return Fault.lost(stored=True) if call.path.endswith("/status") and next(statuses) % 2 == 0 else None

        world.server.fault = fault
        assert live(world, name) == expected
        assert next(statuses) > 2


@pytest.mark.parametrize("name", SCENARIOS)
def test_watches_repeat_old_events(name: str) -> None:
    """After every list, and after every watch that ends."""
    expected, unharmed = calm(name)
    with World() as world:
        world.server.repeats = True
        for seconds in range(1, 30):
            world.loop.call_later(seconds, world.server.compact if seconds % 7 == 0 else world.server.wake)
        world.loop.call_later(5, world.restart)
        assert live(world, name) == expected
        assert world.server.writes <= unharmed.server.writes + 10


@pytest.mark.parametrize("seconds", [-600, 2, 600])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_controllers_clock_is_another(name: str, seconds: float) -> None:
    expected, _ = calm(name)
    with World(start=False) as world:
        world.slow = seconds
        world.start()
        end = live(world, name, 25 if seconds < 100 else 700)
        assert end == expected


def test_a_pod_that_is_overdue_when_the_controller_begins() -> None:
    """How its attempt ended is stored before it is deleted by force."""
    with World() as world:
        world.make({"taskRoles": [role("a", 1, task={"retryPolicy": RETRY, "podGracefulDeletionTimeoutSec": 5})]})
        runs(world, 1)
        world.die()
        world.kubelet.lost = True
        world.delete("pods", "f-a-0")
        world.run(60)
        world.start()
        world.until(lambda: world.task("a", 0)["attemptStatus"]["id"] == 1)


def test_a_pod_that_is_scaled_away_and_loses_its_label_goes_all_the_same() -> None:
    """No watch shows it any more before it was deleted."""
    with World() as world:
        world.make({"taskRoles": [role("a", 2)]})
        runs(world, 2)
        error = Fault((500, failure(500, "InternalError", "try again")))
        world.server.fault = lambda call: error if call.method == "DELETE" and call.path.endswith("/pods/f-a-1") else None
        world.edit("taskRoles/0/taskNumber", 1)
        world.until(lambda: world.task("a", 1)["state"] == "AttemptDeletionPending", 60, 0.1)
        assert world.server.write("PATCH", path_of("pods", NAMESPACE, "f-a-1"), [{"op": "remove", "path": "/metadata/labels"}]).ok
        world.server.fault = lambda call: None
        world.until(lambda: set(world.all("pods")) == {"f-a-0"}, 300)


def test_two_frameworks_whose_pods_have_the_same_names() -> None:
    """Names with hyphens: no definition of ours allows them, but somebody's may. The one that comes later waits, and takes nothing away."""
    with World() as world:
        world.make({"taskRoles": [role("a", 1)]}, "f")
        runs(world, 1)
        uid = world.all("pods")["f-a-0"]["metadata"]["uid"]
        other: Json = compiled("g", {"taskRoles": [role("b", 1)]})
        other["metadata"]["name"] = "f-a"
        other["spec"]["taskRoles"][0]["name"] = "0"
        assert world.server.write("POST", collection("frameworks", NAMESPACE), other).ok
        world.run(1000)
        assert world.all("pods")["f-a-0"]["metadata"]["uid"] == uid
        assert world.task("a", 0)["state"] == "AttemptRunning"


@pytest.mark.parametrize("batch", range(4))
def test_the_config_map_goes_while_pods_are_asked_for(batch: int) -> None:
    """The attempt is not over before their requests have been answered, and what came of those is gone."""
    for seed in range(100):
        chance = random.Random(f"{batch} {seed}")
        with World() as world:
            world.server.latency = partial(chance.choice, [0.001, 0.3])
            world.make({"taskRoles": [role("a", 3)]})
            world.until(lambda: bool(world.all("configmaps")))
            world.run(chance.uniform(0, 1.5))
            world.delete("configmaps", "f-attempt", propagationPolicy="Foreground")
            world.settle(60)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_pod_with_the_label_of_another_framework_is_deleted_as_one_without(restarts: bool) -> None:
    """Lists of the Framework's Pods do not show it, which a new leader reads: what becomes of it must not depend on who leads."""
    with World() as world:
        world.make({"taskRoles": [role("a", 1, task={"retryPolicy": RETRY})]})
        runs(world, 1)
        uid = world.all("pods")["f-a-0"]["metadata"]["uid"]
        if restarts:
            world.die()
        assert world.server.write("PATCH", path_of("pods", NAMESPACE, "f-a-0"), OTHER_LABEL).ok
        if restarts:
            world.start()
        world.until(lambda: world.task("a", 0)["attemptStatus"]["id"] == 1, 60)
        world.until(lambda: world.task("a", 0)["attemptStatus"]["podUID"] not in (None, uid), 60)
        assert world.task("a", 0)["retryPolicyStatus"]["accountableRetriedCount"] == 0


@pytest.mark.parametrize("restarts", [False, True])
def test_a_config_map_with_the_label_of_another_framework_gets_its_own_again(restarts: bool) -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 1)]})
        runs(world, 1)
        if restarts:
            world.die()
        assert world.server.write("PATCH", path_of("configmaps", NAMESPACE, "f-attempt"), OTHER_LABEL).ok
        if restarts:
            world.start()
        world.until(lambda: world.all("configmaps")["f-attempt"]["metadata"]["labels"][names.FRAMEWORK_NAME] == "f", 60)
        runs(world, 1)
        assert world.status()["attemptStatus"]["id"] == 0


@pytest.mark.parametrize(("kind", "name"), [("pods", "f-a-0"), ("configmaps", "f-attempt")])
@pytest.mark.parametrize("change", [[{"op": "remove", "path": "/metadata/labels"}], OTHER_LABEL])
def test_what_loses_its_label_before_its_uid_is_stored_makes_room(kind: str, name: str, change: Json) -> None:
    """No watch shows it, and nothing could be made under its name for as long as it was there."""
    with World(restarts=False) as world:
        world.server.fault = lambda call: Fault.crash(stored=True) if call.method == "POST" and call.path.endswith(f"/{kind}") else None
        world.make({"taskRoles": [role("a", 1)]})
        world.until(lambda: world.process is None, 60)
        world.server.fault = lambda call: None
        uid = world.all(kind)[name]["metadata"]["uid"]
        assert world.server.write("PATCH", path_of(kind, NAMESPACE, name), change).ok
        world.start()
        runs(world, 1)
        assert world.all(kind)[name]["metadata"]["uid"] != uid
        assert (world.status()["attemptStatus"]["id"], world.task("a", 0)["attemptStatus"]["id"]) == (0, 0)


@pytest.mark.parametrize(("kind", "name"), [("pods", "f-a-0"), ("configmaps", "f-attempt")])
def test_what_was_made_and_is_deleted_while_nobody_leads_is_missed_at_once(kind: str, name: str) -> None:
    """The next controller waited for it for five minutes, and said nothing: the one before had not seen it yet."""
    with World() as world:
        world.server.lags, world.server.patience = {kind: 1000}, 30

        def is_requested() -> bool:
            status = world.status()
            return bool(status) and "AttemptCreationRequested" in (world.task("a", 0)["state"], status["state"])

        retry = {"fancyRetryPolicy": True, "maxRetryCount": 0}
        world.make({"retryPolicy": retry, "taskRoles": [role("a", 2, task={"retryPolicy": retry})]})
        world.until(is_requested, 20, 0.05)
        world.die()
        world.delete(kind, name, gracePeriodSeconds=0)
        world.run(1)
        world.server.lags = {}
        world.start()
        world.run(20)
        assert {name: pod["status"]["phase"] for name, pod in world.all("pods").items()} == {"f-a-0": "Running", "f-a-1": "Running"}
