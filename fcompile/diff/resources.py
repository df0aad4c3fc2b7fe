"""What a Pod requests, as the scheduler adds it up: an amount for each resource, with init containers and sidecars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fcompile.check.amounts import Amounts, add, at_once
from fcompile.lower.placeholders import index_values, substitute
from fcompile.lower.quantities import canonical_quantities
from fcompile.model import names
from fcompile.model.quantities import NANO, canonical, nanos
from fcompile.model.values import mapping, sequence, text

_ORDER = ("cpu", "memory", "ephemeral-storage")
_BINARY = ("memory", "ephemeral-storage", "hugepages-")
_UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def pod_requests(spec: Mapping[str, Any]) -> Amounts:
    """Return what one Pod with this spec requests from the scheduler, in billionths."""
    total = container_requests(spec)
    total.update(_of_the_pod(spec, total))
    return add(total, _amounts(mapping(spec, "overhead")))


def container_requests(spec: Mapping[str, Any]) -> Amounts:
    """Return what the containers of one Pod request together, in billionths."""
    return _together(spec, _requests)


def container_limits(spec: Mapping[str, Any]) -> Amounts:
    """Return the limits of the containers of one Pod together, in billionths."""
    return _together(spec, lambda container: _amounts(mapping(mapping(container, "resources"), "limits")))


def _together(spec: Mapping[str, Any], read: Callable[[Any], Amounts]) -> Amounts:
    containers = [(read(container), False, False) for container in sequence(spec, "containers")]
    return at_once(containers + [(read(one), True, text(one, "restartPolicy") == "Always") for one in sequence(spec, "initContainers")])


def role_requests(pod: Mapping[str, Any], count: int, sums: tuple[str, ...] = ()) -> Amounts:
    """Return what `count` Pods of a lowered role request together."""
    parts = _reckoned(mapping(pod, "spec"))
    if "{{" + names.TASK_INDEX not in repr(parts):
        return {name: amount * count for name, amount in pod_requests(parts).items()}
    total: Amounts = {}
    for index in range(count):
        add(total, pod_requests(canonical_quantities(substitute(parts, index_values(index, sums)), "PodSpec")))
    return total


def shown(name: str, amount: int) -> str:
    """Return an amount as people write it: `352`, `500m`, `900Gi`."""
    if name.startswith(_BINARY) and amount and amount % NANO == 0:
        number, unit = amount // NANO, 0
        while abs(number) >= 1024 and number % 1024 == 0 and unit < len(_UNITS) - 1:
            number, unit = number // 1024, unit + 1
        if abs(number) < 10_000_000:
            return f"{number}{_UNITS[unit]}"
    return f"{amount // NANO}" if amount % NANO == 0 else canonical(f"{-(-amount // (NANO // 1000))}m")


def by_importance(name: str) -> tuple[int, str]:
    """Return a sort key for resources: cpu, memory, storage, then the others by name."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _reckoned(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a Pod spec that decide what it requests."""
    parts: dict[str, Any] = {key: spec[key] for key in ("overhead", "resources") if key in spec}
    for kind in ("initContainers", "containers"):
        parts[kind] = [
            {key: container[key] for key in ("resources", "restartPolicy") if key in container} for container in sequence(spec, kind)
        ]
    return parts


def _requests(container: Any) -> Amounts:
    """Return what a container requests. A missing request equals the limit."""
    resources = mapping(container, "resources")
    return _amounts({**mapping(resources, "limits"), **mapping(resources, "requests")})


def _of_the_pod(spec: Mapping[str, Any], of_containers: Amounts) -> Amounts:
    """Return what the Pod requests as a whole (`spec.resources`), which counts in place of its containers' requests."""
    resources = mapping(spec, "resources")
    limits, requests = _amounts(mapping(resources, "limits")), _amounts(mapping(resources, "requests"))
    return {**{name: amount for name, amount in limits.items() if name not in of_containers}, **requests}


def _amounts(listed: Mapping[str, Any]) -> Amounts:
    return {name: nanos(amount) or 0 for name, amount in listed.items()}
