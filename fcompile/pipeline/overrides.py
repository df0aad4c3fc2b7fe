"""Overrides, `[framework/]role.field=value`: they set one field of a role to a value of the field's type. Problems name the override."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fcompile.check.misplaced import synonym
from fcompile.check.objects import frameworks_in
from fcompile.diagnostics.problem import Path, Problem, field_path
from fcompile.diagnostics.suggestions import closest
from fcompile.diagnostics.visible import first_of
from fcompile.errors import SettingError
from fcompile.load import Document, LoadError, values
from fcompile.model.fields import Field, Type
from fcompile.model.steps import partition, steps
from fcompile.model.values import mapping, name_of, sequence, text, whole_number

if TYPE_CHECKING:
    from fcompile.check.document import Checked

_TYPES: dict[str, tuple[type, str]] = {
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "list": (list, "a list"),
    "map": (dict, "a mapping"),
    "object": (dict, "a mapping"),
}
"""By kind of field: what YAML gives for it, and what it is in words."""
MAX_OVERRIDES = 1_000
"""Of one run. Each may go through a list of thousands of items."""


class Override(NamedTuple):
    """An override, taken apart."""

    written: str
    framework: str
    """Empty: any."""
    role: str
    steps: tuple[str, ...]
    """Fields, keys of maps, and what picks an item of a list: its index or its name."""
    value: str
    called: str = "override"
    """What its user knows overrides as."""

    def __str__(self) -> str:
        return f"{self.called} {self.written}"

    def picks(self, framework: str, role: str) -> bool:
        """Return whether the override may mean this role."""
        return role == self.role and self.framework in ("", framework)


def parse(written: str, called: str = "override") -> Override:
    """Take `[framework/]role.field=value` apart. Raises SettingError.

    :param called: the name that messages give to overrides, such as that of an option.

    A step into a list is `[0]` or `[name]`, one into a map `.key` or `["a.key/with.dots"]`.
    """
    target, equals, value = partition(written, "=")
    framework, slash, rest = target.partition("/") if "/" in target.partition("[")[0] else ("", "", target)
    if "." in framework:  # no Framework has such a name: the `/` is in a key, as in `limits.nvidia.com/gpu`
        framework, slash, rest = "", "", target
    role, _, _ = rest.partition(".")
    try:
        written.encode()
        found = steps(rest[len(role) :])
    except UnicodeEncodeError:
        raise _refused(written, "it holds bytes that are no UTF-8, or half a surrogate pair") from None
    except ValueError as error:
        raise _refused(written, str(error)) from None
    if not equals or not role or not found or (slash and not framework):
        raise _refused(written, "write [framework/]role.field=value, for example worker.taskNumber=4")
    return Override(written, framework, role, found, value, called)


def _refused(written: str, reason: str) -> SettingError:
    return SettingError("override", written, reason)


class Applied(NamedTuple):
    """An override that was carried out: the role that it changed, and the field in it."""

    override: Override
    role: dict[str, Any]
    path: Path


def apply(overrides: Sequence[Override], frameworks: list[dict[str, Any]], types: dict[str, Type]) -> list[Applied]:
    """Carry the overrides out, in their order, on the Frameworks themselves. Raises SettingError; then some may be changed."""
    if len(overrides) > MAX_OVERRIDES:
        raise _refused(
            overrides[MAX_OVERRIDES].written, f"there are {len(overrides):,} overrides, and {MAX_OVERRIDES:,} at most may be given"
        )
    done = []
    for override in overrides:
        role = _the_role(override, frameworks)
        done.append(Applied(override, role, _set(role, override, types)))
    return done


def roles(frameworks: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every role: the name of its Framework, its own, and the role itself."""
    for framework in frameworks:
        name = name_of(framework) or ""
        for role in sequence(mapping(framework, "spec"), "taskRoles"):
            yield name, text(role, "name") or "", role


def refusal(override: Override, known: Sequence[tuple[str, str]]) -> SettingError | None:
    """Return why no single role is meant among the given (Framework, role) names, or None if exactly one is.

    Names that are longer than any can be are cut: one of megabytes would be written for each role of its Framework.
    """
    found = [framework for framework, role in known if override.picks(framework, role)]
    if len(found) == 1:
        return None
    if not found:
        listed = first_of([f"{framework:.63}/{role:.63}" for framework, role in known[:11]], 10) or "none"
        dot = not override.framework and any(framework == override.role for framework, _ in known)
        slash = f": `{override.role}` is a Framework; write {override.role}/ROLE.FIELD" if dot else ""
        return _refused(override.written, f"no such role{slash}; there are: {listed}")
    which = " or ".join(f"{framework:.63}/{override.role}" for framework in found[:3]) + (" …" if len(found) > 3 else "")
    return _refused(override.written, f"{len(found)} Frameworks have a role `{override.role}`: say which, {which}")


def first_refusal(overrides: Sequence[Override], frameworks: list[dict[str, Any]]) -> SettingError | None:
    """Return why the first of the overrides that means no single role is refused, or None."""
    known = [(framework, name) for framework, name, _ in roles(frameworks)]
    return next(filter(None, (refusal(override, known) for override in overrides[:MAX_OVERRIDES])), None)


