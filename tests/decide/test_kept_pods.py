"""Finished Pods that stay for their logs: `cleanPodPolicy`."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide.states import COMPLETED
from fcontroller.decide.status_json import to_json
from tests.decide.test_as_upstream import compared
from tests.decide.world import SETTINGS, Json, World, from_json, role_spec

RETRY = {"fancyRetryPolicy": True, "maxRetryCount": 1}
NEVER = {"minFailedTaskCount": -1}


def keeping(*roles: Json, keeps: str | None = "Running", **changes: Any) -> World:
    return World({"taskRoles": list(roles), "cleanPodPolicy": keeps, **changes}, SETTINGS)


def edit(world: World, **changes: Any) -> None:
    world.set_spec({**world.spec["spec"], **changes})


def kept(world: World) -> dict[str, tuple[str, str]]:
    """The Pods that there are: their phase, and whose they are."""
    assert world.config_map is None or world.stored
    owners = {"framework": "Framework", world.config_map and world.config_map["metadata"]["uid"]: "ConfigMap"}
    return {
        f"{role}-{index}": (pod["status"]["phase"], owners.get(pod["metadata"]["ownerReferences"][0]["uid"], "?"))
        for (role, index), pod in sorted(world.pods.items())
    }


def state(world: World) -> Any:
    assert world.stored is not None
    return world.stored["state"]


def lost(world: World) -> list[Json]:
    """What is said of Pods that were to stay and did not."""
    assert world.stored is not None
    return [one for one in world.stored.get("conditions") or () if one["type"] == "PodsKept"]


def calm(world: World) -> None:
    """Nothing more is stored or done."""
    stored, moved, deleted = len(world.history), len(world.moved), len(world.deleted)
    world.run(5000)
    assert (len(world.history), len(world.moved), len(world.deleted)) == (stored, moved, deleted)


@pytest.mark.parametrize(("keeps", "stays"), [("Running", True), ("None", True), ("All", False), (None, False)])
def test_at_the_end(keeps: str | None, stays: bool) -> None:
    world = keeping(role_spec("a", 2, run="5"), role_spec("b", 1, run="8"), keeps=keeps)
    world.run(60)
    assert (state(world), world.config_map) == (COMPLETED, None)
    assert kept(world) == (dict.fromkeys(("a-0", "a-1", "b-0"), ("Succeeded", "Framework")) if stays else {})
    assert len(world.deleted) == (0 if stays else 3)
    calm(world)


def test_running_pods_go() -> None:
    world = keeping(role_spec("a", 2, run="5", exits="3"), role_spec("b", 1))
    world.run(60)
    assert (state(world), kept(world)) == (COMPLETED, {"a-0": ("Failed", "Framework"), "a-1": ("Failed", "Framework")})
    assert world.stored is not None
    assert world.stored["attemptStatus"]["completionStatus"]["code"] == 3


def test_the_rest_of_the_status_is_as_without_it() -> None:
    """Times and Pods apart, what is stored at last is the same, but for what says that Pods stay."""
    ends = []
    for keeps in ("All", "Running"):
        world = keeping(role_spec("a", 2, run="5", exits="3"), role_spec("b", 1), keeps=keeps)
        world.run(60)
        assert world.stored is not None
        ends.append(compared(without(world.stored)))
    assert ends[0] == ends[1]


def without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without(item) for key, item in value.items() if key not in ("retryRefused", "podKept")}
    return [without(item) for item in value] if isinstance(value, list) else value


def test_policies_count_it_once_its_retry_is_refused_and_stored() -> None:
    """A Pod that is not retried stays from then on: there is no deletion to wait for."""
    world = keeping(role_spec("a", 2, frameworkAttemptCompletionPolicy={"minFailedTaskCount": 2}))
    world.run(3)
    world.finish(world.pods["a", 0], 1)
    world.run(1)
    assert (state(world), world.task("a", 0)["state"], kept(world)["a-0"]) == ("AttemptRunning", COMPLETED, ("Failed", "ConfigMap"))
    assert (world.task("a", 0)["attemptStatus"]["podKept"], "podKept" in world.task("a", 1)["attemptStatus"]) == (True, False)
    before = [
        status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][0]["state"]
        for status in world.history
        if status["state"] == "AttemptRunning"
    ]
    assert before[-2:] == ["AttemptDeletionPending", COMPLETED]
    world.finish(world.pods["a", 1], 1)
    world.run(5)
    assert (state(world), len(kept(world))) == (COMPLETED, 2)


def test_a_pod_whose_task_is_retried_goes() -> None:
    world = keeping(role_spec("a", 1, run="5", exits="200,1,0", task={"retryPolicy": RETRY}))
    world.run(60)
    assert (state(world), world.made, len(world.deleted)) == (COMPLETED, {"f-a-0": 3}, 2)
    assert kept(world) == {"a-0": ("Succeeded", "Framework")}


def test_a_retry_of_the_framework_takes_the_kept_pods_with_it() -> None:
    world = keeping(role_spec("a", 1, run="5", exits="1,0"), role_spec("b", 1), retryPolicy=RETRY)
    world.run(5.15)
    assert world.task("a", 0)["attemptStatus"]["podKept"] is True
    world.run(4)
    assert (world.made, kept(world)) == ({"f-a-0": 2, "f-b-0": 2}, {"a-0": ("Running", "ConfigMap"), "b-0": ("Running", "ConfigMap")})
    assert (state(world), world.moved) == ("AttemptRunning", [])


def test_the_retry_of_the_framework_is_decided_before_the_configmap_is_deleted() -> None:
    world = keeping(role_spec("a", 1, run="5", exits="1"), retryPolicy=RETRY)
    world.run(60)
    ends = [status for status in world.history if status["state"] == "AttemptDeletionPending"]
    said = [(status["retryPolicyStatus"]["retryDelaySec"], status["attemptStatus"].get("retryRefused")) for status in ends]
    assert said == [(0, None), (None, True)]


@pytest.mark.parametrize(("before", "after", "made"), [({}, RETRY, 1), (RETRY, {}, 2)])
def test_and_is_not_decided_again(before: Json, after: Json, made: int) -> None:
    world = keeping(role_spec("a", 1, run="5", exits="1,0"), retryPolicy=before)
    world.may_move = False
    world.run(4)
    while state(world) != "AttemptDeletionPending":
        world.run(0.05)
    edit(world, retryPolicy=after)
    world.may_move = True
    world.run(100)
    assert (state(world), world.made) == (COMPLETED, {"f-a-0": made})
    assert kept(world) == {"a-0": ("Failed" if made == 1 else "Succeeded", "Framework")}


def test_one_that_is_retried_after_a_conflict_waits_as_long() -> None:
    world = keeping(role_spec("a", 1, run="5", exits="201,0"), retryPolicy=RETRY)
    world.run(60)
    assert (state(world), world.made) == ("AttemptCompleted", {"f-a-0": 1})
    world.run(60)
    assert (state(world), world.made, kept(world)) == (COMPLETED, {"f-a-0": 2}, {"a-0": ("Succeeded", "Framework")})


class TestScale:
    def test_an_index_that_is_used_again(self) -> None:
        world = keeping(role_spec("a", 2, frameworkAttemptCompletionPolicy=NEVER), role_spec("b", 1))
        world.run(3)
        old = world.pods["a", 1]["metadata"]["uid"]
        world.finish(world.pods["a", 1], 1)
        world.run(2)
        for count in (1, 3):
            edit(world, taskRoles=[role_spec("a", count, frameworkAttemptCompletionPolicy=NEVER), role_spec("b", 1)])
            world.settle()
        world.run(10)
        assert kept(world) == dict.fromkeys(("a-0", "a-1", "a-2", "b-0"), ("Running", "ConfigMap"))
        assert world.deleted[0] == (("a", 1), old, False)
        assert "podKept" not in world.task("a", 1)["attemptStatus"]

    @pytest.mark.parametrize("roles", [[role_spec("a", 1), role_spec("b", 1)], [role_spec("b", 1)]])
    def test_one_that_is_scaled_away_goes_with_its_task(self, roles: list[Json]) -> None:
        world = keeping(role_spec("a", 2, frameworkAttemptCompletionPolicy=NEVER), role_spec("b", 1))
        world.run(3)
        world.finish(world.pods["a", 1], 1)
        world.run(2)
        assert kept(world)["a-1"] == ("Failed", "ConfigMap")
        edit(world, taskRoles=roles)
        world.run(10)
        assert kept(world) == {f"{role['name']}-0": ("Running", "ConfigMap") for role in roles}
        calm(world)

    def test_one_without_its_label_goes_too(self) -> None:
        """The cache does not show it, so only the status knows of it."""
        world = keeping(role_spec("a", 2, frameworkAttemptCompletionPolicy=NEVER), role_spec("b", 1))
        world.run(3)
        world.finish(world.pods["a", 1], 1)
        world.run(2)
        hide(world, ("a", 1))
        for count in (1, 2):
            edit(world, taskRoles=[role_spec("a", count, frameworkAttemptCompletionPolicy=NEVER), role_spec("b", 1)])
            world.settle()
        world.run(10)
        assert world.made["f-a-1"] == 2


def hide(world: World, key: Any) -> None:
    uid, look = world.pods[key]["metadata"]["uid"], world.look

    def looked() -> Any:
        context = look()
        context.pods = {other: pod for other, pod in context.pods.items() if pod.uid != uid}
        return context

    world.look = looked  # type: ignore[method-assign]


class TestNothingFollows:
    """Whatever becomes of a Pod that is kept."""

    def world(self) -> World:
        world = keeping(role_spec("a", 1, task={"retryPolicy": RETRY}), role_spec("b", 1, run="50"))
        world.run(3)
        world.finish(world.pods["a", 0], 0)
        world.run(2)
        assert world.task("a", 0)["attemptStatus"]["podKept"] is True
        return world

    def test_deleted_by_hand(self) -> None:
        world = self.world()
        world.delete_pod(("a", 0))
        stored = len(world.history)
        world.run(20)
        assert (len(world.history), world.made["f-a-0"]) == (stored, 1)
        world.run(100)
        assert (state(world), kept(world)) == (COMPLETED, {"b-0": ("Succeeded", "Framework")})

    def test_held_by_a_finalizer(self) -> None:
        world = self.world()
        world.keep_going = False
        world.delete_pod(("a", 0))
        world.run(100)
        assert (state(world), kept(world)["b-0"]) == (COMPLETED, ("Succeeded", "Framework"))

    def test_without_its_label(self) -> None:
        world = self.world()
        hide(world, ("a", 0))
        world.run(100)
        assert (state(world), kept(world)) == (COMPLETED, dict.fromkeys(("a-0", "b-0"), ("Succeeded", "Framework")))

    def test_another_one_under_its_name(self) -> None:
        world = self.world()
        strange = world.object("f-a-0", "somebody")
        world.pods["a", 0] = {**strange, "status": {"phase": "Running"}}
        world.run(100)
        assert (state(world), kept(world)) == (COMPLETED, {"a-0": ("Running", "?"), "b-0": ("Succeeded", "Framework")})

    @pytest.mark.parametrize("phase", ["Running", "Failed"])
    def test_another_phase(self, phase: str) -> None:
        world = self.world()
        stored = len(world.history)
        world.pods["a", 0]["status"] = {"phase": phase}
        world.run(20)
        assert (len(world.history), world.task("a", 0)["attemptStatus"]["completionStatus"]["code"]) == (stored, 0)

    def test_after_the_end(self) -> None:
        world = self.world()
        world.run(100)
        world.delete_pod(("a", 0))
        calm(world)


class TestOtherEnds:
    def world(self, **changes: Any) -> World:
        world = keeping(role_spec("a", 2), role_spec("b", 1, frameworkAttemptCompletionPolicy=NEVER), **changes)
        world.run(3)
        world.finish(world.pods["b", 0], 1)
        world.run(2)
        return world

    def test_stop(self) -> None:
        world = self.world()
        edit(world, executionType="Stop")
        world.run(10)
        assert (state(world), kept(world)) == (COMPLETED, {"b-0": ("Failed", "Framework")})

    def test_deadline(self) -> None:
        world = self.world(activeDeadlineSeconds=60)
        world.run(80)
        assert (state(world), kept(world)) == (COMPLETED, {"b-0": ("Failed", "Framework")})
        assert world.stored is not None
        assert world.stored["attemptStatus"]["completionStatus"]["code"] == -240

    def test_restart(self) -> None:
        world = self.world()
        world.restart = "now"
        world.run(10)
        assert (state(world), kept(world)["b-0"], world.made["f-b-0"]) == ("AttemptRunning", ("Running", "ConfigMap"), 2)

    def test_somebody_deletes_the_configmap(self) -> None:
        world = self.world()
        world.delete_config_map()
        world.run(10)
        assert (state(world), kept(world)) == (COMPLETED, {})

    def test_the_framework_is_deleted(self) -> None:
        """Garbage collection takes all of it: there is nothing to move Pods to."""
        world = self.world()
        world.may_move, world.deleting = False, True
        edit(world, executionType="Stop")
        world.run(10)
        assert (state(world), kept(world), world.moved) == (COMPLETED, {}, [])

    def test_paused(self) -> None:
        """While it is paused, nothing is decided, so that nothing is kept either, and no owner changes."""
        world = self.world()
        world.paused = True
        world.finish(world.pods["a", 0], 0)
        world.run(100)
        assert world.task("a", 0)["state"] == "AttemptDeletionPending"
        world.paused = False
        world.run(5)
        assert (world.task("a", 0)["attemptStatus"]["podKept"], kept(world)["a-0"]) == (True, ("Succeeded", "ConfigMap"))


class TestPolicyEdited:
    """It counts when a task ends, and when the Framework does."""

    @pytest.mark.parametrize(("before", "after"), [("All", "Running"), ("Running", "All")])
    def test_on_the_way(self, before: str, after: str) -> None:
        world = keeping(role_spec("a", 2), keeps=before)
        world.run(3)
        world.finish(world.pods["a", 0], 0)
        world.run(3)
        edit(world, cleanPodPolicy=after)
        world.finish(world.pods["a", 1], 0)
        world.run(10)
        assert (state(world), kept(world)) == (COMPLETED, {"a-1": ("Succeeded", "Framework")} if after == "Running" else {})

    def test_after_the_end(self) -> None:
        world = keeping(role_spec("a", 2, run="5"))
        world.run(60)
        edit(world, cleanPodPolicy="All")
        calm(world)
        assert len(kept(world)) == 2


class TestMoves:
    def test_one_write_for_each_pod(self) -> None:
        world = keeping(role_spec("a", 3, run="5"))
        world.run(60)
        assert sorted(world.moved) == [("a", index) for index in range(3)]

    def test_one_that_is_refused_holds_nothing_up_for_long(self) -> None:
        world = keeping(role_spec("a", 3, run="5"))
        world.may_move = False
        world.run(50)
        assert (state(world), len(kept(world))) == ("AttemptDeletionPending", 3)
        world.run(30)
        assert (state(world), kept(world), world.config_map) == (COMPLETED, {}, None)
        (message,) = [one["message"] for one in lost(world)]
        assert message.startswith("3 Pods that were to stay")
        assert message.endswith("another owner of theirs"), "why is not known here"

    def test_a_clock_that_jumps_ahead_costs_no_logs(self) -> None:
        world = keeping(role_spec("a", 2, run="5"))
        world.server_ahead, world.may_move = 0, False
        world.run(10)
        assert state(world) == "AttemptDeletionPending"
        world.now, world.server_ahead = world.now + 1000, -1000
        world.run(20)
        world.may_move = True
        world.run(60)
        assert kept(world) == dict.fromkeys(("a-0", "a-1"), ("Succeeded", "Framework"))

    def test_nobody_waits_for_pods_that_are_gone(self) -> None:
        world = keeping(role_spec("a", 3, run="5"))
        world.may_move = False
        world.run(50)
        world.pods.clear()
        world.may_move = True
        world.run(5)
        assert (state(world), world.moved, lost(world)) == (COMPLETED, [], [])

    def test_a_pod_that_ends_at_the_same_time_is_kept_too(self) -> None:
        """The Framework's end is decided by one, and the other ends before the ConfigMap is deleted."""
        world = keeping(role_spec("a", 1), role_spec("b", 1, frameworkAttemptCompletionPolicy=NEVER))
        world.run(3)
        world.may_move = False
        world.finish(world.pods["a", 0], 1)
        world.run(1)
        assert state(world) == "AttemptDeletionPending"
        world.finish(world.pods["b", 0], 1)
        world.run(1)
        world.may_move = True
        world.run(5)
        assert (state(world), kept(world)) == (COMPLETED, dict.fromkeys(("a-0", "b-0"), ("Failed", "Framework")))
        assert world.task("b", 0)["attemptStatus"]["completionStatus"]["code"] == -220, "it was over before"


