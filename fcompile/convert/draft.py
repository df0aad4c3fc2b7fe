"""A Framework in the making: roles with what they were made of, so that whatever is found wrong with one can be shown in the source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from fcompile.convert.ledger import MAX_ENTRIES, Elsewhere
from fcompile.diagnostics.problem import Path
from fcompile.diagnostics.visible import joined
from fcompile.model import names
from fcompile.model.framework import LIFETIME

SERVICE, SUMS = "`service`", "sums with the index"
_ONLY_HERE = (*(f"`{name}`" for name in (*LIFETIME, "managedBy")), SERVICE, SUMS)
"""What upstream's controller does not know, in the order in which it is said."""


def of_controller(what: str, only_here: Iterable[str]) -> str:
    """Return which controller runs Frameworks, and why no other."""
    return f"`fcontroller` runs {what}: upstream's FrameworkController does not know {joined(sorted(set(only_here), key=_ONLY_HERE.index))}"


@dataclass
class RoleDraft:
    """A role, and the replica that it was made of."""

    name: str
    task_number: int
    template: dict[str, Any]
    source: Path
    """Of the replica, in the source."""
    template_source: Path
    min_failed: int = 1
    min_succeeded: int = -1
    fancy: bool = False
    max_retry_count: int = 0
    ports: list[dict[str, Any]] | None = None
    """Of its Service; None: it has none."""
    origin: Callable[[Path], Path | None] | None = None
    """Where in the source a field of the template stands, where that is put together of several."""
    elsewhere: Callable[[Path], Elsewhere | None] | None = None
    """Where in another object a field of the template stands."""

    def in_source(self, steps: Path) -> Path:
        """Return where in the source a field of the template stands; for one of another document, what names that."""
        if self.origin is None:
            return (*self.template_source, *steps)
        return self.origin(steps) or self.template_source

    def value(self) -> dict[str, Any]:
        """Return the role as it stands in a Framework."""
        made: dict[str, Any] = {"name": self.name, "taskNumber": self.task_number}
        if self.ports is not None:
            made["service"] = {"ports": self.ports} if self.ports else {}
        made["frameworkAttemptCompletionPolicy"] = {"minFailedTaskCount": self.min_failed, "minSucceededTaskCount": self.min_succeeded}
        retry = {"fancyRetryPolicy": self.fancy, "maxRetryCount": self.max_retry_count}
        made["task"] = {"retryPolicy": retry, "pod": self.template}
        return made


@dataclass
class Draft:
    """What a job becomes."""

    name: str
    namespace: str | None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    managed_by: str | None = None
    execution_type: str | None = None
    lifetime: dict[str, Any] = field(default_factory=dict)
    """Fields of the spec that say when it ends and what is left of it."""
    roles: list[RoleDraft] = field(default_factory=list)
    beside: list[dict[str, Any]] = field(default_factory=list)
    """Objects that the Framework needs, such as a ConfigMap. They come before it."""
    comments: dict[tuple[Path, str], None] = field(default_factory=dict)
    """Texts to stand above a field of the Framework; the empty path: at its head."""

    remarks: list[str] = field(default_factory=list)
    """What is otherwise than with the operator though no field of the source says so."""
    only_here: list[str] = field(default_factory=list)
    """What of it upstream's controller does not know."""

    @property
    def notes(self) -> list[str]:
        """Return the remarks, each once, and which controller runs the Framework."""
        return [*dict.fromkeys(self.remarks), *([of_controller("it", self.only_here)] if self.only_here else [])]

    def comment(self, text: str, path: Path = ()) -> None:
        """Put a comment above a field, unless there are more already than can be read: the report tells of them, and counts."""
        if len(self.comments) < MAX_ENTRIES:
            self.comments[path, text] = None

    def role_path(self, role: RoleDraft, *below: str | int) -> Path:
        """Return the path of a field of a role in the Framework."""
        return ("spec", "taskRoles", next(place for place, one in enumerate(self.roles) if one is role), *below)

    def framework(self) -> dict[str, Any]:
        """Return the Framework."""
        metadata: dict[str, Any] = {"name": self.name}
        if self.namespace is not None:
            metadata["namespace"] = self.namespace
        if self.labels:
            metadata["labels"] = self.labels
        if self.annotations:
            metadata["annotations"] = self.annotations
        spec: dict[str, Any] = {}
        if self.managed_by is not None:
            spec["managedBy"] = self.managed_by
        if self.execution_type is not None:
            spec["executionType"] = self.execution_type
        spec |= {name: self.lifetime[name] for name in LIFETIME if name in self.lifetime}
        spec["taskRoles"] = [role.value() for role in self.roles]
        return {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": metadata, "spec": spec}
