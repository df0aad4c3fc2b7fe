"""Container ports: names within a container, host ports within a Pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.check.pod_context import ContainerRef, Pod
from fcompile.check.pod_values import choice, entries
from fcompile.check.seen import Seen, repeated
from fcompile.diagnostics.problem import Finding, Path, Related, error_rule, warning_rule
from fcompile.model.values import integer, text

DUPLICATE_PORT_NAME = error_rule(
    code="FC206",
    name="duplicate-port-name",
    summary="Two ports of a container have the same name.",
    why="Probes and Services select ports by name.",
    remedy="Rename one of the two.",
)
HOST_PORT_CONFLICT = error_rule(
    code="FC207",
    name="host-port-conflict",
    summary="Two ports of a Pod want the same port of the host.",
    why=(
        "A host port can be taken once for each protocol and host IP. On the host network every container port is a host port, "
        "so no two containers can have the same one."
    ),
    remedy="Give one of the two another port.",
)
HOST_NETWORK_PORT = error_rule(
    code="FC208",
    name="host-network-port",
    summary="On the host network a hostPort differs from its containerPort.",
    why="With `hostNetwork: true` the container listens on the host itself.",
    remedy="Make the two equal, or leave `hostPort` out.",
)
SHARED_PORT = warning_rule(
    code="FC209",
    name="port-listed-twice",
    summary="The same container port is listed twice in a Pod.",
    why="Containers of a Pod share one network, so only one of them can listen on a port.",
    remedy="Remove the entry that is not meant.",
)
SHARED_PORT_NAME = warning_rule(
    code="FC210",
    name="port-name-in-two-containers",
    summary="Ports of two containers of a Pod have the same name.",
    why="Services and probes that select the port by name use the first one.",
    remedy="Rename one of the two.",
)
HOST_IP_ALONE = warning_rule(
    code="FC216",
    name="host-ip-without-host-port",
    summary="A port has a hostIP but no hostPort.",
    why="`hostIP` says where a `hostPort` is bound; alone it does nothing.",
    remedy="Add `hostPort` or remove `hostIP`.",
)


class _Port(NamedTuple):
    path: Path
    number: int
    protocol: str
    host_ip: str
    host_port: int
    """0 for none."""


def port_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the ports of all containers."""
    host_ports = Seen()
    shared = _Shared()
    for container in pod.containers:
        if "ports" not in container.fields:
            continue
        if container.is_init:
            host_ports = Seen()  # Init containers run one by one: each conflicts with itself only.
        for name, path, first in repeated(container.fields, container.path, "ports", "name"):
            yield Finding(DUPLICATE_PORT_NAME, path, f'the port name "{name}" is taken in this container; choose another', related=first)
        for fields, path in entries(container.fields, container.path, "ports"):
            port = _read(fields, path, pod.host_network)
            clash = _host_port_conflict(port, host_ports)
            yield from clash
            yield from _port(port, container, pod)
            if not container.is_init or container.is_sidecar:
                yield from shared.add(port, text(fields, "name"), container.path, said=bool(clash))


def _read(fields: dict[str, Any], path: Path, host_network: bool) -> _Port:
    number = integer(fields, "containerPort") or 0
    host_port = integer(fields, "hostPort") or (number if host_network else 0)
    return _Port(path, number, choice(fields, "protocol", "TCP"), text(fields, "hostIP") or "", host_port)


def _host_port_conflict(port: _Port, taken: Seen) -> list[Finding]:
    if not port.host_port:
        return []
    first = taken.again((port.protocol, port.host_ip, port.host_port), port.path)
    if not first:
        return []
    message = f"the host port {port.host_port}/{port.protocol} is taken by another port of this Pod; choose another"
    return [Finding(HOST_PORT_CONFLICT, port.path, message, related=first)]


def _port(port: _Port, container: ContainerRef, pod: Pod) -> Iterator[Finding]:
    if pod.host_network and not container.is_init and port.number and port.host_port != port.number:
        message = f"on the host network `hostPort` {port.host_port} must be the `containerPort` {port.number}; leave it out"
        yield Finding(HOST_NETWORK_PORT, (*port.path, "hostPort"), message)
    if port.host_ip and not port.host_port:
        message = f'`hostIP` "{port.host_ip}" does nothing without a `hostPort`; add one or remove it'
        yield Finding(HOST_IP_ALONE, (*port.path, "hostIP"), message)


class _Shared:
    """Ports of containers that run side by side, and so share the Pod's network."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str], list[_Port]] = {}
        self.names: dict[str, tuple[Path, Path]] = {}

    def add(self, port: _Port, name: str | None, container: Path, said: bool) -> Iterator[Finding]:
        """Yield what the port has in common with those added before, and add it. `said`: its host port has been reported already."""
        others = self.numbers.setdefault((port.number, port.protocol), [])
        rival = next((other for other in others if _overlaps(port, other)), None)
        if rival is not None and port.number and not said:
            message = f"port {port.number}/{port.protocol} is listed twice in this Pod; remove one of the two"
            yield Finding(SHARED_PORT, port.path, message, related=(Related("the first one", rival.path),))
        others.append(port)
        if not name:
            return
        first, owner = self.names.setdefault(name, ((*port.path, "name"), container))
        if owner != container:
            message = f'the port name "{name}" is that of another container too, and Services would use that one; rename one of them'
            yield Finding(SHARED_PORT_NAME, (*port.path, "name"), message, related=(Related("the first one", first),))


def _overlaps(port: _Port, other: _Port) -> bool:
    if port.host_port and other.host_port and port.host_port != other.host_port:
        return False
    return not (port.host_ip and other.host_ip and port.host_ip != other.host_ip)
