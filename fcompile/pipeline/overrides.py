"""`--set [framework/]role.field=value`: one field of a role, set to a value of the type that the field has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from fcompile.check.suggestions import closest
from fcompile.check.values import mapping, sequence, text
from fcompile.diagnostics.problem import Path, field_path
from fcompile.load import LoadError, values
from fcompile.model.fields import Field, Type
from fcompile.model.steps import steps

_ARTICLES = {
    "integer": "a whole number",
    "boolean": "true or false",
    "list": "a list",
    "map": "a mapping",
    "object": "a mapping",
    "number": "a number",
}


class OverrideError(ValueError):
    """An override that cannot be carried out; the message says why."""


class Override(NamedTuple):
    """One `--set`, taken apart."""

    written: str
    framework: str
    """Empty: any."""
    role: str
    steps: tuple[str, ...]
    """Fields, keys of maps, and what picks an item of a list: its index or its name."""
    value: str

    def picks(self, framework: str, role: str) -> bool:
        """Whether it may mean this role."""
        return role == self.role and self.framework in ("", framework)


def parse(written: str) -> Override:
    """Take `[framework/]role.field=value` apart. Raises OverrideError.

    A step into a list is `[0]` or `[name]`, one into a map `.key` or `["a.key/with.dots"]`.
    """
    target, equals, value = _split(written)
    framework, slash, rest = target.partition("/") if "/" in target.partition("[")[0] else ("", "", target)
    role, _, _ = rest.partition(".")
    found = _steps(rest[len(role) :], written)
    if not equals or not role or not found or (slash and not framework):
        raise OverrideError(f"--set {written}: write [framework/]role.field=value, for example worker.taskNumber=4")
    return Override(written, framework, role, found, value)


def _split(written: str) -> tuple[str, str, str]:
    """At the first `=` outside brackets: a quoted key may hold one."""
    depth = 0
    for place, character in enumerate(written):
        depth += (character == "[") - (character == "]")
        if character == "=" and depth <= 0:
            return written[:place], "=", written[place + 1 :]
    return written, "", ""


def _steps(target: str, written: str) -> tuple[str, ...]:
    try:
        return steps(target)
    except ValueError as rest:
        message = f'--set {written}: cannot read the field at `{rest}`; write names with dots, [index], [name] or ["key"]'
        raise OverrideError(message) from None


class Applied(NamedTuple):
    """An override that was carried out: the role that it changed, and the field in it."""

    override: Override
    role: dict[str, Any]
    path: Path


def apply(overrides: Iterable[Override], frameworks: list[dict[str, Any]], types: dict[str, Type]) -> list[Applied]:
    """Carry the overrides out, in their order, on the Frameworks themselves. Raises OverrideError; then some may be changed."""
    done = []
    for override in overrides:
        role = _the_role(override, frameworks)
        done.append(Applied(override, role, _set(role, override, types)))
    return done


def roles(frameworks: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every role: the name of its Framework, its own, and the role itself."""
    for framework in frameworks:
        name = text(mapping(framework, "metadata"), "name") or ""
        for role in sequence(mapping(framework, "spec"), "taskRoles"):
            yield name, text(role, "name") or "", role


def refusal(override: Override, known: Sequence[tuple[str, str]]) -> OverrideError | None:
    """Why an override cannot be carried out where there are these roles, each with its Framework's name; None if it means one of them."""
    found = [framework for framework, role in known if override.picks(framework, role)]
    if len(found) == 1:
        return None
    if not found:
        listed = (
            ", ".join(f"{framework}/{role}" for framework, role in known[:10]) + (", …" if len(known) > 10 else "") if known else "none"
        )
        return OverrideError(f"--set {override.written}: no such role; there are: {listed}")
    which = " or ".join(f"{framework}/{override.role}" for framework in found[:3]) + (" …" if len(found) > 3 else "")
    return OverrideError(f"--set {override.written}: {len(found)} Frameworks have a role `{override.role}`: say which, {which}")


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
    for place, step in enumerate(override.steps):
        last = place == len(override.steps) - 1
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
    """The key or index that a step means in `node`, and the field that it leads to."""
    where = field_path(tuple(done)) or override.role
    if field.kind == "object" and isinstance(node, dict):
        fields = types[field.ref]
        if step not in fields:
            near = closest(step, fields)
            hint = f"; did you mean `{near.word}`?" if near else f"; its fields are {', '.join(sorted(fields))}"
            raise OverrideError(f"--set {override.written}: `{where}` has no field `{step}`{hint}")
        return step, fields[step]
    if field.kind == "map" and isinstance(node, dict):
        return step, field._replace(kind=field.items, items="")
    if field.kind == "list" and isinstance(node, list):
        return _item(node, step, field, override, where), field._replace(kind=field.items, items="")
    raise OverrideError(f"--set {override.written}: `{where}` has no fields, so that `{step}` cannot be set in it")


def _item(items: list[Any], step: str, field: Field, override: Override, where: str) -> int:
    named = [
        index
        for index, item in enumerate(items)
        if any(mapping({"item": item}, "item").get(key) == step for key in ("name", *field.map_keys))
    ]
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        raise OverrideError(f"--set {override.written}: `{where}` has {len(named)} items called `{step}`: use an index")
    if step.isascii() and step.isdigit() and int(step) < len(items):
        return int(step)
    raise OverrideError(f"--set {override.written}: `{where}` has no item `{step}`; it has {len(items)}")


def _typed(override: Override, field: Field, where: str) -> Any:
    """The value as the field's type wants it: text stays text, everything else is read as YAML."""
    if field.kind in ("string", "quantity"):
        return override.value
    try:
        read = values(override.value.encode())
    except LoadError as error:
        raise OverrideError(f"--set {override.written}: the value is not readable: {error.message}") from None
    value = read[0] if read else None
    if field.kind == "int-or-string" and not (isinstance(value, int) and not isinstance(value, bool)):
        return override.value
    wanted: dict[str, type | tuple[type, ...]] = {
        "integer": int,
        "boolean": bool,
        "number": (int, float),
        "list": list,
        "map": dict,
        "object": dict,
    }
    expected = wanted.get(field.kind, object)
    if not isinstance(value, expected) or (isinstance(value, bool) and field.kind != "boolean"):
        raise OverrideError(f"--set {override.written}: `{where}` is {_ARTICLES.get(field.kind, field.kind)}, not `{override.value}`")
    return value
