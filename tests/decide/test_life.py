"""Single lives: stops, deletions by others, times that run out, objects that nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide.actions import CreateConfigMap, DeletePod
from fcontroller.decide.framework import reconcile_framework
from fcontroller.decide.status import to_time
from tests.decide.world import SETTINGS, World, role_spec

FANCY = {"fancyRetryPolicy": True, "maxRetryCount": 0}


def spec(count: int = 2, **changes: Any) -> dict[str, Any]:
    role = {key: changes.pop(key) for key in list(changes) if key in ("run", "exits", "task", "frameworkAttemptCompletionPolicy")}
    return {"taskRoles": [role_spec("a", count, **role)], **changes}


def codes(world: World) -> list[int]:
    """The completion code of the Framework's attempt, and those of its tasks'."""
    assert world.stored is not None
    attempt = world.stored["attemptStatus"]
    attempts = [attempt, *(task["attemptStatus"] for role in attempt["taskRoleStatuses"] for task in role["taskStatuses"])]
    return [one["completionStatus"]["code"] for one in attempts]


class TestStop:
    def test_before_anything_is_made(self) -> None:
        world = World(spec(executionType="Create"), SETTINGS)
        world.run(1)
        world.set_spec(spec(executionType="Stop"))
        world.run(1)
        assert (codes(world), world.made) == ([-210, -220, -220], {})

    def test_wins_over_a_completion_policy(self) -> None:
        world = World(spec(), SETTINGS)
        world.run(1)
        world.finish(world.pods["a", 0], 1)
        world.set_spec(spec(executionType="Stop"))
        world.run(10)
        assert codes(world)[0] == -210

    def test_changes_nothing_once_the_attempt_is_ending(self) -> None:
        world = World(spec(), SETTINGS)
        world.run(1)
        world.finish(world.pods["a", 0], 1)
        world.run(1.1)
        assert world.stored is not None
        assert world.stored["state"] == "AttemptDeleting"
        world.set_spec(spec(executionType="Stop"))
        world.run(10)
        assert codes(world)[0] == 1

    def test_cuts_the_delay_of_a_retry_short(self) -> None:
        conflict = spec(1, run="1", exits="201", retryPolicy=FANCY)
        world = World(conflict, SETTINGS)
        world.run(30)
        assert world.stored is not None
        assert (world.stored["state"], world.stored["retryPolicyStatus"]["retryDelaySec"]) == ("AttemptCompleted", 60)
        world.set_spec({**conflict, "executionType": "Stop"})
        world.run(1)
        assert (codes(world), world.stored["retryPolicyStatus"]["totalRetriedCount"]) == ([-210, -220], 1)
        assert world.made == {"f-a-0": 1}


class TestDeletedByOthers:
    def test_a_pod(self) -> None:
        world = World(spec(task={"retryPolicy": FANCY}), SETTINGS)
        world.run(1)
        world.delete_pod(("a", 0))
        world.run(5)
        assert world.made == {"f-a-0": 2, "f-a-1": 1}
        assert world.status is not None
        assert [(task.state, task.attempt.id) for _, task in world.status.tasks()] == [("AttemptRunning", 1), ("AttemptRunning", 0)]

    def test_a_pod_that_had_failed_already(self) -> None:
        world = World(spec(), SETTINGS)
        world.run(1)
        world.finish(world.pods["a", 0], 7)
        world.delete_pod(("a", 0))
        world.run(10)
        assert codes(world)[:2] == [-101, -101]

    def test_a_pod_without_a_trace(self) -> None:
        world = World(spec(), SETTINGS)
        world.run(1)
        world.gone(("a", 1), world.pods["a", 1])
        world.run(10)
        assert codes(world)[0] == codes(world)[2] == -101

    def test_the_config_map(self) -> None:
        world = World(spec(), SETTINGS)
        world.run(1)
        world.delete_config_map()
        world.run(10)
        assert codes(world) == [-100, -101, -101]

    def test_the_config_map_without_a_trace(self) -> None:
        world = World(spec(), SETTINGS)
        world.run(1)
        world.config_map = None
        world.run(25)
        assert len(world.pods) == 2, "the garbage collector may come"
        world.run(10)
        assert codes(world) == [-100, -220, -220]
        assert world.pods == {}


class TestTime:
    def test_a_pod_that_never_shows_up(self) -> None:
        world = World(spec(1), SETTINGS)
        world.hidden = True
        world.run(299)
        assert world.status is not None
        assert [task.state for _, task in world.status.tasks()] == ["AttemptCreationRequested"]
        world.run(10)
        assert codes(world) == [-111, -111]
        assert world.pods == {}

    def test_a_config_map_that_never_shows_up(self) -> None:
        world = World(spec(1), SETTINGS)
        world.hidden_config_map = True
        world.run(310)
        assert codes(world) == [-110, -220]
        assert world.config_map is None

    def test_a_pod_that_does_not_go_is_deleted_by_force_when_the_role_says_so(self) -> None:
        for timeout, end in ((50, ["Completed"]), (None, ["AttemptDeleting"])):
            world = World(spec(1, task={"podGracefulDeletionTimeoutSec": timeout}), SETTINGS)
            world.keep_going = False
            world.run(1)
            world.delete_pod(("a", 0))
            world.run(49)
            assert world.pods
            world.run(100)
            assert world.status is not None
            assert [task.state for _, task in world.status.tasks()] == end

    def test_a_transient_conflict_waits(self) -> None:
        world = World(spec(1, run="1", exits="201,0", retryPolicy=FANCY), SETTINGS)
        world.run(55)
        assert world.made == {"f-a-0": 1}
        world.run(30)
        assert world.made == {"f-a-0": 2}
        assert world.stored is not None
        assert world.stored["retryPolicyStatus"] == {"accountableRetriedCount": 0, "retryDelaySec": None, "totalRetriedCount": 1}


class TestStrangers:
    def test_a_pod_that_was_made_and_not_remembered_is_the_tasks_own(self) -> None:
        world = World(spec(1), SETTINGS)
        world.run(0.01)
        world.forget_pod(("a", 0))
        world.run(5)
        assert world.made == {"f-a-0": 1}
        assert world.task("a", 0)["attemptStatus"]["podUID"] == world.pods["a", 0]["metadata"]["uid"]

    def test_one_that_has_finished_meanwhile_counts(self) -> None:
        world = World(spec(1, task={"retryPolicy": {"maxRetryCount": 1}}), SETTINGS)
        world.run(0.01)
        world.forget_pod(("a", 0))
        world.finish(world.pods["a", 0], 3)
        world.run(5)
        assert world.made == {"f-a-0": 2}
        assert world.task("a", 0)["retryPolicyStatus"]["accountableRetriedCount"] == 1

    @pytest.mark.parametrize("how", ["of another attempt", "being deleted"])
    def test_any_other_goes_before_the_tasks_own_is_made(self, how: str) -> None:
        world = World(spec(1), SETTINGS)
        world.run(0.01)
        world.forget_pod(("a", 0))
        if how == "being deleted":
            world.delete_pod(("a", 0))
        else:
            world.pods["a", 0]["made_for"] = "something else"
        world.run(5)
        assert world.made == {"f-a-0": 2}
        assert len(world.pods) == 1

    def test_a_pod_of_the_attempt_that_is_no_tasks_goes(self) -> None:
        world = World(spec(1), SETTINGS)
        world.run(5)
        assert world.config_map is not None
        for key in (("a", 1), ("b", 0), ("f-a-00", -1)):
            world.pods[key] = {**world.object("any", world.config_map["metadata"]["uid"]), "status": {"phase": "Running"}}
        other = {**world.object("any", "another ConfigMap"), "status": {"phase": "Running"}}
        world.pods["a", 2] = other
        world.run(5)
        assert world.pods.keys() == {("a", 0), ("a", 2)}

    def test_a_pod_that_lost_its_label_is_not_taken_for_gone(self) -> None:
        """The cache does not show it any more: the API server has it until it is deleted."""
        world = World(spec(1, task={"retryPolicy": {"maxRetryCount": -1}}), SETTINGS)
        world.run(5)
        world.hidden = True
        world.run(5)
        assert (world.made, world.task("a", 0)["state"]) == ({"f-a-0": 1}, "AttemptRunning")

    def test_an_attempt_whose_config_map_lost_its_label_goes_on(self) -> None:
        world = World(spec(1, retryPolicy={"maxRetryCount": -2}), SETTINGS)
        world.run(5)
        world.hidden_config_map = True
        world.run(5)
        assert world.stored is not None
        assert (world.stored["attemptStatus"]["id"], world.stored["state"]) == (0, "AttemptRunning")
        world.set_spec(spec(1, executionType="Stop"))
        world.hidden_config_map = False
        world.run(60)
        assert world.stored["attemptStatus"]["completionStatus"]["code"] == -210

    def test_a_pod_whose_deletion_was_cut_short_is_told_to_go_once_more(self) -> None:
        world = World(spec(1), SETTINGS)
        world.run(5)
        pod = world.pods["a", 0]
        pod["metadata"] |= {"deletionTimestamp": to_time(world.now), "deletionGracePeriodSeconds": 0}
        world.run(3)
        assert world.deleted == []
        pod["metadata"]["finalizers"] = ["held"]
        world.run(5)
        assert world.deleted == []
        del pod["metadata"]["finalizers"]
        world.run(3)
        assert world.deleted[0] == (("a", 0), pod["metadata"]["uid"], False)

    def test_a_config_map_that_was_made_and_not_remembered_goes(self) -> None:
        world = World(spec(1, executionType="Create"), SETTINGS)
        world.run(1)
        world.config_map = world.object("f-attempt", "framework")
        world.set_spec(spec(1))
        world.run(5)
        assert world.stored is not None
        assert world.stored["state"] == "AttemptRunning"

    def test_nothing_is_made_for_a_framework_that_is_being_deleted(self) -> None:
        world = World(spec(1, executionType="Create"), SETTINGS)
        world.run(1)
        world.deleting = True
        world.set_spec(spec(1))
        world.run(5)
        assert world.config_map is None


class TestPolicies:
    @pytest.mark.parametrize(
        ("policy", "exits", "code", "trigger"),
        [
            ({"minFailedTaskCount": 2}, [(0, 1), (1, 1)], 1, 1),
            ({"minFailedTaskCount": -1, "minSucceededTaskCount": 1}, [(1, 0)], 0, 1),
            ({"minFailedTaskCount": -1}, [(0, 1), (1, 1), (2, 1)], 0, 2),
            ({"minFailedTaskCount": 0, "minSucceededTaskCount": 0}, [(2, 0), (1, 1), (0, 1)], 0, 0),
        ],
    )
    def test_what_ends_the_attempt(self, policy: dict[str, int], exits: list[tuple[int, int]], code: int, trigger: int) -> None:
        world = World(spec(3, frameworkAttemptCompletionPolicy=policy), SETTINGS)
        world.run(1)
        for task, exit_code in exits:
            world.finish(world.pods["a", task], exit_code)
            world.run(3)
        world.run(20)
        assert world.stored is not None
        status = world.stored["attemptStatus"]["completionStatus"]
        assert (status["code"], status["trigger"]["taskIndex"], "pod" in status) == (code, trigger, False)

    @pytest.mark.parametrize("policy", [{"minFailedTaskCount": 2}, {"minFailedTaskCount": -1}], ids=["policy", "all"])
    @pytest.mark.parametrize(("pause", "trigger"), [(0.1, 1), (0.45, 0)])
    def test_parts_of_a_second_count(self, policy: dict[str, int], pause: float, trigger: int) -> None:
        world = World(spec(2, frameworkAttemptCompletionPolicy=policy), SETTINGS)
        world.run(1)
        for task in (1, 0):
            world.finish(world.pods["a", task], 1)
            world.run(pause)
        world.run(20)
        assert world.stored is not None
        assert world.stored["attemptStatus"]["completionStatus"]["trigger"]["taskIndex"] == trigger

    def test_the_first_by_time_wins_when_the_policy_changes(self) -> None:
        loose = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
        world = World(spec(4, frameworkAttemptCompletionPolicy=loose), SETTINGS)
        world.run(1)
        for task, exit_code in ((3, 0), (2, 5), (1, 6)):
            world.finish(world.pods["a", task], exit_code)
            world.run(3)
        world.set_spec(spec(4, frameworkAttemptCompletionPolicy={"minFailedTaskCount": 1, "minSucceededTaskCount": 2}))
        world.run(10)
        assert world.stored is not None
        assert world.stored["attemptStatus"]["completionStatus"]["code"] == 5


class TestBegin:
    @pytest.mark.parametrize(("may_begin", "count", "begins"), [(True, 2, True), (False, 2, False), (True, 10_001, False)])
    def test_an_attempt_begins_when_it_may_and_has_not_too_many_tasks(self, may_begin: bool, count: int, begins: bool) -> None:
        world = World(spec(2), SETTINGS)
        context = world.look()
        reconcile_framework(context)
        world.status = context.status
        world.status.stored = world.status.revision
        world.set_spec(spec(count))
        context = world.look()
        context.may_begin = may_begin
        reconcile_framework(context)
        assert context.actions == ([CreateConfigMap()] if begins else [])

    def test_one_role_that_runs_is_enough(self) -> None:
        world = World({"taskRoles": [role_spec("a", 1), role_spec("b", 0)]}, SETTINGS)
        world.run(1)
        assert world.stored is not None
        assert world.stored["state"] == "AttemptRunning"


def test_the_times_of_a_life() -> None:
    world = World(spec(1, run="5", exits="201,0", retryPolicy=FANCY), SETTINGS)
    world.run(300)
    assert world.stored is not None
    assert world.stored["state"] == "Completed"
    for status in world.history:
        (task,) = status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]
        for one in (status, task):
            assert (one["completionTime"] is not None) == (one["state"] == "Completed")
            assert (one["attemptStatus"]["completionTime"] is not None) == (one["state"] in ("AttemptCompleted", "Completed"))
            assert one["attemptStatus"]["runTime"] is not None or one["state"] != "AttemptRunning"
    runs = {status["runTime"] for status in world.history} - {None}
    assert len(runs) == 1, "when it ran first"
    assert len({status["attemptStatus"]["runTime"] for status in world.history} - {None}) == 2


def test_a_new_attempt_is_stored_before_anything_else_happens() -> None:
    world = World(spec(1, run="1", exits="201", retryPolicy=FANCY), SETTINGS)
    world.run(30)
    assert world.status is not None
    assert world.status.state == "AttemptCompleted"
    context = world.look()
    context.now += 1000
    reconcile_framework(context)
    assert (context.status.state, context.status.attempt.id) == ("AttemptCreationPending", 1)
    assert context.status.settled > context.status.stored


@pytest.mark.parametrize(("state", "waits"), [("AttemptRunning", True), ("AttemptDeletionRequested", False)])
def test_pods_that_may_still_come_are_deleted_when_somebody_else_has_deleted_the_config_map(state: str, waits: bool) -> None:
    world = World(spec(2), SETTINGS)
    world.run(1)
    context = world.look()
    context.config_map, context.status.end.object_gone = None, True
    context.status.state = state
    (_, task), _ = context.status.tasks()
    task.state = "AttemptCreationRequested"
    reconcile_framework(context)
    assert [action.uid for action in context.actions if isinstance(action, DeletePod)] == ([task.attempt.object_uid] if waits else [])
    assert (context.status.state == state) is waits
