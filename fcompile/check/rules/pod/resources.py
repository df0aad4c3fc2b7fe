"""Resource requests and limits of containers, and the overhead of a Pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from fcompile.check.amounts import amount, in_millis, in_units
from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import entries, some
from fcompile.check.resource_names import BYTES, HUGE, USUAL, can_overcommit, container_name_problem, is_huge_pages, is_native, meant_device
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.formats import accepts
from fcompile.model.quantities import NANO
from fcompile.model.values import mapping, text

REQUEST_OVER_LIMIT = error_rule(
    code="FC255",
    name="request-over-limit",
    summary="A container requests more of a resource than its limit.",
    why="A container cannot use more than its limit, and a request that is left out is the limit.",
    remedy="Raise the limit or lower the request.",
)
NO_OVERCOMMIT = error_rule(
    code="FC256",
    name="request-not-limit",
    summary="A resource that cannot be overcommitted has a request without an equal limit.",
    why="Extended resources such as nvidia.com/gpu, and huge pages, need a limit; the request must equal it or be left out.",
    remedy="Write the amount under `limits` alone.",
)
HUGE_PAGES = error_rule(
    code="FC257",
    name="huge-pages",
    summary="Huge pages are asked for in a way that is refused.",
    why="The amount is a multiple of the page size in the name, and the container also asks for cpu or memory.",
    remedy="Correct the amount, or add a request for cpu or memory.",
)
RESOURCE_AMOUNT = error_rule(
    code="FC258",
    name="resource-amount",
    summary="A resource amount is negative, or a fraction of something that cannot be divided.",
    why="Amounts are 0 or more; extended resources such as nvidia.com/gpu are counted in whole numbers.",
    remedy="Write a number of 0 or more, for an extended resource a whole one.",
)
RESOURCE_CLAIM = error_rule(
    code="FC259",
    name="resource-claim-reference",
    summary="A container's resource claim is not one of the Pod's, or is listed twice.",
    why="`resources.claims` names entries of the Pod's `resourceClaims`, each of them (or each of its requests) once.",
    remedy="Add the claim to the Pod, or remove the entry.",
)
RESOURCE_NAME = error_rule(
    code="FC260",
    name="resource-name",
    summary="A container or a Pod asks for a resource by a name that is not allowed there.",
    why=(
        "Containers can ask for cpu, memory, ephemeral-storage, hugepages-SIZE, and resources with a domain such as "
        "nvidia.com/gpu; a Pod as a whole only for cpu, memory and huge pages."
    ),
    remedy="Correct the name, or remove the entry.",
)
FRACTIONAL_BYTES = warning_rule(
    code="FC261",
    name="fractional-bytes",
    summary="An amount of memory or storage is a fraction of a byte.",
    why="`m` means thousandths: `memory: 512m` is half a byte.",
    remedy="Write `512Mi`.",
)
RESOURCE_MEANT = warning_rule(
    code="FC264",
    name="misspelt-resource",
    summary="A container asks for a resource whose name is nearly that of a known one.",
    why="The API server takes any name with a domain, and the Pod waits for a node that has such a resource.",
    remedy="Correct the name; if a device plugin really has it, waive this.",
)
UNLIKELY_AMOUNT = warning_rule(
    code="FC254",
    name="unlikely-amount",
    summary="A container asks for 1,000 cores or more, or may have less than 1 MiB of memory or storage.",
    why="`cpu` counts cores, and `m` means thousandths of one; an amount of memory without a unit is in bytes.",
    remedy="Write the unit that is meant: `cpu: 2000m` is two cores, `memory: 512Mi` half a gibibyte.",
)

_FEW = 100
"""Resources of a container whose names are held against the known ones."""
_MANY_CORES = 1000
_FEW_BYTES = 1 << 20
_MANY_GIBIBYTES = 64
_MEANT_BY = {"M": "m", "Mi": "m", "G": "", "Gi": ""}
"""What the units of memory are mistaken for in an amount of cores."""


def resource_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of `resources` of all containers, and of `overhead`."""
    for container in pod.containers:
        if resources := mapping(container.fields, "resources"):
            path = (*container.path, "resources")
            yield from requirement_rules(resources, path, container_name_problem)
            yield from _misspelt(resources, path)
            yield from _unlikely(resources, path)
            if "claims" in resources and pod.version >= gates.RESOURCE_CLAIMS:
                yield from _claims(resources, path, pod)
    if overhead := mapping(pod.spec, "overhead"):
        yield from requirement_rules({"overhead": overhead}, pod.path, container_name_problem, limits_key="overhead")


def _misspelt(resources: dict[str, Any], path: Path) -> Iterator[Finding]:
    for key in ("limits", "requests"):
        for name in islice(mapping(resources, key), _FEW):
            meant = meant_device(name)
            if meant:
                yield Finding(RESOURCE_MEANT, (*path, key, name), f'"{name}" is nearly {meant}: did you mean that?', part="key")


