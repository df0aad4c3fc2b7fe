"""Variables that read a field of their Pod by the downward API. Where its value is known, they are given that instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fcompile.convert.draft import RoleDraft
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping, sequence, text


class FieldVariable(NamedTuple):
    """A variable of a container or init container."""

    path: Path
    """Of the variable, in the source."""
    name: str | None
    field: str
    """What it reads, such as `metadata.labels['job-name']`."""
    env: list[Any]
    number: int

    def become(self, value: str) -> None:
        """Give it a value in place of the field."""
        self.env[self.number] = {"name": self.name, "value": value}


def field_variables(role: RoleDraft) -> Iterator[FieldVariable]:
    """Yield the variables of a role that read a field."""
    spec = role.template["spec"]
    for kind in ("initContainers", "containers"):
        for position, container in enumerate(sequence(spec, kind)):
            env = sequence(container, "env")
            for number, variable in enumerate(env):
                field = text(mapping(mapping(variable, "valueFrom"), "fieldRef"), "fieldPath")
                if field is not None:
                    path = (*role.template_source, "spec", kind, position, "env", number)
                    yield FieldVariable(path, text(variable, "name"), field, env, number)


def own_name_variables(container: Mapping[str, Any]) -> set[str]:
    """Return the variables of a container that have the name of its Pod."""
    found = ((text(one, "name"), text(mapping(mapping(one, "valueFrom"), "fieldRef"), "fieldPath")) for one in sequence(container, "env"))
    return {name for name, field in found if name and field == "metadata.name"}
