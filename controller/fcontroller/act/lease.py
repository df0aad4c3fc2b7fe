"""Leader election: at most one controller acts at a time, whatever the clocks say and however long a process was stopped.

The leader renews a Lease (coordination.k8s.io/v1). Others take it when they have seen no renewal for as long as it lasts, by their own
clock from when they saw the last one, so that clocks need not agree. A leader stops earlier
than that: it sends nothing more, and cuts off requests under way, before another process can begin. The lease is renewed over connections
of its own, so that a renewal never waits for other requests.

The Lease also shows a leader that the server was restored from a backup: it has an older version than the leader's last renewal has made.
Other objects do not show it for sure. Those that were written since may have newer versions than all that were lost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

from fcompile.model.names import RUNS_ANNOTATION
from fcompile.model.values import mapping, text
from fcontroller.api import Answer, Api, Json, Unreachable, WentBack

_LEASES = "/apis/coordination.k8s.io/v1/namespaces"
_MOST = 2**31 - 1
"""The largest number that the API server takes."""
_LONGEST_WAIT = 3.0
"""Seconds between two looks at somebody else's lease: when he lets it go, nobody leads until the next one."""


class LostLease(Exception):
    """Another process may lead from now on; says why."""


class Lease:
    """A process's share in leader election: whether it leads, and for how long."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        name: str,
        identity: str,
        *,
        duration: float = 15,
        runs: str = "",
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        """:param duration: seconds that a renewal lasts. :param clock: seconds, which go on while the process is stopped.

        :param runs: the namespace of which this process runs the Frameworks; empty: it runs all.
        :param failed: is told why the lease could not be read or written.
        """
        self._api = api
        self._collection = f"{_LEASES}/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._name, self._identity = name, identity
        self._duration, self._runs = duration, runs
        self._margin = duration / 3
        """Seconds before the end from which on the leader no longer acts: longer than a write that is under way may take to arrive."""
        self._clock, self._now, self._failed = clock, now, failed
        self._until = float("-inf")
        self._seen: tuple[str, float] = ("", float("-inf"))
        """The version of somebody else's lease, and when it was first seen."""
        self._answered = float("-inf")
        self._written = 0
        """The version that our last write has made; 0: it is not known."""
        self._last: Json | None = None
        """The lease as our last write has made it, if nothing has failed since."""
        self._began = self._renewed = float("-inf")
        """When it was last tried, and when the last try that succeeded began."""
        self._took = 0.0
        """Seconds that the last try took."""
        self._problem = ""
        """Why the last try has failed, if it has."""

    @property
    def held(self) -> bool:
        """Return whether this process leads, and may act."""
        return self._clock() < self._until

    @property
    def left(self) -> float:
        """Return for how many seconds this process may still act unless it renews the lease."""
        return max(self._until - self._clock(), 0)

    @property
    def latency(self) -> float:
        """Return how many seconds the API server takes for a renewal: for the last one, or so far for one that is overdue."""
        return max(self._took, self._clock() - self._renewed - self._duration / 5)

    @property
    def in_touch(self) -> bool:
        """Return whether the API server has answered lately, so that this process can take over the lease when it is free."""
        return self._clock() < self._answered + 2 * self._duration

    async def acquire(self) -> None:
        """Wait until this process leads."""
        while not await self._try():
            await asyncio.sleep(min(self._duration / 5, _LONGEST_WAIT))

    async def keep(self) -> None:
        """Renew for as long as that works. Raises LostLease as soon as it is over, whatever is under way, and WentBack.

        A renewal that took long is followed by the next at once: the lease counts from its beginning. One that has failed is tried again
        three times as soon. One that is not answered for half of the time is accompanied by another, on another connection: that of the
        first may be dead, and nobody has said so.
        """
        under_way: set[asyncio.Task[bool]] = set()
        try:
            while self.held:
                if not under_way:
                    pause = self._duration / (5 if self._renewed >= self._began else 15)
                    await asyncio.sleep(min(self._began + pause - self._clock(), self.left))
                    under_way.add(self._begin())
                    continue
                silence = (self._duration - self._margin) / 2 if len(under_way) == 1 else self._duration
                timeout = min(self._began + silence - self._clock(), self.left)
                done, _ = await asyncio.wait(under_way, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                if not done and len(under_way) == 1 and self.held:
                    under_way.add(self._begin())
                under_way = self._outcome(done, under_way - done)
        finally:
            for each in under_way:
                each.cancel()
        now = self._clock()
        why = self._problem or f"{self._path}: no answer"
        if now > self._until + 1:
            why = "this process was stopped, or could not run"
        raise LostLease(f"it was renewed {now - self._renewed:.0f} s ago for the last time; {why}")

    def _begin(self) -> asyncio.Task[bool]:
        self._began = self._clock()
        return asyncio.create_task(self._try())

    def _outcome(self, done: set[asyncio.Task[bool]], others: set[asyncio.Task[bool]]) -> set[asyncio.Task[bool]]:
        """Return the renewals that are still to be waited for: after a success none. Raises WentBack."""
        errors = [each.exception() for each in done]
        if any([error is None and each.result() for each, error in zip(done, errors, strict=True)]):
            for each in others:  # Its answer would show a version that is older by now.
                each.cancel()
            return set()
        for error in errors:
            if isinstance(error, WentBack):
                raise error
        return others

    async def release(self) -> None:
        """Let others lead at once."""
        if self.held:
            found = await self._read()
            self._until = float("-inf")
            if found is not None and found["spec"].get("holderIdentity") == self._identity:
                await self._write(found, {**found["spec"], "holderIdentity": ""})

    async def _try(self) -> bool:
        """Take or renew the lease if it is free or ours. Return whether it is ours then. Raises WentBack."""
        began = self._began = self._clock()
        try:
            async with asyncio.timeout(self._duration - self._margin):  # What comes later is of no use.
                taken = await self._renew() or await self._take()
        except Unreachable as error:
            return self._has_failed(str(error))
        except TimeoutError:
            return self._has_failed(f"{self._path}: no answer in {self._duration - self._margin:g} s")
        finally:
            self._took = self._clock() - began
        self._problem = "" if taken else f"{self._path}: somebody else has written it"
        if taken:  # The lease counts from before the write, which may have been stored long before its answer came.
            self._renewed = max(self._renewed, began)
            self._until = self._renewed + self._duration - self._margin
        return taken

    def _has_failed(self, why: str) -> bool:
        self._problem = why
        self._failed(why)
        return False

    async def _renew(self) -> bool:
        """Write the lease that we hold without reading it first: on a busy server, half the time. Return whether that was all."""
        last, self._last = self._last, None
        if last is None or not self.held:
            return False
        answer = await self._api.request("PUT", self._path, {**last, "spec": self._spec(last["spec"])})
        self._answered = self._clock()
        return answer.code != 404 and self._is_written(answer)

    async def _take(self) -> bool:
        found = await self._read()
        self._answered = self._clock()
        if self.held and found is not None:
            self._check(found)
        if found is None:
            return await self._create()
        return self._is_free(found) and await self._write(found, self._spec(found["spec"]))

    async def _read(self) -> Json | None:
        answer = await self._api.request("GET", self._path)
        if answer.code == 404:
            return None
        if not answer.ok:
            raise Unreachable(answer.message)
        return {**answer.body, "spec": answer.body.get("spec") or {}}  # The API server stores a Lease without a spec, too.

    def _check(self, found: Json) -> None:
        """Raise WentBack, once, if a lease that we hold is older than our last write. A read without a version is never behind a write."""
        version, written = _version(found), self._written
        if 0 < version < written:
            self._written = version
            raise WentBack(f"{self._path} is at {version}, and was at {written} before")

    def _is_free(self, found: Json) -> bool:
        spec, version = found["spec"], found["metadata"]["resourceVersion"]
        if spec.get("holderIdentity") in (self._identity, "", None):
            return True
        self._compare(found)
        if self._seen[0] != version:
            self._seen = version, self._clock()
        silent, lasts = self._clock() - self._seen[1], max(self._duration, spec.get("leaseDurationSeconds") or 0)
        if self._duration <= silent < lasts:
            taken = f"{spec['holderIdentity']!r:.100} has taken it for {lasts:.0f} s, and does not renew it"
            self._failed(f"{self._path}: {taken}: delete it unless that one is at work")
        return silent >= lasts

    def _compare(self, found: Json) -> None:
        """Say so if the lease is held by somebody who does not run what this process is for: then nobody does."""
        theirs, ours = text(mapping(found["metadata"], "annotations"), RUNS_ANNOTATION) or "", self._runs
        if theirs not in ("", ours):
            holds = f"{found['spec']['holderIdentity']!r:.100} holds it, and runs only the Frameworks of namespace {theirs:.63}"
            wanted = f"namespace {ours}" if ours else "all namespaces"
            why = f"{holds}: this controller, which is for {wanted}, runs none meanwhile: give it another --lease-name"
            self._failed(f"{self._path}: {why}")

    def _spec(self, old: Json) -> Json:
        now = self._now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        new = old.get("holderIdentity") != self._identity
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": int(self._duration) or 1,
            "acquireTime": now if new else old.get("acquireTime", now),
            "renewTime": now,
            "leaseTransitions": min((old.get("leaseTransitions") or 0) + new, _MOST),
        }

    async def _create(self) -> bool:
        head = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": self._metadata({"name": self._name})}
        spec = self._spec({"leaseTransitions": -1})
        return self._is_written(await self._api.request("POST", self._collection, {**head, "spec": spec}))

    async def _write(self, found: Json, spec: Json) -> bool:
        # With the resourceVersion that was read, only one of two processes that write at once succeeds.
        written = {**found, "metadata": self._metadata(found["metadata"]), "spec": spec}
        return self._is_written(await self._api.request("PUT", self._path, written))

    def _metadata(self, old: Json) -> Json:
        """Return the lease's metadata, with what this process runs."""
        return {**old, "annotations": {**mapping(old, "annotations"), RUNS_ANNOTATION: self._runs}}

    def _is_written(self, answer: Answer) -> bool:
        """Return whether the write was accepted; False: another process was faster. Raises Unreachable and WentBack."""
        if answer.ok:
            if self.held:  # A lease that was not there yet when the backup was made is made anew.
                self._check(answer.body)
            self._written, self._last = _version(answer.body), answer.body
        elif answer.code != 409:
            raise Unreachable(answer.message)
        return answer.ok


def _version(lease: Json) -> int:
    """Return the resourceVersion; 0: it is no number."""
    version = str((lease.get("metadata") or {}).get("resourceVersion"))
    return int(version) if version.isdecimal() else 0
