"""The last seen state of the objects that Frameworks own: their ConfigMaps, Pods and Services.

An object belongs to a Framework by its name, which nobody can change. Its labels only select it for the watch.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TypeVar

from fcompile.model import names
from fcompile.model.framework import MAX_SERVICE_PORTS
from fcontroller.act import requests
from fcontroller.act.pod_owners import PodOwners
from fcontroller.api import Api, Json, Name, Projection, collection, version_of
from fcontroller.decide import observed
from fcontroller.decide.owners import is_framework, is_labelled, owners, shortened
from fcontroller.decide.services import SPEC
from fcontroller.decide.status import Key
from fcontroller.mailbox import Due, Message, PodSeen, ServicesSeen
from fcontroller.observe.reflector import Reflector, Store

_CONFIG_MAP = names.config_map_name("")
_KEPT = ("deletionTimestamp", "name", "namespace", "resourceVersion", "uid")
"""What is kept of the metadata of Services as it is."""
_LABELS = (names.FRAMEWORK_NAME, names.TASKROLE_NAME)
_LISTED_SOON = 0.5
"""Seconds until it is looked at again whether a reflector has listed its whole collection."""
Notify = Callable[[Name, Message], None]
Kept = TypeVar("Kept")


class Owned:
    """What was seen of one Framework's objects."""

    __slots__ = ("config_map", "config_map_version", "pods", "pods_version", "services")

    def __init__(self, services_told: Callable[[], int]) -> None:
        self.config_map: observed.ConfigMap | None = None
        """The one under the attempt's name."""
        self.pods: dict[Key, observed.Pod] = {}
        self.services = SeenServices(services_told)
        self.config_map_version = self.pods_version = 0
        """The resourceVersions of lists that were read ahead of the watches: events up to these are old."""

    @property
    def empty(self) -> bool:
        return self.config_map is None and not self.pods and not self.services


class Cache:
    """Keeps what was seen, and tells the reconcilers concerned what has changed."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        notify: Notify,
        *,
        whole_pods: Callable[[Json], object] | None = None,
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        """:param namespace: the only one of interest; empty: all are. :param whole_pods: is told each Pod that is gone, as a whole.

        :param failed: as for `Reflector`.
        """
        self._api, self.notify = api, notify
        self.pod_owners = PodOwners(api)
        self._owned: dict[Name, Owned] = {}

        def reflector(kind: str, store: Store, projection: Projection) -> Reflector:
            path = collection(kind, namespace)
            return Reflector(api, path, store, selector=names.FRAMEWORK_NAME, projection=projection, failed=failed)

        self.pod_reflector = reflector("pods", _Pods(self, whole_pods), Projection.POD if whole_pods is None else Projection.WHOLE)
        self.config_map_reflector = reflector("configmaps", _ConfigMaps(self), Projection.METADATA)
        self.service_reflector = reflector("services", _Services(self), Projection.WHOLE)
        self.reflectors = self.pod_reflector, self.config_map_reflector, self.service_reflector

    def of(self, name: Name) -> Owned:
        """Return what was seen of a Framework's objects: one value for each Framework, which changes as they do."""
        owned = self._owned.get(name)
        if owned is None:  # This is asked for each event of a Pod: none is made to be thrown away.
            owned = self._owned[name] = Owned(self._services_told)
        return owned

    def _services_told(self) -> int:
        return self.service_reflector.version

    def all(self) -> dict[Name, Owned]:
        return self._owned

    def forget(self, name: Name) -> None:
        """Forget a Framework if none of its objects is left."""
        if name in self._owned and self._owned[name].empty:
            del self._owned[name]

    def has_seen(self, name: Name, version: int) -> bool:
        """Return whether a Framework's Pods and ConfigMap are known as they were at a resourceVersion, or later."""
        owned = self.of(name)
        pods, config_map = self.pod_reflector.version, self.config_map_reflector.version
        return min(max(owned.pods_version, pods), max(owned.config_map_version, config_map)) >= version

    async def refresh(self, name: Name) -> None:
        """Read a Framework's Pods and ConfigMap now, ahead of the watches, and tell what has changed. Raises Refused and Unreachable."""
        owned = self.of(name)
        held = await self._list(name, "configmaps", self.config_map_reflector, Projection.METADATA, partial(_held_config_map, name[1]))
        if held is not None and held[1] > owned.config_map_version:
            values, owned.config_map_version = held
            there, owned.config_map = owned.config_map, values[0] if values else None
            if there != owned.config_map:
                self.notify(name, Due(None))
        found = await self._list(name, "pods", self.pod_reflector, Projection.POD, partial(_task_pod, name[1]))
        if found is not None and found[1] > owned.pods_version:
            tasks, owned.pods_version = found
            before = owned.pods.copy()
            owned.pods.clear()
            owned.pods.update(tasks)
            for key in {**before, **owned.pods}:
                if _differs(before.get(key), owned.pods.get(key)):
                    self.notify(name, PodSeen(key))

    async def _list(
        self, name: Name, kind: str, reflector: Reflector, projection: Projection, keep: Callable[[Json], Kept | None]
    ) -> tuple[list[Kept], int] | None:
        """Return a Framework's objects of a kind and the resourceVersion of that list, or None if the reflector has told all of it by then.

        What the reflector has told is never told again, so an older list must not replace it.

        :param keep: returns what is kept of an object, if anything.
        """
        while True:
            values, version = list[Kept](), 0
            async for page, version in requests.pages_of_owned(self._api, kind, *name, projection):  # noqa: B007  The last counts.
                values += [kept for value in page if (kept := keep(value)) is not None]
            if version > reflector.told:
                return values, version
            if version <= reflector.version:
                return None
            await asyncio.sleep(_LISTED_SOON)


