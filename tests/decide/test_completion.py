"""Which completion policy ends the attempt of a Framework, and with what."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide.completion import TOGETHER, framework_attempt_gone, policies, task_completed
from fcontroller.decide.context import ReconcileContext
from fcontroller.decide.framework import reconcile_framework
from fcontroller.decide.status import Role, Task
from fcontroller.decide.status_json import task_to_json
from fcontroller.decide.task import find
from tests.decide.world import SETTINGS, World, role_spec

FAILED, SUCCEEDED = {"minFailedTaskCount": 2, "minSucceededTaskCount": -1}, {"minFailedTaskCount": -1, "minSucceededTaskCount": 2}


def role(name: str, policy: dict[str, int], count: int = 3) -> dict[str, Any]:
    return role_spec(name, count, frameworkAttemptCompletionPolicy=policy)


def running(*roles: dict[str, Any]) -> World:
    world = World({"taskRoles": list(roles)}, SETTINGS)
    world.run(1)
    return world


def completion(world: World) -> dict[str, Any]:
    assert world.stored is not None
    found: dict[str, Any] = world.stored["attemptStatus"]["completionStatus"]
    return found


@pytest.mark.parametrize(("policy", "code", "what"), [(FAILED, 7, "failed"), (SUCCEEDED, 0, "succeeded")])
def test_the_one_that_is_met_by_the_last_task_ends_the_attempt(policy: dict[str, int], code: int, what: str) -> None:
    world = running(role("a", policy))
    world.finish(world.pods["a", 2], code)
    world.run(3)
    assert completion(world) is None
    world.finish(world.pods["a", 1], code)
    world.run(3)
    trigger = completion(world)["trigger"]
    assert (completion(world)["code"], trigger["taskRoleName"], trigger["taskIndex"]) == (code, "a", 1)
    assert trigger["message"] == f"2 tasks of role a have {what}, which meets min{what.capitalize()}TaskCount 2"


def test_one_task_that_meets_a_policy_is_one() -> None:
    world = running(role("a", {**FAILED, "minFailedTaskCount": 1}))
    world.finish(world.pods["a", 2], 7)
    world.run(3)
    assert completion(world)["trigger"]["message"] == "1 task of role a has failed, which meets minFailedTaskCount 1"


def complete(context: ReconcileContext, key: tuple[str, int], code: int, when: float) -> tuple[Role, Task]:
    """Let a task have completed then, of which only the policies do not know yet."""
    role, task = find(context.status, key)
    role.count(task, -1)
    task.attempt.completion = {"code": code, "phrase": "", "type": {"name": "Failed" if code else "Succeeded", "attributes": []}, "pod": {}}
    task.state, task.completion_time = "Completed", when
    role.count(task, 1)
    return role, task


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("policy", ["minFailedTaskCount", "minSucceededTaskCount"])
def test_the_first_task_may_be_enough(policy: str, number: int) -> None:
    none = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
    context = running(role("a", {**none, policy: 1})).look()
    code = 7 if policy == "minFailedTaskCount" else 0
    if number:
        task_completed(context, *complete(context, ("a", 0), code, 1000))
    else:
        task_completed(context, *complete(context, ("a", 0), 7 - code, 1000))
    assert (context.status.attempt.completion is not None) == (number == 1)


def test_without_any_task_there_is_no_end() -> None:
    world = running(role("a", FAILED, 0), role("b", SUCCEEDED, 0))
    world.run(1000)
    assert world.stored is not None
    assert world.stored["state"] == "AttemptPreparing"
    assert world.stored["attemptStatus"]["completionStatus"] is None


def test_of_all_tasks_that_complete_together_the_last_of_the_spec_is_the_trigger() -> None:
    none = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
    context = running(role("a", none, 2), role("b", none, 1)).look()
    for key, when in ((("a", 0), TOGETHER), (("a", 1), 0.0), (("b", 0), 0.0)):
        complete(context, key, 0, when)
    policies(context)
    trigger = (context.status.attempt.completion or {})["trigger"]
    assert (trigger["taskRoleName"], trigger["taskIndex"]) == ("b", 0)


def test_a_task_whose_time_is_not_known_completed_before_the_others() -> None:
    """As in a status that somebody has restored in part."""
    context = running(role("a", {"minFailedTaskCount": 1, "minSucceededTaskCount": -1})).look()
    complete(context, ("a", 0), 7, 1000)
    complete(context, ("a", 2), 8, 1000)[1].completion_time = None
    policies(context)
    assert (context.status.attempt.completion or {})["code"] == 8


def test_a_retry_that_was_to_come_is_forgotten_with_the_attempt() -> None:
    """A task's retry waits only in statuses of upstream, which has a setting for it."""
    world = running(role("a", FAILED))
    context = world.look()
    _, task = complete(context, ("a", 1), 7, 1000)
    task.state, task.completion_time, task.retries.delay = "AttemptCompleted", None, 5
    framework_attempt_gone(context, {"code": -100})
    assert task_to_json(task)["retryPolicyStatus"]["retryDelaySec"] is None
    assert {each.state for _, each in context.status.tasks()} == {"Completed"}


