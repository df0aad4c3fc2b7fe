"""Frameworks that have come to their end: of each only what is needed to delete it in time, and to count it."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections.abc import Mapping
from typing import Any, NamedTuple

from fcontroller.act import requests
from fcontroller.act.requests import Refused
from fcontroller.act.retry import backoff
from fcontroller.api import Json, Unreachable, path_of
from fcontroller.decide.spec import is_paused
from fcontroller.decide.status import from_time
from fcontroller.dependencies import Dependencies
from fcontroller.observe.reflector import Name

_LOOK_AGAIN = 60.0
"""Seconds after which the clock is looked at again at the latest: it may have been put right."""


class Kept(NamedTuple):
    """A Framework that is over."""

    uid: str
    tasks: int
    succeeded: bool
    paused: bool
    """Whether it is not to be deleted."""


class Retention:
    """Deletes Frameworks some time after their end."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self.kept: dict[Name, Kept] = {}
        self._due: list[tuple[float, Name, str]] = []
        """When to delete which Framework of which uid, in seconds since 1970; a heap."""
        self._sooner = asyncio.Event()

    def keep(self, framework: Json, status: Mapping[str, Any]) -> None:
        """Take in a Framework that is over, with its status. One that is being deleted goes by itself."""
        metadata = framework["metadata"]
        name, uid = (metadata["namespace"], metadata["name"]), metadata["uid"]
        completion = (status.get("attemptStatus") or {}).get("completionStatus") or {}
        known = name in self.kept and self.kept[name].uid == uid
        self.kept[name] = Kept(uid, (status.get("taskCounts") or {}).get("total", 0), completion.get("code") == 0, is_paused(framework))
        if "deletionTimestamp" not in metadata and not known:
            since = from_time(status.get("transitionTime")) or self._dependencies.now()
            self._push(since + self._dependencies.settings.completed_retention, name, uid)

    def drop(self, name: Name) -> None:
        """Forget a Framework that is gone, or is not over any more."""
        self.kept.pop(name, None)

    def retain(self, present: set[Name]) -> None:
        """Keep no others than these."""
        for name in self.kept.keys() - present:
            del self.kept[name]

    async def run(self) -> None:
        """Delete what is due until cancelled. It is due when our clock says so, and the API server's too."""
        failures = 0
        while True:
            self._sooner.clear()
            now = self._dependencies.sure_now()
            while self._due and self._due[0][0] <= now:
                _, name, uid = heapq.heappop(self._due)
                kept = self.kept.get(name)
                if kept is not None and kept.uid == uid and not kept.paused and not await self._delete(name, uid):
                    failures += 1
                    self._push(now + backoff(failures, 1), name, uid)
                    break
            else:
                failures = 0
            wait = min(self._due[0][0] - now if self._due else _LOOK_AGAIN, _LOOK_AGAIN) + 0.01
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._sooner.wait()

    def _push(self, when: float, name: Name, uid: str) -> None:
        heapq.heappush(self._due, (when, name, uid))
        if self._due[0][1:] == (name, uid):
            self._sooner.set()

    async def _delete(self, name: Name, uid: str) -> bool:
        try:
            await requests.delete(self._dependencies.api, path_of("frameworks", *name), uid, propagation="Foreground")
        except (Refused, Unreachable):
            return False
        return True
