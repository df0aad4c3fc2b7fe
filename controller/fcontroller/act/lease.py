"""Leader election: at most one controller acts at a time, whatever the clocks say and however long a process was stopped.

The leader renews a Lease (coordination.k8s.io/v1). Others take it when they have seen no renewal for as long as it lasts, by their own
clock from when they saw the last one, so that clocks need not agree. A leader that has not renewed it for less than that already counts
itself out: nothing more is sent, and what is under way is cut off, before anybody else can begin. The lease is renewed over connections of
its own, so that it never waits behind anything.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

from fcontroller.api import Answer, Api, Json, Unreachable

_LEASES = "/apis/coordination.k8s.io/v1/namespaces"


class LostLease(Exception):
    """Somebody else may lead from now on."""


class Lease:
    """The wish to lead, and whether it is fulfilled."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        name: str,
        identity: str,
        *,
        duration: float = 15,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        """:param duration: seconds that a renewal lasts. :param clock: seconds, which go on while the process is stopped.

        :param failed: is told why the lease could not be read or written.
        """
        self._api = api
        self._collection = f"{_LEASES}/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._name, self._identity = name, identity
        self._duration = duration
        self._margin = duration / 3
        """Seconds before the end from which on the leader no longer acts: longer than a write that is under way may take to arrive."""
        self._clock, self._now, self._failed = clock, now, failed
        self._until = float("-inf")
        self._seen: tuple[str, float] = ("", float("-inf"))
        """The version of somebody else's lease, and when it was first seen."""
        self._answered = float("-inf")

    @property
    def held(self) -> bool:
        """Return whether this process leads, and may act."""
        return self._clock() < self._until

    @property
    def left(self) -> float:
        """Return for how many seconds this process may still act, unless it renews the lease before."""
        return max(self._until - self._clock(), 0)

    @property
    def in_touch(self) -> bool:
        """Return whether the API server has answered lately, so that this process can lead when it is its turn."""
        return self._clock() < self._answered + 2 * self._duration

    async def acquire(self) -> None:
        """Wait until this process leads."""
        while not await self._try():
            await asyncio.sleep(self._duration / 5)

    async def keep(self) -> None:
        """Renew for as long as that works. Raises LostLease as soon as it is over, whatever is under way."""
        renewing: asyncio.Task[bool] | None = None
        try:
            while self.held:
                if renewing is None or renewing.done():
                    await asyncio.sleep(min(self._duration / 5, self.left))
                    renewing = asyncio.create_task(self._try())
                else:
                    await asyncio.wait([renewing], timeout=self.left)
        finally:
            if renewing is not None:
                renewing.cancel()
        raise LostLease

    async def release(self) -> None:
        """Let others lead at once."""
        if self.held:
            found = await self._read()
            self._until = float("-inf")
            if found is not None and found["spec"].get("holderIdentity") == self._identity:
                await self._write(found, {**found["spec"], "holderIdentity": ""})

    async def _try(self) -> bool:
        """Take or renew the lease if it is free or ours; whether it is ours then."""
        began = self._clock()  # The lease runs from before the write: it may have been stored at once and answered late.
        try:
            async with asyncio.timeout(self._duration - self._margin):  # What comes later is of no use.
                found = await self._read()
                self._answered = self._clock()
                free = found is None or self._is_free(found)
                taken = free and await (self._create() if found is None else self._write(found, self._spec(found["spec"])))
        except Unreachable as error:
            self._failed(str(error))
            return False
        except TimeoutError:
            self._failed(f"{self._path}: no answer in {self._duration - self._margin:g} s")
            return False
        if taken:
            self._until = began + self._duration - self._margin
        return taken

    async def _read(self) -> Json | None:
        answer = await self._api.request("GET", self._path)
        if answer.code == 404:
            return None
        if not answer.ok:
            raise Unreachable(answer.message)
        return answer.body

    def _is_free(self, found: Json) -> bool:
        spec, version = found["spec"], found["metadata"]["resourceVersion"]
        if spec.get("holderIdentity") in (self._identity, "", None):
            return True
        if self._seen[0] != version:
            self._seen = version, self._clock()
        return self._clock() >= self._seen[1] + max(self._duration, spec.get("leaseDurationSeconds") or 0)

    def _spec(self, old: Json) -> Json:
        now = self._now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        new = old.get("holderIdentity") != self._identity
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": int(self._duration) or 1,
            "acquireTime": now if new else old.get("acquireTime", now),
            "renewTime": now,
            "leaseTransitions": (old.get("leaseTransitions") or 0) + new,
        }

    async def _create(self) -> bool:
        head = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": self._name}}
        return _is_written(await self._api.request("POST", self._collection, {**head, "spec": self._spec({"leaseTransitions": -1})}))

    async def _write(self, found: Json, spec: Json) -> bool:
        # With the resourceVersion that was read: of two that take it at once only one can.
        return _is_written(await self._api.request("PUT", self._path, {**found, "spec": spec}))


def _is_written(answer: Answer) -> bool:
    """Return whether nobody was faster. Raises Unreachable for any other refusal."""
    if not answer.ok and answer.code != 409:
        raise Unreachable(answer.message)
    return answer.ok
