"""The task roles of a Framework among themselves: that there are some, and that each has a name of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.misplaced import explained
from fcompile.check.seen import repeated
from fcompile.diagnostics.problem import Finding, error_rule, warning_rule
from fcompile.model.values import mapping
from fcompile.schema.types import types

DUPLICATE_ROLE = error_rule(
    code="FC161",
    name="duplicate-role",
    summary="Two task roles of a Framework have the same name.",
    why="Their tasks would have the same Pods.",
    remedy="Give each role its own name.",
)
NO_TASK_ROLES = warning_rule(
    code="FC162",
    name="no-task-roles",
    summary="A Framework has no task roles.",
    why="It starts, runs nothing, and never completes until roles are added.",
    remedy="Add a role under `spec.taskRoles`.",
)


def task_role_rules(value: dict[str, Any], version: int) -> Iterator[Finding]:
    """Yield the problems of a Framework's list of task roles."""
    spec = mapping(value, "spec")
    roles = spec.get("taskRoles")
    told = "taskRoles" in explained("FrameworkSpec", spec, types(version)["FrameworkSpec"], version)
    if isinstance(value.get("spec"), dict) and (roles is None or roles == []) and not told:
        message = "the Framework has no task roles, so it runs nothing and never completes: add one to `taskRoles`"
        yield Finding(NO_TASK_ROLES, ("spec",), message, part="key")
    for name, path, first in repeated(spec, ("spec",), "taskRoles", "name", "the first role of this name"):
        yield Finding(DUPLICATE_ROLE, path, f"there is a role called `{name}` already: give each role its own name", related=first)
