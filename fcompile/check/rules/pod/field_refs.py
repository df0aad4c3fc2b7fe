"""References to fields of the Pod and to resources of its containers, in environment variables and in downward API files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.amounts import amount
from fcompile.check.pod_context import Pod
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.diagnostics.visible import joined
from fcompile.model import gates
from fcompile.model.formats import accepts
from fcompile.model.quantities import canonical
from fcompile.model.values import text

FIELD_REF = error_rule(
    code="FC224",
    name="field-ref",
    summary="A fieldRef names a field that is not available there.",
    why=(
        "An environment variable can have metadata.name, metadata.namespace, metadata.uid, metadata.labels['KEY'], "
        "metadata.annotations['KEY'], spec.nodeName, spec.serviceAccountName, status.hostIP(s) and status.podIP(s). A file can have "
        "metadata.* only, and also all labels or all annotations together."
    ),
    remedy="Choose one of these.",
)
RESOURCE_FIELD_REF = error_rule(
    code="FC225",
    name="resource-field-ref",
    summary="A resourceFieldRef names a resource that is not available, or a divisor that is not allowed.",
    why=(
        "A resource is `limits.` or `requests.` with cpu, memory, ephemeral-storage or hugepages-SIZE. The divisor is 1 or 1m for cpu, "
        "and 1, 1k…1E or 1Ki…1Ei for the others. In a volume it needs `containerName`."
    ),
    remedy="Correct what the message names.",
)
RESOURCE_FIELD_CONTAINER = warning_rule(
    code="FC226",
    name="resource-field-container",
    summary="A resourceFieldRef names a container that the Pod does not have.",
    why="The API server does not look, but the kubelet will not start the container.",
    remedy="Name one of the Pod's containers.",
)

_ENV_FIELDS = frozenset(
    f"{part}.{field}"
    for part, fields in (
        ("metadata", ("name", "namespace", "uid")),
        ("spec", ("nodeName", "host", "serviceAccountName")),
        ("status", ("hostIP", "hostIPs", "podIP", "podIPs")),
    )
    for field in fields
)
_FILE_FIELDS = frozenset(f"metadata.{field}" for field in ("name", "namespace", "labels", "annotations", "uid"))
_WITH_KEY = {"metadata.labels": "label-key", "metadata.annotations": "annotation-key"}
_RESOURCES = frozenset(f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage"))
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_CPU_DIVISORS = ("1", "1m")
_DIVISORS = ("1", *(f"1{unit}" for unit in "kMGTPE"), *(f"1{unit}i" for unit in "KMGTPE"))


def field_ref(reference: dict[str, Any], path: Path, version: int, *, in_file: bool) -> Iterator[Finding]:
    """Yield the problems of a `fieldRef`."""
    api_version = text(reference, "apiVersion")
    if api_version and api_version != "v1":
        yield Finding(FIELD_REF, (*path, "apiVersion"), f'`apiVersion` of a `fieldRef` must be v1, not "{api_version}"; remove it')
    field = text(reference, "fieldPath")
    if not field:
        return
    allowed = _FILE_FIELDS if in_file else _ENV_FIELDS
    if field in allowed and (field != "status.hostIPs" or version >= gates.HOST_IPS_FIELD):
        return
    name, key = _split(field)
    if key is None:
        known = ", ".join(sorted(allowed - {"spec.host"}))
        advice = f"write {field}['KEY'] for one of them" if field in _WITH_KEY else f"use one of {known}"
        yield Finding(FIELD_REF, (*path, "fieldPath"), f'`fieldPath` "{field}" is not available here; {advice}')
    elif name not in _WITH_KEY:
        message = f'`fieldPath` "{field}" has a key, which only metadata.labels and metadata.annotations take; remove it'
        yield Finding(FIELD_REF, (*path, "fieldPath"), message)
    elif not accepts(_WITH_KEY[name])(key):
        yield Finding(FIELD_REF, (*path, "fieldPath"), f'"{key}" in `fieldPath` cannot be a key of {name}; correct it')


def _split(field: str) -> tuple[str, str | None]:
    """Split a path into the part before a `['key']` at its end, and the key."""
    if field.endswith("']"):
        name, bracket, key = field[:-2].partition("['")
        if bracket and name:
            return name, key
    return field, None


def resource_field_ref(reference: dict[str, Any], path: Path, pod: Pod, *, in_file: bool) -> Iterator[Finding]:
    """Yield the problems of a `resourceFieldRef`."""
    resource, name = text(reference, "resource"), text(reference, "containerName")
    if in_file and not name:
        yield Finding(RESOURCE_FIELD_REF, path, "`resourceFieldRef` in a volume needs `containerName`; say whose resource is meant")
    if resource and resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        known = ", ".join(sorted(_RESOURCES))
        message = f'`resource` "{resource}" is not available; use one of {known}, or hugepages'
        yield Finding(RESOURCE_FIELD_REF, (*path, "resource"), message)
    elif resource:
        yield from _divisor(resource, reference.get("divisor"), path)
    if name and name not in pod.named:
        message = f'`containerName` "{name}" is not a container of this Pod, and the kubelet will refuse it; name one of them'
        yield Finding(RESOURCE_FIELD_CONTAINER, (*path, "containerName"), message)


def _divisor(resource: str, divisor: Any, path: Path) -> Iterator[Finding]:
    known = _CPU_DIVISORS if resource.endswith(".cpu") else _DIVISORS
    # The API server compares texts, as it writes quantities. 0 counts as left out, and what is no quantity is reported by another rule.
    if amount(divisor) and canonical(str(divisor)) not in known:
        message = f'`divisor` "{divisor}" is not one for {resource}; use {joined(known, "or")}'
        yield Finding(RESOURCE_FIELD_REF, (*path, "divisor"), message)
