"""The controller: follows Frameworks and what they own, and gives each Framework a reconciler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from fcompile.model import names
from fcontroller.api import Json, collection
from fcontroller.breath import Breath
from fcontroller.decide.conditions import is_retained
from fcontroller.decide.context import POD_DELETION
from fcontroller.decide.observed import FOREGROUND
from fcontroller.decide.states import COMPLETED
from fcontroller.decide.status import from_time
from fcontroller.decide.status_json import to_json
from fcontroller.dependencies import Dependencies
from fcontroller.mailbox import FrameworkSeen, Message
from fcontroller.observe.cache import Cache
from fcontroller.observe.reflector import Name, Reflector
from fcontroller.reconcile.reconciler import Reconciler
from fcontroller.reconcile.retention import Retention

_FRAMEWORKS = 50
"""In one answer: one of 10,000 tasks has a megabyte."""
_COLLECTED = 60.0
"""Seconds that the garbage collector has for the ConfigMap and the Pods of a Framework that is gone."""
_TOLD_AGAIN = 300.0
"""Seconds after which it is told again that they are still there."""
_LOOKS = 2.0
"""Seconds between two looks at what is due by then."""
_LEFT = "The Framework was deleted, and Kubernetes' garbage collector has not deleted its ConfigMap and Pods, which may run on"


class Controller:
    """Runs all Frameworks of one namespace, or of all."""

    def __init__(self, dependencies: Dependencies, namespace: str = "", failed: Callable[[str], object] = lambda _: None) -> None:
        """:param failed: is told why something could not be listed or watched, or not be understood."""
        self.dependencies, self.namespace = dependencies, namespace
        self.reconcilers: dict[Name, Reconciler] = {}
        whole_pods = dependencies.report.pod_deleted if POD_DELETION in dependencies.settings.snapshots else None
        self.cache = Cache(dependencies.api, namespace, self._notify, whole_pods=whole_pods, failed=failed)
        self.retention = Retention(dependencies)
        self._garbage: dict[Name, tuple[str, int, float]] = {}
        """What the garbage collector is to delete of a Framework: the uid of the owner, how much it is, and when to look again (loop)."""
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
                reflectors.create_task(self._look_for_garbage())
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
        name = _name(framework)
        reconciler = self.reconcilers.get(name)
        if _awaits_collector(framework) and not _is_anothers(framework):
            self._await_collector(name)
        if _is_anothers(framework):
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
        self._drop(_name(framework))
        if not _is_anothers(framework):
            self.dependencies.report.framework_deleted(framework)
            self._await_collector(_name(framework))

    def _await_collector(self, name: Name) -> None:
        """Warn after a while if the garbage collector deletes nothing of what goes with a Framework that was deleted."""
        self._garbage.setdefault(name, ("", 0, 0.0))

    async def _look_for_garbage(self) -> None:
        """Look again at what may be left, until cancelled. After an outage it may be of ten thousand Frameworks."""
        while True:
            await asyncio.sleep(_LOOKS)
            breath, now = Breath(), asyncio.get_running_loop().time()
            for name in [name for name, (_, _, due) in self._garbage.items() if due <= now]:
                self._look_at_garbage(name)
                await breath.take()

    def _look_at_garbage(self, name: Name) -> None:
        (owner, count), (before, most, _) = self._garbage_of(name), self._garbage.pop(name, ("", 0, None))
        stands_still = owner == before and count >= most
        if count:
            seconds = _TOLD_AGAIN if stands_still else _COLLECTED
            self._garbage[name] = owner, count, asyncio.get_running_loop().time() + seconds
        if count and stands_still:
            metadata = {"namespace": name[0], "name": name[1], "uid": owner, "resourceVersion": ""}
            self.dependencies.report.warn({"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": metadata}, "GarbageLeft", _LEFT)

    def _garbage_of(self, name: Name) -> tuple[str, int]:
        """Return how many objects there are, of deleted Frameworks of a name, that nobody deletes.

        And the uid of the Framework that owns the ConfigMap, or, without that, of who controls a Pod.
        """
        owned, there = self.cache.all().get(name), self.reconcilers.get(name)
        if owned is None:
            return "", 0
        config_map, own = owned.config_map, {""}
        if there is not None and not _awaits_collector(there.framework):
            own |= {there.uid, there.status.attempt.object_uid or "" if there.status else ""}
        owner = config_map.controller if config_map is not None and config_map.awaits_collector else ""
        if config_map is not None and owner in own:
            own.add(config_map.uid)
        pods = [pod for key, pod in owned.pods.items() if key[1] >= 0 and pod.deletion_start is None]
        left = [pod.controller for pod in pods if pod.controller not in own]
        if owner in own:
            return (left or [""])[0], len(left)
        return owner, len(left) + (config_map is not None and config_map.deletion_start is None)

    def retain(self, present: set[Name]) -> None:
        """Take in that these are all Frameworks."""
        for name in self.reconcilers.keys() - present:
            self._guard(self._forget, self.reconcilers[name].framework)
        self.retention.retain(present)
        for name in self.cache.all():  # Earlier Frameworks of these names may have left something.
            self._await_collector(name)

    def _forget(self, framework: Json) -> None:
        gone = self.reconcilers[_name(framework)]
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


def _name(value: Json) -> Name:
    return value["metadata"]["namespace"], value["metadata"]["name"]


def _is_anothers(framework: Json) -> bool:
    """Return whether another controller reconciles the Framework: then it is not touched."""
    manager: Any = framework["spec"].get("managedBy")
    return manager is not None and manager != f"{names.GROUP}/frameworkcontroller"


def _awaits_collector(framework: Json) -> bool:
    """Return whether the Framework is being deleted in the foreground. With other finalizers alone, what it owns stays until it is gone."""
    metadata = framework["metadata"]
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())


def _is_over(framework: Json) -> bool:
    """Return whether the Framework has come to its end, and is only kept."""
    return bool((framework.get("status") or {}).get("state") == COMPLETED)
