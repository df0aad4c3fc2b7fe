"""Rules for a role's `service`."""

from __future__ import annotations

from collections.abc import Iterator

from fcompile.check.context import FrameworkContext, RoleContext, containers
from fcompile.check.pod_values import port_hint
from fcompile.check.seen import Seen
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model.names import service_name
from fcompile.model.values import integer, mapping, sequence, text

PORT_NAME_MISSING = error_rule(
    code="FC511",
    name="service-port-name-missing",
    summary="A service has several ports, and one of them has no name.",
    why="The API server refuses such a Service.",
    remedy="Name each port.",
)
PORT_REPEATED = error_rule(
    code="FC512",
    name="service-port-repeated",
    summary="Two ports of a service have the same name, or the same number and protocol.",
    why="The API server refuses such a Service.",
    remedy="Remove or change one of them.",
)
HOST_NAMES_SET = warning_rule(
    code="FC513",
    name="service-host-names-set",
    summary="A role with a `service` sets `subdomain` to another name.",
    why=(
        "DNS names of tasks come from a headless Service of the same name as `subdomain`: with another one the tasks are not "
        "found under the role's Service."
    ),
    remedy="Leave `subdomain` out.",
)
UNKNOWN_TARGET_PORT = warning_rule(
    code="FC516",
    name="unknown-target-port",
    summary="A service's `targetPort` names a port that no container of the role has.",
    why="The Service then lists no such port, and whoever looks for it there finds no task.",
    remedy="Correct the name, write the number, or give one of the containers' `ports` this name.",
)


def service_rules(context: FrameworkContext) -> Iterator[Finding]:
    """Yield the problems of one Framework's services."""
    for role in context.roles:
        if role.serves:
            yield from _ports(role)
            yield from _target_ports(context, role)
            yield from _subdomain(context, role)


def _ports(role: RoleContext) -> Iterator[Finding]:
    ports = sequence(mapping(role.value, "service"), "ports")
    names, numbers = Seen(), Seen()
    for index, port in enumerate(ports):
        if not isinstance(port, dict):  # which has been told
            continue
        path: Path = (*role.path, "service", "ports", index)
        name, number, protocol = text(port, "name"), integer(port, "port"), text(port, "protocol") or "TCP"
        if not name:
            if len(ports) > 1:
                called = "the port" if number is None else f"port {number}"
                message = f"{called} has no name, and a service of {len(ports)} ports needs one for each: add `name`"
                yield Finding(PORT_NAME_MISSING, path, message)
        elif first := names.again(name, (*path, "name")):
            message = f"there is a port named `{name}` already: give each port a name of its own"
            yield Finding(PORT_REPEATED, (*path, "name"), message, related=first)
        if number is not None and (first := numbers.again((number, protocol), (*path, "port"))):
            message = f"port {number} ({protocol}) is there already: remove one of the two"
            yield Finding(PORT_REPEATED, (*path, "port"), message, related=first)


def _target_ports(context: FrameworkContext, role: RoleContext) -> Iterator[Finding]:
    ports = sequence(mapping(role.value, "service"), "ports")
    named = [(name, index) for index, port in enumerate(ports) if (name := text(port, "targetPort")) and not name.isdigit()]
    if not named:
        return
    of_pod = (sequence(container, "ports") for container, _ in containers(context.substituted(role, 0), ()))
    known = {name for listed in of_pod for port in listed if (name := text(port, "name"))}
    for name, index in named:
        if name not in known:
            message = f"no container of the role has a port named `{name}`: {port_hint(name, known, 'the `ports` of a container')}"
            yield Finding(UNKNOWN_TARGET_PORT, (*role.path, "service", "ports", index, "targetPort"), message)


def _subdomain(context: FrameworkContext, role: RoleContext) -> Iterator[Finding]:
    own = text(mapping(context.substituted(role, 0), "spec"), "subdomain")
    service = service_name(context.name, role.name)
    if own and own != service:
        message = f"the role's Service is `{service}`, and with the subdomain `{own}` its tasks are not found there: leave `subdomain` out"
        yield Finding(HOST_NAMES_SET, (*role.template_path, "spec", "subdomain"), message)
