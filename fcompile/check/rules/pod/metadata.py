"""Metadata of a Pod template: owners, finalizers, and the annotations that the API server looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import entries, flag, texts
from fcompile.check.rules.pod.profile_annotations import DEPRECATED_ANNOTATION, profile_annotation
from fcompile.check.rules.pod.scheduling import toleration_rules
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model.formats import MAX_ANNOTATIONS, accepts
from fcompile.model.values import mapping, sequence, text, whole_number

OWNER = error_rule(
    code="FC290",
    name="owner-reference",
    summary="The API server would refuse an owner reference.",
    why=(
        "An object has one controller, and a Pod's is the attempt's ConfigMap. An owner's `apiVersion` is VERSION or "
        "GROUP/VERSION. An Event owns nothing."
    ),
    remedy="Remove the owner; the controller sets its own.",
)
FINALIZER = error_rule(
    code="FC291",
    name="finalizer",
    summary="A finalizer has no domain, or two of them exclude each other.",
    why="Finalizers have a domain in their name, such as example.com/cleanup. `orphan` and `foregroundDeletion` exclude each other.",
    remedy="Add a domain to the name, or keep one of the two.",
)
CHECKED_ANNOTATION = error_rule(
    code="FC292",
    name="checked-annotation",
    summary="An annotation that the API server looks at has a value that it refuses.",
    why="A Pod deletion cost is a whole number, tolerations are JSON, and only the kubelet marks mirror Pods.",
    remedy="Correct the value, or remove the annotation.",
)
GENERATE_NAME = error_rule(
    code="FC296",
    name="generate-name",
    summary="The template's generateName cannot be the beginning of a Pod's name.",
    why="FrameworkController names the Pods, but the API server still looks at the field.",
    remedy="Remove it.",
)

_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_MIRROR = "kubernetes.io/config.mirror"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_REPLACED = {
    "scheduler.alpha.kubernetes.io/critical-pod": "`priorityClassName`",
    "security.alpha.kubernetes.io/sysctls": "`securityContext.sysctls`",
    "security.alpha.kubernetes.io/unsafe-sysctls": "`securityContext.sysctls`",
}
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def metadata_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the template's metadata."""
    metadata, path = pod.metadata, pod.metadata_path
    for owner, owner_path in entries(metadata, path, "ownerReferences"):
        if flag(owner, "controller"):
            message = "the attempt's ConfigMap is the Pod's controller, and there can be no second one; remove `controller: true`"
            yield Finding(OWNER, (*owner_path, "controller"), message)
        yield from _owner(owner, owner_path)
    for name, name_path in texts(metadata, path, "finalizers"):
        if name and "/" not in name and name not in _STANDARD_FINALIZERS:
            message = f'the finalizer "{name}" has no domain; write one such as example.com/{name}'
            yield Finding(FINALIZER, name_path, message)
    yield from _exclusive(metadata, path)
    prefix = text(metadata, "generateName")
    if prefix and not accepts("dns-prefix")(prefix):
        message = f'`generateName` "{prefix}" cannot begin the name of a Pod, though the Pod is named otherwise; remove it'
        yield Finding(GENERATE_NAME, (*path, "generateName"), message)
    if "annotations" in metadata:
        yield from _annotations(mapping(metadata, "annotations"), (*path, "annotations"), pod)


def own_metadata_rules(framework: dict[str, Any]) -> Iterator[Finding]:
    """Yield the problems of the Framework's own metadata."""
    metadata, path = mapping(framework, "metadata"), ("metadata",)
    owners = entries(metadata, path, "ownerReferences")
    for controller_path in [owner_path for owner, owner_path in owners if flag(owner, "controller")][1:]:
        message = "another owner is the Framework's controller, and there can be only one; keep `controller: true` in one of them"
        yield Finding(OWNER, (*controller_path, "controller"), message)
    for owner, owner_path in owners:
        yield from _owner(owner, owner_path)
    yield from _exclusive(metadata, path)


def _owner(owner: dict[str, Any], path: Path) -> Iterator[Finding]:
    version = text(owner, "apiVersion") or ""
    if version.count("/") > 1 or version.endswith("/"):
        yield Finding(OWNER, (*path, "apiVersion"), f'`apiVersion` "{version}" is not VERSION or GROUP/VERSION; correct it')
    elif version == "v1" and text(owner, "kind") == "Event":
        yield Finding(OWNER, (*path, "kind"), "an Event cannot own anything; name another owner")


def _exclusive(metadata: dict[str, Any], path: Path) -> Iterator[Finding]:
    if all(name in sequence(metadata, "finalizers") for name in ("orphan", "foregroundDeletion")):
        message = "the finalizers orphan and foregroundDeletion exclude each other; keep one"
        yield Finding(FINALIZER, (*path, "finalizers"), message, part="key")


def _annotations(annotations: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    for key, value in annotations.items():
        if "kubernetes.io/" not in key or not (value is None or isinstance(value, str)):
            continue
        key_path, value = (*path, key), value or ""
        if key == _DELETION_COST:
            if not _is_int32(value):
                message = f'"{value}" must be a whole number between {-(2**31)} and {2**31 - 1}, without `+` and leading zeros; correct it'
                yield Finding(CHECKED_ANNOTATION, key_path, message)
        elif key == _MIRROR:
            if not text(pod.spec, "nodeName"):
                message = "a mirror Pod has a `nodeName`, and only the kubelet makes such; remove the annotation"
                yield Finding(CHECKED_ANNOTATION, key_path, message, part="key")
        elif key == _TOLERATIONS:
            yield from _tolerations(value, key_path)
        elif key in _REPLACED:
            yield Finding(DEPRECATED_ANNOTATION, key_path, f'the annotation "{key}" does nothing; use {_REPLACED[key]}', part="key")
        else:
            yield from profile_annotation(key, value, key_path, pod)


def _is_int32(value: str) -> bool:
    digits = value.removeprefix("-")
    if whole_number(digits) is None or (digits[0] == "0" and value != "0"):
        return False
    return -(2**31) <= int(value) < 2**31


def _tolerations(value: str, path: Path) -> Iterator[Finding]:
    import json  # Hardly ever needed.

    if not value or len(value) > MAX_ANNOTATIONS:  # longer ones are refused whatever they say
        return
    try:
        tolerations = json.loads(value)
        if isinstance(tolerations, list):  # a hundred thousand of `{}` are looked at once
            tolerations = [*{repr(one): one for one in tolerations}.values()]
    except (ValueError, RecursionError):
        yield Finding(CHECKED_ANNOTATION, path, "the annotation is not JSON; use the field `tolerations` instead")
        return
    if tolerations is None:
        return
    if not isinstance(tolerations, list) or not all(_reads_as_toleration(entry) for entry in tolerations):
        yield Finding(CHECKED_ANNOTATION, path, "the annotation is not a list of tolerations; use the field `tolerations` instead")
        return
    for toleration in tolerations:
        key = text(toleration, "key")
        if key and not accepts("label-key")(key):
            yield Finding(CHECKED_ANNOTATION, path, f'"{key}" in the annotation cannot be the key of a taint; correct it')
        for finding in toleration_rules(toleration or {}, path):
            yield finding._replace(path=path)


def _reads_as_toleration(entry: Any) -> bool:
    return entry is None or (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key, ""), str | None) for key in ("key", "operator", "value", "effect"))
        and isinstance(entry.get("tolerationSeconds", 0), int | None)
    )
