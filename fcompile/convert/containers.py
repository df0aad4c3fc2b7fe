"""What the operator adds to the containers of a replica: variables, ports, and what the downward API says of its labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fcompile.convert.draft import RoleDraft
from fcompile.convert.field_variables import field_variables
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.replicas import Replica

Variable = tuple[str, str | dict[str, Any]]
"""A name and its value, or where that comes from."""
_LABEL = re.compile(r"metadata\.labels\['(?:training\.kubeflow\.org/)?(job-name|replica-index|replica-type|job-role|operator-name)'\]")


def container_named(replica: Replica, name: str) -> int:
    """Return the place of the container that the operator looks for. Raises Refusal: its webhook refuses a job without it."""
    for place, container in enumerate(replica.containers):
        if container.get("name") == name:
            return place
    raise Refusal((*replica.template_path, "spec", "containers"), f"no container is named `{name}`: the operator refuses such a job")


def add_port(replica: Replica, place: int, name: str, number: int) -> int:
    """Give a container the port that the operator counts on, where it has none of that name, and return its number."""
    container = replica.containers[place]
    for at, port in enumerate(container.get("ports") or ()):
        if port.get("name") == name:
            path = (*replica.template_path, "spec", "containers", place, "ports", at)
            found = Fields(port, path).count("containerPort", 1, 65535)
            if found is None:
                raise Refusal(path, "it has no containerPort")
            return found
    container["ports"] = [*(container.get("ports") or ()), {"name": name, "containerPort": number}]
    return number


def service_ports(replica: Replica, place: int) -> list[dict[str, Any]]:
    """Return the ports of the Service that the operator makes: those of the container, each name once."""
    found: dict[str, dict[str, Any]] = {}
    for port in replica.containers[place].get("ports") or ():
        name, number = port.get("name"), port.get("containerPort")
        if isinstance(name, str) and name:
            # The operator does not take over the protocol.
            found[name] = {"name": name, "port": number}
    return list(found.values())


def add_variables(role: RoleDraft, variables: list[Variable], ledger: Ledger, only: str | None = None) -> None:
    """Add variables to the containers (not the init containers) of a role, after the user's own.

    The operator adds a second variable of the same name where the user has set one, and the last one counts. Here the first is left out.

    :param only: the name of the only container that gets them.
    """
    last: Mapping[str, str | dict[str, Any]] = dict(variables)
    for place, container in enumerate(role.template["spec"]["containers"]):
        if only is not None and container.get("name") != only:
            continue
        own = container.get("env") or []
        kept = []
        for number, variable in enumerate(own):
            path = (*role.template_source, "spec", "containers", place, "env", number)
            if variable.get("name") not in last:
                kept.append(variable)
            elif _is_referred_to(str(variable.get("name")), own[number + 1 :]):
                kept.append(variable)
                ledger.converted(path, "its place before the operator's variable of the same name: another one refers to it")
            else:
                ledger.dropped(path, "the operator sets the same variable after it, and the last one counts")
        container["env"] = [*kept, *(_variable(name, value) for name, value in last.items())]
        if only is not None:
            break


def _is_referred_to(name: str, later: list[dict[str, Any]]) -> bool:
    """Return whether a later variable has the value of one in its own."""
    return any(f"$({name})" in str(variable.get("value")) for variable in later)


def _variable(name: str, value: str | dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "value": value} if isinstance(value, str) else {"name": name, "valueFrom": value}


def replace_labels_of_operator(role: RoleDraft, labels: Mapping[str, str], ledger: Ledger) -> None:
    """Give variables that read a label of the operator's the value that it had: Pods have no such labels here."""
    for variable in field_variables(role):
        match = _LABEL.fullmatch(variable.field)
        if match and match[1] in labels:
            variable.become(labels[match[1]])
            ledger.converted(variable.path, "its value, since Pods have no label of the operator's")