def _the_role(override: Override, frameworks: list[dict[str, Any]]) -> dict[str, Any]:
    every = list(roles(frameworks))
    refused = refusal(override, [(framework, name) for framework, name, _ in every])
    if refused is not None:
        raise refused
    return next(role for framework, name, role in every if override.picks(framework, name))


def _set(role: dict[str, Any], override: Override, types: dict[str, Type]) -> Path:
    """Set the field; returns its path in the role."""
    node: Any = role
    field = Field("object", ref="TaskRole")
    done: list[str | int] = []
    in_map = False
    for index, step in enumerate(override.steps):
        last = index == len(override.steps) - 1
        if in_map and field.kind not in ("object", "map", "list"):
            raise _no_fields(override, done, index)
        in_map = field.kind == "map"
        key, field = _enter(node, field, step, override, done, types)
        done.append(key)
        if last:
            node[key] = _typed(override, field, field_path(tuple(done)))
        else:
            if isinstance(node, dict) and node.get(key) is None:
                node[key] = [] if field.kind == "list" else {}
            node = node[key]
    return tuple(done)


def _enter(
    node: Any, field: Field, step: str, override: Override, done: list[str | int], types: dict[str, Type]
) -> tuple[str | int, Field]:
    """Return the key or index that a step means in `node`, and the field that it leads to."""
    where = field_path(tuple(done)) or override.role
    if field.kind == "object" and isinstance(node, dict):
        fields = types[field.ref]
        if step not in fields:
            near = closest(step, fields)
            meant = synonym(field.ref, step, fields) or (near and near.word)
            hint = f"; did you mean `{meant}`?" if meant else f"; its fields are {', '.join(sorted(fields))}"
            raise _refused(override.written, f"`{where}` has no field `{step}`{hint}")
        return step, fields[step]
    if field.kind == "map" and isinstance(node, dict):
        return step, field._replace(kind=field.items, items="")
    if field.kind == "list" and isinstance(node, list):
        return _item(node, step, field, override, where), field._replace(kind=field.items, items="")
    raise _refused(override.written, f"`{where}` has no fields, so that `{step}` cannot be set in it")


def _no_fields(override: Override, done: list[str | int], index: int) -> SettingError:
    """Return the refusal of a step into a value of a map: mostly the key has dots, and is written without its brackets."""
    where, key = field_path(tuple(done)), field_path((*done[:-1], ".".join(override.steps[index - 1 :])))
    of = f"{override.framework}/{override.role}" if override.framework else override.role
    message = f"`{where}` has no fields, so that `{override.steps[index]}` cannot be set in it; write `{of}.{key}` if that is the key"
    return _refused(override.written, message)


def _item(items: list[Any], step: str, field: Field, override: Override, where: str) -> int:
    named = [index for index, item in enumerate(items) if any(text(item, key) == step for key in ("name", *field.map_keys))]
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        raise _refused(override.written, f"`{where}` has {len(named)} items called `{step}`: use an index")
    if (index := whole_number(step)) is not None and index < len(items):
        return index
    known = [text(item, "name") for item in items]
    has = first_of([f"[{name}]" for name in known], 10) if all(known[:10]) else str(len(items))
    raise _refused(override.written, f"`{where}` has no item `{step}`; it {f'has {has}' if items else 'is empty, and no item is added'}")


def _typed(override: Override, field: Field, where: str) -> Any:
    """Return the value in the field's type: text stays text, everything else is read as YAML."""
    if field.kind in ("string", "quantity"):
        return override.value
    try:
        read = values(override.value.encode())
    except LoadError as error:
        raise _refused(override.written, f"the value is not readable: {error.problem.message}") from None
    value = read[0] if read else None
    if read and value is None and field.nullable:
        return None
    if field.kind == "int-or-string" and not (isinstance(value, int) and not isinstance(value, bool)):
        return override.value
    expected, called = _TYPES.get(field.kind, (object, field.kind))
    if not isinstance(value, expected) or (isinstance(value, bool) and field.kind != "boolean"):
        raise _refused(override.written, f"`{where}` is {called}{' or null' if field.nullable else ''}, not `{override.value}`")
    return value


def name_overrides(checked: Checked, documents: Iterable[Document], applied: Sequence[Applied]) -> Checked:
    """Replace the source line in problems of overridden values by the override, since the line shows another value."""
    set_here = [(document, path, set_field) for document in documents for path, set_field in _places(document, applied)]
    return checked._replace(problems=[_named(problem, set_here) for problem in checked.problems])


def _places(document: Document, applied: Sequence[Applied]) -> Iterator[tuple[Path, Applied]]:
    """Yield the overridden fields of a document, by their paths in it."""
    for path, value in frameworks_in(document.value):
        for index, role in enumerate(sequence(mapping(value, "spec"), "taskRoles")):
            yield from ((((*path, "spec", "taskRoles", index, *override.path)), override) for override in applied if override.role is role)


def _named(problem: Problem, set_here: list[tuple[Document, Path, Applied]]) -> Problem:
    for document, path, override in reversed(set_here):  # of two overrides of one field the last one wins
        if document.start <= problem.span.start <= document.end and problem.path[: len(path)] == path:
            return problem._replace(message=f"{override.override}: {problem.message}", source_line="", fix=None)
    return problem
