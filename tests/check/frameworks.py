"""Frameworks for the tests of the rules, and the rules run over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fcompile.check.context import FrameworkContext, framework_context
from fcompile.diagnostics.problem import Finding


def role(
    name: str = "worker", count: int | None = 4, failed: int | None = None, succeeded: int | None = None, **more: Any
) -> dict[str, Any]:
    """A role; what is None is left out. `spec`, `retry`, `metadata` and `service` go to their places."""
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}], **more.pop("spec", {})}
    task: dict[str, Any] = {"pod": {"spec": {key: value for key, value in spec.items() if value is not None}}}
    if "metadata" in more:
        task["pod"]["metadata"] = more.pop("metadata")
    if "retry" in more:
        task["retryPolicy"] = {"maxRetryCount": more.pop("retry")}
    policy = {"minFailedTaskCount": failed, "minSucceededTaskCount": succeeded}
    made = {"name": name, "task": task, **more}
    if count is not None:
        made["taskNumber"] = count
    if failed is not None or succeeded is not None:
        made["frameworkAttemptCompletionPolicy"] = {key: value for key, value in policy.items() if value is not None}
    return made


def framework(*roles: Any, name: str = "train", **spec: Any) -> dict[str, Any]:
    """A Framework of these roles."""
    return {
        "apiVersion": "frameworkcontroller.microsoft.com/v1",
        "kind": "Framework",
        "metadata": {"name": name},
        "spec": {**spec, "taskRoles": list(roles)},
    }


def context_of(value: dict[str, Any]) -> FrameworkContext:
    """The Framework as the rules get it."""
    holds = "{{FC_" in repr(value)
    return framework_context(value, "default", 36, lambda path, part: None, holds=holds, sums=holds)


def found(rules: Callable[[FrameworkContext], Iterator[Finding]], value: dict[str, Any]) -> list[tuple[str, tuple[str | int, ...]]]:
    """Codes and paths of what the rules find, the paths without `spec.taskRoles`."""
    return [
        (finding.rule.code, finding.path[2:] if finding.path[:2] == ("spec", "taskRoles") else finding.path)
        for finding in rules(context_of(value))
    ]
