"""The background work of one Framework."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fcontroller.mailbox import Broken, Mailbox

T = TypeVar("T")


class Background:
    """Starts work, and tells the mailbox if it fails.

    It does not refer to the reconciler, which owns it: that would be a reference cycle, and such are only freed once an hour.
    """

    def __init__(self) -> None:
        self.mailbox: Mailbox
        """The reconciler's present one."""
        self.under_way: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self.under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self.under_way.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.mailbox.put(Broken(error))
