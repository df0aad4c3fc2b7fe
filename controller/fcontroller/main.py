"""The controller: follows Frameworks and what they own, and gives each Framework a runner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fcompile.model import names
from fcontroller.act.services import essence
from fcontroller.api import Json, Projection, collection
from fcontroller.decide import observed
from fcontroller.decide.context import POD_DELETION, Key
from fcontroller.dependencies import Dependencies
from fcontroller.observe.reflector import Reflector
from fcontroller.runner import Runner

Name = tuple[str, str]
"""Namespace and name."""


class Controller:
    """Runs all Frameworks of one namespace, or of all."""

    def __init__(self, dependencies: Dependencies, namespace: str = "", failed: Callable[[str], object] = lambda _: None) -> None:
        """:param failed: is told why something could not be listed or watched."""
        self.dependencies, self.namespace, self._failed = dependencies, namespace, failed
        self.runners: dict[Name, Runner] = {}
        self._config_maps: dict[Name, Json] = {}
        """By the Framework's name."""
        self._pods: dict[Name, dict[Key, observed.Pod]] = {}
        self._services: dict[Name, dict[str, Json]] = {}
        snapshots = POD_DELETION in dependencies.settings.snapshots
        self._owned = [
            self._follow("pods", namespace, self._all_pods, self._pod, Projection.WHOLE if snapshots else Projection.POD),
            self._follow("configmaps", namespace, self._all_config_maps, self._config_map, Projection.METADATA),
        ]
        self._of_services = self._follow("services", namespace, self._all_services, self._service, Projection.WHOLE)
        self._frameworks = Reflector(
            dependencies.api, collection("frameworks", namespace), self._all_frameworks, self._framework, failed=failed
        )

    def _follow(
        self,
        kind: str,
        namespace: str,
        replaced: Callable[[list[Json]], None],
        changed: Callable[[str, Json], None],
        projection: Projection,
    ) -> Reflector:
        """Follow what Frameworks own."""
        path, selector = collection(kind, namespace), names.FRAMEWORK_NAME
        return Reflector(self.dependencies.api, path, replaced, changed, selector=selector, projection=projection, failed=self._failed)

    @property
    def reflectors(self) -> tuple[Reflector, ...]:
        """In the order in which they begin."""
        return (*self._owned, self._of_services, self._frameworks)

    @property
    def ready(self) -> bool:
        """Whether everything has been seen once."""
        return self._frameworks.listed.is_set()

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            async with asyncio.TaskGroup() as reflectors:
                for reflector in self.reflectors:
                    # Frameworks come last: none is looked at before its objects are known.
                    reflectors.create_task(reflector.run())
                    await reflector.listed.wait()
        finally:
            for runner in self.runners.values():
                runner.stop()

    async def finish(self, seconds: float) -> None:
        """After `run` was cancelled: let what is under way come to its end, and store it. What takes longer is given up."""
        await asyncio.gather(*[runner.finish(seconds) for runner in self.runners.values()])

    def _framework(self, event: str, framework: Json) -> None:
        name = _name(framework)
        runner = self.runners.get(name)
        other = runner is not None and runner.uid != framework["metadata"]["uid"]
        if runner is not None and (event == "DELETED" or other or self.dependencies.dry_run or _is_anothers(framework)):
            runner.stop()
            del self.runners[name]
            self._forget(name)
            runner = None
        if event == "DELETED":
            if not _is_anothers(framework):
                self.dependencies.report.framework_deleted(framework)
            return
        if runner is None:
            self._begin(framework)
        else:
            runner.seen_framework(framework)

    def _begin(self, framework: Json) -> None:
        """Give a Framework a runner, instead of the one that it may have, if it is for us to run."""
        name = _name(framework)
        self.runners.pop(name, None)
        if _is_anothers(framework):
            return
        try:
            runner = Runner(self.dependencies, framework, self._begin_again, self._has_seen)
        except Exception as error:  # Whatever is in it: it must not be in the way of others. It may be edited.
            self.dependencies.report.broke(framework, error)
            return
        self.runners[name] = runner
        runner.config_map = self._config_maps.get(name)
        runner.pods = self._pods.setdefault(name, {})
        runner.services.found = self._services.setdefault(name, {})

    def _begin_again(self, framework: Json) -> None:
        runner = self.runners.get(_name(framework))
        if runner is not None and runner.uid == framework["metadata"]["uid"]:
            self._begin(framework)

    def _has_seen(self, value: Json) -> bool:
        """Whether ConfigMaps and Pods are known as they were when an object was last written, or later."""
        return all(reflector.version >= int(value["metadata"]["resourceVersion"]) for reflector in self._owned)

    def _all_frameworks(self, frameworks: list[Json]) -> None:
        for name in self.runners.keys() - {_name(framework) for framework in frameworks}:
            gone = self.runners.pop(name)
            gone.stop()
            self._forget(name)
            self.dependencies.report.framework_deleted(gone.framework)
        for framework in frameworks:
            self._framework("MODIFIED", framework)

    def _config_map(self, event: str, config_map: Json) -> None:
        name = _framework_of(config_map)
        if config_map["metadata"]["name"] != names.config_map_name(name[1]):
            return
        # Its data, if it comes at all, is only read when Pods are made, from the API server itself.
        kept = {"metadata": {key: value for key, value in config_map["metadata"].items() if key != "managedFields"}}
        if event == "DELETED":
            self._config_maps.pop(name, None)
        else:
            self._config_maps[name] = kept
        if name in self.runners:
            self.runners[name].seen_config_map(self._config_maps.get(name))

    def _all_config_maps(self, config_maps: list[Json]) -> None:
        gone = self._config_maps.keys() - {_framework_of(config_map) for config_map in config_maps}
        for name in gone:
            del self._config_maps[name]
            if name in self.runners:
                self.runners[name].seen_config_map(None)
        for config_map in config_maps:
            self._config_map("MODIFIED", config_map)

    def _service(self, event: str, service: Json) -> None:
        # By its name: of labels there may be others than we gave it.
        metadata = service["metadata"]
        name = metadata["namespace"], metadata["name"].partition("-")[0]
        known = self._services.setdefault(name, {})
        there = known.get(metadata["name"])
        if there is not None and int(there["metadata"]["resourceVersion"]) > int(metadata["resourceVersion"]):
            return  # We wrote it meanwhile.
        if event == "DELETED":
            known.pop(metadata["name"], None)
            self._forget(name)
        else:
            known[metadata["name"]] = essence(service)
        if name in self.runners:
            self.runners[name].services.seen()

    def _all_services(self, services: list[Json]) -> None:
        for known in self._services.values():
            known.clear()
        for service in services:
            self._service("MODIFIED", service)
        for runner in self.runners.values():
            runner.services.seen()

    def _pod(self, event: str, pod: Json) -> None:
        key = task_of(pod)
        if key is None:
            return
        if event == "DELETED":
            self.dependencies.report.pod_deleted(pod)
        name = _framework_of(pod)
        pods = self._pods.setdefault(name, {})
        seen = None if event == "DELETED" else observed.pod(pod)
        if seen is None:
            pods.pop(key, None)
            self._forget(name)
        else:
            pods[key] = seen
        if name in self.runners:
            self.runners[name].poke(key)

    def _forget(self, name: Name) -> None:
        """Keep nothing of a Framework that is gone with its Pods and Services."""
        if name not in self.runners:
            for kept in (self._pods, self._services):
                if not kept.get(name):
                    kept.pop(name, None)

    def _all_pods(self, pods: list[Json]) -> None:
        for known in self._pods.values():
            known.clear()
        for pod in pods:
            self._pod("MODIFIED", pod)
        for runner in self.runners.values():
            runner.poke_all()


def _name(value: Json) -> Name:
    return value["metadata"]["namespace"], value["metadata"]["name"]


def _framework_of(value: Json) -> Name:
    return value["metadata"]["namespace"], value["metadata"]["labels"][names.FRAMEWORK_NAME]


def task_of(pod: Json) -> Key | None:
    """The task of a Pod by the Pod's name, which is the only thing that cannot be two tasks' at once."""
    framework, _, rest = pod["metadata"]["name"].partition("-")
    role, _, index = rest.rpartition("-")
    if framework != pod["metadata"]["labels"][names.FRAMEWORK_NAME] or not role or not index.isdecimal():
        return None
    return role, int(index)


def _is_anothers(framework: Json) -> bool:
    """Whether somebody else reconciles it: then nothing of it is touched."""
    manager: Any = framework["spec"].get("managedBy")
    return manager is not None and manager != f"{names.GROUP}/frameworkcontroller"