def test_what_is_stored_is_read_again() -> None:
    world = keeping(role_spec("a", 2, run="5", exits="3"), role_spec("b", 1))
    world.run(60)
    for status in world.history:
        assert to_json(from_json(status)) == status


def older(status: Json) -> Json:
    """What a controller stores that knows nothing of these fields: attempts as it knows them, and the rest as it was."""

    def known(attempt: Json) -> Json:
        return {key: value for key, value in attempt.items() if key not in ("retryRefused", "podKept")}

    attempt = known(status["attemptStatus"])
    roles = [
        {**role, "taskStatuses": [{**task, "attemptStatus": known(task["attemptStatus"])} for task in role["taskStatuses"]]}
        for role in attempt["taskRoleStatuses"]
    ]
    return {**status, "attemptStatus": {**attempt, "taskRoleStatuses": roles}}


def test_an_older_controller_retries_and_a_newer_one_takes_over() -> None:
    """That the attempt before was to be the last means nothing for the one that runs."""
    world = keeping(role_spec("a", 1, run="5", exits="1"), activeDeadlineSeconds=1000)
    world.may_move = False
    world.run(10)
    assert world.stored is not None
    assert (state(world), world.stored["attemptStatus"]["retryRefused"]) == ("AttemptDeletionPending", True)
    mine = world.spec["spec"]
    world.status, world.may_move = from_json(older(world.stored)), True
    world.set_spec({"taskRoles": mine["taskRoles"], "retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 2}})
    world.run(3)
    assert (state(world), world.stored["attemptStatus"]["id"]) == ("AttemptRunning", 1)
    since = world.stored["activeStartTime"]
    world.status = from_json(older(world.stored))
    edit(world, cleanPodPolicy="Running", activeDeadlineSeconds=1000)
    world.delete_config_map()
    world.run(60)
    assert world.stored is not None
    assert (state(world), world.stored["attemptStatus"]["id"], world.stored["activeStartTime"]) == (COMPLETED, 2, since)


def test_an_older_controller_can_read_it() -> None:
    """It knows nothing of the new fields: what stays of them is the Framework's own, and no Pod is made or missed."""
    world = keeping(role_spec("a", 1), role_spec("b", 1, run="50"), keeps="All")
    world.run(3)
    edit(world, cleanPodPolicy="Running")
    world.finish(world.pods["a", 0], 0)
    world.run(2)
    assert world.stored is not None
    world.status = from_json(without(world.stored))
    world.set_spec({key: value for key, value in world.spec["spec"].items() if key != "cleanPodPolicy"})
    world.run(100)
    assert (state(world), kept(world), world.made) == (COMPLETED, {}, {"f-a-0": 1, "f-b-0": 1})
