"""An expected Pod in the form in which `kubectl diff` finds it in the cluster.

The controller sends the Pod as it was lowered, and the API server stores something else in a few places. Where that would show as a
difference, or as a conflict in the server-side form, the expected manifest has what is stored. It is the same Pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from fcompile.emit.order import ordered
from fcompile.expand import pod
from fcompile.lower.intent import Role
from fcompile.model import gates
from fcompile.model.values import integer, mapping, sequence
from fcompile.schema.filled_in import EMPTY_COUNTS, FILLED_IN, merged_expressions, without_null_items
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.rewrite import rewritten
from fcompile.schema.types import types

_FILLED_BY_OTHERS = {"Container": ("imagePullPolicy",), "ImageVolumeSource": ("pullPolicy",), "PodSpec": ("serviceAccount",)}
"""Fields that the API server fills in from others."""
_WRITTEN_OUT: dict[str, dict[str, Any]] = {
    "HTTPHeader": {"value": ""},
    "PreferredSchedulingTerm": {"preference": {}},
    "Sysctl": {"value": ""},
}
"""What is stored in items of atomic lists though it is empty."""
_LEFT_OUT = {"ContainerRestartRuleOnExitCodes": ("values",), "ProjectedVolumeSource": ("sources",)}
"""Empty lists that are not stored, in or as an atomic list."""


def expected_pod(role: Role, namespace: str, index: int | str, version: int) -> dict[str, Any]:
    """Return the Pod of a task as Kubernetes 1.`version` stores it, in canonical order."""
    made: dict[str, Any] = ordered(comparable(pod(role, namespace, index), version))
    return made


def comparable(pod: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the Pod of a task as Kubernetes 1.`version` stores it. The input is not changed, and unchanged parts are not copied."""
    labels, host_network = mapping(mapping(pod, "metadata"), "labels"), pod["spec"].get("hostNetwork") is True
    spec = rewritten(pod["spec"], "PodSpec", partial(_stored, labels=labels, host_network=host_network, version=version))
    return pod if spec is pod["spec"] else {**pod, "spec": spec}


def _stored(value: dict[str, Any], type_name: str, labels: Mapping[str, Any], host_network: bool, version: int) -> dict[str, Any]:
    value = _with_filled_in(value, type_name)
    match type_name:
        case "PodSpec":
            return _with_what_counts(value)
        case "ContainerPort" if host_network and integer(value, "hostPort") == 0:  # The container's own port is filled in.
            return {name: item for name, item in value.items() if name != "hostPort"}
        case "PodAffinityTerm" if version >= gates.AFFINITY_MATCH_LABEL_KEYS:
            return _with_merged_keys(value, labels)
        case "TopologySpreadConstraint" if version >= gates.SPREAD_SELECTOR_MERGE:
            return _with_merged_keys(value, labels)
    return value


def _with_what_counts(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a Pod spec with what the API server puts in place of two of its fields."""
    changed: dict[str, Any] = {}
    if (integer(spec, "terminationGracePeriodSeconds") or 0) < 0:
        changed["terminationGracePeriodSeconds"] = 1
    if "serviceAccount" in spec and "serviceAccountName" in spec:  # an old name of the same field, which does not count beside it
        changed["serviceAccount"] = spec["serviceAccountName"]
    return {**spec, **changed} if any(spec[name] != item for name, item in changed.items()) else spec


def _with_filled_in(value: dict[str, Any], type_name: str) -> dict[str, Any]:
    """Return an object without empty values that are filled in, with the empty values that are written out, and without nulls in lists."""
    fields = types(NEWEST)[type_name]
    idle = {name for name in _filled_in(type_name) if name in value and value[name] in ("", 0) and value[name] is not False}
    idle |= {name for name in _LEFT_OUT.get(type_name, ()) if value.get(name) == []}
    kept = {name: item for name, item in value.items() if name not in idle} if idle else value
    changed = {name: item for name, item in _WRITTEN_OUT.get(type_name, {}).items() if name not in kept}
    changed |= {name: without_null_items(item, fields.get(name)) for name, item in kept.items() if type(item) is list and None in item}
    return {**kept, **changed} if changed else kept


@cache
def _filled_in(type_name: str) -> tuple[str, ...]:
    """Return the fields of a type that the API server fills in when they are an empty text or 0."""
    usual = FILLED_IN.get(type_name, {})
    filled = (name for name, item in usual.items() if isinstance(item, str | int) and name not in EMPTY_COUNTS)
    return (*filled, *_FILLED_BY_OTHERS.get(type_name, ()))


def _with_merged_keys(term: dict[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
    """Add to the label selector what `matchLabelKeys` and `mismatchLabelKeys` say, as the API server does at the Pod's creation."""
    merged, selector = merged_expressions(term, labels), term.get("labelSelector")
    if not merged or not isinstance(selector, dict):
        return term
    return {**term, "labelSelector": {**selector, "matchExpressions": [*sequence(selector, "matchExpressions"), *merged]}}
