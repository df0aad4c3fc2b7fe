"""What the rules look at: one Framework, and its Pod templates as a task will get them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fcompile.check.met_indices import is_free_text, met_indices
from fcompile.check.pod_values import texts
from fcompile.diagnostics.problem import Part, Path
from fcompile.lower.placeholders import role_values, substitute, substitute_again, sums_in, values_of
from fcompile.model import names
from fcompile.model.framework import MAX_TASKS
from fcompile.model.values import at, integer, mapping, name_of, sequence, text

DEFAULT_NAMESPACE = "default"
_WITH_INDEX = ("{{" + names.TASK_INDEX, names.placeholder(names.POD_NAME))
"""The placeholders that contain the index. The first is also the beginning of a sum."""


class RoleContext(NamedTuple):
    """A task role that was not checked yet: its value may have any type."""

    value: Any
    position: int
    """Its index in `spec.taskRoles`."""
    name: str
    """Empty when it has none."""
    task_number: int
    """`taskNumber`, 1 when it is left out or of a wrong type."""
    template: dict[str, Any]
    """Its `task.pod`; empty when there is none."""
    sums: tuple[str, ...]
    """The sums with the index in its template, as `FC_TASK_INDEX+1`."""
    index_matters: bool = False
    """Whether its tasks differ in more than free text."""
    met: tuple[int, ...] = ()
    """Tasks, neither the first nor the last, in which a name with the index becomes the same as a fixed name."""

    @property
    def path(self) -> Path:
        return ("spec", "taskRoles", self.position)

    @property
    def template_path(self) -> Path:
        return (*self.path, "task", "pod")

    @property
    def serves(self) -> bool:
        """Return whether the role asks for a Service."""
        return isinstance(self.value, dict) and isinstance(self.value.get("service"), dict)

    @property
    def last_index(self) -> int:
        """Return the highest task index that can exist."""
        return min(max(self.task_number, 1), MAX_TASKS) - 1


class FrameworkContext(NamedTuple):
    """One Framework under check. Paths of findings start at the Framework's own root."""

    value: dict[str, Any]
    name: str
    namespace: str
    """The namespace in which the Framework will be; never empty."""
    version: int
    """Kubernetes 1.x minor."""
    plain: Callable[[Path, Part], str | None]
    """The source text of the plain scalar at a path, or None when it is quoted, no scalar or not there."""
    roles: tuple[RoleContext, ...]
    holds_placeholders: bool
    """Whether there may be placeholders; if not, rules need not look for them."""
    source_keys: dict[tuple[int, int], dict[str, str]]
    """`_keys_of` of mappings, by the position of the role and the mapping's id: found once, since there may be a finding on each key."""
    made: dict[tuple[int, int], dict[str, Any]]
    """The templates of each role's first and last task, by its position and the task's index: several rules look at them."""

    def templates(self) -> Iterator[tuple[RoleContext, dict[str, Any]]]:
        """Yield each role's template as its first task gets it and, where the index can matter to any rule, as its last one does.

        So too for those in between whose own names meet a fixed one.
        """
        for role in self.roles:
            first = self.substituted(role, 0)
            yield role, first
            if role.index_matters:
                for index in (role.last_index, *role.met):
                    yield role, self.substituted(role, index)

    def substituted(self, role: RoleContext, index: int) -> dict[str, Any]:
        """Return a role's template with the placeholders of one task filled in; the template itself when there are none."""
        if not self.holds_placeholders:
            return role.template
        template = self.made.get((role.position, index))
        if template is None:
            template = substitute_again(role.template, self.made[role.position, 0], self.values(role, index))
            if index == role.last_index:
                self.made[role.position, index] = template
        return template

    def values(self, role: RoleContext, index: int) -> dict[str, str]:
        """Return what the placeholders in a role's template, and its sums, stand for in one task."""
        return values_of(self.name, role.name, self.namespace, index, role.sums)

    def source_path(self, path: Path) -> Path:
        """Return a path within a substituted template as it stands in the source, where keys still hold placeholders."""
        if not self.holds_placeholders or len(path) <= 5 or path[:2] != ("spec", "taskRoles"):
            return path
        role = self.roles[int(path[2])]
        node, source = role.template, list(path[:5])
        for step in path[5:]:
            source.append(self._source_key(role, node, step))
            node = at(node, (source[-1],))
        return tuple(source)

    def _source_key(self, role: RoleContext, node: Any, step: str | int) -> str | int:
        if isinstance(step, int) or not isinstance(node, dict) or step in node:
            return step
        place = role.position, id(node)
        if place not in self.source_keys:
            self.source_keys[place] = self._keys_of(role, node)
        return self.source_keys[place].get(step, step)

    def _keys_of(self, role: RoleContext, node: dict[str, Any]) -> dict[str, str]:
        """Return the keys of a mapping of a role's template by what they are in the tasks that are checked."""
        tasks = [self.values(role, index) for index in (0, role.last_index, *role.met)]
        found: dict[str, str] = {}
        for key in node:
            for values in tasks:
                found.setdefault(substitute(key, values), key)
        return found


