"""Resources of a Pod as a whole: `spec.resources` against those of its containers, and `spec.resourceClaims`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fcompile.check.amounts import Amounts, amount, at_once, in_millis, shown
from fcompile.check.pod_context import ContainerRef, Pod
from fcompile.check.pod_values import entries, given
from fcompile.check.resource_names import can_overcommit, is_huge_pages, pod_name_problem
from fcompile.check.rules.pod.resources import requirement_rules
from fcompile.check.seen import repeated
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model import gates
from fcompile.model.values import mapping

POD_RESOURCES = error_rule(
    code="FC262",
    name="pod-level-resources",
    summary="The resources of the Pod as a whole are less than those of its containers, or of a kind that only containers have.",
    why=(
        "The Pod's request is at least the sum of its containers' requests, and its limit at least the limit of each container. A "
        "whole Pod can ask for cpu, memory and huge pages; it has no claims, and a Pod for Windows has none of this."
    ),
    remedy="Raise the Pod's amount, or remove it.",
)
POD_CLAIM = error_rule(
    code="FC263",
    name="pod-resource-claim",
    summary="An entry of the Pod's resourceClaims is there twice, or does not say which claim is meant.",
    why="Each has a name of its own and exactly one of resourceClaimName and resourceClaimTemplateName.",
    remedy="Rename the entry, or keep one of the two.",
)


def pod_resource_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of `spec.resources` and `spec.resourceClaims`."""
    if "resourceClaims" in pod.spec and pod.version >= gates.RESOURCE_CLAIMS:
        yield from _claims(pod)
    resources = pod.spec.get("resources")
    if not isinstance(resources, dict) or pod.version < gates.POD_LEVEL_RESOURCES:
        return
    path = (*pod.path, "resources")
    if pod.os_name == "windows":
        yield Finding(POD_RESOURCES, path, "`resources` of a Pod as a whole are not for Windows; remove them", part="key")
        return
    if given(resources, "claims"):
        yield Finding(POD_RESOURCES, (*path, "claims"), "`claims` belong to containers, not to the whole Pod; move them", part="key")
    fills_in_limits = pod.version >= gates.POD_LEVEL_LIMITS
    filled_in = _together(pod, _requests) if mapping(resources, "limits") or fills_in_limits else ()
    if fills_in_limits:
        resources = _with_limits(resources, pod)
    yield from requirement_rules(resources, path, pod_name_problem, filled_in=filled_in)
    yield from _coverage(resources, path, pod)


def _claims(pod: Pod) -> Iterator[Finding]:
    for name, path, first in repeated(pod.spec, pod.path, "resourceClaims", "name"):
        yield Finding(POD_CLAIM, path, f'the claim name "{name}" is taken in this Pod; choose another', related=first)
    for claim, path in entries(pod.spec, pod.path, "resourceClaims"):
        if given(claim, "resourceClaimName") == given(claim, "resourceClaimTemplateName"):
            message = "the claim needs either `resourceClaimName` or `resourceClaimTemplateName`; give one of the two"
            yield Finding(POD_CLAIM, path, message)


def _with_limits(resources: dict[str, Any], pod: Pod) -> dict[str, Any]:
    """Return the resources with the limits of huge pages that the API server fills in."""
    limits, requests = mapping(resources, "limits"), mapping(resources, "requests")
    missing = [name for name in requests if is_huge_pages(name) and name not in limits]
    if not missing:
        return resources
    together, wanted = _together(pod, _limits), _amounts(resources, "requests")
    common = set(missing).intersection(*map(_limits, pod.containers))
    everywhere = [name for name in missing if name in common]
    within = {name: requests[name] for name in everywhere if together.get(name, 0) <= wanted.get(name, 0)}
    return {**resources, "limits": {**limits, **within}}


def _coverage(resources: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    limits, requests = _amounts(resources, "limits"), _amounts(resources, "requests")
    for name, wanted in _together(pod, _requests).items():
        if name in requests:
            if wanted > requests[name]:
                yield _too_low("request", requests[name], name, wanted, (*path, "requests", name))
        elif name in limits and can_overcommit(name) and wanted > limits[name]:
            yield _too_low("limit", limits[name], name, wanted, (*path, "limits", name))
    for name, wanted in _together(pod, _limits).items():
        if is_huge_pages(name) and name in limits and wanted > limits[name]:
            yield _too_low("limit", limits[name], name, wanted, (*path, "limits", name))
    for container in pod.containers:
        for name, limit in () if container.is_init else _limits(container).items():
            if limit > limits.get(name, limit):
                message = f"the limit {shown(limit)} of {name} is more than the Pod's {shown(limits[name])}; lower it, or raise the Pod's"
                yield Finding(POD_RESOURCES, (*container.path, "resources", "limits", name), message)


def _too_low(kind: str, own: int, name: str, wanted: int, path: Path) -> Finding:
    message = f"the Pod's {kind} {shown(own)} of {name} is less than the {shown(wanted)} of its containers; raise it"
    return Finding(POD_RESOURCES, path, message)


def _amounts(resources: dict[str, Any], key: str) -> Amounts:
    """Return amounts in thousandths."""
    found = ((name, amount(value)) for name, value in mapping(resources, key).items())
    return {name: in_millis(nanos) for name, nanos in found if nanos is not None}


def _requests(container: ContainerRef) -> Amounts:
    """Return the requests of a container as the API server fills them in: a missing request equals the limit."""
    resources = mapping(container.fields, "resources")
    return {**_amounts(resources, "limits"), **_amounts(resources, "requests")}


def _limits(container: ContainerRef) -> Amounts:
    return _amounts(mapping(container.fields, "resources"), "limits")


def _together(pod: Pod, read: Callable[[ContainerRef], Amounts]) -> Amounts:
    return at_once((read(container), container.is_init, container.is_sidecar) for container in pod.containers)
