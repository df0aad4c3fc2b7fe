"""Says of one Framework why Pods of it do not start. Looks from time to time: there may be thousands, and the reasons may change often."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from fcontroller.decide.conditions import set_started
from fcontroller.decide.observed import Pod
from fcontroller.decide.status import Key, Status
from fcontroller.decide.waiting import may_wait, waiting
from fcontroller.reconcile.alarms import Alarms

_EVERY = 20.0
"""Seconds between two looks."""
_REASON_STAYS, _MESSAGE_STAYS = 60.0, 300.0
"""Seconds for which what was said stays as it is while it is true of some Pods: each change is a write of the status. The first is also for
how long none must wait while other tasks still start: in a crowd Pods come in batches, and of each batch some wait for a while."""


class Starting:
    """Sets the condition for Pods that wait."""

    def __init__(self, alarms: Alarms) -> None:
        self._alarms = alarms
        self._begin()

    def _begin(self) -> None:
        self._next = float("-inf")
        """When to look again. This and the other times are by the clock of the loop."""
        self._reason, self._said = "", float("-inf")
        """What was said last, and when."""
        self._waited = float("-inf")
        """When a Pod was last seen to wait."""

    def say(self, status: Status, pods: Mapping[Key, Pod], generation: int, now: float) -> None:
        """Set the condition if it is time to look, or nothing waits any more."""
        if not may_wait(status):
            self._begin()
            return set_started(status, "", "", generation, now)
        time = asyncio.get_running_loop().time()
        if is_due := time >= self._next:
            self._next = time + _EVERY
        self._alarms.set(None, self._next)
        if not is_due:
            return None
        reason, message = waiting(status, pods, now)
        if reason:
            self._waited = time
        said_until = self._said + (_MESSAGE_STAYS if reason == self._reason else _REASON_STAYS) if reason else self._waited + _REASON_STAYS
        if time < said_until:
            return None
        self._reason, self._said = reason, time if reason else float("-inf")
        return set_started(status, reason, message, generation, now)
