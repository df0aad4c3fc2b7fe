"""What the operator adds to the containers of a replica: variables, ports, and what the downward API says of its labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fcompile.convert.draft import RoleDraft
from fcompile.convert.field_variables import field_variables
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.replicas import LABELS_OF_OPERATOR, Replica
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping, sequence, text

Variable = tuple[str, str | dict[str, Any]]
"""A name and its value, or where that comes from."""
_LABEL = re.compile(rf"metadata\.labels\['(?:training\.kubeflow\.org/)?({'|'.join(LABELS_OF_OPERATOR)})'\]")


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
        referred_to = _referred_to(own, last)
        kept = []
        for number, variable in enumerate(own):
            path = (*role.template_source, "spec", "containers", place, "env", number)
            if variable.get("name") not in last:
                kept.append(variable)
            elif number < referred_to.get(str(variable.get("name")), 0):
                kept.append(variable)
                ledger.converted(path, "its place before the operator's variable of the same name: another one refers to it")
            else:
                ledger.dropped(path, "the operator sets the same variable after it, and the last one counts")
        container["env"] = [*kept, *(_variable(name, value) for name, value in last.items())]
        if only is not None:
            break


def _referred_to(own: list[dict[str, Any]], names: Iterable[str]) -> dict[str, int]:
    """Return by name where the last variable is that has the value of one of these in its own."""
    reference = re.compile(rf"\$\(({'|'.join(map(re.escape, names))})\)")
    found = ((name, number) for number, variable in enumerate(own) for name in reference.findall(str(variable.get("value"))))
    return dict(found)


def _variable(name: str, value: str | dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "value": value} if isinstance(value, str) else {"name": name, "valueFrom": value}


def replace_labels_of_operator(role: RoleDraft, labels: Mapping[str, str | None], ledger: Ledger) -> None:
    """Give variables that read a label of the operator's the value that it had: Pods have no such labels here. Others are told.

    :param labels: by their names without a domain; None: it is another one in each Pod.
    """
    for variable in field_variables(role):
        label = _label(variable.field)
        value = None if label is None else labels[label]
        if value is not None:
            variable.become(value)
            ledger.converted(variable.path, "its value, since Pods have no label of the operator's")
        elif label is not None:
            _tell_label(variable.path, f"the variable `{variable.name}` will be empty", label, ledger)
    for place, volume in enumerate(role.template["spec"].get("volumes") or ()):
        for path, field in _read_in(volume, (*role.template_source, "spec", "volumes", place)):
            label = _label(field)
            if label is not None:
                _tell_label(path, "the file will be empty", label, ledger)


def _tell_label(path: Path, what: str, label: str, ledger: Ledger) -> None:
    why = f"it reads the label `{label}` of the operator's, which Pods do not have here"
    ledger.different(path, what, why, "read FC_TASKROLE_NAME or FC_TASK_INDEX, or write the value")


def _read_in(volume: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield what a volume of the downward API reads: where that is said, and the field."""
    for number, item in enumerate(sequence(mapping(volume, "downwardAPI"), "items")):
        yield (*path, "downwardAPI", "items", number), text(mapping(item, "fieldRef"), "fieldPath") or ""
    for number, source in enumerate(sequence(mapping(volume, "projected"), "sources")):
        yield from _read_in(source, (*path, "projected", "sources", number))


def _label(field: str) -> str | None:
    """Return the label of the operator's that a field is, if it is one."""
    match = _LABEL.fullmatch(field)
    return match[1] if match else None
