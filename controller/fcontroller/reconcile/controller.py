"""The controller: follows Frameworks and what they own, and gives each Framework a reconciler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from fcompile.model.framework import is_anothers
from fcontroller.api import Json, Name, collection, full_name
from fcontroller.decide.conditions import is_retained
from fcontroller.decide.context import POD_DELETION
from fcontroller.decide.owners import awaits_collector
from fcontroller.decide.states import COMPLETED
from fcontroller.decide.status import from_time
from fcontroller.decide.status_json import to_json
from fcontroller.dependencies import Dependencies
from fcontroller.mailbox import FrameworkSeen, Message
from fcontroller.observe.cache import Cache
from fcontroller.observe.reflector import Reflector
from fcontroller.reconcile.garbage import Garbage
from fcontroller.reconcile.reconciler import Reconciler
from fcontroller.reconcile.retention import Retention

_FRAMEWORKS = 50
"""In one answer: one of 10,000 tasks has a megabyte."""


class Controller:
    """Runs all Frameworks of one namespace, or of all."""

    def __init__(self, dependencies: Dependencies, namespace: str = "", failed: Callable[[str], object] = lambda _: None) -> None:
        """:param failed: is told why something could not be listed or watched, or not be understood."""
        self.dependencies, self.namespace = dependencies, namespace
        self.reconcilers: dict[Name, Reconciler] = {}
        whole_pods = dependencies.report.pod_deleted if POD_DELETION in dependencies.settings.snapshots else None
        self.cache = Cache(dependencies.api, namespace, self._notify, whole_pods=whole_pods, failed=failed)
        self.retention = Retention(dependencies)
        self._garbage = Garbage(dependencies, self.cache, self._own)
        self._frameworks = Reflector(dependencies.api, collection("frameworks", namespace), self, page=_FRAMEWORKS, failed=failed)

    @property
    def reflectors(self) -> tuple[Reflector, ...]:
        """Return the reflectors of all collections, in the order in which they begin."""
        return (*self.cache.reflectors, self._frameworks)

    @property
    def ready(self) -> bool:
        """Return whether every Framework has been listed once."""
        return self._frameworks.listed.is_set()

    async def run(self) -> None:
        """Run until cancelled. Raises WentBack, in a group."""
        try:
            async with asyncio.TaskGroup() as reflectors:
                reflectors.create_task(self.retention.run())
                reflectors.create_task(self._garbage.run())
                for reflector in self.reflectors:
                    # Frameworks come last, so that their objects are known before.
                    reflectors.create_task(reflector.run())
                    await reflector.listed.wait()
        finally:
            for reconciler in self.reconcilers.values():
                reconciler.stop()

    async def finish(self, seconds: float) -> None:
        """Let requests under way end and store their results, after `run` was cancelled. What takes longer than `seconds` is given up."""
        await asyncio.gather(*[self._finish(reconciler, seconds) for reconciler in self.reconcilers.values()])

    async def _finish(self, reconciler: Reconciler, seconds: float) -> None:
        try:
            await reconciler.finish(seconds)
        except Exception as error:  # If one of them fails, the results of the others are stored all the same.
            self.dependencies.report.broke(reconciler.framework, error)

    def _notify(self, name: Name, message: Message) -> None:
        reconciler = self.reconcilers.get(name)
        if reconciler is not None:
            reconciler.mailbox.put(message)
        else:
            self.cache.forget(name)

    # What is told of Frameworks

    def seen(self, framework: Json) -> None:
        """Take in a Framework that is there."""
        self._guard(self._see, framework)

    def deleted(self, framework: Json) -> None:
        """Take in that a Framework is gone."""
        self._guard(self._lose, framework)

    def _guard(self, take: Callable[[Json], None], framework: Json) -> None:
        try:
            take(framework)
        except Exception as error:  # Whatever is wrong with a Framework or its status, it must not hold up others. It may be edited later.
            self.dependencies.report.broke(framework, error)

    def _see(self, framework: Json) -> None:
        name = full_name(framework)
        reconciler = self.reconcilers.get(name)
        if awaits_collector(framework["metadata"]) and not is_anothers(framework["spec"]):
            self._garbage.expect(name)
        if is_anothers(framework["spec"]):
            self._drop(name)
        elif reconciler is not None and reconciler.uid == framework["metadata"]["uid"] and not self.dependencies.dry_run:
            reconciler.mailbox.put(FrameworkSeen(framework))
        elif _is_over(framework):
            self._stop(name)
            status = framework["status"]
            self.retention.keep(framework, from_time(status.get("transitionTime")), is_retained(status))
        elif not self.retention.has_seen(framework):  # In a crowd the watch still tells of states before the end after that was stored.
            self._drop(name)
            self._begin(name, framework)

    def _lose(self, framework: Json) -> None:
        self._drop(full_name(framework))
        if not is_anothers(framework["spec"]):
            self.dependencies.report.framework_deleted(framework)
            self._garbage.expect(full_name(framework))

    def _own(self, name: Name) -> set[str]:
        """Return the uids of the Framework that is run under a name, and of its ConfigMap."""
        there = self.reconcilers.get(name)
        if there is None or awaits_collector(there.framework["metadata"]):
            return set()
        return {there.uid, there.status.attempt.object_uid or "" if there.status else ""}

    def retain(self, present: set[Name]) -> None:
        """Take in that these are all Frameworks."""
        for name in self.reconcilers.keys() - present:
            self._guard(self._forget, self.reconcilers[name].framework)
        self.retention.retain(present)
        for name in self.cache.all():  # Earlier Frameworks of these names may have left something.
            self._garbage.expect(name)

    def _forget(self, framework: Json) -> None:
        gone = self.reconcilers[full_name(framework)]
        self._drop(gone.key)
        status = None if gone.status is None else to_json(gone.status)
        self.dependencies.report.framework_deleted({**framework, "status": status})

    def _begin(self, name: Name, framework: Json) -> None:
        self.reconcilers[name] = Reconciler(self.dependencies, framework, self.cache, self._retire)

    def _retire(self, reconciler: Reconciler) -> None:
        """Keep only what retention needs of a Framework that is over."""
        if self.reconcilers.get(reconciler.key) is reconciler and reconciler.status is not None:
            self._drop(reconciler.key)
            self._guard(partial(self.retention.keep, ended=reconciler.status.transition_time), reconciler.framework)

    def _drop(self, name: Name) -> None:
        self.retention.drop(name)
        self._stop(name)

    def _stop(self, name: Name) -> None:
        reconciler = self.reconcilers.pop(name, None)
        if reconciler is not None:
            reconciler.stop()
            self.cache.forget(name)


def _is_over(framework: Json) -> bool:
    """Return whether the Framework has come to its end, and is only kept."""
    return bool((framework.get("status") or {}).get("state") == COMPLETED)