def framework_context(
    value: dict[str, Any], namespace: str, version: int, plain: Callable[[Path, Part], str | None], *, holds: bool, sums: bool
) -> FrameworkContext:
    """Return the context in which the rules look at the Framework `value`.

    :param holds: whether its text may have a placeholder somewhere. :param sums: whether it may have a sum with the index.
    """
    name = name_of(value) or ""
    own_namespace = text(mapping(value, "metadata"), "namespace") or namespace
    roles = tuple(_role(role, index, sums) for index, role in enumerate(sequence(mapping(value, "spec"), "taskRoles")))
    made: dict[tuple[int, int], dict[str, Any]] = {}
    if holds:
        for role in roles:
            made[role.position, 0] = substitute(role.template, values_of(name, role.name, own_namespace, 0, role.sums))
        roles = tuple(_with_index(role, name, own_namespace, made[role.position, 0]) for role in roles)
    return FrameworkContext(value, name, own_namespace, version, plain, roles, holds, {}, made)


def _with_index(role: RoleContext, framework: str, namespace: str, first: dict[str, Any]) -> RoleContext:
    """Return a role with what the index does in it. `first` is its template as the first task gets it."""
    if role.last_index == 0 or not _index_matters(role.template, first):
        return role
    values = {**role_values(framework, role.name), names.FRAMEWORK_NAMESPACE: namespace}
    met = met_indices(substitute_again(role.template, first, values), role.last_index) if role.last_index > 1 else ()
    return role._replace(index_matters=True, met=met)


def _role(role: Any, position: int, sums: bool) -> RoleContext:
    template = mapping(mapping(role, "task"), "pod")
    return RoleContext(role, position, text(role, "name") or "", task_number(role), template, sums_in(template) if sums else ())


def containers(template: dict[str, Any], path: Path) -> Iterator[tuple[Any, Path]]:
    """Yield each init container and each container of the template at `path`, with its own path."""
    spec = mapping(template, "spec")
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(sequence(spec, kind)):
            yield container, (*path, "spec", kind, index)


def words(container: Any, path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the words of `command`, then those of `args`, of the container at `path`, each with its own path."""
    for field in ("command", "args"):
        yield from texts(container, path, field)


def task_number(role: Any) -> int:
    """Return the `taskNumber` of a role, 1 when it is left out or of a wrong type."""
    count = integer(role, "taskNumber")
    return 1 if count is None else count


def contains_index(text: str) -> bool:
    """Return whether a placeholder in a text stands for something else in each task."""
    return any(mark in text for mark in _WITH_INDEX)


def _index_matters(written: Any, first: Any, parent: str = "") -> bool:
    """Return whether the task's index is used in a template outside free text.

    `first` is the template as the first task gets it. A part that is the same object in both holds no placeholder.
    """
    if isinstance(written, str):
        return contains_index(written)
    if isinstance(written, list):
        pairs = zip(written, first, strict=True)
        return any([_index_matters(item, made, parent) for item, made in pairs if made is not item])
    if written is not first and "{{FC_" in "\n".join(written):
        return True
    changed = [(key, item) for key, item in written.items() if first[key] is not item]
    return any([_index_matters(item, first[key], key) for key, item in changed if not is_free_text(parent, key, item)])
