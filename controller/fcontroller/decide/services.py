"""The headless Services of a Framework: what is to be done so that there are those of the attempt's intent, and no others of ours.

A Service is ours when the Framework is its controller. Nobody else's is ever touched: one that has the name that we want is reported.
In ours, what the intent says holds, and what others have added beside it stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fcontroller.decide.observed import controller_of

Json = dict[str, Any]
_UNSET = {"type": "ClusterIP", "publishNotReadyAddresses": False}
"""What it means when one of these is not there."""


class CreateService(NamedTuple):
    """Make a Service that is not there."""

    service: Json


class ReplaceService(NamedTuple):
    """Write a Service of ours as it should be; it has the uid and the resourceVersion of the one that was seen."""

    service: Json


class DeleteService(NamedTuple):
    """Delete a Service of ours that no role wants any more."""

    name: str
    uid: str


Action = CreateService | ReplaceService | DeleteService


class Plan(NamedTuple):
    """What is to be done, and the names of the Services that are wanted but are somebody else's."""

    actions: list[Action]
    taken: list[str]


def plan(wanted: Mapping[str, Json], found: Mapping[str, Json], owner: str) -> Plan:
    """Decide about the Services of one Framework.

    :param wanted: those of the intent, by name. :param found: those under such names, whoever made them. :param owner: the Framework's uid.
    """
    actions: list[Action] = []
    taken = []
    for name, service in wanted.items():
        there = found.get(name)
        if there is None:
            actions.append(CreateService(service))
        elif not is_ours(there, owner):
            if not _goes_soon(there, service):
                taken.append(name)
        elif "deletionTimestamp" not in there["metadata"]:
            right = _as_wanted(service, there)
            if right != there:
                actions.append(ReplaceService(right))
    for name, there in found.items():
        if name not in wanted and is_ours(there, owner) and "deletionTimestamp" not in there["metadata"]:
            actions.append(DeleteService(name, there["metadata"]["uid"]))
    return Plan(actions, taken)


def is_ours(service: Json, owner: str) -> bool:
    """Return whether the Framework with that uid is the Service's controller."""
    return controller_of(service["metadata"]) == owner


def _goes_soon(there: Json, wanted: Json) -> bool:
    """Return whether the Service was that of a Framework of the same name that is gone: the garbage collector will delete it."""
    (owner,) = wanted["metadata"]["ownerReferences"]
    for reference in there["metadata"].get("ownerReferences") or ():
        if reference.get("controller") and all(reference.get(key) == owner[key] for key in ("apiVersion", "kind", "name")):
            return True
    return False


def _as_wanted(wanted: Json, there: Json) -> Json:
    """Return the Service that is there with what the intent says in it."""
    metadata, spec = dict(there["metadata"]), dict(there["spec"])
    metadata["labels"] = {**(metadata.get("labels") or {}), **wanted["metadata"]["labels"]}
    said = {"type": "ClusterIP", **wanted["spec"]}
    spec |= {key: value for key, value in said.items() if key != "ports" and spec.get(key, _UNSET.get(key)) != value}
    if spec.get("type") != there["spec"].get("type"):
        spec.pop("externalName", None)
    ports = [_port(port) for port in spec.get("ports") or ()]
    right = _ports(said.get("ports") or (), ports)
    if right != ports:
        spec["ports"] = right
    return {**there, "metadata": metadata, "spec": spec}


def _ports(wanted: Sequence[Json], there: list[Json]) -> list[Json]:
    """Return the wanted ports and no others, with what was added to each of them."""
    added = {(port["port"], port["protocol"]): port for port in there}
    return [{**added.get((port["port"], port["protocol"]), {}), **port} for port in map(_port, wanted)]


def _port(port: Json) -> Json:
    """Return a port with what the API server fills in."""
    return {"protocol": "TCP", "targetPort": port["port"], **port}
