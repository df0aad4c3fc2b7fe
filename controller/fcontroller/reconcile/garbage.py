"""What Frameworks have left that are gone. Kubernetes' garbage collector deletes it; where that stands still, we do, and say so.

The collector's own rule holds: an object goes if its only owner is gone. The API server is asked for that: the cache may lag, and does not
know of the Frameworks of other controllers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from http import HTTPStatus
from weakref import WeakValueDictionary

from fcompile.model import names
from fcontroller.act import requests
from fcontroller.act.requests import Refused
from fcontroller.api import Json, Name, Projection, Unreachable, path_of
from fcontroller.breath import Breath
from fcontroller.decide.owners import awaits_collector, is_config_map, is_framework, owners
from fcontroller.dependencies import Dependencies
from fcontroller.observe.cache import Cache

_COLLECTED = 30.0
"""Seconds that the garbage collector has."""
_AGAIN = 300.0
"""Seconds after which what is still there is deleted and told of again."""
_LOOKS = 2.0
"""Seconds between two looks at what is due by then."""
_AT_A_TIME = 16
"""Pods of one Framework that are deleted at the same time."""
_FRAMEWORKS = 8
"""Frameworks of one namespace that are looked at at the same time: each takes four reads."""
_LEFT = (
    "The Framework was deleted, and Kubernetes' garbage collector has not deleted its ConfigMap and Pods, which may run on. "
    "The controller deletes them"
)


class Garbage:
    """Looks after what Frameworks leave when they are deleted."""

    def __init__(self, dependencies: Dependencies, cache: Cache, own: Callable[[Name], set[str]]) -> None:
        """:param own: returns the uids of the Framework of a name that is there, and of its ConfigMap."""
        self._dependencies, self._cache, self._own = dependencies, cache, own
        self._expected: dict[Name, tuple[str, int, float]] = {}
        """By the name of the Framework: the uid of the owner, how much it is, and when to look again (loop)."""
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """By namespace, as long as somebody has or waits for one."""

    def expect(self, name: Name) -> None:
        """Look from now on whether the garbage collector deletes what goes with a Framework."""
        self._expected.setdefault(name, ("", 0, 0.0))

    async def run(self) -> None:
        """Look until cancelled. After an outage it may be at what ten thousand Frameworks have left."""
        async with asyncio.TaskGroup() as deletions:
            while True:
                await asyncio.sleep(_LOOKS)
                breath, now = Breath(), asyncio.get_running_loop().time()
                for name in [name for name, (_, _, due) in self._expected.items() if due <= now]:
                    (owner, count), (before, most, _) = self._garbage_of(name), self._expected.pop(name)
                    if count and owner == before and count >= most:  # The garbage collector has deleted nothing since the last look.
                        deletions.create_task(self._delete_all(name, owner, count))
                    elif count:
                        self._expected[name] = owner, count, now + _COLLECTED
                    await breath.take()

    def _garbage_of(self, name: Name) -> tuple[str, int]:
        """Return how many objects there are, of deleted Frameworks of a name, that nobody deletes.

        And the uid of the Framework that owns the ConfigMap, or, without that, of who controls a Pod.
        """
        owned = self._cache.all().get(name)
        if owned is None:
            return "", 0
        config_map, own = owned.config_map, {"", *self._own(name)}
        owner = config_map.controller if config_map is not None and config_map.awaits_collector else ""
        if config_map is not None and owner in own:
            own.add(config_map.uid)
        pods = [pod for key, pod in owned.pods.items() if key[1] >= 0 and pod.deletion_start is None]
        left = [pod.controller for pod in pods if pod.controller not in own]
        if owner in own:
            return (left or [""])[0], len(left)
        return owner, len(left) + (config_map is not None and config_map.deletion_start is None)

    async def _delete_all(self, name: Name, owner: str, count: int) -> None:
        framework = requests.head_of(name, owner)
        async with self._places.setdefault(name[0], asyncio.Semaphore(_FRAMEWORKS)):
            try:
                left = await self._left(name)
                if left:
                    self._dependencies.report.warn(framework, "GarbageLeft", _LEFT)
                deletions = iter(left.items())
                await asyncio.gather(*[self._delete(deletions, framework) for _ in range(_AT_A_TIME)])
            except (Refused, Unreachable) as error:
                self._dependencies.report.refused(framework, None, error, 1)
            except Exception as error:  # Whatever is wrong with one, the others go all the same.
                self._dependencies.report.broke(framework, error)
        self._expected.setdefault(name, (owner, count, asyncio.get_running_loop().time() + _AGAIN))

    async def _left(self, name: Name) -> dict[str, Json]:
        """Return the metadata of what is to be deleted, by path. Raises Refused and Unreachable.

        What owns something was there before it: so if an owner is not found after it, that is gone for good.
        """
        api, config_map_path = self._dependencies.api, path_of("configmaps", name[0], names.config_map_name(name[1]))
        listed = {kind: await requests.list_owned(api, kind, *name) for kind in ("pods", "services")}
        config_map = await requests.find(api, config_map_path, Projection.METADATA)
        framework = await requests.find(api, path_of("frameworks", *name), Projection.METADATA)
        values = {} if config_map is None else {config_map_path: config_map["metadata"]}
        for kind, found in listed.items():
            values |= {path_of(kind, name[0], metadata["name"]): metadata for metadata in found}
        there, left = set[str](), dict[str, Json]()
        if framework is not None and not awaits_collector(framework["metadata"]):
            there.add(framework["metadata"]["uid"])
        for path, metadata in values.items():
            owned_by = owners(metadata)
            is_ours = len(owned_by) == 1 and (is_framework(owned_by[0], name[1]) or is_config_map(owned_by[0], name[1]))
            if is_ours and owned_by[0]["uid"] not in there:
                left[path] = metadata
            else:
                there.add(metadata["uid"])
        return {path: metadata for path, metadata in left.items() if "deletionTimestamp" not in metadata}

    async def _delete(self, left: Iterator[tuple[str, Json]], framework: Json) -> None:
        for path, metadata in left:
            try:
                await requests.delete(self._dependencies.api, path, metadata["uid"], version=metadata["resourceVersion"])
            except Refused as error:  # The others go all the same. A conflict is a change meanwhile: it is looked at again.
                if error.code != HTTPStatus.CONFLICT:
                    self._dependencies.report.refused(framework, None, error, 1)
