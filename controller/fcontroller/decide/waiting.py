"""Why Pods of a Framework do not start, in a few words for thousands of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from fcontroller.decide.conditions import some
from fcontroller.decide.observed import CREATING, INITIALIZING, PENDING, Pod, Wait
from fcontroller.decide.states import PREPARING, RUNNING
from fcontroller.decide.status import Key, Role, Status, Task

_WAITS_FROM: Final = 10
"""Seconds after which a Pod that has not started is said to wait."""
_RANKS: Final = {"Unschedulable": 1, "SchedulingGated": 1, PENDING: 2, CREATING: 3, INITIALIZING: 3}
"""Which reason is told first. 0, of all others, is a failure of the node's: it may be what the Pods of all other tasks wait for."""


def may_wait(status: Status) -> bool:
    """Return whether any task's Pod may be waiting. It costs nothing."""
    known = sum(role.running + role.completed + role.deletion_pending for role in status.roles)
    return status.state in (PREPARING, RUNNING) and known < status.task_number


def waiting(status: Status, pods: Mapping[Key, Pod], now: float) -> tuple[str, str]:
    """Return the reason for which Pods of a Framework wait and a message that names the others too; both are empty if none waits for long.

    :param now: seconds since 1970.
    """
    found = list(_waiting(status, pods, now)) if may_wait(status) else []
    if not found:
        return "", ""
    counts = Counter(wait.reason for _, _, wait in found)
    reasons = sorted(counts, key=lambda reason: (_RANKS.get(reason, 0), -counts[reason], reason))
    roles = Counter(role.name for role, _, _ in found)
    wanted = sum(len(role.tasks) - role.deletion_pending for role in status.roles)
    which = some([f"{count:,} of role {name}" for name, count in roles.items()], ", ")
    said = some([_example(reason, counts[reason], found) for reason in reasons])
    return reasons[0], f"{len(found):,} of {wanted:,} tasks wait for their Pods to start ({which}). {said}"


def _waiting(status: Status, pods: Mapping[Key, Pod], now: float) -> Iterator[tuple[Role, Task, Wait]]:
    for role, task in status.tasks():
        # A time to come is that of a clock that was ahead.
        if task.state == PREPARING and not task.deletion_pending and not 0 <= now - task.transition_time < _WAITS_FROM:
            pod = pods.get((role.name, task.index))
            if pod is not None and pod.waits is not None and pod.uid == task.attempt.object_uid:
                yield role, task, pod.waits


def _example(reason: str, count: int, found: list[tuple[Role, Task, Wait]]) -> str:
    task, wait = next((task, wait) for _, task, wait in found if wait.reason == reason)
    return f"{reason}, {f'{count:,} Pods, as' if count > 1 else 'Pod'} `{task.attempt.object_name}`: {wait.message}"
