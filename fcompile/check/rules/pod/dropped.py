"""Fields that the API server knows, but takes out of a new Pod without a word, because a feature gate is off by default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import ContainerRef, Pod
from fcompile.check.pod_values import entries, given
from fcompile.diagnostics.problem import Finding, Path, warning_rule
from fcompile.model import gates
from fcompile.model.dropped import Gate, Tree, dropped_by

DROPPED = warning_rule(
    code="FC200",
    name="field-dropped-by-server",
    summary="The API server of this Kubernetes version drops a field.",
    why="It knows the field, but only behind a feature gate that is off by default. The Pod then runs as if the field were not there.",
    remedy="Remove the field, or check for a newer Kubernetes version.",
)


_SIDECAR = Gate(gates.KNOWS_SIDECARS, gates.SIDECARS, "SidecarContainers")
_RESTART_POLICY = Gate(gates.KNOWS_RESTART_RULES, gates.CONTAINER_RESTART_RULES, "ContainerRestartRules")


def dropped_fields(pod: Pod) -> Iterator[Finding]:
    """Yield the fields of the template that will not be in force."""
    spec, container = dropped_by(pod.version)
    yield from _found(pod.spec, pod.path, spec, pod.version)
    for placed in pod.containers:
        yield from _found(placed.fields, placed.path, container, pod.version)
        if "restartPolicy" in placed.fields:
            yield from _restart_policy(placed, pod.version)


def _found(fields: dict[str, Any], path: Path, tree: Tree, version: int) -> Iterator[Finding]:
    if tree.keys().isdisjoint(fields):
        return
    for field, below in tree.items():
        value = fields.get(field)
        if value is None:
            continue
        if not isinstance(below, dict):
            if not (field == "procMount" and value == "Default"):
                yield _dropped((*path, field), below, version)
        elif isinstance(value, dict):
            yield from _found(value, (*path, field), below, version)
        elif isinstance(value, list):
            for entry, entry_path in entries(fields, path, field):
                yield from _found(entry, entry_path, below, version)


def _restart_policy(container: ContainerRef, version: int) -> Iterator[Finding]:
    """Yield a restart policy that the Kubernetes version drops. Sidecars (`Always`) came before other policies of containers."""
    if not given(container.fields, "restartPolicy"):
        return
    path = (*container.path, "restartPolicy")
    if container.is_init and version == _SIDECAR.known:
        yield _dropped(path, _SIDECAR, version)
    elif version == _RESTART_POLICY.known and not container.is_sidecar:
        yield _dropped(path, _RESTART_POLICY, version)


def _dropped(path: Path, gate: Gate, version: int) -> Finding:
    later = f"it is in force from 1.{gate.on}" if gate.on < gates.NEVER else "every version that is known needs it"
    message = f"`{path[-1]}` is dropped by Kubernetes 1.{version} unless the feature gate {gate.name} is on ({later}); remove it"
    return Finding(DROPPED, path, message, part="key")