@pytest.mark.parametrize(("later", "code"), [(5, 3), (0.5, 3), (0.3, 4), (0, 4), (-5, 4)])
def test_the_one_that_was_met_first_counts_and_of_those_met_together_the_first_role(later: float, code: int) -> None:
    context = running(role("a", FAILED), role("b", {"minFailedTaskCount": 1, "minSucceededTaskCount": -1})).look()
    complete(context, ("b", 0), 3, 1000)
    complete(context, ("a", 0), 4, 1000 + later - 10)
    complete(context, ("a", 2), 5, 1000 + later + 10)
    complete(context, ("a", 1), 4, 1000 + later)
    policies(context)
    assert context.status.attempt.completion is not None
    assert context.status.attempt.completion["code"] == code
    assert "pod" not in context.status.attempt.completion


@pytest.mark.parametrize(
    ("failed", "succeeded", "holds"), [(1, 0, False), (2, 0, True), (3, 0, True), (0, 2, False), (0, 3, True), (0, 4, True), (1, 2, False)]
)
def test_a_task_that_completes_is_enough_to_see_that_a_policy_is_met(failed: int, succeeded: int, holds: bool) -> None:
    """The controller does not go through all tasks then: it asks with the task that has completed just now."""
    context = running(role("a", {"minFailedTaskCount": 2, "minSucceededTaskCount": 3}, 6)).look()
    for index, code in enumerate([7] * failed + [0] * succeeded):
        last = complete(context, ("a", index), code, 1000 + index)
    task_completed(context, *last)
    assert (context.status.attempt.completion is not None) == holds


def test_only_tasks_that_something_happened_to_are_looked_at() -> None:
    world = running(role("a", FAILED), role("b", FAILED))
    for key in world.pods:
        world.finish(world.pods[key], 0)
    context = world.look()
    reconcile_framework(context, [("b", 1), ("b", 7), ("gone", 0)])
    assert context.looked_at_tasks
    changed = [(role.name, task.index) for role, task in context.status.tasks() if task.state != "AttemptRunning"]
    assert changed == [("b", 1)]


@pytest.mark.parametrize("awaited", [0, 1])
def test_tasks_of_an_edit_that_is_not_in_force_yet_are_still_to_come(awaited: int) -> None:
    world = running(role("a", {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}, 1))
    context = world.look()
    complete(context, ("a", 0), 0, 1000)
    context.spec = context.spec._replace(awaited=awaited)
    policies(context)
    assert (context.status.attempt.completion is None) is bool(awaited)


@pytest.mark.parametrize("way", ["deletion pending", "ending", "no such role"])
def test_a_task_that_does_not_count_ends_nothing(way: str) -> None:
    world = running(role("a", {"minFailedTaskCount": 1, "minSucceededTaskCount": -1}))
    context = world.look()
    (found,) = context.status.roles
    found.failed = 1
    if way == "deletion pending":
        found.tasks[0].deletion_pending = True
    elif way == "ending":
        context.status.state = "AttemptDeleting"
    else:
        found.name = "b"
    task_completed(context, found, found.tasks[0])
    assert context.status.attempt.completion is None


def test_the_last_of_all_tasks_ends_the_attempt_well_without_a_policy() -> None:
    none = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
    world = running(role("a", none, 2), role("b", none, 1))
    world.finish(world.pods["b", 0], 9)
    world.finish(world.pods["a", 1], 0)
    world.run(3)
    assert completion(world) is None
    world.finish(world.pods["a", 0], 0)
    world.run(3)
    end = completion(world)
    assert (end["code"], end["phrase"]) == (0, "Succeeded")
    assert end["diagnostics"] == "All 3 of 3 tasks are completed, and no completion policy was met"
    assert (end["trigger"]["taskRoleName"], end["trigger"]["taskIndex"]) == ("a", 0)


def test_what_waits_when_the_attempt_is_gone_waits_no_more() -> None:
    world = running(role("a", FAILED))
    world.finish(world.pods["a", 0], 1)
    world.hidden_config_map, world.config_map = True, None
    world.run(40)
    assert world.status is not None
    assert world.status.waiting == set()
    assert {task.state for _, task in world.status.tasks()} == {"Completed"}


@pytest.mark.parametrize("other", ["succeeded", "running"])
def test_of_tasks_that_fail_together_the_last_that_was_needed_is_the_trigger(other: str) -> None:
    context = running(role("a", FAILED, 5)).look()
    if other == "succeeded":
        complete(context, ("a", 0), 0, 1000)
        complete(context, ("a", 2), 0, 1000)
    for index in (4, 3, 1):
        complete(context, ("a", index), 7, 1000 + index / 100)
    policies(context)
    assert (context.status.attempt.completion or {})["trigger"]["taskIndex"] == 3
    assert (context.status.attempt.completion or {})["trigger"]["message"].startswith("3 tasks of role a have failed")


@pytest.mark.parametrize(("left", "holds"), [(0, True), (1, False)])
def test_the_last_task_that_completes_ends_the_attempt_without_a_policy(left: int, holds: bool) -> None:
    none = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
    context = running(role("a", none, 2), role("b", none, 1 + left)).look()
    for key in (("a", 0), ("b", 0), ("a", 1)):
        last = complete(context, key, 0, 1000)
    task_completed(context, *last)
    assert (context.status.attempt.completion is not None) is holds


def test_a_role_that_has_no_tasks_yet_meets_no_policy() -> None:
    world = running(role("a", FAILED))
    world.set_spec({"taskRoles": [role("new", FAILED), role("a", FAILED)]})
    context = world.look()
    policies(context)
    assert context.status.attempt.completion is None
