"""The objects that `build` prints, as texts: what was asked for, of each Framework in its turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fcompile.emit.order import ordered
from fcompile.emit.splice import pods as spliced
from fcompile.errors import UsageError
from fcompile.expand import config_map, pod, service
from fcompile.lower.intent import Role
from fcompile.lower.quantities import has_symbolic_quantity
from fcompile.pipeline.compiled import Compiled
from fcompile.schema.pod_schemas import POD_TEMPLATE

KINDS = ("framework", "configmap", "services", "pods")
EXPECTED = ("configmap", "services", "pods")
_ONLY = re.compile(r"(?:(?P<framework>[^/\[\]]+)/)?(?P<role>[^/\[\]]+)(?:\[(?P<index>\d+)\])?")


class Only(NamedTuple):
    """What `--only [framework/]role[index]` names: the tasks of a role, or one of them."""

    framework: str
    role: str
    task: int | None

    def picks(self, framework: str, role: str) -> bool:
        return self.framework in ("", framework) and self.role == role


def parse_only(written: str) -> Only:
    """Take `[framework/]role[index]` apart. Raises UsageError."""
    match = _ONLY.fullmatch(written)
    if match is None:
        raise UsageError(f"--only {written}: write [framework/]role or [framework/]role[index], for example worker[0]")
    return Only(match["framework"] or "", match["role"], int(match["index"]) if match["index"] else None)


def parse_emit(written: str) -> tuple[str, ...]:
    """The kinds of a comma-separated list, `expected` standing for three of them. Raises UsageError."""
    asked: list[str] = []
    for word in written.split(","):
        if word not in (*KINDS, "expected"):
            raise UsageError(f"--emit {written}: `{word}` is none of framework, expected, {', '.join(KINDS[1:])}")
        asked.extend(EXPECTED if word == "expected" else [word])
    return tuple(kind for kind in KINDS if kind in asked)


def tasks(compiled: Compiled, only: tuple[Only, ...]) -> Iterator[tuple[Role, range]]:
    """The roles whose tasks are wanted, each with its indices. Raises UsageError for an index that there is not."""
    for role in compiled.intent.roles:
        picked = [one for one in only if one.picks(compiled.intent.framework, role.name)]
        for one in picked:
            if one.task is not None and one.task >= role.task_number:
                raise UsageError(f"--only: role `{role.name}` has {role.task_number} tasks: there is no [{one.task}]")
        if not only or any(one.task is None for one in picked):
            yield role, range(role.task_number)
        else:
            for index in sorted({one.task for one in picked if one.task is not None}):
                yield role, range(index, index + 1)


def shared(compiled: Compiled, emit: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """All but the Pods, in canonical order: the Framework, the ConfigMap, the Services."""
    if "framework" in emit:
        yield ordered(compiled.framework)
    if "configmap" in emit:
        yield ordered(config_map(compiled.intent, compiled.namespace))
    if "services" in emit:
        for role in compiled.intent.roles:
            made = service(role, compiled.namespace)
            if made is not None:
                yield ordered(made)


def pod_texts(compiled: Compiled, only: tuple[Only, ...], dump: Callable[[Any], str]) -> Iterator[str]:
    """The Pods as `dump` writes them, many to a text."""
    for role, indices in tasks(compiled, only):
        yield from role_pod_texts(compiled, role, indices, dump)


def role_pod_texts(compiled: Compiled, role: Role, indices: range, dump: Callable[[Any], str]) -> Iterator[str]:
    """The Pods of some tasks of one role."""

    def made(index: str) -> dict[str, Any]:
        value: dict[str, Any] = ordered(pod(role, compiled.namespace, index))
        return value

    if has_symbolic_quantity(role.pod, POD_TEMPLATE):
        yield from (dump(made(str(index))) for index in indices)
    else:
        yield from spliced(made, indices, dump)


def pod_objects(compiled: Compiled, only: tuple[Only, ...]) -> Iterator[dict[str, Any]]:
    """The Pods one by one."""
    for role, indices in tasks(compiled, only):
        for index in indices:
            yield ordered(pod(role, compiled.namespace, index))
