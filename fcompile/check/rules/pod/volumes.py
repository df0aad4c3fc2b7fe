"""Volumes: names, exactly one source each, and conditions between the fields of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fcompile.check.amounts import amount
from fcompile.check.pod_context import Pod, is_taken_out
from fcompile.check.pod_values import entries
from fcompile.check.rules.pod.claim_template import claim_template_rules
from fcompile.check.rules.pod.files import downward_files, overlapping
from fcompile.check.rules.pod.projected import projected_rules
from fcompile.check.rules.pod.storage_systems import STORAGE_SYSTEMS
from fcompile.check.seen import Seen
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model.formats import accepts, suggestion
from fcompile.model.values import mapping, text
from fcompile.schema.types import types

DUPLICATE_VOLUME = error_rule(
    code="FC240",
    name="duplicate-volume-name",
    summary="Two volumes of a Pod have the same name.",
    why="Mounts select volumes by name.",
    remedy="Rename one of the two.",
)
VOLUME_SOURCES = error_rule(
    code="FC241",
    name="volume-sources",
    summary="A volume has more than one source.",
    why="A volume is one thing: an emptyDir, or a configMap, and so on.",
    remedy="Make two volumes, or one projected volume.",
)
VOLUME_SETTINGS = error_rule(
    code="FC242",
    name="volume-settings",
    summary="Settings of a volume do not go together.",
    why="Each kind of volume has conditions of its own, which the message names.",
    remedy="Correct the setting, or remove it.",
)
REMOVED_PLUGIN = warning_rule(
    code="FC243",
    name="removed-volume-plugin",
    summary="A volume is of a kind that this Kubernetes version no longer mounts.",
    why="The API server still takes it, but no kubelet can mount it and the Pod never starts.",
    remedy="Use a CSI driver.",
)
OBJECT_NAME = warning_rule(
    code="FC251",
    name="object-name",
    summary="A claim, Secret or ConfigMap is named as none can be.",
    why="The API server takes any text there, and the Pod waits for an object that nobody can create.",
    remedy="Write the name as the object has it.",
)
UNKNOWN_MEDIUM = warning_rule(
    code="FC252",
    name="unknown-medium",
    summary="The `medium` of an emptyDir is one that no kubelet knows.",
    why="The API server takes any text there, but no kubelet can set up the volume and the Pod never starts.",
    remedy="Write `Memory`, `HugePages` or `HugePages-2Mi`, letter for letter, or leave it out for the node's disk.",
)

_GONE = {
    "photonPersistentDisk": 16,
    "scaleIO": 22,
    "flocker": 25,
    "storageos": 25,
    "quobyte": 25,
    "glusterfs": 26,
    "cephfs": 31,
    "rbd": 31,
    "gitRepo": 33,
}
"""The first version in which the kubelet cannot mount the kind (gitRepo: not without a feature gate)."""

_KINDS = {"persistentVolumeClaim": "PersistentVolumeClaim", "configMap": "ConfigMap"}
_HUGE_PAGES = "HugePages"
_MEDIA = "it is Memory, HugePages, HugePages-SIZE or left out, for the node's disk"

Source = dict[str, Any]


def volume_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the Pod's volumes."""
    seen = Seen()
    for volume, path in entries(pod.spec, pod.path, "volumes"):
        name, name_path = text(volume, "name"), (*path, "name")
        if name and (first := seen.again(name, name_path)):
            yield Finding(DUPLICATE_VOLUME, name_path, f'the volume name "{name}" is taken in this Pod; choose another', related=first)
        if is_taken_out(volume, pod.version):
            continue  # It stays in the Framework, where its name is looked at.
        yield from _sources(volume, path, pod)
        for kind, source in volume.items():
            if isinstance(source, dict):
                yield from _objects(kind, source, (*path, kind))
    for secret, path in entries(pod.spec, pod.path, "imagePullSecrets"):
        yield from _object("Secret", secret, path, "name")


