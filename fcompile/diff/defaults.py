"""A Pod without what the API server fills in, or drops.

Whether `restartPolicy: Always` is written or left out, the same Pod runs. Both sides of a comparison are taken to the shorter form. Only
what is certain is here: `tests/diff/test_server.py` asks the API server about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fcompile.check.resource_names import is_huge_pages
from fcompile.check.rules.pod.profile_annotations import APP_ARMOR, annotated_profile
from fcompile.diff.resources import container_limits, container_requests
from fcompile.model.fields import Field
from fcompile.model.quantities import nanos
from fcompile.model.values import integer, mapping, sequence
from fcompile.schema.filled_in import EMPTY, EMPTY_COUNTS, FILLED_IN, merged_expressions, without_null_items
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.rewrite import rewritten
from fcompile.schema.types import types

MEANS_NOTHING: dict[str, dict[str, Any]] = {
    "Container": {"lifecycle": {}},
    "PodSpec": {"hostUsers": True},
    "Toleration": {"operator": "Equal"},
    "TopologySpreadConstraint": {"nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"},
    "VolumeMount": {"mountPropagation": "None", "recursiveReadOnly": "Disabled"},
}
"""What is stored as it is written, and means the same as leaving the field out."""


def as_the_server_reads(pod: dict[str, Any]) -> dict[str, Any]:
    """Return a lowered or live Pod without what only repeats a default. The input is not changed."""
    spec, metadata = pod["spec"], mapping(pod, "metadata")
    annotations = {key: item for key, item in mapping(metadata, "annotations").items() if str(key).startswith(APP_ARMOR)}
    if annotations:
        spec = _with_containers(spec, partial(_without_annotated_profile, annotations=annotations))
    rewrite = partial(_without_defaults, labels=mapping(metadata, "labels"))
    return {**pod, "metadata": rewritten(metadata, "ObjectMeta", rewrite), "spec": rewritten(spec, "PodSpec", rewrite)}


def _without_defaults(value: dict[str, Any], type_name: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    fields = types(NEWEST)[type_name]
    idle = {**FILLED_IN.get(type_name, {}), **MEANS_NOTHING.get(type_name, {})}
    made = {
        name: without_null_items(item, fields.get(name))
        for name, item in value.items()
        if not (_is_empty(name, item, fields.get(name)) or (name in idle and idle[name] == item and type(idle[name]) is type(item)))
    }
    match type_name:
        case "Container":
            return _without_pull_policy(made, "imagePullPolicy", "image")
        case "ImageVolumeSource":
            return _without_pull_policy(made, "pullPolicy", "reference")
        case "ResourceRequirements":
            return _without_amounts(made, {"requests": mapping(made, "limits")})
        case "TopologySpreadConstraint" | "PodAffinityTerm":
            return _without_merged_keys(made, labels)
        case "PodSpec":
            return _without_copies(made, idle)
        case "Volume" if made.keys() == {"name"}:
            return {**made, "emptyDir": {}}
    return made


def _is_empty(name: str, item: Any, field: Field | None) -> bool:
    if item is None or field is None or name in EMPTY_COUNTS:
        return item is None
    return field.kind in EMPTY and item == EMPTY[field.kind] and type(item) is type(EMPTY[field.kind])


def _without_pull_policy(made: dict[str, Any], policy: str, image: str) -> dict[str, Any]:
    """Drop the policy that the API server fills in for an image."""
    name, _, digest = str(made.get(image) or "").partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    usual = "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"
    return {key: item for key, item in made.items() if key != policy or item != usual}


def _without_amounts(resources: dict[str, Any], filled_in: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Drop requests and limits that the API server fills in. `filled_in` has the amounts, in billionths or as they are written."""
    made = {}
    for kind, amounts in resources.items():
        usual = filled_in.get(kind)
        if usual and isinstance(amounts, dict):
            amounts = {name: amount for name, amount in amounts.items() if usual.get(name, amounts) not in (amount, nanos(amount))}
        if amounts != {}:
            made[kind] = amounts
    return made


def _without_merged_keys(term: dict[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the expressions that the API server makes of `matchLabelKeys` and `mismatchLabelKeys`."""
    merged = merged_expressions(term, labels)
    if not merged or not isinstance(term.get("labelSelector"), dict):
        return term
    own = [expression for expression in sequence(term["labelSelector"], "matchExpressions") if expression not in merged]
    rest = {key: item for key, item in term["labelSelector"].items() if key != "matchExpressions"}
    return {**term, "labelSelector": {**rest, "matchExpressions": own} if own else rest}


def _without_copies(spec: dict[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Drop what the API server copies from one field into another."""
    made = {name: item for name, item in spec.items() if name not in ("serviceAccount", "serviceAccountName", "resources")}
    account = spec.get("serviceAccountName", spec.get("serviceAccount", usual["serviceAccountName"]))
    if account != usual["serviceAccountName"]:
        made["serviceAccountName"] = account
    grace = integer(made, "terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        made["terminationGracePeriodSeconds"] = 1
    if made.get("hostNetwork") is True:
        made = _with_containers(made, _without_host_ports)
    if isinstance(spec.get("resources"), dict):
        huge = {name: amount for name, amount in container_limits(spec).items() if is_huge_pages(name)}
        resources = _without_amounts(spec["resources"], {"requests": container_requests(spec), "limits": huge})
        if resources:
            made["resources"] = resources
    return made


def _with_containers(spec: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return a Pod spec with each container as `change` makes it. The Pod may be of any form: somebody else's file is compared too."""
    return {**spec, **{kind: _each(spec[kind], change) for kind in ("initContainers", "containers") if kind in spec}}


def _each(items: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    return [change(item) if isinstance(item, dict) else item for item in items] if isinstance(items, list) else items


def _without_host_ports(container: dict[str, Any]) -> dict[str, Any]:
    """Drop the ports of the node that are those of the container: with the node's network they cannot be others."""
    return {**container, "ports": _each(container["ports"], _without_host_port)} if "ports" in container else container


def _without_host_port(port: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in port.items() if name != "hostPort" or item != port.get("containerPort")}


def _without_annotated_profile(container: dict[str, Any], annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the AppArmor profile that the API server takes from the annotation that came before the field."""
    annotation, context = annotations.get(f"{APP_ARMOR}{container.get('name')}"), mapping(container, "securityContext")
    if not isinstance(annotation, str) or context.get("appArmorProfile") != annotated_profile(annotation):
        return container
    kept = {name: item for name, item in context.items() if name != "appArmorProfile"}
    made = {name: item for name, item in container.items() if name != "securityContext"}
    return {**made, "securityContext": kept} if kept else made
