"""The headless Services of a Framework: what to do so that those of the attempt's intent exist, and no others of ours.

A Service is ours when the Framework is its controller. Others' Services are never touched; one that has a name that we want is reported.
In ours, fields that the intent sets are enforced, and fields that others have added stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fcompile.model import names
from fcontroller.decide.codes import Json
from fcontroller.decide.owners import controller_of, is_framework, owners

SPEC = ("clusterIP", "externalName", "ports", "publishNotReadyAddresses", "selector", "type")
"""The fields of a Service's spec that an intent decides about."""
_UNSET = {"type": "ClusterIP", "publishNotReadyAddresses": False}
"""What it means when one of these is not there."""


class CreateService(NamedTuple):
    """Make a Service that is not there."""

    service: Json


class ReplaceService(NamedTuple):
    """Write a Service of ours as it should be, in what the intent decides; it has the resourceVersion of the one that was seen."""

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

    :param wanted: the intent's Services by name. :param found: those that exist under these names. :param owner: the Framework's uid.
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
        else:
            # Also while it is being deleted: a finalizer may hold it for as long as somebody likes.
            right = _as_wanted(service, there)
            if _has_address(there):  # Which it keeps for as long as it is there.
                actions += [DeleteService(name, there["metadata"]["uid"]), CreateService(service)]
            elif right != there:
                actions.append(ReplaceService(right))
    for name, there in found.items():
        if name not in wanted and is_ours(there, owner) and "deletionTimestamp" not in there["metadata"]:
            actions.append(DeleteService(name, there["metadata"]["uid"]))
    return Plan(actions, taken)


def is_ours(service: Json, owner: str) -> bool:
    """Return whether the Framework with this uid is the Service's controller."""
    return controller_of(service["metadata"]) == owner


def _has_address(there: Json) -> bool:
    """Return whether the Service, which nobody has deleted yet, has an address of its own, so that it cannot become headless."""
    return there["spec"].get("clusterIP", "None") not in ("None", "") and "deletionTimestamp" not in there["metadata"]


def _goes_soon(there: Json, wanted: Json) -> bool:
    """Return whether the Service belonged to a deleted Framework of the same name, so that the garbage collector will remove it.

    One that a finalizer holds may stay, and no watch tells that one without our label has gone.
    """
    if there["metadata"].get("finalizers") or names.FRAMEWORK_NAME not in (there["metadata"].get("labels") or {}):
        return False
    (owner,) = wanted["metadata"]["ownerReferences"]
    return any([reference.get("controller") and is_framework(reference, owner["name"]) for reference in owners(there["metadata"])])


def _as_wanted(wanted: Json, there: Json) -> Json:
    """Return the existing Service with the fields that the intent sets."""
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
    """Return exactly the wanted ports, each with the fields that the existing port has in addition."""
    added = {(port["port"], port["protocol"]): port for port in there}
    return [{**added.get((port["port"], port["protocol"]), {}), **port} for port in map(_port, wanted)]


def _port(port: Json) -> Json:
    """Return a port as the API server stores it: with its defaults, and without an empty text."""
    return {"protocol": "TCP", "targetPort": port["port"], **{key: value for key, value in port.items() if value != ""}}
