"""The result of a whole comparison."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

from fcompile.check.tool_files import FileKind
from fcompile.diff.compare import Difference, differences
from fcompile.diff.defaults import as_the_server_reads
from fcompile.diff.frameworks import FrameworkDiff, Side, compare
from fcompile.diff.live import Live
from fcompile.diff.secrets import Stars, is_secret, masked
from fcompile.model.fields import Field
from fcompile.model.framework import SERVER_SET
from fcompile.model.names import RESOURCE

K = TypeVar("K")
T = TypeVar("T")
Key = tuple[str, str]
"""Namespace and name of a Framework."""
ObjectKey = tuple[str, str, str, str, int]
"""Group, kind, namespace and name of another object, and 0; or what its generated name begins with, and which one of these it is."""
FILE = "file:"
"""In place of a group: something else makes what runs of this file."""


_ENDS_PODS = frozenset(
    (
        *("CronJob", "DaemonSet", "Deployment", "Job", "Namespace", "Pod", "ReplicaSet", "ReplicationController", "StatefulSet"),
        *("JAXJob", "JobSet", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "TrainJob", "XGBoostJob"),
        *("LeaderWorkerSet", "RayCluster", "RayJob", "RayService", "Rollout", "SparkApplication", "Workflow"),
        *("Application", "ApplicationSet", "HelmRelease", "Kustomization"),
    )
)
"""Kinds whose objects take their Pods with them; those of GitOps tools, all that these have applied."""
_DEFINITION = "CustomResourceDefinition", RESOURCE
"""Every Framework goes with it."""


_WITH_SECRETS = frozenset({FileKind.HIDDEN, FileKind.KUSTOMIZATION, FileKind.PATCH, FileKind.SOURCE})
"""Kinds of files in which a Secret is one. In the values of a chart, whatever looks like one is to be seen."""
_WITH_OBJECTS = frozenset({FileKind.HIDDEN, FileKind.UNREAD})
"""Kinds of files that may be applied as they are: of a new one, all is as new as what is in others."""


class ObjectDiff(NamedTuple):
    """What differs in an object that is no Framework."""

    kind: str
    namespace: str
    name: str
    change: str
    """`added`, `removed` or `changed`."""
    differences: tuple[Difference, ...]
    """Of one that is added, all of it, and of a link where it leads; none of one that is removed, or of a file that is only built with."""
    before: str
    """The file."""
    after: str
    is_file: bool = False
    """It is a file of which others make what runs."""

    @property
    def title(self) -> str:
        """Return its kind, namespace and name: `Deployment ml/web`."""
        return f"{self.kind} {'/'.join(filter(None, (self.namespace, self.name)))}"

    @property
    def ends_pods(self) -> bool:
        """Return whether this change ends Pods before their own completion."""
        return self.change == "removed" and self._has_pods

    @property
    def may_end_pods(self) -> bool:
        """Return whether this change of an object may end Pods, and nobody here knows: they are not compared."""
        return self.change == "changed" and self._has_pods and any(not one.field.startswith("metadata.labels") for one in self.differences)

    @property
    def _has_pods(self) -> bool:
        return self.kind in _ENDS_PODS or (self.kind, self.name) == _DEFINITION


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


Frameworks = Mapping[Key, Sequence[Side]]
Objects = Mapping[ObjectKey, Sequence[Object]]
"""Those that have one key in the order of their files: of two clusters, or the later one wins."""


def compare_all(before: Frameworks, after: Frameworks, objects: tuple[Objects, Objects], in_git: bool = False) -> Result:
    """Compare two sides.

    :param in_git: they are files of commits. A `status` in one is no cluster's: whoever wrote the file could say that all is over.
    """
    if in_git:
        before = {key: [side._replace(status=None, in_git=True) for side in some] for key, some in before.items()}
    frameworks = [pair for _, pair in _pairs(before, after, lambda side: side.place()[0])]
    found = (compare(*pair) for pair in frameworks)
    others = (_object(key, *pair, in_git) for key, pair in _pairs(*objects, lambda one: one.file))
    return Result(tuple(filter(None, found)), tuple(filter(None, others)), compared=len(frameworks))


def _pairs(
    before: Mapping[K, Sequence[T]], after: Mapping[K, Sequence[T]], file: Callable[[T], str]
) -> Iterator[tuple[K, tuple[T | None, T | None]]]:
    """Yield what is to be compared, with its key: those of the new side in their order, then those that are only on the old side."""
    for key in dict.fromkeys([*after, *before]):
        for pair in _of_one_key(before.get(key, ()), after.get(key, ()), file):
            yield key, pair


def _of_one_key(before: Sequence[T], after: Sequence[T], file: Callable[[T], str]) -> Iterator[tuple[T | None, T | None]]:
    """Yield what has one key on both sides: those of one file are compared from the last, and the others in their order."""
    if max(len(before), len(after)) < 2:
        yield from zip_longest(before, after)
        return
    files = [defaultdict[str, list[T]](list), defaultdict[str, list[T]](list)]
    for found, side in zip(files, (before, after), strict=True):
        for one in side:
            found[file(one)].append(one)
    old, new = files
    for name in [one for one in new if one in old]:
        # Of those in one file, the last one wins: it is held against the last one, so that another one after it is no mere addition.
        yield from reversed([*zip_longest(reversed(old.pop(name)), reversed(new.pop(name)))])
    yield from zip_longest(*([one for some in side.values() for one in some] for side in files))


def _object(key: ObjectKey, before: Object | None, after: Object | None, in_git: bool) -> ObjectDiff | None:
    group, kind, namespace, name, number = key
    name += "*" * (number > 0) + f" #{number}" * (number > 1)
    found: tuple[Difference, ...] = ()
    old, new = (one.value if one else {} for one in (before, after))
    if group == "" and is_secret(kind):
        old, new = masked(old, new), masked(new, old, " (after)")
    elif group == FILE and kind in _WITH_SECRETS:
        stars = Stars()
        old, new = stars.within(old), stars.within(new)
    if before is not None and after is not None:
        found = tuple(differences(old, new) if group == FILE else _differences(kind, old, new, in_git))
        if not found:
            return None
    elif group == FILE:
        if kind == FileKind.LINK or (kind in _WITH_OBJECTS and after is not None):
            found = tuple(differences(old, new))
    elif after is not None:
        content = _content(new, in_git)
        found = tuple(differences({key: {} for key, value in content.items() if isinstance(value, dict)}, content))
    change = "added" if before is None else "removed" if after is None else "changed"
    return ObjectDiff(kind, namespace, name, change, found, before.file if before else "", after.file if after else "", group == FILE)


def _differences(kind: str, before: dict[str, Any], after: dict[str, Any], in_git: bool) -> Iterable[Difference]:
    before, after = _own(before, in_git), _own(after, in_git)
    if kind == "Pod" and isinstance(before.get("spec"), dict) and isinstance(after.get("spec"), dict):
        before, after = as_the_server_reads(before), as_the_server_reads(after)
        yield from differences(before.pop("spec"), after.pop("spec"), Field("object", ref="PodSpec"), "spec")
    yield from differences(before, after)


def _content(value: dict[str, Any], in_git: bool) -> dict[str, Any]:
    """Return what is in an object but for what it is called."""
    own = {key: item for key, item in _own(value, in_git).items() if key not in ("apiVersion", "kind")}
    if isinstance(own.get("metadata"), dict):
        own["metadata"] = {key: item for key, item in own["metadata"].items() if key not in ("name", "namespace")}
    return {key: item for key, item in own.items() if item not in ({}, None)}


def _own(value: dict[str, Any], in_git: bool) -> dict[str, Any]:
    """Return the object without what only a server writes. In git, what has a `kind` may be values of a chart, and `status` one of them."""
    metadata = value.get("metadata")
    kept = {key: item for key, item in value.items() if key != "status" or in_git}
    if isinstance(metadata, dict):
        kept["metadata"] = {key: item for key, item in metadata.items() if key not in SERVER_SET}
    return kept
