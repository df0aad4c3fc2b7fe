"""The tasks of one Framework that are to be looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from fcontroller.decide.status import Key, Status

_AT_ONCE = 1000
"""Tasks that are looked at in one reconciliation: a thousand that have failed take a twentieth of a second."""


class DirtyTasks:
    """Collects tasks, and hands them out not too many at once."""

    def __init__(self) -> None:
        self._keys: set[Key] = set()
        self._all = True
        """Whether it is every task, and the policies."""
        self._policies = False

    def __bool__(self) -> bool:
        return self._all or bool(self._keys)

    def add(self, key: Key | None) -> None:
        """Add a task, or (None) nothing: the Framework itself is looked at in any case."""
        if key is not None:
            self._keys.add(key)

    def add_all(self) -> None:
        self._all = True

    def take(self, status: Status | None, pods: Iterable[Key]) -> tuple[Collection[Key] | None, bool]:
        """Take out the tasks to look at now; None: all of them. Return too whether to apply the policies to all tasks."""
        if self._all and (status is None or status.task_number <= _AT_ONCE):
            self._keys.clear()
            self._all = self._policies = False
            return None, True
        if self._all and status is not None:
            self._keys.update(role.key(task) for role, task in status.tasks())
            self._keys.update(pods)
            self._all, self._policies = False, True
        policies, self._policies = self._policies, False
        # A set that was large keeps its size, and it takes long to find the few keys left in it: so there is a new one.
        taken = self._keys if len(self._keys) <= _AT_ONCE else set(islice(self._keys, _AT_ONCE))
        self._keys = self._keys - taken
        return taken, policies

    def put_back(self, keys: Collection[Key] | None, policies: bool) -> None:
        """Put back tasks that were not looked at."""
        if keys is None:
            self._all = True
        else:
            self._keys.update(keys)
            self._policies = self._policies or policies
