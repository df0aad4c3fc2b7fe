"""What a Pod asks for, as the scheduler reckons it: its own amount for each resource, with init containers and sidecars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fcompile.lower.placeholders import index_values, substitute
from fcompile.lower.quantities import canonical_quantities
from fcompile.model import names
from fcompile.model.quantities import NANO, canonical, nanos
from fcompile.model.values import mapping, sequence

Amounts = dict[str, int]
"""Billionths, by the resource's name."""
_ORDER = ("cpu", "memory", "ephemeral-storage")
_BINARY = ("memory", "ephemeral-storage", "hugepages-")
_UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def pod_requests(spec: Mapping[str, Any]) -> Amounts:
    """Return what one Pod with this spec asks the scheduler for."""
    running: Amounts = {}
    for container in sequence(spec, "containers"):
        _add(running, _requests(container))
    sidecars, starting = Counter[str](), Counter[str]()
    for container in sequence(spec, "initContainers"):
        asked = _requests(container)
        if isinstance(container, dict) and container.get("restartPolicy") == "Always":
            # It stays, beside all that start after it and beside the containers.
            _add(sidecars, asked)
            asked = {}
        starting |= Counter(_sum(sidecars, asked))
    total = _sum(running, sidecars)
    for name, amount in starting.items():
        total[name] = max(total.get(name, 0), amount)
    total.update(_of_the_pod(spec, total))
    _add(total, _amounts(mapping(spec, "overhead")))
    return total


def role_requests(pod: Mapping[str, Any], count: int, sums: tuple[str, ...] = ()) -> Amounts:
    """Return what `count` Pods of a lowered role ask for together."""
    parts = _reckoned(mapping(pod, "spec"))
    if "{{" + names.TASK_INDEX not in repr(parts):
        return {name: amount * count for name, amount in pod_requests(parts).items()}
    total: Amounts = {}
    for index in range(count):
        _add(total, pod_requests(canonical_quantities(substitute(parts, index_values(index, sums)), "PodSpec")))
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
    """Return a key that sorts resources: cpu, memory, storage, then the others by name."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _reckoned(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a Pod spec that decide what it asks for."""
    parts: dict[str, Any] = {key: spec[key] for key in ("overhead", "resources") if key in spec}
    for kind in ("initContainers", "containers"):
        parts[kind] = [{key: one[key] for key in ("resources", "restartPolicy") if key in one} for one in sequence(spec, kind)]
    return parts


def _requests(container: Any) -> Amounts:
    """Return the requests as the API server fills them in: one that is left out is the limit."""
    resources = mapping(container, "resources")
    return _amounts({**mapping(resources, "limits"), **mapping(resources, "requests")})


def _of_the_pod(spec: Mapping[str, Any], of_containers: Amounts) -> Amounts:
    """Return what the Pod asks for as a whole (`spec.resources`), which then counts instead of its containers'."""
    resources = mapping(spec, "resources")
    limits, requests = _amounts(mapping(resources, "limits")), _amounts(mapping(resources, "requests"))
    return {**{name: amount for name, amount in limits.items() if name not in of_containers}, **requests}


def _amounts(listed: Mapping[str, Any]) -> Amounts:
    return {name: nanos(amount) or 0 for name, amount in listed.items()}


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    total = dict(one)
    _add(total, other)
    return total


def _add(total: dict[str, int] | Counter[str], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount
