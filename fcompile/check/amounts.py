"""Amounts of quantities, cached: the same few (`1`, `4Gi`, `500m`) occur in every container."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fcompile.model.quantities import NANO, nanos

MILLI = NANO // 1000


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
