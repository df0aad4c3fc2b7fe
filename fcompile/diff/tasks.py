"""What the status of a Framework says about its tasks. Where it says nothing, a task may be running.

A status is read once, by `by_role`: it can have as many roles as there is room for, and so can the spec that is held against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fcompile.model.values import mapping, sequence, text

COMPLETED = "Completed"


Known = Mapping[str | None, Sequence[Any]]
"""The statuses of all tasks in the order of their indices, by their roles. A role of which nothing is known is left out, or has none."""


def may_run(known: Known, role: str, first: int, end: int) -> bool:
    """Return whether one of the role's tasks from `first` up to (not including) `end` may have a running Pod."""
    tasks = known.get(role)
    if not tasks or len(tasks) < end:
        return True
    return any(text(task, "state") != COMPLETED for task in tasks[first:end])


def any_may_run(known: Known) -> bool:
    """Return whether any task may have a running Pod."""
    return not known or any(text(task, "state") != COMPLETED for of_role in known.values() for task in of_role)


def ended(known: Known, role: str, failed: bool) -> int:
    """Count the role's tasks of which an attempt has failed, or succeeded, and perhaps is retried."""
    return sum(
        bool(mapping(mapping(task, "attemptStatus"), "completionStatus")) and _has_failed(task) is failed for task in known.get(role, ())
    )


def completed(known: Known, role: str, failed: bool) -> int | None:
    """Count the role's tasks that have failed, or succeeded, for good. None when the status does not tell."""
    tasks = known.get(role)
    if not tasks:
        return None
    return sum(text(task, "state") == COMPLETED and _has_failed(task) is failed for task in tasks)


def _has_failed(task: Any) -> bool:
    completion = mapping(mapping(task, "attemptStatus"), "completionStatus")
    return text(mapping(completion, "type"), "name") == "Failed"


def by_role(status: Any) -> dict[str | None, list[Any]]:
    """Return the statuses of all tasks in the order of their indices, by their roles."""
    return {text(role, "name"): sequence(role, "taskStatuses") for role in sequence(mapping(status, "attemptStatus"), "taskRoleStatuses")}
