"""The inputs of one reconciliation of a Framework, and what it decides."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from fcompile.model import names
from fcontroller.decide.actions import CREATIONS, DELETIONS, Action
from fcontroller.decide.codes import DEADLINE_EXCEEDED, STOPPED, Json
from fcontroller.decide.observed import ConfigMap, FinishedPod, Pod
from fcontroller.decide.spec import Spec
from fcontroller.decide.status import Ended, Key, Life, Role, Status, Task
from fcontroller.decide.status_json import task_to_json, to_json

FRAMEWORK_RETRY, FRAMEWORK_DELETION = "OnFrameworkRetry", "OnFrameworkDeletion"
TASK_RETRY, TASK_DELETION = "OnTaskRetry", "OnTaskDeletion"
POD_DELETION = "OnPodDeletion"
SNAPSHOTS = (FRAMEWORK_RETRY, FRAMEWORK_DELETION, TASK_RETRY, TASK_DELETION, POD_DELETION)
"""When an object is logged as it is, for the history."""


CLOCKS_DIFFER = 60
"""Seconds by which our clock and the API server's may differ, and neither be wrong."""
_LOOK_AGAIN = 60
"""Seconds after which the clocks are looked at again while one of them is wrong."""


class Settings(NamedTuple):
    """The controller's configuration, so far as decisions depend on it. Times are in seconds."""

    classify: Callable[[FinishedPod], Json]
    """The completion status of a Pod that has finished, by the configuration's `podFailureSpec`."""
    completed_retention: int = 30 * 24 * 3600
    """How long a Framework is kept after it has completed."""
    tracking_label: str = ""
    """A label that says, too, that a GitOps tool tracks a Framework; empty: none does."""
    cache_timeout: int = 300
    """How long to wait until an object that was created appears in the cache."""
    conflict_delay: tuple[int, int] = (60, 900)
    """Bounds of the random time before a Framework is tried again that failed for a transient conflict."""
    snapshots: frozenset[str] = frozenset()
    """Those of `SNAPSHOTS` that are wanted."""


def deadline(spec: Spec, status: Status) -> float | None:
    """Return when the Framework is to end at the latest, in seconds since 1970; None: no deadline counts yet."""
    return None if spec.active_deadline is None or status.active_since is None else status.active_since + spec.active_deadline


def sure_time(now: float, server_now: float | None) -> float:
    """Return the earlier of our time and the API server's, for what cannot be taken back: one clock may have jumped ahead."""
    return now if server_now is None else min(now, server_now)


