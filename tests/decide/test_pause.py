"""Frameworks that somebody pauses, resumes and restarts, by annotation."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.model.framework import asks_for_pause, ignored_pause, restart_of
from fcompile.model.names import PAUSE_ANNOTATION, RESTART_ANNOTATION
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, CREATION_PENDING, STATES
from fcontroller.decide.status_json import to_json
from tests.decide.test_as_upstream import compared
from tests.decide.test_states import Meddled
from tests.decide.world import SETTINGS, Json, World, from_json, role_spec

RETRY = {"fancyRetryPolicy": True, "maxRetryCount": 1}
FANCY = {"fancyRetryPolicy": True, "maxRetryCount": 0}


def begun(count: int = 2, paused: bool = True, **changes: Any) -> World:
    """A Framework that runs, and then is paused."""
    world = World({"taskRoles": [role_spec("a", count, **changes)]}, SETTINGS)
    world.run(3)
    world.paused = paused
    world.run(1)
    return world


def stored(world: World) -> Json:
    assert world.stored is not None
    return world.stored


def condition(world: World) -> tuple[str, str]:
    (found,) = [one for one in stored(world).get("conditions", ()) if one["type"] == "Paused"]
    return found["status"], found["reason"]


def tasks(world: World) -> list[tuple[str, int, int | None]]:
    """State, attempt and completion code of each task."""
    found = [task for role in stored(world)["attemptStatus"]["taskRoleStatuses"] for task in role["taskStatuses"]]
    return [(task["state"], task["attemptStatus"]["id"], (task["attemptStatus"]["completionStatus"] or {}).get("code")) for task in found]


def uids(world: World) -> dict[Any, str]:
    return {key: pod["metadata"]["uid"] for key, pod in world.pods.items()}


@pytest.mark.parametrize(
    ("annotations", "paused", "ignored", "restart"),
    [
        (None, False, "", ""),
        ({PAUSE_ANNOTATION: "true", RESTART_ANNOTATION: "a"}, True, "", "a"),
        ({PAUSE_ANNOTATION: "false", RESTART_ANNOTATION: ""}, False, "", ""),
        ({PAUSE_ANNOTATION: "True", RESTART_ANNOTATION: "a" * 1000}, False, "True", "a" * 100),
    ],
)
def test_annotations(annotations: Any, paused: bool, ignored: str, restart: str) -> None:
    framework = {"metadata": {"annotations": annotations}}
    assert (asks_for_pause(framework), ignored_pause(framework), restart_of(framework)) == (paused, ignored, restart)


class TestPause:
    def test_before_it_began(self) -> None:
        world = World({"taskRoles": [role_spec("a", 2)]}, SETTINGS)
        world.paused = True
        world.run(1000)
        assert (stored(world)["state"], world.made, world.config_map, condition(world)) == (
            CREATION_PENDING,
            {},
            None,
            ("True", "Annotated"),
        )
        world.paused = False
        world.run(3)
        assert (stored(world)["state"], len(world.pods), condition(world)) == ("AttemptRunning", 2, ("False", "Resumed"))

    def test_nothing_is_said_of_one_that_never_was(self) -> None:
        assert "conditions" not in (begun(paused=False).stored or {})

    def test_since_when_is_kept(self) -> None:
        world = begun()
        before = stored(world)["conditions"]
        world.run(500)
        world.finish(world.pods["a", 0], 1)
        world.run(5)
        assert stored(world)["conditions"] == before

    def test_a_pod_that_ends_stays_and_its_status_goes_on(self) -> None:
        world = begun(task={"retryPolicy": RETRY})
        pods = uids(world)
        world.finish(world.pods["a", 0], 200)
        world.run(1000)
        assert (tasks(world), uids(world)) == ([("AttemptDeletionPending", 0, 200), ("AttemptRunning", 0, None)], pods)
        world.paused = False
        world.run(10)
        assert tasks(world) == [("AttemptRunning", 1, None), ("AttemptRunning", 0, None)]

    @pytest.mark.parametrize("trace", [True, False])
    def test_a_pod_that_others_delete_is_not_made_again(self, trace: bool) -> None:
        world = begun(task={"retryPolicy": RETRY})
        if trace:
            world.delete_pod(("a", 0))
        else:
            world.gone(("a", 0), world.pods["a", 0])
        world.run(1000)
        assert tasks(world) == [(ATTEMPT_COMPLETED, 0, -101), ("AttemptRunning", 0, None)]
        world.paused = False
        world.run(10)
        assert tasks(world) == [("AttemptRunning", 1, None), ("AttemptRunning", 0, None)]

    def test_a_pod_is_not_deleted_by_force(self) -> None:
        world = begun(task={"podGracefulDeletionTimeoutSec": 5})
        world.keep_going = False
        world.delete_pod(("a", 0))
        world.run(100)
        assert (world.deleted, tasks(world)[0]) == ([], ("AttemptDeleting", 0, -101))
        world.paused = False
        world.run(1)
        assert [force for *_, force in world.deleted] == [True]

    def test_a_policy_that_is_met_ends_nothing_before_it_goes_on(self) -> None:
        world = begun()
        world.finish(world.pods["a", 0], 7)
        world.run(100)
        assert stored(world)["attemptStatus"]["completionStatus"] is None
        world.paused = False
        world.run(10)
        assert (stored(world)["state"], stored(world)["attemptStatus"]["completionStatus"]["code"]) == (COMPLETED, 7)

    def test_nor_does_one_that_comes_and_goes(self) -> None:
        policy = {"minFailedTaskCount": -1}
        world = World({"taskRoles": [role_spec("a", 2, frameworkAttemptCompletionPolicy=policy)]}, SETTINGS)
        world.run(3)
        world.finish(world.pods["a", 0], 7)
        world.run(3)
        world.paused = True
        for count in (1, -1):
            world.set_spec({"taskRoles": [role_spec("a", 2, frameworkAttemptCompletionPolicy={"minFailedTaskCount": count})]})
            world.run(5)
        world.paused = False
        world.run(5)
        assert stored(world)["state"] == "AttemptRunning"

    def test_an_attempt_that_others_end_is_not_retried(self) -> None:
        world = begun()
        world.delete_config_map()
        world.run(100)
        assert (stored(world)["state"], stored(world)["retryPolicyStatus"]["retryDelaySec"]) == (ATTEMPT_COMPLETED, None)
        world.set_spec({**world.spec["spec"], "retryPolicy": RETRY})
        world.paused = False
        world.run(10)
        assert (stored(world)["state"], stored(world)["attemptStatus"]["id"]) == ("AttemptRunning", 1)

    def test_a_retry_policy_that_is_changed_meanwhile_counts(self) -> None:
        world = begun()
        world.finish(world.pods["a", 0], 7)
        world.run(5)
        world.set_spec({"taskRoles": [role_spec("a", 2, task={"retryPolicy": RETRY})]})
        world.run(5)
        world.paused = False
        world.run(10)
        assert tasks(world) == [("AttemptRunning", 1, None), ("AttemptRunning", 0, None)]

    def test_a_scale_that_changes_there_and_back_costs_no_pod(self) -> None:
        world = begun()
        pods = uids(world)
        for count in (1, 5, 0, 2):
            world.set_spec({"taskRoles": [role_spec("a", count)]})
            world.run(5)
            assert uids(world) == pods
        world.paused = False
        world.run(10)
        assert (uids(world), len(tasks(world))) == (pods, 2)

    def test_a_policy_of_today_never_meets_the_tasks_of_yesterday(self) -> None:
        """One of two tasks is done, and it is the only one that the new spec has."""
        world = World({"taskRoles": [role_spec("a", 1, run="1"), role_spec("b", 1)]}, SETTINGS)
        world.run(10)
        world.paused = True
        world.run(1)
        world.set_spec({"taskRoles": [role_spec("a", 1, run="1"), role_spec("c", 1)]})
        world.run(5)
        world.paused = False
        world.run(10)
        assert stored(world)["state"] == "AttemptRunning"
        assert set(world.pods) == {("c", 0)}

    def test_stop_works(self) -> None:
        world = begun()
        world.set_spec({**world.spec["spec"], "executionType": "Stop"})
        world.run(10)
        assert (stored(world)["state"], tasks(world)[0][2], world.pods) == (COMPLETED, -220, {})
        assert condition(world) == ("False", "Stopped")
        (said,) = [one["message"] for one in stored(world)["conditions"] if one["type"] == "Paused"]
        assert PAUSE_ANNOTATION in said, "it keeps the Framework from being deleted, and nothing else says so"

    def test_a_framework_that_is_deleted_gets_nothing_new_and_its_pods_go_by_force(self) -> None:
        world = begun(task={"podGracefulDeletionTimeoutSec": 5, "retryPolicy": RETRY})
        world.deleting, world.keep_going = True, False
        world.delete_pod(("a", 0))
        world.gone(("a", 1), world.pods["a", 1])
        world.run(20)
        assert (world.pods, world.made) == ({}, {"f-a-0": 1, "f-a-1": 1})

    @pytest.mark.parametrize("state", STATES)
    @pytest.mark.parametrize("whose", ["framework", "task"])
    def test_wherever_it_is_paused_it_comes_to_the_same_end(self, whose: str, state: str) -> None:
        def pause(world: World) -> None:
            world.paused = True
            world.at(30, lambda: setattr(world, "paused", False))

        worlds = Meddled(whose, state, lambda world: None), Meddled(whose, state, pause)
        for world in worlds:
            world.run(200)
        assert worlds[1].deed is None or (whose, state) == ("framework", "AttemptDeleting"), "it never was in that state"
        calm, paused = (compared(world.stored) for world in worlds)
        assert (paused, worlds[1].made) == (calm, worlds[0].made)


class TestRestart:
    @pytest.mark.parametrize("policy", [{}, FANCY, {"maxRetryCount": 3}, {"maxRetryCount": -2}])
    def test_ends_the_attempt_and_the_next_one_begins_whatever_the_policy_says(self, policy: Any) -> None:
        world = World({"retryPolicy": policy, "taskRoles": [role_spec("a", 2)]}, SETTINGS)
        world.run(3)
        before = uids(world)
        world.restart = "now"
        world.run(10)
        assert world.stored is not None
        ended = [status["attemptStatus"] for status in world.history if status["attemptStatus"]["id"] == 0][-1]
        assert (ended["completionStatus"]["code"], ended["completionStatus"]["diagnostics"]) == (
            -130,
            "A restart was asked for by annotation: now",
        )
        assert {task["attemptStatus"]["completionStatus"]["code"] for task in ended["taskRoleStatuses"][0]["taskStatuses"]} == {-220}
        assert world.stored["retryPolicyStatus"] == {"accountableRetriedCount": 0, "retryDelaySec": None, "totalRetriedCount": 1}
        assert (world.stored["state"], tasks(world)) == ("AttemptRunning", [("AttemptRunning", 0, None)] * 2)
        assert not uids(world).items() & before.items()

    def test_once_for_each_value(self) -> None:
        world = begun(paused=False)
        for value, attempt in (("a", 1), ("a", 1), ("", 1), ("a", 1), ("b", 2)):
            world.restart = value
            world.run(30)
            assert (stored(world)["attemptStatus"]["id"], stored(world)["state"]) == (attempt, "AttemptRunning"), value

    def test_what_was_done_is_stored_with_the_decision(self) -> None:
        """So whoever goes on from there does not do it again, whatever becomes of the annotation."""
        world = begun(paused=False)
        world.restart = "a"
        world.run(10)
        first = next(status for status in world.history if (status["attemptStatus"]["completionStatus"] or {}).get("code") == -130)
        assert first["observedRestart"] == "a"
        assert to_json(from_json(first)) == first

    def test_a_value_that_is_there_from_the_start_is_none(self) -> None:
        world = World({"taskRoles": [role_spec("a", 2)]}, SETTINGS)
        world.restart = "a"
        world.run(30)
        assert (stored(world)["attemptStatus"]["id"], world.made) == (0, {"f-a-0": 1, "f-a-1": 1})

    def test_before_the_attempt_has_begun_there_is_nothing_to_end(self) -> None:
        world = World({"executionType": "Create", "taskRoles": [role_spec("a", 2)]}, SETTINGS)
        world.run(1)
        world.restart = "a"
        world.run(1)
        world.set_spec({**world.spec["spec"], "executionType": "Start"})
        world.run(10)
        assert (stored(world)["attemptStatus"]["id"], stored(world)["state"]) == (0, "AttemptRunning")

    def test_wins_over_a_completion_policy(self) -> None:
        world = begun(paused=False)
        world.finish(world.pods["a", 0], 7)
        world.restart = "a"
        world.run(10)
        assert (stored(world)["attemptStatus"]["id"], stored(world)["state"]) == (1, "AttemptRunning")

    def test_an_attempt_that_is_ending_keeps_its_code_and_its_policy_decides(self) -> None:
        world = begun(paused=False)
        world.finish(world.pods["a", 0], 7)
        world.run(1.1)
        assert stored(world)["state"] == "AttemptDeleting"
        world.restart = "a"
        world.run(10)
        assert (stored(world)["state"], stored(world)["attemptStatus"]["completionStatus"]["code"]) == (COMPLETED, 7)

    def test_cuts_the_delay_of_a_retry_short(self) -> None:
        world = World({"retryPolicy": FANCY, "taskRoles": [role_spec("a", 1, run="1", exits="201,0")]}, SETTINGS)
        world.run(20)
        assert stored(world)["retryPolicyStatus"]["retryDelaySec"] == 60
        world.restart = "a"
        world.run(0.5)
        assert (stored(world)["attemptStatus"]["id"], stored(world)["state"]) == (1, "AttemptRunning")
        world.run(10)
        assert (stored(world)["attemptStatus"]["id"], stored(world)["state"]) == (1, COMPLETED)

    def test_one_that_is_completed_is_over(self) -> None:
        world = World({"taskRoles": [role_spec("a", 1, run="1")]}, SETTINGS)
        world.run(30)
        written = len(world.history)
        world.restart = "a"
        world.run(30)
        assert (stored(world)["state"], len(world.history)) == (COMPLETED, written)

    def test_stop_wins(self) -> None:
        world = begun(paused=False)
        world.restart = "a"
        world.set_spec({**world.spec["spec"], "executionType": "Stop"})
        world.run(30)
        assert (stored(world)["state"], stored(world)["attemptStatus"]["completionStatus"]["code"]) == (COMPLETED, -210)

    def test_waits_while_paused(self) -> None:
        world = begun()
        pods = uids(world)
        world.restart = "a"
        world.run(100)
        assert (uids(world), stored(world)["state"], stored(world)["attemptStatus"]["id"]) == (pods, "AttemptRunning", 0)
        world.paused = False
        world.run(10)
        assert (stored(world)["attemptStatus"]["id"], stored(world)["state"]) == (1, "AttemptRunning")