def _held_config_map(framework: str, value: Json) -> observed.ConfigMap | None:
    return observed.config_map(value) if value["metadata"]["name"] == names.config_map_name(framework) else None


def _task_pod(framework: str, value: Json) -> tuple[Key, observed.Pod] | None:
    owner, key = task_of(value["metadata"]["name"])
    return (key, observed.pod(value)) if owner == framework and not _outlives(value) else None


class _Pods:
    def __init__(self, cache: Cache, gone: Callable[[Json], object] | None) -> None:
        self._cache, self._gone = cache, gone

    def seen(self, value: Json) -> None:
        framework, key = task_of(value["metadata"]["name"])
        name = value["metadata"]["namespace"], framework
        if _outlives(value) or not is_labelled(value["metadata"], framework):
            return self._lose(value)
        owned, pod = self._cache.of(name), observed.pod(value)
        if version_of(value) > owned.pods_version:
            there, owned.pods[key] = owned.pods.get(key), pod
            if _differs(there, pod):
                self._cache.notify(name, PodSeen(key))
        return None

    def deleted(self, value: Json) -> None:
        if self._gone:
            self._gone(value)
        self._lose(value)

    def _lose(self, value: Json) -> None:
        framework, key = task_of(value["metadata"]["name"])
        name = value["metadata"]["namespace"], framework
        # Of a Framework that is over nothing may be known any more.
        if name in self._cache.all() and version_of(value) > self._cache.of(name).pods_version:
            self._drop(name, key)

    def retain(self, present: set[Name]) -> None:
        told = self._cache.pod_reflector.told
        for name, owned in list(self._cache.all().items()):
            if owned.pods_version > told:
                continue  # It was read since then.
            for key in [key for key in owned.pods if (name[0], pod_name(name[1], key)) not in present]:
                self._drop(name, key)

    def _drop(self, name: Name, key: Key) -> None:
        if self._cache.of(name).pods.pop(key, None) is not None:
            self._cache.notify(name, PodSeen(key))


class _ConfigMaps:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def seen(self, value: Json) -> None:
        # A ConfigMap's data is always read from the API server itself.
        is_shown = is_labelled(value["metadata"], value["metadata"]["name"].removesuffix(_CONFIG_MAP))
        self._put(value, observed.config_map(value) if is_shown else None)

    def deleted(self, value: Json) -> None:
        self._put(value, None)

    def _put(self, value: Json, kept: observed.ConfigMap | None) -> None:
        metadata = value["metadata"]
        framework, suffix, rest = metadata["name"].partition(_CONFIG_MAP)
        name = metadata["namespace"], framework
        if suffix and not rest and version_of(value) > self._cache.of(name).config_map_version:
            self._cache.of(name).config_map = kept
            self._cache.notify(name, Due(None))

    def retain(self, present: set[Name]) -> None:
        told = self._cache.config_map_reflector.told
        for name, owned in list(self._cache.all().items()):
            is_listed = (name[0], names.config_map_name(name[1])) in present
            if owned.config_map is not None and not is_listed and owned.config_map_version <= told:
                owned.config_map = None
                self._cache.notify(name, Due(None))


