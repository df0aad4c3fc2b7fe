"""Amounts of quantities, and what containers need together. They are cached: the same few (`1`, `4Gi`, `500m`) are in every container."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from fcompile.model.quantities import NANO, nanos

MILLI = NANO // 1000
Amounts = dict[str, int]
"""By the resource's name."""


def amount(value: Any) -> int | None:
    """Return a quantity in billionths, or None when `value` is none. A null in a list of resources is 0."""
    return 0 if value is None else _remembered(value) if isinstance(value, str) else nanos(value)


@lru_cache(maxsize=4096)
def _remembered(value: str) -> int | None:
    return nanos(value)


def in_millis(billionths: int) -> int:
    """Return the amount in thousandths, rounded away from zero: how the API server stores requests and limits."""
    return _away_from_zero(billionths, MILLI)


def in_units(billionths: int) -> int:
    """Return the amount in whole units, rounded away from zero."""
    return _away_from_zero(billionths, NANO)


def _away_from_zero(number: int, unit: int) -> int:
    return -(-number // unit) if number >= 0 else number // unit


def shown(millis: int) -> str:
    """Return an amount in thousandths as a quantity."""
    return f"{millis // 1000}" if millis % 1000 == 0 else f"{millis}m"


def at_once(containers: Iterable[tuple[Amounts, bool, bool]]) -> Amounts:
    """Return the most that containers need at the same time: all that run side by side, or an init container and the sidecars before it.

    :param containers: what each needs, whether it is an init container, and whether that is a sidecar; in the order in which they start.
    """
    side_by_side: Amounts = {}
    sidecars: Amounts = {}
    most: Amounts = {}
    for needs, is_init, is_sidecar in containers:
        if is_sidecar or not is_init:
            add(side_by_side, needs)
        if is_sidecar:
            add(sidecars, needs)
        if is_init:
            _raise(most, sidecars if is_sidecar else add(dict(needs), sidecars))
    return _raise(side_by_side, most)


def add(total: Amounts, more: Mapping[str, int]) -> Amounts:
    """Add amounts to a total, and return it."""
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount
    return total


def _raise(total: Amounts, least: Amounts) -> Amounts:
    for name, amount in least.items():
        total[name] = max(amount, total.get(name, amount))
    return total
