"""What attempts, retries and completions must come to, counted the simple way: from what happened to Pods, one after the other.

It shares nothing with the controller but the rules in users' manuals.
"""

from __future__ import annotations

from typing import NamedTuple

SUCCEEDED, TRANSIENT, CONFLICT, PERMANENT, DELETED, ENDED = 0, 200, 201, 210, -101, -220


class Policy(NamedTuple):
    """Of a retry."""

    fancy: bool
    most: int


class RoleRules(NamedTuple):
    """How a role is to behave."""

    name: str
    number: int
    retry: Policy
    min_failed: int
    min_succeeded: int


def again(policy: Policy, counted: int, code: int) -> tuple[bool, bool]:
    """Whether an attempt that ended so is followed by another, and whether that one counts."""
    if policy.fancy and code in (TRANSIENT, CONFLICT, DELETED):
        return True, False
    if policy.fancy and code == PERMANENT:
        return False, False
    if policy.most == -2 or (code != SUCCEEDED and policy.most == -1):
        return True, True
    return code != SUCCEEDED and counted < policy.most, True


class TaskAccount:
    """One task of an attempt of the Framework."""

    def __init__(self) -> None:
        self.total = self.counted = 0
        self.code: int | None = None
        """How it completed; None: it lives."""


class Accounts:
    """A Framework's."""

    def __init__(self, roles: list[RoleRules], retry: Policy) -> None:
        self.roles, self.retry = roles, retry
        self.total = self.counted = 0
        self.code: int | None = None
        self.tasks: dict[tuple[str, int], TaskAccount] = {}
        self._begin()

    def _begin(self) -> None:
        self.tasks = {(role.name, index): TaskAccount() for role in self.roles for index in range(role.number)}

    def living(self) -> list[tuple[str, int]]:
        """The tasks that have a Pod."""
        return [] if self.code is not None else [key for key, task in self.tasks.items() if task.code is None]

    def ends(self, key: tuple[str, int], code: int) -> None:
        """The Pod of a task has ended."""
        role, task = next(role for role in self.roles if role.name == key[0]), self.tasks[key]
        more, counts = again(role.retry, task.counted, code)
        if more:
            task.total += 1
            task.counted += counts
            return
        task.code = code
        own = [other.code for (name, _), other in self.tasks.items() if name == role.name]
        failed = sum(done not in (None, SUCCEEDED) for done in own)
        succeeded = own.count(SUCCEEDED)
        if 1 <= role.min_failed <= failed or 1 <= role.min_succeeded <= succeeded:
            self._complete(code)
        elif all(other.code is not None for other in self.tasks.values()):
            self._complete(SUCCEEDED)

    def _complete(self, code: int) -> None:
        more, counts = again(self.retry, self.counted, code)
        if more:
            self.total += 1
            self.counted += counts
            self._begin()
            return
        self.code = code
        for task in self.tasks.values():
            if task.code is None:
                task.code = ENDED
