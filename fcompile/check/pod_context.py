"""A Pod template as the rules look at it: its containers with their places, and the facts that several families of rules need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.check.pod_values import choice, entries, flag, given
from fcompile.diagnostics.problem import Path
from fcompile.model import gates
from fcompile.model.values import integer, mapping, text

DEFAULT_GRACE_PERIOD = 30


class ContainerRef(NamedTuple):
    """A container and its place."""

    fields: dict[str, Any]
    path: Path
    is_init: bool
    is_sidecar: bool
    """An init container with `restartPolicy: Always`, in a version that knows such."""

    @property
    def name(self) -> str:
        return text(self.fields, "name") or ""


class Pod(NamedTuple):
    """A Pod template. Fields that the API server would fill in read as filled in."""

    metadata: dict[str, Any]
    spec: dict[str, Any]
    metadata_path: Path
    path: Path
    """Of the spec."""
    version: int
    """Kubernetes 1.x minor."""
    containers: tuple[ContainerRef, ...]
    """Regular ones first, then the init containers."""
    named: dict[str, ContainerRef]
    """The containers by name; of two with the same name, the first."""
    volumes: dict[str, dict[str, Any]]
    """By name; of two with the same name, the first (that is no image)."""
    claims: dict[str, None]
    """The names in `spec.resourceClaims`, in their order."""
    security: dict[str, Any]
    """`spec.securityContext`."""
    restart_policy: str
    grace_period: int
    host_network: bool
    host_users: bool
    """False only when the Pod gets a user namespace of its own."""
    os_name: str
    """`linux`, `windows` or empty."""


PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")


def handlers(container: ContainerRef) -> Iterator[tuple[str, dict[str, Any], Path]]:
    """Yield the probes of a container, then its lifecycle hooks, each with its name and its path."""
    for owner, path, names in (
        (container.fields, container.path, PROBES),
        (mapping(container.fields, "lifecycle"), (*container.path, "lifecycle"), _HOOKS),
    ):
        for name in names:
            if isinstance(handler := owner.get(name), dict):
                yield name, handler, (*path, name)


def read_pod(template: dict[str, Any], path: Path, version: int) -> Pod:
    """Return the template at `path`, read for the rules."""
    spec = mapping(template, "spec")
    spec_path = (*path, "spec")
    containers = containers_of(spec, spec_path, version)
    return Pod(
        metadata=mapping(template, "metadata"),
        spec=spec,
        metadata_path=(*path, "metadata"),
        path=spec_path,
        version=version,
        containers=containers,
        named={container.name: container for container in reversed(containers)},
        volumes=_volumes(spec, spec_path),
        claims=dict.fromkeys(name for claim, _ in entries(spec, spec_path, "resourceClaims") if (name := text(claim, "name"))),
        security=mapping(spec, "securityContext"),
        restart_policy=choice(spec, "restartPolicy", "Always"),
        grace_period=_grace_period(spec),
        host_network=flag(spec, "hostNetwork") is True,
        host_users=not (flag(spec, "hostUsers") is False and version >= gates.HOST_USERS),
        os_name=text(mapping(spec, "os"), "name") or "",
    )


def containers_of(spec: dict[str, Any], path: Path, version: int) -> tuple[ContainerRef, ...]:
    """Return the containers of the spec at `path`: regular ones first, then the init containers."""
    return (*_placed(spec, path, "containers", version), *_placed(spec, path, "initContainers", version))


def _placed(spec: dict[str, Any], path: Path, key: str, version: int) -> list[ContainerRef]:
    is_init = key == "initContainers"
    knows_sidecars = is_init and version >= gates.SIDECARS
    return [
        ContainerRef(fields, container_path, is_init, knows_sidecars and fields.get("restartPolicy") == "Always")
        for fields, container_path in entries(spec, path, key)
    ]


def _volumes(spec: dict[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    volumes: dict[str, dict[str, Any]] = {}
    for volume, _ in entries(spec, path, "volumes"):
        name = text(volume, "name")
        # An image volume may be taken out; another volume may then have its name.
        if name and (name not in volumes or volumes[name].get("image") is not None):
            volumes[name] = volume
    return volumes


def is_taken_out(volume: dict[str, Any], version: int) -> bool:
    """Return whether the API server takes a volume out of a Pod, and with it all mounts of its name."""
    return version < gates.IMAGE_VOLUMES and given(volume, "image")


def _grace_period(spec: dict[str, Any]) -> int:
    seconds = integer(spec, "terminationGracePeriodSeconds")
    if seconds is None:
        return DEFAULT_GRACE_PERIOD
    return 1 if seconds < 0 else seconds
