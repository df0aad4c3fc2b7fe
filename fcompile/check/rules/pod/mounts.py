"""Where containers mount the Pod's volumes: names, paths, and options that do not go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import ContainerRef, Pod, is_taken_out
from fcompile.check.pod_values import entries, flag, given, some
from fcompile.check.seen import Seen, repeated
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model import gates
from fcompile.model.values import mapping, sequence, text

UNKNOWN_VOLUME = error_rule(
    code="FC230",
    name="unknown-volume",
    summary="A container mounts a volume that the Pod does not have.",
    why="The API server refuses the Pod.",
    remedy="Add the volume to `volumes`, or correct the name.",
)
MOUNT_PATH = error_rule(
    code="FC231",
    name="mount-path-taken",
    summary="Two mounts or devices of a container have the same path.",
    why="Each needs a path of its own in the container.",
    remedy="Change one of the two.",
)
SUB_PATHS = error_rule(
    code="FC232",
    name="two-sub-paths",
    summary="A mount has both subPath and subPathExpr.",
    why="They say the same thing in two ways.",
    remedy="Keep one.",
)
MOUNT_PROPAGATION = error_rule(
    code="FC233",
    name="mount-propagation",
    summary="A container that is not privileged wants Bidirectional mount propagation.",
    why="It would mount onto the host.",
    remedy="Set `securityContext.privileged: true`, or use HostToContainer.",
)
RECURSIVE_READ_ONLY = error_rule(
    code="FC234",
    name="recursive-read-only",
    summary="A mount is recursively read-only but not read-only, or propagates mounts.",
    why="`recursiveReadOnly` needs `readOnly: true` and no `mountPropagation` (or None).",
    remedy="Set `readOnly: true` and drop `mountPropagation`, or drop `recursiveReadOnly`.",
)
VOLUME_DEVICE = error_rule(
    code="FC235",
    name="volume-device",
    summary="A volumeDevices entry cannot be a raw block device of the container.",
    why=(
        "Devices are persistentVolumeClaim or ephemeral volumes of the Pod, each listed once and not mounted in the same "
        "container; they do not go with `hostUsers: false`."
    ),
    remedy="Correct what the message names.",
)

Names = dict[str | None, str | None]


def mount_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of `volumeMounts` and `volumeDevices` of all containers."""
    for container in pod.containers:
        yield from _mounts(container, pod)
        if "volumeDevices" in container.fields:
            yield from _devices(container, pod)


def _mounts(container: ContainerRef, pod: Pod) -> Iterator[Finding]:
    for mounted, path, first in repeated(container.fields, container.path, "volumeMounts", "mountPath"):
        yield Finding(MOUNT_PATH, path, f'"{mounted}" is mounted twice in this container; choose another path', related=first)
    for mount, path in entries(container.fields, container.path, "volumeMounts"):
        name = text(mount, "name")
        if name and name not in pod.volumes:
            yield _unknown(name, (*path, "name"), pod)
        if len(mount) > 2:
            yield from _options(mount, path, container, pod)


def _unknown(name: str, path: Path, pod: Pod) -> Finding:
    there = f"there is {some(pod.volumes)}" if pod.volumes else "it has no volumes"
    return Finding(UNKNOWN_VOLUME, path, f'there is no volume "{name}" in this Pod ({there}); add it or correct the name')


def _options(mount: dict[str, Any], path: Path, container: ContainerRef, pod: Pod) -> Iterator[Finding]:
    if text(mount, "subPath") and text(mount, "subPathExpr"):
        yield Finding(SUB_PATHS, (*path, "subPathExpr"), "`subPathExpr` and `subPath` exclude each other; keep one", part="key")
    if is_taken_out(pod.volumes.get(text(mount, "name") or "", {}), pod.version):
        return  # With its volume. What is above is looked at in the Framework.
    if mount.get("mountPropagation") == "Bidirectional" and not flag(mapping(container.fields, "securityContext"), "privileged"):
        message = f'Bidirectional needs a privileged container, which "{container.name}" is not; use HostToContainer, or make it privileged'
        yield Finding(MOUNT_PROPAGATION, (*path, "mountPropagation"), message)
    if "recursiveReadOnly" in mount and pod.version >= gates.RECURSIVE_READ_ONLY:
        yield from _recursive_read_only(mount, path)


def _recursive_read_only(mount: dict[str, Any], path: Path) -> Iterator[Finding]:
    wanted = text(mount, "recursiveReadOnly")
    if wanted not in ("Enabled", "IfPossible"):
        return
    if not flag(mount, "readOnly"):
        message = f"`recursiveReadOnly: {wanted}` needs `readOnly: true`; add it"
        yield Finding(RECURSIVE_READ_ONLY, (*path, "recursiveReadOnly"), message)
    propagation = text(mount, "mountPropagation")
    if propagation not in (None, "None"):
        message = f"`recursiveReadOnly: {wanted}` does not go with `mountPropagation: {propagation}`; remove one of the two"
        yield Finding(RECURSIVE_READ_ONLY, (*path, "mountPropagation"), message)


def _devices(container: ContainerRef, pod: Pod) -> Iterator[Finding]:
    if not pod.host_users and pod.version >= 34 and sequence(container.fields, "volumeDevices"):
        message = "`volumeDevices` do not work with `hostUsers: false`; remove one of the two"
        yield Finding(VOLUME_DEVICE, (*container.path, "volumeDevices"), message, part="key")
    # The API server keeps one path for each name, the last.
    listed = entries(container.fields, container.path, "volumeMounts")
    mounts: Names = {text(mount, "name"): text(mount, "mountPath") for mount, _ in listed}
    names, paths = Seen(), Seen()
    for device, path in entries(container.fields, container.path, "volumeDevices"):
        name, device_path = text(device, "name"), text(device, "devicePath")
        if name:
            yield from _device_name(name, (*path, "name"), names, mounts, pod)
        if device_path:
            first = paths.again(device_path, (*path, "devicePath"))
            if first or device_path in mounts.values():
                message = f'the path "{device_path}" is taken in this container; choose another'
                yield Finding(MOUNT_PATH, (*path, "devicePath"), message, related=first)


def _device_name(name: str, path: Path, names: Seen, mounts: Names, pod: Pod) -> Iterator[Finding]:
    volume = pod.volumes.get(name)
    if volume is None or is_taken_out(volume, pod.version):
        yield _unknown(name, path, pod)
    elif not given(volume, "persistentVolumeClaim") and not given(volume, "ephemeral"):
        message = f'the volume "{name}" is not a persistentVolumeClaim or ephemeral volume and cannot be a device; mount it instead'
        yield Finding(VOLUME_DEVICE, path, message)
    if first := names.again(name, path):
        yield Finding(VOLUME_DEVICE, path, f'the volume "{name}" is a device of this container already; remove one entry', related=first)
    if name in mounts:
        yield Finding(VOLUME_DEVICE, path, f'the volume "{name}" is mounted in this container too; it can be a device or a mount, not both')
