"""Small Frameworks for tests of `diff`, and what the comparison makes of two."""

from __future__ import annotations

import copy
from typing import Any

from fcompile.diff.frameworks import FrameworkDiff, Side, compare
from fcompile.pipeline.compiled import compile_framework

Json = dict[str, Any]


def role(name: str = "worker", count: int = 2, retry: int = 0, **changes: Any) -> Json:
    """A role of Pods with one container; `changes` are of the role itself, or, as `pod={…}`, of the Pod's spec."""
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}], **changes.pop("pod", {})}}
    return {"name": name, "taskNumber": count, "task": {"retryPolicy": {"maxRetryCount": retry}, "pod": pod}, **changes}


def spec(*roles: Json, **changes: Any) -> Json:
    return {"taskRoles": [*(roles or (role(),))], **changes}


def framework(spec: Json, name: str = "train", **metadata: Any) -> Json:
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework"}
    own = copy.deepcopy(spec)
    return {**head, "metadata": {"name": name, **own.pop("metadata", {}), **metadata}, "spec": own}


def annotated(spec: Json, annotation: str, value: str) -> Json:
    """A spec whose Framework has an annotation."""
    return {**spec, "metadata": {"annotations": {annotation: value}}}


def side(value: Json, status: Any = None) -> Side:
    return Side(compile_framework(value, "default"), lambda: ("a.yaml", 1), status)


def diff(before: Json, after: Json, status: Any = None) -> FrameworkDiff | None:
    """What differs between two specs."""
    return compare(side(framework(before), status), side(framework(after)))


def effects(before: Json, after: Json, status: Any = None) -> dict[str, str]:
    """The effect of each change by its label."""
    found = diff(before, after, status)
    changes = found.changes if found else ()
    return {f"{change.role}: {change.field}" if change.role else change.field: change.effect.value for change in changes}
