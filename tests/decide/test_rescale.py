"""Changes of scale on the fly, in every order."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide.context import TASK_DELETION
from fcontroller.decide.framework import reconcile_framework
from fcontroller.decide.rescale import rescale
from tests.decide.world import SETTINGS, World, role_spec


def framework(count: int, failed: int) -> dict[str, Any]:
    policy = {"minFailedTaskCount": failed, "minSucceededTaskCount": 1}
    return {"taskRoles": [role_spec("a", count, frameworkAttemptCompletionPolicy=policy, task={"podGracefulDeletionTimeoutSec": 600})]}


def roles(world: World) -> list[Any]:
    assert world.stored is not None
    found: list[Any] = world.stored["attemptStatus"]["taskRoleStatuses"]
    return found


def tasks(world: World, role: int = 0) -> list[tuple[str, bool]]:
    return [(task["state"], task["deletionPending"]) for task in roles(world)[role]["taskStatuses"]]


def uids(world: World) -> list[str]:
    return [task["instanceUID"] for task in roles(world)[0]["taskStatuses"]]


RUNS, DONE, GOES = ("AttemptRunning", False), ("Completed", False), ("AttemptDeleting", True)


def test_the_walk_through_of_the_manual() -> None:
    # 1
    world = World(framework(4, 4), SETTINGS, "rescalebasic")
    world.run(5)
    assert tasks(world) == [RUNS] * 4
    # 2
    world.delete_pod(("a", 2))
    world.delete_pod(("a", 3))
    world.run(5)
    assert tasks(world) == [RUNS, RUNS, DONE, DONE]
    # 3, 4: those that failed before are not held against the new policy.
    world.set_spec(framework(2, 2))
    world.run(0)
    assert (tasks(world), state(world)) == ([RUNS] * 2, "AttemptRunning")
    # 5
    world.set_spec(framework(4, 4))
    world.run(5)
    assert tasks(world) == [RUNS] * 4
    # 6
    world.delete_pod(("a", 2))
    world.run(5)
    # 7
    world.set_spec(framework(2, 2))
    world.run(0.1)
    assert tasks(world) == [RUNS, RUNS, ("Completed", True), GOES]
    before = uids(world)
    world.set_spec(framework(3, 3))
    # 8: a task that was to be deleted is never used again.
    world.run(0.5)
    assert tasks(world) == [*[RUNS] * 3, GOES]
    assert [old == new for old, new in zip(before, uids(world), strict=True)] == [True, True, False, True]
    world.run(5)
    assert (tasks(world), state(world)) == ([RUNS] * 3, "AttemptRunning")
    # 9
    world.set_spec(framework(4, 4))
    world.run(5)
    assert tasks(world) == [RUNS] * 4
    # 10
    world.delete_pod(("a", 2))
    world.run(5)
    # 11
    world.set_spec(framework(2, 2))
    world.run(0.1)
    before = uids(world)
    world.set_spec(framework(5, 5))
    # 12
    world.run(0.5)
    assert tasks(world) == [*[RUNS] * 3, GOES, RUNS]
    world.run(5)
    assert (tasks(world), state(world)) == ([RUNS] * 5, "AttemptRunning")
    assert [old == new for old, new in zip(before, uids(world), strict=False)] == [True, True, False, False]


def state(world: World) -> str:
    assert world.stored is not None
    return str(world.stored["state"])


class TestRoles:
    def test_a_removed_one_goes_with_its_last_timeout(self) -> None:
        kept, gone = role_spec("a", 1), role_spec("b", 1, task={"podGracefulDeletionTimeoutSec": 20})
        world = World({"taskRoles": [kept, gone]}, SETTINGS)
        world.run(1)
        world.keep_going = False
        world.set_spec({"taskRoles": [kept]})
        world.run(19)
        assert tasks(world, 1) == [GOES]
        world.run(5)
        assert [role["name"] for role in roles(world)] == ["a"]
        assert list(world.pods) == [("a", 0)]

    def test_one_in_the_middle_leaves_its_place_to_the_last(self) -> None:
        names = ["a", "b", "c", "d"]
        world = World({"taskRoles": [role_spec(name, 1) for name in names]}, SETTINGS)
        world.run(1)
        world.set_spec({"taskRoles": [role_spec(name, 1) for name in names if name != "b"]})
        world.run(5)
        assert [role["name"] for role in roles(world)] == ["a", "d", "c"]

    def test_one_scaled_to_nothing_stays(self) -> None:
        world = World({"taskRoles": [role_spec("a", 1), role_spec("b", 1)]}, SETTINGS)
        world.run(1)
        world.set_spec({"taskRoles": [role_spec("a", 1), role_spec("b", 0)]})
        world.run(5)
        assert tasks(world, 1) == []

    def test_a_new_one_comes_last(self) -> None:
        world = World({"taskRoles": [role_spec("b", 1)]}, SETTINGS)
        world.run(1)
        world.set_spec({"taskRoles": [role_spec("a", 2), role_spec("b", 1)]})
        world.run(5)
        assert [role["name"] for role in roles(world)] == ["b", "a"]
        assert tasks(world, 1) == [RUNS, RUNS]


def test_tasks_before_the_attempt_has_begun_linger_until_it_has() -> None:
    spec = {"executionType": "Create", "taskRoles": [role_spec("a", 3)]}
    world = World(spec, SETTINGS)
    world.run(1)
    world.set_spec({"executionType": "Create", "taskRoles": [role_spec("a", 1)]})
    world.run(1)
    assert tasks(world) == [("AttemptCreationPending", False), *[("AttemptCreationPending", True)] * 2]
    world.set_spec({"executionType": "Start", "taskRoles": [role_spec("a", 1)]})
    world.run(5)
    assert (tasks(world), world.made) == ([RUNS], {"f-a-0": 1})


def test_a_task_that_ended_by_itself_is_retried_once_more_before_it_goes() -> None:
    role = role_spec("a", 2, task={"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 5}})
    world = World({"taskRoles": [role]}, SETTINGS)
    world.run(1)
    world.finish(world.pods["a", 1], 3)
    world.settle()
    assert roles(world)[0]["taskStatuses"][1]["attemptStatus"]["completionStatus"]["code"] == 3
    world.set_spec({"taskRoles": [{**role, "taskNumber": 1}]})
    world.run(5)
    assert tasks(world) == [RUNS]
    last = next(status for status in reversed(world.history) if len(status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]) == 2)
    gone = last["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][1]
    assert (gone["state"], gone["attemptStatus"]["id"], gone["attemptStatus"]["completionStatus"]["code"]) == ("Completed", 1, -230)
    assert world.made["f-a-1"] == 1


def test_nothing_changes_once_the_attempt_is_ending() -> None:
    world = World({"taskRoles": [role_spec("a", 2)]}, SETTINGS)
    world.run(1)
    world.set_spec({"executionType": "Stop", "taskRoles": [role_spec("a", 2)]})
    world.settle()
    world.set_spec({"executionType": "Stop", "taskRoles": [role_spec("a", 4), role_spec("b", 1)]})
    world.run(5)
    assert (tasks(world), [role["name"] for role in roles(world)]) == ([DONE, DONE], ["a"])


def test_all_completed_counts_what_the_spec_wants_now() -> None:
    world = World({"taskRoles": [role_spec("a", 3, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]}, SETTINGS)
    world.run(1)
    world.finish(world.pods["a", 0], 0)
    world.run(3)
    assert state(world) == "AttemptRunning"
    world.set_spec({"taskRoles": [role_spec("a", 1, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]})
    world.run(10)
    assert state(world) == "Completed"
    assert world.stored is not None
    assert world.stored["attemptStatus"]["completionStatus"]["trigger"]["taskIndex"] == 0


@pytest.mark.parametrize(
    ("counts", "stored_first"),
    [
        ({"a": 2, "b": 1}, False),
        ({"a": 3, "b": 1}, True),
        ({"a": 1, "b": 1}, True),
        ({"a": 0, "b": 1}, True),
        ({"a": 2}, True),
        ({"a": 2, "b": 1, "c": 1}, True),
        ({"a": 2, "b": 1, "c": 0}, False),
        ({"c": 0, "a": 3, "b": 1}, True),
        ({"a": 1, "c": 0, "b": 1}, True),
        ({"a": 3, "b": 1, "c": 1}, True),
    ],
)
def test_a_change_of_scale_is_stored_before_anything_else_happens(counts: dict[str, int], stored_first: bool) -> None:
    world = World({"taskRoles": [role_spec("a", 2), role_spec("b", 1)]}, SETTINGS)
    world.run(1)
    world.set_spec({"taskRoles": [role_spec(name, count) for name, count in counts.items()]})
    context = world.look()
    assert rescale(context) is stored_first
    assert (context.status.settled > context.status.stored) is stored_first
    assert {role.name: len(role.tasks) - role.deletion_pending for role in context.status.roles} == {"a": 0, "b": 0, **counts}
    assert rescale(context) is False, "all of it was done"


def test_a_task_that_is_scaled_away_ends_so_unless_it_had_ended() -> None:
    world = World({"taskRoles": [role_spec("a", 3, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]}, SETTINGS)
    world.run(1)
    world.finish(world.pods["a", 2], 7)
    world.run(3)
    world.set_spec({"taskRoles": [role_spec("a", 1, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]})
    context = world.look()
    rescale(context)
    (role,) = context.status.roles
    assert [(task.attempt.completion or {}).get("code") for task in role.tasks] == [None, -230, 7]
    assert (role.running, role.failed, role.deletion_pending) == (1, 0, 2)


def test_what_would_be_too_large_does_not_grow() -> None:
    world = World({"taskRoles": [role_spec("a", 2)]}, SETTINGS)
    world.run(1)
    for counts in ({"a": 10_001}, {"a": 2, "b": 9_999}):
        world.set_spec({"taskRoles": [role_spec(name, count) for name, count in counts.items()]})
        context = world.look()
        assert not rescale(context)
        assert [(role.name, len(role.tasks)) for role in context.status.roles] == [("a", 2)]


def test_a_task_that_is_dropped_gives_back_what_its_messages_took() -> None:
    world = World({"taskRoles": [role_spec("a", 3, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]}, SETTINGS)
    world.run(1)
    assert world.status is not None
    (role,) = world.status.roles
    for task in role.tasks:
        world.status.complete(task, {"code": 1, "diagnostics": "x" * 300})
    assert world.status.said == 300
    for task in role.tasks[1:]:
        role.count(task, -1)
        task.state, task.deletion_pending = "Completed", True
        role.count(task, 1)
    world.set_spec({"taskRoles": [role_spec("a", 1, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]})
    context = world.look()
    rescale(context)
    assert (len(role.tasks), context.status.said) == (1, 100)


def test_what_is_too_large_shrinks_where_it_is_to() -> None:
    world = World({"taskRoles": [role_spec("a", 3), role_spec("b", 2)]}, SETTINGS)
    world.run(1)
    world.set_spec({"taskRoles": [role_spec("a", 1), role_spec("b", 10_500), role_spec("c", 1)]})
    context = world.look()
    assert rescale(context)
    assert [(role.name, len(role.tasks), role.deletion_pending) for role in context.status.roles] == [("a", 3, 2), ("b", 2, 0)]


def test_a_role_without_tasks_comes_and_goes() -> None:
    """It is in the status as long as it is in the spec, the same one all the time."""
    world = World({"taskRoles": [role_spec("a", 1), role_spec("b", 1)]}, SETTINGS)
    world.run(1)
    uid = roles(world)[1]["instanceUID"]
    world.set_spec({"taskRoles": [role_spec("a", 1), role_spec("b", 0), role_spec("c", 0)]})
    world.run(5)
    assert [(role["name"], role["taskStatuses"]) for role in roles(world)[1:]] == [("b", []), ("c", [])]
    assert roles(world)[1]["instanceUID"] == uid
    world.set_spec({"taskRoles": [role_spec("a", 1)]})
    world.run(5)
    assert [role["name"] for role in roles(world)] == ["a"]


def test_a_new_role_without_tasks_is_stored_though_nothing_else_has_changed() -> None:
    world = World({"taskRoles": [role_spec("a", 1)]}, SETTINGS)
    world.run(5)
    world.set_spec({"taskRoles": [role_spec("a", 1), role_spec("b", 0)]})
    world.run(5)
    assert [role["name"] for role in roles(world)] == ["a", "b"]


@pytest.mark.parametrize("wanted", [1, 3])
def test_tasks_that_are_dropped_or_replaced_are_kept_for_the_history_and_count_no_more(wanted: int) -> None:
    policy = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
    settings = SETTINGS._replace(snapshots=frozenset({TASK_DELETION}))
    world = World({"taskRoles": [role_spec("a", 3, frameworkAttemptCompletionPolicy=policy)]}, settings)
    world.run(1)
    context = world.look()
    (role,) = context.status.roles
    for task in role.tasks[1:]:
        context.status.complete(task, {"code": 1, "diagnostics": "x" * 300, "type": {"name": "Failed"}})
        role.count(task, -1)
        task.state, task.deletion_pending = "Completed", True
        role.count(task, 1)
    world.set_spec({"taskRoles": [role_spec("a", wanted, frameworkAttemptCompletionPolicy=policy)]})
    context.spec = world.rules
    assert rescale(context) is (wanted == 3), "a new task is stored before anything else happens"
    assert sorted(ended.value["index"] for ended in context.status.ended) == [1, 2]
    assert (len(role.tasks), role.deletion_pending, role.failed, context.status.said) == (wanted, 0, 0, 0)
    assert [task.state for task in role.tasks[1:]] == ["AttemptCreationPending"] * (wanted - 1)


def test_a_change_of_scale_comes_before_all_that_was_seen() -> None:
    """A policy that holds for the new scale never meets the tasks of the old one."""
    world = World(framework(2, 1), SETTINGS)
    world.run(1)
    world.finish(world.pods["a", 1], 7)
    world.set_spec(framework(1, 1))
    context = world.look()
    reconcile_framework(context)
    assert ([task.state for _, task in context.status.tasks()], context.actions) == (["AttemptRunning"] * 2, [])
    world.run(5)
    assert state(world) == "AttemptRunning"
