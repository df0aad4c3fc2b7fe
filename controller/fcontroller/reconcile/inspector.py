"""Compare the running Pods with what was reviewed: all of them, again and again, a few at a time, in a small share of the time.

The watch of Pods keeps only the fields that decisions depend on. Changes of other fields, by admission or by an edit, are found here within
some minutes: looking at each whole Pod at once would cost as much as all other work for it.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from fcompile.diagnostics.visible import listed
from fcompile.model import names
from fcontroller import intent as intents
from fcontroller.act.pages import Pages
from fcontroller.api import Json, Name, Unreachable, collection
from fcontroller.breath import Breath
from fcontroller.log import Log, Rarely
from fcontroller.observe.cache import task_of
from fcontroller.reconcile.controller import Controller
from fcontroller.reconcile.pod_renderer import PodRenderer
from fcontroller.reconcile.reconciler import Reconciler

_PAUSE = 60.0
"""Seconds between one round and the next."""
_PAGE = 25
"""Pods at most that are looked at in one go, while nothing else is done: each takes 0.2 ms of CPU with its way from the server."""
_BREATH = 1.0
"""Seconds between one page and the next. So comparing takes half a percent of the time, and 10,000 Pods take seven minutes."""


CAUSES = _EDIT, _OTHER, _UNKNOWN = "edit", "other", "unknown"
"""Why Pods differ. Unknown: they are from before an edit, and what they were made from is not there to compare them with."""


class _Seen(NamedTuple):
    """What Pods of an attempt are made from, as the last round has seen it."""

    last: PodRenderer
    is_reviewed: bool
    before: PodRenderer | None = None
    """The same before the last edit that was seen."""
    may_run_on: bool = True
    """Whether Pods of before that edit are as they may be."""


class Inspector:
    """Looks at the Pods of one controller's Frameworks."""

    def __init__(self, controller: Controller, log: Log, pause: float = _PAUSE) -> None:
        self._controller, self._log, self._pause = controller, log, pause
        self._rarely = Rarely(time.time)
        self._found: dict[Name, dict[str, str]] = {}
        """By Framework: the uids of Pods that differ, and the cause."""
        self._seen: dict[Name, _Seen] = {}

    @property
    def differing(self) -> Mapping[str, int]:
        """Return, by cause, how many Pods are known to differ in a field that their attempt's intent sets."""
        known, causes = self._controller.reconcilers, Counter(dict.fromkeys(CAUSES, 0))
        for name, found in self._found.items():
            pods = known[name].owned.pods.values() if found and name in known else ()
            causes.update(found[pod.uid] for pod in pods if pod.uid in found)
        return causes

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(self._pause)
            try:
                await self._round()
            except Unreachable as error:
                self._warn(str(error))
            except Exception:  # Whatever fails in one round may not fail in the next.
                self._broke("the Pods cannot be looked at")

    async def _round(self) -> None:
        """Look at every Pod once, if there is any to look at."""
        if not any(known.owned.pods and known.renderer for known in self._controller.reconcilers.values()):
            self._found.clear()
            return
        self._note_edits()
        looked: dict[Name, dict[str, str]] = {}
        path = collection("pods", self._controller.namespace)
        pages, breath = Pages(self._controller.dependencies.api, path, {"labelSelector": names.FRAMEWORK_NAME}, largest=_PAGE), Breath()
        while True:
            answer = await pages.next()
            # The old list may have expired; then the server says how to go on with the present one.
            if not answer.ok and not (answer.code == 410 and pages.more):
                return self._warn(f"{path}: {answer.message}")
            for pod in answer.body.get("items") or ():
                try:
                    await self._look(pod, looked)
                except Exception:  # Whatever is wrong with a Pod, the others are compared all the same.
                    self._broke("a Pod cannot be compared with what was reviewed")
                await breath.take()
            if not pages.more:
                break
            await asyncio.sleep(_BREATH)
        self._found = looked

    def _note_edits(self) -> None:
        """Keep what the Pods of each attempt were made from before its last edit."""
        noted: dict[Name, _Seen] = {}
        for name, reconciler in self._controller.reconcilers.items():
            if renderer := reconciler.renderer:
                reviewed = intents.reviewed_digest(reconciler.framework) == renderer.intent.digest
                seen = self._seen.get(name)
                if seen is None or seen.last.config_map_uid != renderer.config_map_uid:
                    noted[name] = _Seen(renderer, reviewed)
                elif seen.last.intent.digest == renderer.intent.digest:
                    # The digest of an edit may be there by now that is not in force yet.
                    noted[name] = seen._replace(last=renderer, is_reviewed=reviewed or seen.is_reviewed)
                else:
                    # Otherwise the Framework says that what runs was reviewed, and nobody would be told of Pods that never were.
                    noted[name] = _Seen(renderer, reviewed, seen.last, may_run_on=seen.is_reviewed or not reviewed)
        self._seen = noted

    def _warn(self, why: str) -> None:
        if self._rarely.may("unseen"):
            self._log.warning("the Pods cannot be looked at, and it is not known whether they are what was reviewed", error=why)

    def _broke(self, what: str) -> None:
        if self._rarely.may(what):
            self._log.error(what, error=traceback.format_exc())

    async def _look(self, pod: Json, looked: dict[Name, dict[str, str]]) -> None:
        metadata = pod["metadata"]
        name = metadata["namespace"], task_of(metadata["name"])[0]
        reconciler = self._controller.reconcilers.get(name)
        fields = await reconciler.differing_fields(pod, reconciler.renderer) if reconciler else []
        if reconciler and fields:
            cause = await self._cause(reconciler, pod)
            looked.setdefault(name, {})[metadata["uid"]] = cause
            found = self._found.setdefault(name, {})
            # The Pods of an adopted attempt were looked at, and reported, when it was taken over.
            if cause == _OTHER and _OTHER not in found.values() and reconciler.status and not reconciler.status.intent.adopted:
                self._controller.dependencies.report.warn(reconciler.framework, "PodsDiffer", _message(metadata["name"], fields))
            found[metadata["uid"]] = cause

    async def _cause(self, reconciler: Reconciler, pod: Json) -> str:
        """Return why a task's Pod differs from the intent in force."""
        seen, (_, key) = self._seen.get(reconciler.key), task_of(pod["metadata"]["name"])
        if seen and seen.before and seen.may_run_on and not await reconciler.differing_fields(pod, seen.before):
            return _EDIT
        task = reconciler.status.task(key) if reconciler.status else None
        template = task.attempt.pod_template_hash if task else None
        known = [renderer.template_hashes.get(key[0]) for renderer in (seen.last, seen.before) if renderer] if seen else []
        return _UNKNOWN if template is not None and template not in known else _OTHER


def _message(pod: str, fields: list[str]) -> str:
    where = listed([f"`{field}`" for field in fields], 1)
    why = "they are from before an edit, or admission or somebody has changed them"
    return f"Pod `{pod}` and perhaps others differ from the intent in force, in {where}: {why}. `fcompile diff --live` shows all"
