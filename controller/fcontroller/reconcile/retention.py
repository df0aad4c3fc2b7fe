"""Frameworks that have ended: of each only what is needed to delete it in time, and to count it.

A Framework that a GitOps tool tracks is kept: the tool would create it again, and it would run once more. Only the Pods that it kept go.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import NamedTuple
from weakref import WeakValueDictionary

from fcompile.model.framework import asks_for_pause
from fcontroller.act import requests
from fcontroller.act.requests import Refused
from fcontroller.act.retry import backoff
from fcontroller.api import Api, Json, Name, Unreachable, Unwanted, full_name, path_of, version_of
from fcontroller.decide.conditions import is_retained, set_retained
from fcontroller.decide.owners import controller_of
from fcontroller.decide.spec import tracker_of
from fcontroller.dependencies import Dependencies
from fcontroller.reconcile.read_status import read_status

_EVERY = 1.0
"""Seconds between one look at which Frameworks are due and the next. Among ten thousand it takes a millisecond."""
_FIRST, _LONGEST = 1.0, 600.0
"""Seconds until a Framework is tried again whose deletion was refused; the second also until one is that should be gone by then."""
_AT_A_TIME = 16
"""Deletions of one namespace."""
_GOES, _PAUSED = "it goes by itself", "it is paused"
_NEVER = float("inf")


class Kept(NamedTuple):
    """A Framework that is over."""

    uid: str
    hold: str
    """Why it is not to be deleted: one of those above, or who tracks it; empty: it is."""
    retention: int
    """Seconds from its end to its deletion."""
    since: float
    """When it ended, in seconds since 1970."""
    due: float
    """When to look at it next; infinite: when something happens to it, or it is being looked at."""
    version: int
    """The resourceVersion of what was seen or read last."""
    failures: int = 0
    """Of its deletion, one after the other."""
    outlived: bool = False
    """Whether it was due, and stays since it is tracked."""


class Retention:
    """Deletes Frameworks some time after their end."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self.kept: dict[Name, Kept] = {}
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """By namespace, as long as somebody has or waits for one."""

    def keep(self, framework: Json, ended: float | None, retained: bool = False) -> None:
        """Take in a Framework that is over.

        :param ended: when, in seconds since 1970; None: nobody knows.
        :param retained: whether its status says that it is kept since it is tracked.
        """
        metadata = framework["metadata"]
        name, uid, hold = full_name(framework), metadata["uid"], self._hold(framework)
        known, retention, version = self.kept.get(name), self._retention(framework), version_of(framework)
        if known is not None and (known.uid, known.hold, known.retention) == (uid, hold, retention):
            self.kept[name] = known._replace(version=max(version, known.version))
        else:
            since = ended or self._dependencies.now()
            # What the status says of it may have become wrong.
            due = since if retained else _NEVER if hold in (_GOES, _PAUSED) else since + retention
            self.kept[name] = Kept(uid, hold, retention, since, due, version)

    def has_seen(self, framework: Json) -> bool:
        """Return whether the Framework is kept as it was at this resourceVersion, or later."""
        kept = self.kept.get(full_name(framework))
        return kept is not None and kept.uid == framework["metadata"]["uid"] and version_of(framework) <= kept.version

    def drop(self, name: Name) -> None:
        """Forget a Framework that is gone, or is not over any more."""
        self.kept.pop(name, None)

    def retain(self, present: set[Name]) -> None:
        """Forget all Frameworks but these."""
        for name in self.kept.keys() - present:
            del self.kept[name]

    async def run(self) -> None:
        """Delete Frameworks that are due, until cancelled. Both our clock and the API server's must say that one is due."""
        async with asyncio.TaskGroup() as ends:
            while True:
                now = self._dependencies.sure_now()
                for name, kept in [(name, kept) for name, kept in self.kept.items() if kept.due <= now]:
                    self.kept[name] = kept._replace(due=_NEVER)
                    ends.create_task(self._end(name))
                await asyncio.sleep(_EVERY)

    def _retention(self, framework: Json) -> int:
        own: int | None = framework["spec"].get("ttlSecondsAfterFinished")
        return self._dependencies.settings.completed_retention if own is None else own

    def _hold(self, framework: Json) -> str:
        if "deletionTimestamp" in framework["metadata"]:
            return _GOES
        return _PAUSED if asks_for_pause(framework) else tracker_of(framework, self._dependencies.settings.tracking_label)

    async def _end(self, name: Name) -> None:
        async with self._places.setdefault(name[0], asyncio.Semaphore(_AT_A_TIME)):
            await self._end_now(name)

    async def _end_now(self, name: Name) -> None:
        """Do what is due about a Framework: delete it, or say why it is kept."""
        known = self.kept.get(name)
        if known is None:
            return
        framework = requests.head_of(name, known.uid)
        kept, failures = None, known.failures + 1
        try:
            kept = await self._treat(known, await requests.read_framework(self._dependencies.api, framework))
        except Unwanted:
            pass  # Something has become known of it meanwhile.
        except (Refused, Unreachable) as error:
            if not isinstance(error, Refused) or error.code != HTTPStatus.CONFLICT:  # It has changed meanwhile, which is no problem.
                error.args = (f"its deletion, a while after its end: {error}",)
                self._dependencies.report.refused(framework, None, error, failures)
        except Exception as error:  # Whatever is wrong with it, it must not hold up others.
            self._dependencies.report.broke(framework, error)
        newest = self.kept.get(name)
        if newest is None or not _is_same(newest, known):
            return
        if kept is not None and kept.version >= newest.version:
            self.kept[name] = kept
        else:  # It has failed, or something newer than what was read has been seen.
            due = self._dependencies.sure_now() + backoff(failures, _FIRST, _LONGEST)
            self.kept[name] = newest._replace(due=due, failures=failures)

    async def _treat(self, known: Kept, found: Json | None) -> Kept:
        """Do what is due about a Framework as it was just read: the watch may lag. Return what is known of it then.

        :param found: None: it is gone.
        """
        now = self._dependencies.sure_now()
        kept = known._replace(due=now + _LONGEST, failures=0, outlived=False)
        if found is None:
            return kept
        name, version = full_name(found), version_of(found)
        api = self._dependencies.api.when(lambda: _is_same(self.kept.get(name), known))
        kept = kept._replace(hold=self._hold(found), retention=self._retention(found), version=version)
        over = kept.since + kept.retention
        if kept.hold == _GOES:
            return kept._replace(due=_NEVER)
        if kept.hold == _PAUSED:
            return kept._replace(due=_NEVER, version=await self._say(found, "Paused"))
        if over > now:
            return kept._replace(due=over, version=await self._say(found, "NotDue"))
        if kept.hold:
            if not is_retained(found.get("status") or {}):
                await self._delete_pods(api, found)
            return kept._replace(due=_NEVER, outlived=True, version=await self._say(found, "Tracked", kept.hold))
        version = await self._say(found, "NotTracked")
        # It may have been paused since, or been given more time.
        await requests.delete(api, path_of("frameworks", *name), kept.uid, version=str(version), propagation="Foreground")
        return kept

    async def _delete_pods(self, api: Api, framework: Json) -> None:
        """Delete the Pods that outlived the last attempt: those that have the Framework's label, and those that the status names."""
        status, metadata = framework.get("status") or {}, framework["metadata"]
        if not (status.get("attemptStatus") or {}).get("retryRefused"):
            return
        namespace, uid = metadata["namespace"], metadata["uid"]
        kept = [task.attempt.object_name for _, task in (await read_status(status, namespace)).tasks() if task.pod_kept]
        pods = await requests.list_pods(api, namespace, metadata["name"], kept)
        refused: Refused | None = None
        for pod in pods.values():
            if controller_of(pod) == uid and "deletionTimestamp" not in pod:
                try:
                    await requests.delete(api, path_of("pods", namespace, pod["name"]), pod["uid"])
                except Refused as error:  # The others go all the same.
                    error.args = (f"Pod `{pod['name']}`: {error}",)
                    refused = error
        if refused is not None:
            raise refused

    async def _say(self, framework: Json, reason: str, tracker: str = "") -> int:
        """Store whether the Framework is kept since it is tracked, if that is new. Return its resourceVersion then."""
        metadata = framework["metadata"]
        said = set_retained(framework.get("status") or {}, reason, tracker, metadata["generation"], self._dependencies.now())
        if said is not None:
            metadata = await requests.write_status(self._dependencies.api, framework, lambda: json.dumps(said))
        return int(metadata["resourceVersion"])


def _is_same(kept: Kept | None, known: Kept) -> bool:
    """Return whether nothing has become known of a Framework since that what is done about it depends on."""
    return kept is not None and kept._replace(version=known.version) == known
