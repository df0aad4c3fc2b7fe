"""What the status of a Framework says about its tasks. Where it says nothing, a task may be running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fcompile.model.values import mapping, sequence, text

COMPLETED = "Completed"


def may_run(status: Any, role: str, first: int, end: int) -> bool:
    """Return whether one of the role's tasks from `first` up to (not including) `end` may have a running Pod."""
    tasks = _tasks(status, role)
    if tasks is None or len(tasks) < end:
        return True
    return any(text(task, "state") != COMPLETED for task in tasks[first:end])


def any_may_run(status: Any) -> bool:
    """Return whether any task may have a running Pod."""
    known = by_role(status)
    return not known or any(text(task, "state") != COMPLETED for of_role in known.values() for task in of_role)


def have_completed(status: Any, counts: Mapping[str, int]) -> bool:
    """Return whether all tasks of these roles have completed, and it is known that they have.

    :param counts: by role, how many of its tasks count.
    """
    known = by_role(status)
    wanted = [known.get(role, [])[:count] for role, count in counts.items()]
    return sum(map(len, wanted)) == sum(counts.values()) and all(text(task, "state") == COMPLETED for of in wanted for task in of)


def ended(status: Any, role: str, failed: bool) -> int:
    """Count the role's tasks of which an attempt has failed, or succeeded, and perhaps is retried."""
    return sum(
        bool(mapping(mapping(task, "attemptStatus"), "completionStatus")) and _has_failed(task) is failed
        for task in by_role(status).get(role, [])
    )


def completed(status: Any, role: str, failed: bool) -> int | None:
    """Count the role's tasks that have failed, or succeeded, for good. None when the status does not tell."""
    tasks = _tasks(status, role)
    if tasks is None:
        return None
    return sum(text(task, "state") == COMPLETED and _has_failed(task) is failed for task in tasks)


def _has_failed(task: Any) -> bool:
    completion = mapping(mapping(task, "attemptStatus"), "completionStatus")
    return text(mapping(completion, "type"), "name") == "Failed"


def _tasks(status: Any, role: str) -> list[Any] | None:
    """Return the statuses of the role's tasks in the order of their indices, or None."""
    return by_role(status).get(role) or None


def by_role(status: Any) -> dict[str | None, list[Any]]:
    """Return the statuses of all tasks in the order of their indices, by their roles."""
    return {text(role, "name"): sequence(role, "taskStatuses") for role in sequence(mapping(status, "attemptStatus"), "taskRoleStatuses")}
