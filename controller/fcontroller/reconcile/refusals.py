"""How long to wait until a Pod is asked for again that the API server refused, so that its task has failed; or a ConfigMap after another.

The retry policy may want that for ever and at once, and no Pod that runs takes any time. With a priority class that is not there, a
Framework of 200 KB made five attempts a second, and filled etcd with six megabytes a second. The first waits are too short to be felt.
It made as many where something in the cluster deletes each ConfigMap as soon as it is there, as a tool that prunes what it does not know.
"""

from __future__ import annotations

import asyncio

from fcontroller.act.requests import TRANSITORY
from fcontroller.act.retry import backoff
from fcontroller.decide import actions
from fcontroller.decide.codes import CONFIG_MAP_DELETED_BY_OTHERS, POD_CREATION_PERMANENT, POD_CREATION_UNKNOWN
from fcontroller.decide.states import COMPLETED
from fcontroller.decide.status import Attempt, Key, Status
from fcontroller.mailbox import Performed

_REFUSED = (POD_CREATION_PERMANENT.code, POD_CREATION_UNKNOWN.code)
_NEVER = float("-inf")
_SHORT = 60.0
"""Seconds in which an attempt is over that counts as one of several whose ConfigMap others delete at once."""


class Refusals:
    """Counts refusals of one Framework, one after the other. Times are by the clock of the loop."""

    def __init__(self) -> None:
        self._why: dict[str, tuple[int, str]] = {}
        """By role, how often its Pods were refused, one after the other and in whatever attempts, and why the last time."""
        self.forget()

    def __len__(self) -> int:
        """Return how many tasks and roles there is something to say of."""
        return len(self._tasks) + len(self._why)

    def forget(self) -> None:
        """Wait for nothing, as after an edit or a restart: somebody may have mended what was wrong."""
        self._tasks: dict[Key, tuple[int, float]] = {}
        """Of the tasks of this attempt, how often the Pod was refused, and when to ask for it again."""
        self._attempts, self._next = 0, _NEVER
        """How many attempts had such a Pod, and when the next one may begin."""
        self._deleted, self._began = 0, _NEVER
        """Of how many attempts, one after the other, others have soon deleted the ConfigMap, and when the last attempt could begin."""

    def note(self, performed: Performed, key: Key, status: Status) -> None:
        """Take in the result of the creation of a Pod, once it was applied to the status."""
        task = status.task(key)
        if performed.result is None or task is None or task.attempt is not performed.decided.attempt:
            return
        completion = task.attempt.completion or {}
        if completion.get("code") in _REFUSED:
            self._why[key[0]] = self._why.get(key[0], (0, ""))[0] + 1, str(completion.get("diagnostics"))
            times = self._tasks.get(key, (0, _NEVER))[0] + 1
            self._tasks[key] = times, asyncio.get_running_loop().time() + backoff(times)
        else:
            self._tasks.pop(key, None)
            self._why.pop(key[0], None)

    def begin_attempt(self, last: Attempt | None) -> None:
        """Take in that another attempt is to begin after the last one that is known."""
        now = asyncio.get_running_loop().time()
        code = (last.completion or {}).get("code") if last else None
        deleted = code == CONFIG_MAP_DELETED_BY_OTHERS.code and now < self._began + _SHORT
        self._deleted = self._deleted + 1 if deleted else 0
        self._attempts = self._attempts + 1 if self._tasks else 0
        self._next = self._began = now + backoff(max(self._attempts, self._deleted))
        self._tasks.clear()

    def not_before(self, action: actions.Action) -> float:
        """Return when an action may begin."""
        if isinstance(action, actions.CreateConfigMap):
            return self._next
        return self._tasks.get(action.key, (0, _NEVER))[1] if isinstance(action, actions.CreatePod) else _NEVER

    def why(self, status: Status) -> dict[str, str]:
        """Return why Pods are refused again and again that are asked for again, by role; and forget all of roles that are gone."""
        if status.state == COMPLETED:
            return {}
        if status.roles:  # Between two attempts there are none.
            self._why = {role: why for role, why in self._why.items() if status.role(role) is not None}
        asked = {key[0] for key in self._tasks if (task := status.task(key)) is not None and task.state != COMPLETED}
        lasting = {role: why for role, (times, why) in self._why.items() if times >= TRANSITORY}
        return lasting if self._attempts >= TRANSITORY else {role: why for role, why in lasting.items() if role in asked}
