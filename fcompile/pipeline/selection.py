"""Which of the compiled objects are wanted, and the one traversal of them: as values, or as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from fcompile.diagnostics.suggestions import closest
from fcompile.diagnostics.writer import counted
from fcompile.emit.order import ordered
from fcompile.emit.splice import pods as spliced
from fcompile.errors import SettingError
from fcompile.expand import config_map, service
from fcompile.lower.intent import Role
from fcompile.model.patterns import lazy
from fcompile.pipeline.comparable import expected_pod
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.passthrough import PassedThrough
from fcompile.schema.pod_schemas import DEFAULT_VERSION

KINDS = ("framework", "configmap", "services", "pods")
EXPECTED = ("configmap", "services", "pods")
WRITTEN = {"frameworks": "framework", "expected": "", "configmaps": "configmap", "services": "services", "pods": "pods"}
"""The kinds as a list has them, all in the plural; those of `KINDS` are understood too."""
_ONLY = lazy(r"(?:(?P<framework>[^/\[\]]+)/)?(?P<role>[^/\[\]]+)(?:\[(?P<index>[0-9]{1,9})\])?")


class Only(NamedTuple):
    """What `[framework/]role[index]` names: the tasks of a role, or one of them."""

    framework: str
    role: str
    task: int | None

    def picks(self, framework: str, role: str) -> bool:
        """Return whether the selection includes this role."""
        return self.framework in ("", framework) and self.role == role


class Tasks(NamedTuple):
    """Tasks of one role, whose Pods differ only by the index."""

    compiled: Compiled
    role: Role
    indices: range
    version: int
    """Of the cluster, Kubernetes 1.x minor."""

    def pod(self, index: int | str) -> dict[str, Any]:
        """Return the Pod of one of the tasks as the cluster has it, in canonical order."""
        return expected_pod(self.role, self.compiled.namespace, index, self.version)


class Selection(NamedTuple):
    """The kinds that are wanted, of which tasks, and of how many of each role."""

    kinds: tuple[str, ...]
    only: tuple[Only, ...] = ()
    most: int | None = None
    """The largest number of Pods of each role; None: all."""
    version: int = DEFAULT_VERSION
    """Of the cluster, Kubernetes 1.x minor."""

    def objects(self, unit: Compiled | PassedThrough) -> Iterator[Any]:
        """Yield the objects one by one, in canonical order. Objects of other kinds count as `framework`, and are as they were read."""
        for part in self._parts(unit):
            if isinstance(part, Tasks):
                yield from map(part.pod, part.indices)
            else:
                yield part

    def texts(self, unit: Compiled | PassedThrough, dump: Callable[[Any], str], verbatim: bool = False) -> Iterator[str]:
        """Yield the same objects as `dump` writes them, many Pods in one text.

        :param verbatim: objects of other kinds keep their own text where possible.
        """
        own = unit.text() if verbatim and isinstance(unit, PassedThrough) else ""
        for part in self._parts(unit):
            if not isinstance(part, Tasks):
                yield own or dump(part)
            elif part.role.one_text_serves_all:
                yield from spliced(part.pod, part.indices, dump)
            else:
                yield from (dump(part.pod(index)) for index in part.indices)

    def tasks(self, compiled: Compiled) -> Iterator[Tasks]:
        """Yield the tasks that are wanted, role by role. Raises SettingError for an index that does not exist."""
        for role in compiled.intent.roles:
            picked = [only for only in self.only if only.picks(compiled.intent.framework, role.name)]
            for only in picked:
                if only.task is not None and only.task >= role.task_number:
                    raise SettingError("only", "", f"role `{role.name}` has {counted(role.task_number, 'task')}: there is no [{only.task}]")
            if not self.only or any(only.task is None for only in picked):
                number = role.task_number if self.most is None else min(role.task_number, self.most)
                yield Tasks(compiled, role, range(number), self.version)
            else:
                for index in sorted({only.task for only in picked if only.task is not None}):
                    yield Tasks(compiled, role, range(index, index + 1), self.version)

    def require(self, units: Sequence[Compiled]) -> None:
        """Raise SettingError if the selection names a role or task that does not exist."""
        for only in self.only:
            if not any(only.picks(unit.intent.framework, role.name) for unit in units for role in unit.intent.roles):
                known = ", ".join(f"{unit.intent.framework}/{role.name}" for unit in units[:10] for role in unit.intent.roles) or "none"
                named = f"{only.framework}/{only.role}" if only.framework else only.role
                meant = _task_of_pod(only.role, units)
                raise SettingError(
                    "only", "", f"there is no role `{named}`; {f'did you mean {meant}?' if meant else f'there are: {known}'}"
                )
        for unit in units:
            list(self.tasks(unit))

    def _parts(self, unit: Compiled | PassedThrough) -> Iterator[Any]:
        """Yield each object, but for the Pods of a role one `Tasks`."""
        if isinstance(unit, PassedThrough):
            if "framework" in self.kinds:
                yield unit.value
            return
        if "framework" in self.kinds:
            yield ordered(unit.framework)
        if "configmap" in self.kinds:
            yield ordered(config_map(unit.intent, unit.namespace))
        if "services" in self.kinds:
            yield from (ordered(made) for role in unit.intent.roles if (made := service(role, unit.namespace)) is not None)
        if "pods" in self.kinds:
            yield from self.tasks(unit)


def _task_of_pod(name: str, units: Sequence[Compiled]) -> str:
    """Return the task, `framework/role[index]`, whose Pod has this name, or the end of this name; empty if there is none."""
    role, _, index = name.rpartition("-")
    for unit in units:
        for one in unit.intent.roles:
            if role in (one.name, f"{unit.intent.framework}-{one.name}") and index.isdecimal() and int(index[:9]) < one.task_number:
                return f"{unit.intent.framework}/{one.name}[{index}]"
    return ""


def selection(kinds: str, only: Iterable[str] = (), version: int = DEFAULT_VERSION) -> Selection:
    """Return what a comma-separated list of kinds, and roles and tasks as `[framework/]role[index]`, select. Raises SettingError."""
    found = Selection(_kinds(kinds), tuple(map(_only, only)), version=version)
    if found.only and "pods" not in found.kinds:
        raise SettingError("only", "", f"it chooses Pods, and {kinds} prints none: add `pods`, or leave it out")
    return found


def _kinds(written: str) -> tuple[str, ...]:
    """Return the kinds of a list, `expected` standing for three of them."""
    asked: list[str] = []
    for word in map(str.strip, written.split(",")):
        kind = WRITTEN.get(word, word)
        if word != "expected" and kind not in KINDS:
            near = closest(word, WRITTEN)
            known = f"did you mean `{near.word}`?" if near else f"there are {', '.join(WRITTEN)}"
            raise SettingError("kinds", written, f"`{word}` cannot be printed: {known}")
        asked.extend(EXPECTED if word == "expected" else [kind])
    return tuple(kind for kind in KINDS if kind in asked)


def _only(written: str) -> Only:
    match = _ONLY.fullmatch(written)
    if match is None:
        raise SettingError("only", written, "write [framework/]role or [framework/]role[index], for example worker[0]")
    return Only(match["framework"] or "", match["role"], int(match["index"]) if match["index"] else None)
