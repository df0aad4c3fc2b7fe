"""Says of one Framework what it waits for: what the API server refuses or does not answer, what is not gone, and what does not start."""

from __future__ import annotations

import asyncio

from fcompile.model.framework import MAX_TASKS
from fcontroller.act.retry import SLOW
from fcontroller.api import Json
from fcontroller.decide import actions
from fcontroller.decide.conditions import (
    INTENT_STORED,
    MESSAGES_KEPT,
    OBJECTS_DELETED,
    PODS_CREATED,
    SCALE_ACCEPTED,
    SERVICES_MADE,
    has_had_problems,
    set_condition,
    set_not_needed,
    set_pods_created,
    set_problem,
    set_waits_to_begin,
    some,
    waits_to_begin,
)
from fcontroller.decide.spec import Spec
from fcontroller.decide.states import COMPLETED, CREATED, CREATION_PENDING, DELETING, ENDED
from fcontroller.decide.status import Key, Status
from fcontroller.dependencies import Dependencies
from fcontroller.observe.cache import Owned, pod_name
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.starting import Starting
from fcontroller.reconcile.workers import Workers

_ACCEPTED = ("Accepted", "The Framework may have as many tasks as it wants")
_TOO_MANY = f"a Framework has {MAX_TASKS:,} at most, and none is added to it until then"
_CUT = "Failures say more than a status can hold: the first ones are kept whole, the others are cut. Their Pods' logs have all of it"
_WHOLE = ("Whole", "The messages of failures are whole")
_DELETIONS = (*actions.DELETIONS, actions.AdoptPod)
_NOT_NEEDED = ("NotNeeded", "No attempt runs")
_GONE = ("Gone", "What was to be deleted is gone")
_OVERDUE, _LOOK_AT_DELETIONS = 20.0, 10.0
"""Seconds after which a deleted object that still exists is reported as held, and between two checks of that."""

_ASKED = SLOW + 1
"""Seconds after the beginning, or after nothing was requested, in which whatever is needed is requested, and refused or not answered."""