def _unlikely(resources: dict[str, Any], path: Path) -> Iterator[Finding]:
    limits = mapping(resources, "limits")
    for key in ("limits", "requests"):
        value = mapping(resources, key).get("cpu")
        cores = (amount(value) or 0) // NANO
        if cores >= _MANY_CORES:
            number, unit = _number_and_unit(value)
            meant = f"{number}{_MEANT_BY[unit]}" if number and unit in _MEANT_BY else f"{cores}m"
            yield Finding(UNLIKELY_AMOUNT, (*path, key, "cpu"), f'"{value}" of cpu is {cores:,} cores: did you mean {meant}?')
    for name in BYTES:
        value = limits.get(name)
        size = amount(value) or 0
        # A request may be as small as it likes; a fraction of a byte has a rule of its own.
        if 0 < size < _FEW_BYTES * NANO and size % NANO == 0:
            number, unit = _number_and_unit(value)
            # Who means gibibytes writes a small number.
            right = "`Mi` or `Gi`" if unit else f"{number}{'Gi' if int(number) < _MANY_GIBIBYTES else 'Mi'}"
            message = f'"{value}" of {name} is {size // NANO:,} bytes, in which nothing runs: did you mean {right}?'
            yield Finding(UNLIKELY_AMOUNT, (*path, "limits", name), message)


def _number_and_unit(value: Any) -> tuple[str, str]:
    """Return the digits that a quantity begins with, and the rest."""
    written = str(value)
    unit = written.lstrip("0123456789")
    return written[: len(written) - len(unit)], unit


def requirement_rules(
    resources: dict[str, Any],
    path: Path,
    name_problem: Callable[[str], str | None],
    *,
    limits_key: str = "limits",
    filled_in: Iterable[str] = (),
) -> Iterator[Finding]:
    """Yield the problems of one set of requests and limits.

    `name_problem` judges the names that may be asked for there; `filled_in` are those that the API server will add.
    """
    limits, requests = mapping(resources, limits_key), mapping(resources, "requests")
    for amounts, key in ((limits, limits_key), (requests, "requests")):
        for name, value in amounts.items():
            problem = name_problem(name)
            if problem is not None:
                yield Finding(RESOURCE_NAME, (*path, key, name), f'"{name}" {problem}', part="key")
            nanos = amount(value)
            if nanos is not None and not (name in USUAL and nanos >= 0 and nanos % NANO == 0):
                yield from _amount(name, value, nanos, (*path, key, name))
    for name, value in requests.items():
        yield from _against_limit(name, value, limits, path)
    huge = next((name for name in (*limits, *requests) if is_huge_pages(name)), None)
    if huge is not None and not {"cpu", "memory"} & {*limits, *requests, *filled_in}:
        item_path = (*path, limits_key if huge in limits else "requests", huge)
        yield Finding(HUGE_PAGES, item_path, f"`{huge}` needs cpu or memory beside it; add a request or limit for one of them")


def _amount(name: str, value: Any, nanos: int, path: Path) -> Iterator[Finding]:
    if nanos < 0:
        yield Finding(RESOURCE_AMOUNT, path, f'the amount "{value}" of {name} is negative; give 0 or more')
    elif in_millis(nanos) % 1000:
        if not is_native(name):
            yield Finding(RESOURCE_AMOUNT, path, f'the amount "{value}" of {name} is not a whole number; write one')
        elif name in BYTES:
            yield Finding(FRACTIONAL_BYTES, path, f'"{value}" of {name} is a fraction of a byte; did you mean `Mi` or `Gi`?')
    if is_huge_pages(name):
        page = amount(name.removeprefix(HUGE))
        if page is None or page <= 0 or page % NANO:
            yield Finding(HUGE_PAGES, path, f'"{name}" names no page size; write one such as hugepages-2Mi', part="key")
        elif in_units(in_millis(nanos) * (NANO // 1000)) % (page // NANO):
            yield Finding(HUGE_PAGES, path, f'"{value}" is not a multiple of the page size in "{name}"; round it')


def _against_limit(name: str, value: Any, limits: dict[str, Any], path: Path) -> Iterator[Finding]:
    item_path = (*path, "requests", name)
    if name not in limits:
        if not can_overcommit(name):
            message = f"{name} is requested without a limit; set a limit of {value} (the request may then be left out)"
            yield Finding(NO_OVERCOMMIT, item_path, message)
        return
    wanted, limit = amount(value), amount(limits[name])
    if wanted is None or limit is None or wanted == limit:
        return
    if not can_overcommit(name):
        if in_millis(wanted) != in_millis(limit):
            message = f'the request "{value}" of {name} must equal the limit "{limits[name]}"; make them equal or leave the request out'
            yield Finding(NO_OVERCOMMIT, item_path, message)
    elif in_millis(wanted) > in_millis(limit):
        message = f'the request "{value}" of {name} is more than the limit "{limits[name]}"; raise the limit or lower the request'
        yield Finding(REQUEST_OVER_LIMIT, item_path, message)


def _claims(resources: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    seen: dict[str, set[str]] = {}
    for claim, item_path in entries(resources, path, "claims"):
        name, request = text(claim, "name"), text(claim, "request") or ""
        if not name:
            continue
        taken = seen.setdefault(name, set())
        if taken and (not request or not taken.isdisjoint(("", request))):
            yield Finding(RESOURCE_CLAIM, item_path, f'the claim "{name}" is listed before in this container; remove one entry')
        taken.add(request)
        if name not in pod.claims:
            message = f'"{name}" is not in the Pod\'s `resourceClaims` (there is {some(pod.claims)}); add it or correct the name'
            yield Finding(RESOURCE_CLAIM, (*item_path, "name"), message)
        if request and not accepts("dns-label")(request):
            message = f'"{request}" is not a valid name of a request; use lower-case letters, digits and `-`'
            yield Finding(RESOURCE_CLAIM, (*item_path, "request"), message)
