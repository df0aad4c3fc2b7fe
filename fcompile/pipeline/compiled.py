"""One Framework, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fcompile.diagnostics.problem import Path
from fcompile.model import names
from fcompile.model.values import at, mapping, sequence

if TYPE_CHECKING:
    from fcompile.lower.intent import Intent


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
