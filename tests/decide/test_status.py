"""The status in memory: what is counted, what is stored, and what was done is told once."""

from __future__ import annotations

import pytest

from fcontroller.decide import states
from fcontroller.decide.status import Role, Status, Task, TransitionRecord, task_counts


def status_of(*completions: str | None) -> tuple[Status, Role]:
    """A Framework of one role with tasks that run (None), or have ended."""
    status, role = Status("f-attempt", 0), Role("a", "uid-a")
    for index, name in enumerate(completions):
        task = Task(index, f"uid-{index}", f"f-a-{index}", 0)
        task.state = states.RUNNING if name is None else states.COMPLETED
        task.attempt.completion = None if name is None else {"type": {"name": name}}
        role.tasks.append(task)
        role.count(task, 1)
    status.roles = [role]
    return status, role


def test_counts_follow_the_tasks() -> None:
    status, role = status_of(None, "Failed", "Succeeded", "Failed", None, None)
    assert (role.running, role.failed, role.succeeded, role.completed, role.deletion_pending) == (3, 2, 1, 3, 0)
    assert task_counts(status) == {"running": 3, "completed": 3, "total": 6}
    for task in role.tasks[3:5]:
        role.count(task, -1)
        task.deletion_pending = True
        role.count(task, 1)
    assert (role.running, role.failed, role.succeeded, role.deletion_pending) == (2, 1, 1, 2)
    assert task_counts(status) == {"running": 2, "completed": 2, "total": 4}
    role.count(role.tasks.pop(4), -1)
    assert (role.running, role.deletion_pending) == (2, 1)


def test_what_a_task_counts_as() -> None:
    _, role = status_of(None, "Failed", "Succeeded", "Failed")
    role.tasks[3].deletion_pending = True
    waiting = Task(4, "uid-4", "f-a-4", 0)
    unknown = Task(5, "uid-5", "f-a-5", 0)
    unknown.state = states.COMPLETED
    assert [task.counted for task in (*role.tasks, waiting, unknown)] == ["running", "failed", "succeeded", "", "", ""]


def test_transitions_are_told_once_and_only_when_they_are_stored() -> None:
    status, role = status_of(None, None)
    for task in role.tasks:
        status.transition_task(role, task, states.TASK_GONE, 5)
    assert status.take_transitions() == []
    first, second = status.transitions
    status.stored = first.revision
    assert status.take_transitions() == [first]
    assert status.take_transitions() == []
    status.stored = second.revision
    assert status.take_transitions() == [second]
    assert (first.of, second.of) == tuple((role, task) for task in role.tasks)


def test_a_transition_tells_of_the_end_only_once_there_is_one() -> None:
    _, role = status_of("Failed")
    (task,) = role.tasks

    def told(transition: states.Transition, retry: str = "") -> bool:
        return TransitionRecord(1, transition, task.attempt, retry, (role, task)).completion is not None

    assert [told(states.TASK_GONE), told(states.TASK_DONE), told(states.TASK_RETRIED, "Transient")] == [True, True, True]
    assert [told(states.TASK_RUNS), told(states.TASK_WAITS)] == [False, False]


def test_which_tasks_there_are() -> None:
    status, _ = status_of(None, None)
    assert [status.task(key) is not None for key in (("a", 0), ("a", 1), ("a", 2), ("a", -1), ("b", 0))] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_roles_are_found_whatever_comes_and_goes() -> None:
    status = Status("f-attempt", 0)
    a, b, c = (Role(name, f"uid-{name}") for name in "abc")
    status.roles = [a, b]
    assert [status.role(name) for name in "abc"] == [a, b, None]
    status.roles.append(c)
    assert [status.role(name) for name in "abc"] == [a, b, c]
    status.roles[0] = status.roles.pop()  # As a role is taken out of the middle.
    assert [status.role(name) for name in "abc"] == [None, b, c]
    status.roles = [Role("a", "another")]
    assert [role and role.instance_uid for role in map(status.role, "abc")] == ["another", None, None]


def test_roles_are_found_without_going_through_all() -> None:
    """With 500 roles of 20 tasks that took a quarter of a second, in which no other Framework had its turn."""
    looked = 0

    class Counted(Role):
        @property
        def name(self) -> str:
            nonlocal looked
            looked += 1
            return self.known

        @name.setter
        def name(self, name: str) -> None:
            self.known = name

    status = Status("f-attempt", 0)
    status.roles = [Counted(f"r{number}", "uid") for number in range(500)]
    for number in range(10_000):
        assert status.role(f"r{number % 500}") is status.roles[number % 500]
    assert looked < 20_000


def test_what_the_framework_has_gone_through_is_told_too() -> None:
    status, _ = status_of(None)
    status.transition(states.FRAMEWORK_CREATED, 5)
    status.transition(states.FRAMEWORK_CREATED, 6)
    status.stored = status.revision
    (told,) = status.take_transitions()
    assert (told.transition, told.of, told.attempt) == (states.FRAMEWORK_CREATED, None, status.attempt)
    assert status.transition_time == 5


def test_there_are_no_ways_but_those_of_the_tables() -> None:
    status, role = status_of(None)
    with pytest.raises(ValueError, match="no way from AttemptCreationPending to AttemptRunning"):
        status.transition(states.FRAMEWORK_RUNS, 5)
    with pytest.raises(ValueError, match="no way from AttemptRunning to AttemptCreationPending"):
        status.transition_task(role, role.tasks[0], states.TASK_RETRIED, 5)


def test_of_a_new_status_nothing_is_stored_and_no_intent_is_named() -> None:
    status = Status("f-attempt", 0)
    assert not status.is_stored(status)
    assert min(status.revision, status.settled, status.transitioned) > status.stored
    assert max(status.named, status.attempt_known) <= status.stored
