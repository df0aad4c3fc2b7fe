"""Says of one Framework why Pods of it do not start. Looks from time to time: there may be thousands, and the reasons may change often."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from fcontroller.decide.conditions import set_started
from fcontroller.decide.context import Key
from fcontroller.decide.observed import Pod
from fcontroller.decide.status import Status
from fcontroller.decide.waiting import may_wait, waiting
from fcontroller.mailbox import Due, Mailbox

_EVERY = 20.0
"""Seconds between two looks."""
_REASON_STAYS, _MESSAGE_STAYS = 60.0, 300.0
"""Seconds for which what was said stays as it is while it is true of some Pods: each change is a write of the status. The first is also for
how long none must wait while other tasks still start: in a crowd Pods come in batches, and of each batch some wait for a while."""


class Starting:
    """Sets the condition for Pods that wait."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._next: asyncio.TimerHandle | None = None
        self._reason, self._said = "", float("-inf")
        """What was said last, and when, by the clock of the loop."""
        self._waited = float("-inf")
        """When a Pod was last seen to wait."""

    def say(self, status: Status, pods: Mapping[Key, Pod], generation: int, now: float) -> None:
        """Set the condition if it is time to look, or nothing waits any more."""
        if not may_wait(status):
            self.stop()
            return set_started(status, "", "", generation, now)
        if self._next is not None:
            return None
        loop = asyncio.get_running_loop()
        self._next = loop.call_later(_EVERY, self._look)
        reason, message = waiting(status, pods, now)
        if reason:
            self._waited = loop.time()
        said_until = self._said + (_MESSAGE_STAYS if reason == self._reason else _REASON_STAYS) if reason else self._waited + _REASON_STAYS
        if loop.time() < said_until:
            return None
        self._reason, self._said = reason, loop.time() if reason else float("-inf")
        return set_started(status, reason, message, generation, now)

    def stop(self) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()
        self._next, self._reason, self._said, self._waited = None, "", float("-inf"), float("-inf")

    def _look(self) -> None:
        self._next = None
        self._mailbox.put(Due(None))
