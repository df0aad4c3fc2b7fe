"""Storing the status: at once where something waits for it, else a bit later together with what comes until then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from fcontroller.act import actions
from fcontroller.act.actions import Failed, backoff
from fcontroller.api import Api, Json, Unreachable
from fcontroller.decide.status import Status
from fcontroller.decide.status_json import to_text

_SOON, _LATER = 0.25, 1.0
"""Seconds that changes are collected before they are stored: of states, and of everything else."""
_SHARE = 10
"""A large status takes its time: of so much time, one part at most goes into encoding it."""


class Saver:
    """Stores one Framework's status. No two writes of it at once."""

    def __init__(self, api: Api, start: Callable[[Coroutine[Any, Any, None]], object], framework: Callable[[], Json]) -> None:
        """:param start: runs a write. :param framework: the Framework as it was last seen."""
        self._api, self._start, self._framework = api, start, framework
        self._due: asyncio.TimerHandle | None = None
        self._writing = self._stopped = False
        self._took = 0.0
        """Seconds that encoding the last status took."""
        self.writes = 0

    def see(self, status: Status, stored: Callable[[Json | None], None]) -> None:
        """See to it that the status is stored when it has changed.

        :param stored: told the Framework as it is then; None: it is gone.
        """
        if status.revision <= status.stored or self._writing or self._stopped:
            return
        loop = asyncio.get_running_loop()
        urgent = status.settled > status.stored or status.changed > status.stored
        soon = max(_SOON, _SHARE * self._took)
        due = loop.time() + (0.0 if urgent else soon if status.moved > status.stored else max(_LATER, soon))
        if self._due is None or due < self._due.when():
            if self._due is not None:
                self._due.cancel()
            self._due = loop.call_at(due, self._begin, status, stored)

    def stop(self) -> None:
        """Begin no other write."""
        self._stopped = True
        if self._due is not None:
            self._due.cancel()

    def _begin(self, status: Status, stored: Callable[[Json | None], None]) -> None:
        self._due, self._writing = None, True
        self._start(self._write(status, stored))

    async def _write(self, status: Status, stored: Callable[[Json | None], None]) -> None:
        failures = 0
        while not self._stopped:
            revision, began = status.revision, time.perf_counter()
            text = to_text(status)
            self._took = time.perf_counter() - began
            try:
                framework = await actions.write_status(self._api, self._framework(), text)
                break
            except (Failed, Unreachable):
                failures += 1
                await asyncio.sleep(backoff(failures))
        else:
            return
        self._writing = False
        if framework is not None:
            self.writes += 1
            status.stored = revision
        stored(framework)