def _objects(kind: str, source: Source, path: Path) -> Iterator[Finding]:
    """Yield the names of objects in a source, and in those of a projected volume, that no object can have."""
    for entry, item_path in entries(source, path, "sources"):
        for part in ("secret", "configMap"):
            yield from _object(_KINDS.get(part, "Secret"), mapping(entry, part), (*item_path, part), "name")
    for key in ("claimName", "secretName", *(("name",) if kind == "configMap" else ())):
        yield from _object(_KINDS.get(kind, "Secret"), source, path, key)


def _object(kind: str, owner: Source, path: Path, key: str) -> Iterator[Finding]:
    name = text(owner, key)
    if name and "{{" not in name and not accepts("dns-subdomain")(name):
        near = suggestion("dns-subdomain", name)
        hint = f"did you mean `{near}`?" if near else "names have lower-case letters, digits, `-` and `.`"
        yield Finding(OBJECT_NAME, (*path, key), f'no {kind} can have the name "{name[:100]}": {hint}')


def _sources(volume: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    first = None
    known = types(pod.version)["Volume"]
    for kind, source in volume.items():
        if kind == "name" or kind not in known or source is None:
            continue
        here = (*path, kind)
        if first is not None:
            yield Finding(VOLUME_SOURCES, here, f"the volume has a `{first}` already; keep one source", part="key")
        first = first or kind
        if isinstance(source, dict):
            yield from _source(kind, source, volume, here, pod)
        if kind in _GONE and pod.version >= _GONE[kind]:
            message = f"`{kind}` volumes cannot be mounted in Kubernetes 1.{pod.version}; use another kind"
            yield Finding(REMOVED_PLUGIN, here, message, part="key")


def _source(kind: str, source: Source, volume: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    if kind in _CHECKS:
        yield from _CHECKS[kind](source, path, pod)
    elif kind in STORAGE_SYSTEMS:
        for key, message in STORAGE_SYSTEMS[kind](source, volume):
            yield Finding(VOLUME_SETTINGS, (*path, key) if key in source else path, message)


def _empty_dir(source: Source, path: Path, pod: Pod) -> Iterator[Finding]:
    size = amount(source.get("sizeLimit"))
    if size is not None and size < 0:
        message = f'`sizeLimit` "{source["sizeLimit"]}" is negative; give a size, or remove it'
        yield Finding(VOLUME_SETTINGS, (*path, "sizeLimit"), message)
    medium = text(source, "medium")
    if medium and "{{" not in medium and not _is_medium(medium):
        near = next((right for right in ("Memory", _HUGE_PAGES) if medium.lower().startswith(right.lower())), "")
        meant = near + medium[len(near) :]
        right = f"did you mean `{meant}`?" if near and _is_medium(meant) else _MEDIA
        yield Finding(UNKNOWN_MEDIUM, (*path, "medium"), f'no kubelet knows the medium "{medium[:100]}": {right}')


def _is_medium(medium: str) -> bool:
    return medium in ("Memory", _HUGE_PAGES) or (
        medium.startswith(f"{_HUGE_PAGES}-") and amount(medium[len(_HUGE_PAGES) + 1 :]) is not None
    )


def _items(source: Source, path: Path, pod: Pod) -> Iterator[Finding]:
    return overlapping([(source, path)])


def _downward_api(source: Source, path: Path, pod: Pod) -> Iterator[Finding]:
    yield from downward_files(source, path, pod)
    yield from overlapping([(source, path)])


def _ephemeral(source: Source, path: Path, pod: Pod) -> Iterator[Finding]:
    return claim_template_rules(mapping(source, "volumeClaimTemplate"), (*path, "volumeClaimTemplate"), pod.version)


_CHECKS: dict[str, Callable[[Source, Path, Pod], Iterator[Finding]]] = {
    "configMap": _items,
    "downwardAPI": _downward_api,
    "emptyDir": _empty_dir,
    "ephemeral": _ephemeral,
    "projected": projected_rules,
    "secret": _items,
}