@dataclass(kw_only=True)
class ReconcileContext:
    """The inputs of a decision, and its results: changes of `status`, `actions`, and `requeue_after`."""

    name: str
    uid: str
    generation: int
    """The Framework's, for conditions."""
    spec: Spec
    status: Status
    is_new: bool
    """Whether the status says nothing yet."""
    now: float
    server_now: float | None
    """The API server's time; None: it is not known yet."""
    new_uid: Callable[[], str]
    random_delay: Callable[[int, int], int]
    settings: Settings
    config_map: ConfigMap | None
    pods: Mapping[Key, Pod]
    deleting: bool
    """Whether the Framework itself is being deleted."""
    paused: bool
    """Whether nothing may be created, retried, ended or deleted: only what happens to the Pods is followed."""
    restart: str
    """The value of the restart annotation."""
    busy: Container[Key | None]
    """Tasks for which an action is under way, and None for the Framework: nothing is decided before its result is here."""
    creating: bool
    """Whether Pods have been asked for, and no answer has come yet."""
    may_begin: bool
    """Whether an attempt of the Framework as it is may begin: it was reviewed, and the status names its intent."""
    may_create: bool
    """Whether it is known what Pods are made from, and that is in force already."""
    may_recognize: bool
    """Whether it is known what Pods were made from that are there: an edit that is not in force yet changes nothing about them."""
    keys: Iterable[Key] | None = None
    """The tasks that are looked at, as something may have happened to them; None: all of them."""
    actions: list[Action] = field(default_factory=list)
    looked_at_tasks: bool = False
    """Whether it came to the tasks at all; if not, they are still to be looked at."""
    requeue_after: list[tuple[float, Key | None]] = field(default_factory=list)
    """When to look again, at a task or at the Framework, though nothing may have happened."""

    @property
    def sure_now(self) -> float:
        return sure_time(self.now, self.server_now)

    @property
    def late_now(self) -> float:
        """Return the later of our time and the API server's: what counts from it does not come too early by either."""
        return self.now if self.server_now is None else max(self.now, self.server_now)

    def due(self, since: float, seconds: int, key: Key | None = None, *, surely: bool = False) -> bool:
        """Return whether `seconds` have passed since a time; if not, have the key looked at again when they have.

        :param surely: the consequence cannot be undone, so that the API server's clock must agree.
        """
        now, when = self.sure_now if surely else self.now, since + seconds
        if now >= when:
            return True
        # If our clock is ahead of the server's, the key would come back at once, again and again.
        again = when + self.now - now
        if surely and self.server_now is not None and abs(self.server_now - self.now) > CLOCKS_DIFFER:
            again = min(again, self.now + _LOOK_AGAIN)  # One of them is wrong, and may be put right.
        self.requeue_after.append((again, key))
        return False

    def due_after(self, life: Life, seconds: int, key: Key | None = None) -> bool:
        """Return whether a task, or the Framework, has been in its state for `seconds`; if not, have it looked at again when it has."""
        if life.transition_time > self.now:
            # The clock was ahead, perhaps that of a former leader: from now on it counts.
            life.transition_time = self.now
            self.status.touch()
        return self.due(life.transition_time, seconds, key)

    @cached_property
    def ending(self) -> Json | None:
        """Return how the Framework is to end now, whatever its tasks do; None: it is not."""
        if self.spec.stops:
            return STOPPED.ended("The Framework is to be stopped")
        if not self.is_late or self.paused:
            return None
        seconds = self.spec.active_deadline
        return DEADLINE_EXCEEDED.ended(f"The Framework may take {seconds} s from when its first attempt began (activeDeadlineSeconds)")

    @cached_property
    def is_late(self) -> bool:
        """Return whether the deadline has passed; if it has not, have the Framework looked at again when it has."""
        end = deadline(self.spec, self.status)
        return end is not None and self.due(end, 0, surely=True)

    @property
    def restart_wanted(self) -> bool:
        """Return whether a restart is asked for that was neither carried out nor there already when the attempt began."""
        return self.restart not in ("", self.status.restart)

    def note_restart(self) -> None:
        """Note that the requested restart is done."""
        if self.restart_wanted:
            self.status.restart = self.restart
            self.status.touch()

    def hold(self) -> None:
        """Drop the actions that a pause forbids. Pods that hold up the Framework's own deletion may go."""
        if self.paused:
            held = CREATIONS if self.deleting else (*CREATIONS, *DELETIONS)
            self.actions = [action for action in self.actions if not isinstance(action, held)]

    def keep(self, trigger: str, role: Role | None = None, task: Task | None = None) -> None:
        """Keep a task, or the Framework, for a snapshot, if snapshots of it are wanted."""
        if trigger in self.settings.snapshots:
            value = to_json(self.status) if task is None else task_to_json(task)
            self.status.ended.append(Ended(trigger, value, self.status.attempt, role))

    def new_task(self, role: str, index: int) -> Task:
        """Return a new task, for which nothing has happened yet."""
        task = Task(index, self.new_uid(), names.pod_name(self.name, role, index), self.now)
        task.changed = self.status.touch()
        return task

    def new_roles(self, before: int) -> list[Role]:
        """Return all roles with new tasks; none where they would be too many.

        :param before: how many tasks there were.
        """
        roles = self.spec.roles.values() if self.spec.may_have_all(before) else ()
        return [self.new_role(role.name, role.task_number) for role in roles]

    def new_role(self, name: str, count: int) -> Role:
        """Return a new role with `count` new tasks."""
        role = Role(name, self.new_uid())
        for index in range(count):
            role.add(self.new_task(name, index))
        return role
