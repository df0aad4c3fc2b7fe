"""The result of a whole comparison."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

from fcompile.diff.compare import Difference, differences
from fcompile.diff.defaults import as_the_server_reads
from fcompile.diff.frameworks import FrameworkDiff, Side, compare
from fcompile.diff.live import Live
from fcompile.model.fields import Field
from fcompile.model.framework import SERVER_SET
from fcompile.model.names import RESOURCE

K = TypeVar("K")
Key = tuple[str, str]
"""Namespace and name of a Framework."""
ObjectKey = tuple[str, str, str, str, int]
"""Group, kind, namespace and name of another object, and 0; or what its generated name begins with, and which one of these it is."""
FILE = "file:"
"""In place of a group: something else makes what runs of this file."""


_ENDS_PODS = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "Namespace", "Pod", "ReplicaSet", "ReplicationController", "StatefulSet"}
)
"""Kinds whose objects take their Pods with them."""
_DEFINITION = "CustomResourceDefinition", RESOURCE
"""Every Framework goes with it."""


class ObjectDiff(NamedTuple):
    """What differs in an object that is no Framework. One that is added or removed as a whole has no differences."""

    kind: str
    namespace: str
    name: str
    change: str
    """`added`, `removed` or `changed`."""
    differences: tuple[Difference, ...]
    before: str
    """The file."""
    after: str
    is_file: bool = False
    """It is a file of which others make what runs."""

    @property
    def ends_pods(self) -> bool:
        """Return whether this change ends Pods before their own completion."""
        return self.change == "removed" and (self.kind in _ENDS_PODS or (self.kind, self.name) == _DEFINITION)


class Result(NamedTuple):
    """Everything that differs, Frameworks in the order of the new side, then other objects."""

    frameworks: tuple[FrameworkDiff, ...]
    objects: tuple[ObjectDiff, ...] = ()
    live: tuple[Live, ...] = ()
    """What runs in the cluster, where that was asked for."""
    compared: int = 0
    """How many Frameworks there are on the two sides, one that is on both once."""

    @property
    def all_gone(self) -> bool:
        """Return whether there is no Framework on the new side."""
        return self.compared == sum(changed.kind == "removed" for changed in self.frameworks)

    @property
    def differs(self) -> bool:
        return bool(self.frameworks or self.objects) or any(live.differs for live in self.live)

    @property
    def ends_pods(self) -> bool:
        """Return whether Pods end, or may end, before their own completion."""
        return any(changed.ends_pods for changed in self.frameworks) or any(one.ends_pods for one in self.objects)


class Object(NamedTuple):
    """An object of another kind on one side."""

    value: dict[str, Any]
    file: str


Objects = list[Object]
"""Those that have one key, in the order of their files."""


def compare_all(
    before: Mapping[Key, Side],
    after: Mapping[Key, Side],
    objects: tuple[Mapping[ObjectKey, Objects], Mapping[ObjectKey, Objects]],
) -> Result:
    """Compare two sides. Of objects there may be more with one key: of two clusters, or the later one wins."""
    keys = _both(before, after)
    frameworks = (compare(before.get(key), after.get(key)) for key in keys)
    others = (_object(key, *pair) for key in _both(*objects) for pair in _pairs(*(side.get(key, []) for side in objects)))
    return Result(tuple(filter(None, frameworks)), tuple(filter(None, others)), compared=len(keys))


def _pairs(before: Objects, after: Objects) -> Iterator[tuple[Object | None, Object | None]]:
    """Yield the objects of both sides that have one key: those of one file are compared, and the others in their order."""
    if max(len(before), len(after)) < 2:
        yield from zip_longest(before, after)
        return
    files = [defaultdict[str, list[Object]](list), defaultdict[str, list[Object]](list)]
    for found, side in zip(files, (before, after), strict=True):
        for one in side:
            found[one.file].append(one)
    old, new = files
    for file in [name for name in new if name in old]:
        yield from zip_longest(old.pop(file), new.pop(file))
    yield from zip_longest(*([one for some in side.values() for one in some] for side in files))


def _both(before: Iterable[K], after: Iterable[K]) -> list[K]:
    """Return the keys of the new side in their order, then those that are only on the old side."""
    return list(dict.fromkeys([*after, *before]))


def _object(key: ObjectKey, before: Object | None, after: Object | None) -> ObjectDiff | None:
    group, kind, namespace, name, number = key
    name += "*" * (number > 0) + f" #{number}" * (number > 1)
    found: tuple[Difference, ...] = ()
    if before is not None and after is not None:
        found = tuple(differences(before.value, after.value) if group == FILE else _differences(kind, before.value, after.value))
        if not found:
            return None
    change = "added" if before is None else "removed" if after is None else "changed"
    return ObjectDiff(kind, namespace, name, change, found, before.file if before else "", after.file if after else "", group == FILE)


def _differences(kind: str, before: dict[str, Any], after: dict[str, Any]) -> Iterable[Difference]:
    before, after = _own(before), _own(after)
    if kind == "Pod" and isinstance(before.get("spec"), dict) and isinstance(after.get("spec"), dict):
        before, after = as_the_server_reads(before), as_the_server_reads(after)
        yield from differences(before.pop("spec"), after.pop("spec"), Field("object", ref="PodSpec"), "spec")
    yield from differences(before, after)


def _own(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object without what only a server writes."""
    metadata = value.get("metadata")
    kept = {key: item for key, item in value.items() if key != "status"}
    if isinstance(metadata, dict):
        kept["metadata"] = {key: item for key, item in metadata.items() if key not in SERVER_SET}
    return kept