class SeenServices(dict[str, Json]):
    """All Services under names of one Framework, by name, whoever made them: as the watch or an answer has shown them."""

    def __init__(self, told: Callable[[], int]) -> None:
        """:param told: returns the resourceVersion up to which the watch has told everything."""
        super().__init__()
        self._told = told

    def take(self, service: Json) -> None:
        """Take in a Service from an answer, unless something newer is known: the watch may have told first that it is gone, or another."""
        metadata = service["metadata"]
        there = self.get(metadata["name"])
        # The watch does not show what lacks our label.
        is_shown = names.FRAMEWORK_NAME in (metadata.get("labels") or {})
        known = max(self._told() if is_shown else 0, 0 if there is None else version_of(there))
        if version_of(service) > known:
            self[metadata["name"]] = essence(service)

    def lose(self, name: str, there: Json | None) -> None:
        """Take in from an answer that a Service is gone.

        :param there: what was known when that was asked. If something else is known by now, the watch tells what has become of it.
        """
        known = self.get(name)
        if there is not None and known is not None and version_of(known) == version_of(there):
            del self[name]


class _Services:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def seen(self, value: Json) -> None:
        self._put(value, essence(value))

    def deleted(self, value: Json) -> None:
        self._put(value, None)

    def _put(self, value: Json, kept: Json | None) -> None:
        metadata = value["metadata"]
        name = metadata["namespace"], metadata["name"].partition("-")[0]
        services = self._cache.of(name).services
        there = services.get(metadata["name"])
        if there is not None and version_of(value) < version_of(there):
            return  # An answer has shown what came after it.
        if kept is None:
            services.pop(metadata["name"], None)
        else:
            services[metadata["name"]] = kept
        self._cache.notify(name, ServicesSeen())

    def retain(self, present: set[Name]) -> None:
        told = self._cache.service_reflector.told
        for name, owned in list(self._cache.all().items()):
            # What is newer than the list came from an answer.
            gone = [key for key, value in owned.services.items() if (name[0], key) not in present and version_of(value) <= told]
            for service in gone:
                del owned.services[service]
            if gone:
                self._cache.notify(name, ServicesSeen())


def task_of(pod: str) -> tuple[str, Key]:
    """Return the Framework and the task to which a Pod's name belongs. The key of any other name is the name itself with the index -1."""
    framework, _, rest = pod.partition("-")
    role, _, index = rest.rpartition("-")
    if role and index.isascii() and index.isdecimal() and index == str(int(index[:9])):
        return framework, (sys.intern(role), int(index))
    return framework, (pod, -1)


def pod_name(framework: str, key: Key) -> str:
    """Return the name of a Pod from its key in `task_of`."""
    return names.pod_name(framework, *key) if key[1] >= 0 else key[0]


def essence(service: Json) -> Json:
    """Return what is kept of a Service: what tells whether it is as it should be. It is read again before it is written.

    Anybody may write Services with our label: of what he may make long, no more is kept than tells that it is wrong.
    """
    metadata, spec = service["metadata"], {key: value for key, value in service["spec"].items() if key in SPEC}
    labels = metadata.get("labels") or {}
    spec["ports"] = (spec.get("ports") or [])[: MAX_SERVICE_PORTS + 1]
    spec["selector"] = dict(islice((spec.get("selector") or {}).items(), len(_LABELS) + 1))
    kept = {
        **{key: metadata[key] for key in _KEPT if key in metadata},
        "labels": {key: labels[key] for key in _LABELS if key in labels},
        "ownerReferences": [shortened(owner) for owner in owners(metadata) if owner.get("controller")],
        "finalizers": (metadata.get("finalizers") or [])[:1],
    }
    return {"metadata": kept, "spec": spec}


def _outlives(pod: Json) -> bool:
    """Return whether a Pod is the Framework's own, so that it has outlived its attempt: nothing is decided by it any more."""
    return any([owner.get("controller") and is_framework(owner) for owner in owners(pod["metadata"])])


def _differs(before: observed.Pod | None, pod: observed.Pod | None) -> bool:
    """Return whether a Pod is different in what is told. What it waits for is only looked at from time to time."""
    return pod != (before if before is None or pod is None else before._replace(waits=pod.waits))