class Waits:
    """Sets the conditions for what a Framework waits for."""

    def __init__(self, dependencies: Dependencies, workers: Workers, owned: Owned, alarms: Alarms) -> None:
        self._dependencies, self._workers, self._owned, self._alarms = dependencies, workers, owned, alarms
        self._starting = Starting(alarms)
        self._said = float("-inf")
        """When the conditions for what is refused were last set, by the clock of the loop."""
        self._next_look = float("-inf")
        """When to look at what is being deleted, by the clock of the loop."""
        self._denied: list[str] | None = None
        """Why deletions fail, or failed before a pause; None: none was requested yet."""
        self._held: list[str] = []
        """What does not go, and why."""
        self._deletions_wait = False
        """Whether it was said that Pods wait to be told to go. In an Event alone: nothing is wrong, and a status would wait with them."""
        self._goes: dict[Key | None, float]
        """Since when each Pod, and the ConfigMap (None) without Pods, is being deleted, by the clock of the loop."""
        self._asked: float
        """When it is known what the API server says. What the controller before has said of that stays until then."""
        self._older: set[Key | None] | None
        """Of these, those that were being deleted when counting began; None: that was not looked at yet."""
        self.begin()
        self._asked = float("-inf")  # Unless it begins with what another one has said.
        self._paused = self._holds = False

    def begin(self) -> None:
        """Count from now on how long each Pod that is being deleted takes."""
        now = asyncio.get_running_loop().time()
        self._goes = {key: now for key, pod in self._owned.pods.items() if pod.deletion_start is not None}
        self._older, self._asked = None, now + _ASKED

    def note_deletion(self, key: Key | None, deleted: bool) -> None:
        """Note since when a Pod, or (None) the ConfigMap, is being deleted."""
        if deleted:
            self._goes.setdefault(key, asyncio.get_running_loop().time())
        elif self._goes.pop(key, None) is not None and self._older:
            self._older.discard(key)

    def say(self, status: Status, framework: Json, spec: Spec, paused: bool, may_create: bool) -> None:
        """Set the conditions, and write Events for what people are to look at.

        :param may_create: whether Pods that are missing are asked for.
        """
        loop = asyncio.get_running_loop()
        if self._workers.has_many_failures and loop.time() < self._said + 1:
            return  # Each failure is tried again, and has the conditions looked at.
        self._said = loop.time()
        generation, now, warn = framework["metadata"]["generation"], self._dependencies.now(), self._dependencies.report.warn
        workers, trouble = self._workers, self._workers.has_trouble  # Mostly there is none, and nothing to go through.
        holds = paused or (status.state in CREATED and not may_create)
        if self._holds and not holds:
            self._asked = loop.time() + _ASKED
        self._paused, self._holds = paused, holds
        over = status.state == COMPLETED  # What is said now stays.
        knows = over or loop.time() >= self._asked
        if not knows and has_had_problems(status):
            self._alarms.set(None, self._asked)
        if not paused:  # Otherwise nothing is requested, so that the absence of refusals means nothing.
            refused = [f"role {role}: {why}" for role, why in workers.refused(status).items()] if trouble else []
            queued = workers.queued if trouble else []
            if refused or queued or (knows and not holds) or status.state not in CREATED:
                set_pods_created(status, refused, queued, workers.await_turn, generation, now)
            # After the end all is gone, whatever a deletion is answered that is still under way.
            self._denied = workers.failing(status, *_DELETIONS) if trouble and not over else []
            self._say_queued(framework, workers.queued_deletions if trouble and not over else "")
        else:
            set_not_needed(status, PODS_CREATED, generation, now, "No Pod is made in a pause")
        held = [*(self._denied or ()), *self._overdue(status, framework)]
        # In a pause it is only said that what was to go has gone.
        may_say = not paused if held else over or (knows and not self._older and self._denied is not None)
        if may_say and set_problem(status, OBJECTS_DELETED, "Held" if held else "", some(held), _GONE, generation, now):
            warn(framework, "DeletionHeld", some(held))
        refused = [f"The attempt cannot begin: {why}" for why in workers.failing(status, actions.CreateConfigMap)] if trouble else []
        lost = "The ConfigMap has lost its label, and nothing but Stop is decided until it can have it again"
        refused += [f"{lost}: {why}" for why in workers.failing(status, actions.ConfirmConfigMapGone)] if trouble else []
        if refused:
            set_condition(status, INTENT_STORED, False, "Refused", refused[0], generation, now)
        elif workers.waits_to_begin:
            set_waits_to_begin(status, generation, now)
        elif waits_to_begin(status) and None in workers.busy:
            pass  # It is being asked for: soon it is stored, or refused.
        elif status.state not in CREATED and (knows or status.state in ENDED):
            set_not_needed(status, INTENT_STORED, generation, now)
        if status.state in ENDED:  # Whatever could not be made is not tried again.
            set_problem(status, SERVICES_MADE, "", "", _NOT_NEEDED, generation, now)
        self._starting.say(status, self._owned.pods, generation, now)
        reason = "" if spec.may_have_all(status.task_number) else "TooManyTasks"
        message = f"{spec.task_number:,} tasks are too many: {_TOO_MANY}" if reason else ""
        if set_problem(status, SCALE_ACCEPTED, reason, message, _ACCEPTED, generation, now):
            warn(framework, "TooManyTasks", message)
        if status.cut or status.state == CREATION_PENDING:
            set_problem(status, MESSAGES_KEPT, "Cut" if status.cut else "", _CUT, _WHOLE, generation, now)

    def _say_queued(self, framework: Json, why: str) -> None:
        """Write an Event when Pods have waited for long to be told to go: they may run on. One is enough until all of them are.

        :param why: empty: none has waited for long.
        """
        if why and not self._deletions_wait:
            self._dependencies.report.warn(framework, "DeletionsWait", f"Pods are to be deleted, and were not told so yet: {why}")
        self._deletions_wait = bool(why) or (self._deletions_wait and self._workers.deletes_pods)

    def _overdue(self, status: Status, framework: Json) -> list[str]:
        """Return what still exists long after it should be gone. Checked from time to time, since there may be no event."""
        pods = self._owned.pods
        found, uid = self._owned.config_map, framework["metadata"]["uid"]
        in_the_way = found is not None and found.controller == uid and found.deletion_start is not None and status.state == CREATION_PENDING
        # In a pause nobody asks whether one that is not shown is gone, or has only lost its label.
        may_be_there = not self._paused or (found is not None and found.uid == status.attempt.object_uid)
        self.note_deletion(None, in_the_way or (status.state == DELETING and not pods and may_be_there))
        if self._older is None:
            self._older = set(self._goes)
        now = asyncio.get_running_loop().time()
        is_due = now >= self._next_look
        if self._goes:
            self._next_look = now + _LOOK_AT_DELETIONS if is_due else self._next_look
            self._alarms.set(None, self._next_look)
        if not is_due and not self._held:
            return []
        ends = {key: since + (pods[key].grace if key in pods else 0) + _OVERDUE for key, since in self._goes.items()}
        late = [
            f"Pod `{pod_name(framework['metadata']['name'], key)}`" if key else f"ConfigMap `{status.attempt.object_name}`"
            for key, end in ends.items()
            if now > end
        ]
        self._held = [f"{name} is still there: a finalizer, a longer grace period, or the node of a Pod, holds it" for name in late]
        return self._held
