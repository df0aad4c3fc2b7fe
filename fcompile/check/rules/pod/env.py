"""Environment variables: where their values come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import ContainerRef, Pod
from fcompile.check.pod_values import entries, given
from fcompile.check.rules.pod.field_refs import field_ref, resource_field_ref
from fcompile.check.seen import Seen
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.values import mapping, text

ENV_SOURCE = error_rule(
    code="FC221",
    name="env-source",
    summary="An environment variable has no source for its value, or several.",
    why="The API server does not guess which of them is meant.",
    remedy=(
        "Give it either `value`, or `valueFrom` with exactly one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef "
        "and (from Kubernetes 1.35) fileKeyRef."
    ),
)
ENV_FROM_SOURCE = error_rule(
    code="FC222",
    name="env-from-source",
    summary="An entry of envFrom has no source, or two.",
    why="Each entry names exactly one of configMapRef and secretRef.",
    remedy="Make it one of the two.",
)
ENV_FILE = error_rule(
    code="FC223",
    name="env-file-volume",
    summary="A fileKeyRef reads from a volume that is not an emptyDir of the Pod.",
    why="Another container of the Pod writes such a file, into an emptyDir.",
    remedy="Name that volume.",
)
DUPLICATE_ENV = warning_rule(
    code="FC227",
    name="duplicate-env",
    summary="An environment variable is set twice in a container.",
    why="The later one hides the earlier one, and an apply may drop either.",
    remedy="Keep one. Only a value that uses the earlier one, as `$(NAME)`, has a reason to come after it.",
)

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def env_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of `env` and `envFrom` of all containers."""
    for container in pod.containers:
        yield from _variables(container, pod)
        yield from _env_from(container)


def _variables(container: ContainerRef, pod: Pod) -> Iterator[Finding]:
    seen = Seen()
    for variable, path in entries(container.fields, container.path, "env"):
        source = variable.get("valueFrom")
        if isinstance(source, dict):
            yield from _value_from(variable, source, (*path, "valueFrom"), pod)
        name = text(variable, "name")
        if name is None:
            continue
        first = seen.again(name, (*path, "name"))
        if first and (source is not None or not _builds_on(variable, name)):
            message = f'the variable "{name}" is set before and hidden by this one; keep one of the two'
            yield Finding(DUPLICATE_ENV, (*path, "name"), message, related=first)


def _builds_on(variable: dict[str, Any], name: str) -> bool:
    """Return whether the value extends the variable's earlier value, and does more than repeat it."""
    value, reference = text(variable, "value") or "", f"$({name})"
    return reference in value and value != reference


def _value_from(variable: dict[str, Any], source: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    known = _SOURCES if pod.version >= gates.ENV_FILES else _SOURCES[:-1]
    found = [kind for kind in known if given(source, kind)]
    if not found:
        yield Finding(ENV_SOURCE, path, f"`valueFrom` has no source; use one of {', '.join(known)}", part="key")
    elif text(variable, "value"):
        yield Finding(ENV_SOURCE, path, "`valueFrom` is not allowed beside a `value`; keep one of the two", part="key")
    for extra in found[1:]:
        yield Finding(ENV_SOURCE, (*path, extra), f"`valueFrom` has `{found[0]}` already; keep one source", part="key")
    yield from field_ref(mapping(source, "fieldRef"), (*path, "fieldRef"), pod.version, in_file=False)
    yield from resource_field_ref(mapping(source, "resourceFieldRef"), (*path, "resourceFieldRef"), pod, in_file=False)
    if "fileKeyRef" in found:
        yield from _file_volume(mapping(source, "fileKeyRef"), (*path, "fileKeyRef", "volumeName"), pod)


def _file_volume(reference: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    name = text(reference, "volumeName")
    if not name:
        return
    volume = pod.volumes.get(name)
    if volume is None:
        yield Finding(ENV_FILE, path, f'there is no volume "{name}" in this Pod; add it as an emptyDir, or correct the name')
    elif not given(volume, "emptyDir") and any(key != "name" and value is not None for key, value in volume.items()):
        yield Finding(ENV_FILE, path, f'the volume "{name}" is not an emptyDir, and `fileKeyRef` reads only from such; use one')


def _env_from(container: ContainerRef) -> Iterator[Finding]:
    for entry, path in entries(container.fields, container.path, "envFrom"):
        found = [kind for kind in ("configMapRef", "secretRef") if given(entry, kind)]
        if not found:
            yield Finding(ENV_FROM_SOURCE, path, "the entry of `envFrom` has no source; add configMapRef or secretRef")
        elif len(found) > 1:
            message = "`configMapRef` and `secretRef` need an entry each; split this one"
            yield Finding(ENV_FROM_SOURCE, (*path, "secretRef"), message, part="key")
