"""One Framework, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fcompile.diagnostics.problem import Path
from fcompile.model import names
from fcompile.model.packed import INTENT_BYTES
from fcompile.model.values import at, mapping, sequence

if TYPE_CHECKING:
    from fcompile.lower.intent import Intent

_LONGEST_NAME = 253
_CONTAINER_BYTES = 300
"""What a container takes of an intent at least: the variables that each one gets."""


class Compiled(NamedTuple):
    """A Framework ready to be printed, and what it will run."""

    framework: dict[str, Any]
    """Defaulted, in its namespace, with the digest of its intent as an annotation."""
    namespace: str
    intent: Intent
    filled: tuple[Path, ...]
    """The fields that a default filled in."""

    @property
    def name(self) -> str:
        """Return the Framework's name."""
        return self.intent.framework

    @property
    def digest(self) -> str:
        """Return the fingerprint of what will run, which is also an annotation of the Framework."""
        return self.intent.digest


def lacking(value: dict[str, Any]) -> Path | None:
    """Return the first missing field that compiling needs, or None. Only a Framework whose errors were waived can lack one."""
    needed: list[Path] = [("metadata", "name"), ("spec",)]
    for index, _ in enumerate(sequence(mapping(value, "spec"), "taskRoles")):
        role = ("spec", "taskRoles", index)
        needed += [(*role, "name"), (*role, "task", "pod")]
    return next((path for path in needed if at(value, path) is None), None)


def too_large(value: dict[str, Any], namespace: str) -> str:
    """Return why a Framework that lacks nothing is too large to be compiled, or nothing. Only one whose errors were waived can be.

    Names go into each container: of megabytes, or in a hundred thousand containers, they would take all memory.
    """
    roles = [role for role in sequence(mapping(value, "spec"), "taskRoles") if isinstance(role, dict)]
    named = {"metadata.name": at(value, ("metadata", "name")), "metadata.namespace": at(value, ("metadata", "namespace")) or namespace}
    named |= {f"spec.taskRoles[{index}].name": role.get("name") for index, role in enumerate(roles)}
    for field, name in named.items():
        if isinstance(name, str) and len(name) > _LONGEST_NAME:
            return f"`{field}` has {len(name):,} characters, and no object's name has more than {_LONGEST_NAME}"
    specs = [mapping(at(role, ("task", "pod")), "spec") for role in roles]
    count = sum(len(sequence(spec, kind)) for spec in specs for kind in ("containers", "initContainers"))
    most = INTENT_BYTES // _CONTAINER_BYTES
    return f"it has {count:,} containers, and no intent holds more than {most:,}" if count > most else ""


def compile_framework(value: dict[str, Any], namespace: str) -> Compiled:
    """Compile a Framework in which `check` finds no error; `namespace` is for one that names none. The input is not changed."""
    from fcompile.default import default
    from fcompile.lower.intent import lower

    framework, filled = default(value)
    metadata = dict(framework["metadata"])
    if not metadata.get("namespace"):
        metadata["namespace"] = namespace
        filled = (("metadata", "namespace"), *filled)
    intent = lower(framework)
    metadata["annotations"] = {**(metadata.get("annotations") or {}), names.DIGEST_ANNOTATION: intent.digest}
    return Compiled({**framework, "metadata": metadata}, metadata["namespace"], intent, filled)
