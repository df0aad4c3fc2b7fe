"""Stores the status: at once if an action waits for it, otherwise a little later, together with further changes.

Only the leader writes the status. But the last write of a former leader may arrive late, and a new leader may begin from an old list. So a
status only ever replaces a status that is known.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import zlib
from functools import partial

from fcompile.model.values import without_nulls
from fcontroller.act import requests
from fcontroller.act.dispatcher import Dispatcher, Priority
from fcontroller.act.requests import Refused
from fcontroller.act.retry import LONGEST, backoff
from fcontroller.api import Json, Unreachable, version_of
from fcontroller.breath import unhurried
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, CREATION_PENDING, CREATION_REQUESTED, DELETION_PENDING
from fcontroller.decide.status import Status
from fcontroller.decide.status_json import text_of
from fcontroller.mailbox import Mailbox, Start, StatusStored, StatusSuperseded
from fcontroller.report import Report

_AT_ONCE, _SOON, _LATER = 0.05, 0.25, 1.0
"""Seconds that changes are collected before they are stored: of the Framework's own state, of tasks, and of everything else. While tasks
change one after the other, and nothing waits for them, the second grows up to the third."""
_GATES = (CREATION_PENDING, CREATION_REQUESTED, DELETION_PENDING, ATTEMPT_COMPLETED)
"""States of a Framework that must be stored before anything else can happen."""
_SHARE = 50
"""Encoding a large status takes long: it may use at most one part in this many of the time."""
_PATIENCE = 10
"""A slow server is asked less often: writes that can wait do so for this many times the duration of the last write."""
_LONGEST, _LONGEST_CROWD, _LONGEST_COUNT = 3.0, 15.0, 60.0
"""Seconds for which they do so at most. The second: if only Pods wait for it whose deletion, or creation after a retry, would have to wait
for many others. The third: if only tasks have changed, and nothing waits for that. While a Framework starts in a namespace that has more
Pods to create than it may have under way, its writes wait for all of these seconds: a thousand Frameworks there wrote every few seconds,
and kept the API server from making their Pods."""
_LARGE = 256 * 1024
"""Bytes of a status that take milliseconds to pack."""
_ROUNDS = 4
"""Refusals in a row, by a server whose Framework is the known one, after which they are no race."""
_REMEMBERED = 8
"""Texts that were sent and never answered: any may have been stored."""


class Superseded(Exception):
    """The stored status is not the known one: the reconciler must begin anew with it. Or the Framework is gone."""

    def __init__(self, framework: Json | None) -> None:
        super().__init__()
        self.framework = framework


class StatusWriter:
    """Stores one Framework's status. No two writes of it at once."""

    def __init__(self, api: Dispatcher, report: Report, framework: Json, start: Start, mailbox: Mailbox) -> None:
        """:param framework: what the status was read from."""
        self._api, self._report, self._start, self._mailbox = api, report, start, mailbox
        self._namespace: str = framework["metadata"]["namespace"]
        self._known: Json
        """The Framework as it was when its status was known to be `_stored`."""
        self._stored: bytes
        """The status that is stored."""
        self._seen: Json | None
        """The Framework with its status, if it was seen to be newer than `_known`."""
        self.begin(framework)
        self._sent: list[bytes] = []
        self._due: asyncio.TimerHandle | None = None
        self._due_at = float("inf")
        """By the clock of the loop. A handle of uvloop's does not always know."""
        self._writing = False
        self._stopped = asyncio.Event()
        self._conflict: Refused | None = None
        """Why the Framework had to be read again, the last time."""
        self._spread = random.uniform(0.8, 1.2)
        """A thousand Frameworks that were created at the same time must not all write again at the same time."""
        self._took = 0.0
        """Seconds that encoding the last status took."""
        self._answered = 0.0
        """Seconds that the last write took in all."""
        self._pace = _SOON
        self._last = float("-inf")
        """When the last write began."""
        self.unsaved_since: float | None = None
        """Since when something is not stored, by the clock of the loop; None: all is."""

    def begin(self, framework: Json) -> None:
        """Begin with the status of this Framework."""
        self._known, self._stored, self._seen = remembered(framework), _packed(json.dumps(framework.get("status"))), None

    def seen_framework(self, framework: Json) -> None:
        """Note the Framework as the watch last showed it, if it is newer than the known one."""
        self._seen = framework if version_of(framework) > version_of(self._known) else None

    def see(self, status: Status) -> None:
        """Have the status stored if it has changed."""
        if status.revision <= status.stored:
            self.unsaved_since = None
            return
        loop = asyncio.get_running_loop()
        self.unsaved_since = loop.time() if self.unsaved_since is None else self.unsaved_since
        if self._writing or self._stopped.is_set():
            return
        urgent = max(status.settled, status.attempt_known, status.named, status.changed if status.state in _GATES else 0) > status.stored
        due = loop.time() + (0.0 if urgent else self._delay(status))
        if self._due is None or due < self._due_at:
            if self._due is not None:
                self._due.cancel()
            self._due, self._due_at = loop.call_at(due, self._begin, status), due

    def _delay(self, status: Status) -> float:
        patience, share = _PATIENCE * self._answered, _SHARE * self._took
        if status.changed > status.stored:
            return _AT_ONCE if status.state == COMPLETED else max(_AT_ONCE, min(patience, _LONGEST))
        if status.conditioned > status.stored:
            return max(_SOON, share, min(patience, _LONGEST))
        if status.decisive <= status.stored and self._api.is_crowded(self._namespace, Priority.CREATION) and _starts(status):
            return max((_LONGEST_CROWD if status.waiting else _LONGEST_COUNT) * self._spread, share)
        if status.waiting:
            would_wait = self._api.is_crowded(self._namespace, Priority.DELETION)
            return max(_SOON, share, min(patience, _LONGEST_CROWD if would_wait else _LONGEST))
        tasks = self._pace if status.transitioned > status.stored else _LATER
        return max(tasks, share, min(patience, _LONGEST_COUNT))

    def done(self) -> None:
        """Allow the next write: the result of the last one was taken in."""
        self._writing, self.unsaved_since = False, None  # A Framework that changes all the time counts as stored.

    def stop(self) -> None:
        """Begin no more writes."""
        self._stopped.set()
        if self._due is not None:
            self._due.cancel()

    def _begin(self, status: Status) -> None:
        now = asyncio.get_running_loop().time()
        self._pace = min(2 * self._pace, _LATER) if now < self._last + 2 * _LATER else _SOON
        self._last = now
        self._due, self._writing = None, True
        self._start(self._write(status))

    async def _write(self, status: Status) -> None:
        failures, loop = 0, asyncio.get_running_loop()
        while not self._stopped.is_set():
            began, known, longest = loop.time(), self._known, LONGEST
            try:
                revision = await self._try(status)
                if revision:
                    self._answered = loop.time() - began
                    self._mailbox.put(StatusStored(revision, self._known))
                    return
                if self._known is not known:
                    longest = _SOON  # Somebody was first. To wait longer makes it no likelier that we are, the next time.
                if failures >= _ROUNDS and self._conflict is not None:
                    self._say_unsaved(self._conflict)
            except Superseded as gone:
                self._mailbox.put(StatusSuperseded(gone.framework))
                return
            except (Refused, Unreachable) as error:
                self._say_unsaved(error)
            failures += 1
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(backoff(failures, longest=longest)):
                    await self._stopped.wait()
        self._writing = False

    def _say_unsaved(self, error: Exception) -> None:
        if not self._stopped.is_set():  # After that, whoever goes on with the Framework says what is wrong.
            self._report.unsaved(self._known, error)

    async def finish(self, status: Status) -> None:
        """Store the status, and try again until it is stored, or somebody else has written it.

        To be called after `stop`, when no write is under way any more; the caller cancels it when time is up.
        """
        failures = 0
        with contextlib.suppress(Superseded):
            while status.stored < status.revision:
                with contextlib.suppress(Refused, Unreachable):
                    status.stored = await self._try(status) or status.stored
                if status.stored < status.revision:
                    failures += 1
                    await asyncio.sleep(backoff(failures, longest=1))

    async def _try(self, status: Status) -> int:
        """Try to store the status. Return its revision; 0: the Framework had changed, and was read again."""
        if self._seen is not None:
            self._take(self._seen)
        (revision, text), self._took = await unhurried(text_of(status))
        packed = _packed(text)
        del text  # A hundred Frameworks may wait for their turn.
        self._sent = [*(sent for sent in self._sent if sent != packed), packed][-_REMEMBERED:]
        try:
            metadata = await requests.write_status(self._api, self._known, partial(_unpacked, packed))
        except Refused as error:
            if error.code not in (404, 409):
                raise
            self._conflict = error.with_traceback(None)  # Whose frames know this writer.
            found = await requests.read_framework(self._api, self._known)
            if found is None:
                raise Superseded(None) from None
            self._take(found)
            return 0
        self._known, self._stored = {**self._known, "metadata": metadata}, packed
        self._seen = self._seen if self._seen and version_of(self._seen) > version_of(self._known) else None
        self._sent.clear()
        return revision

    def _take(self, seen: Json) -> None:
        """Continue from a newer Framework if its status is ours. Raises Superseded."""
        if version_of(seen) <= version_of(self._known):
            return
        # Tools whose language has no null, as Argo CD's actions, store a status without.
        status = without_nulls(seen.get("status"))
        if all(status != without_nulls(json.loads(_unpacked(known))) for known in (self._stored, *self._sent)):
            raise Superseded(seen)
        self.begin(seen)


def _starts(status: Status) -> bool:
    """Return whether there are tasks whose Pods are still to be made, or to run. One that ends is none, and may be the last."""
    return any([role.starting for role in status.roles])


def _packed(status: str) -> bytes:
    """Compress a status to be kept, unless it is so large that most of it is stored compressed anyway."""
    data = status.encode()
    return zlib.compress(data, 1) if len(data) < _LARGE else data


def _unpacked(status: bytes) -> str:
    is_compressed = status[:1] == b"\x78"  # With which no JSON begins.
    return (zlib.decompress(status) if is_compressed else status).decode()


def remembered(framework: Json) -> Json:
    """Return what is kept of a Framework: all but its status, which is most of it, and the names of who has written which field."""
    metadata = {key: value for key, value in framework["metadata"].items() if key != "managedFields"}
    return {**{key: value for key, value in framework.items() if key != "status"}, "metadata": metadata}
