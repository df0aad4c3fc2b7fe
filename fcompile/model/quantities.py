"""Kubernetes quantities (`500m`, `1Gi`, `1e3`): their grammar, and their amounts exactly.

The facts are those of `resource.Quantity`: decimal and binary suffixes or a decimal exponent, nothing finer than a billionth, nothing
beyond ±(2⁶³ − 1).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

PATTERN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
NANO = 10**9
LIMIT = (2**63 - 1) * NANO
"""The largest amount, in billionths."""
# Space that a JSON string may hold unescaped; the API server trims it from the raw text.
TRIMMED = " \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_FAR = 60
"""Powers of ten beyond which every amount but 0 is the largest, or the smallest, there is."""


def is_quantity(value: Any) -> bool:
    """Whether a value is one: a number, or a string of the grammar."""
    if isinstance(value, str):
        match = _grammar().fullmatch(value.strip(TRIMMED))
        return match is not None and -(2**63) <= int(match["exponent"] or 0) < 2**63
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


def nanos(value: Any) -> int | None:
    """The amount of a quantity in billionths, rounded away from zero; None when `value` is no quantity."""
    if not is_quantity(value):
        return None
    match = _grammar().fullmatch(value.strip(TRIMMED) if isinstance(value, str) else repr(value))
    assert match is not None
    digits, fraction = match["whole"] or "", match["fraction"] or ""
    suffix, exponent = match["suffix"] or "", int(match["exponent"] or 0)
    mantissa = int(digits + fraction) << _BINARY.get(suffix, 0)
    ten = exponent + _DECIMAL.get(suffix, 0) - len(fraction) + 9
    amount = _scaled(mantissa, ten)
    return -amount if match["sign"] == "-" else amount


def _scaled(mantissa: int, ten: int) -> int:
    """`mantissa` · 10^`ten`, rounded up and at most `LIMIT`."""
    if mantissa == 0:
        return 0
    if ten >= 0:
        return LIMIT if ten > _FAR else min(LIMIT, mantissa * 10**ten)
    if -ten > _FAR + mantissa.bit_length():
        return 1
    return min(LIMIT, -(-mantissa // 10**-ten))


@cache
def _grammar() -> re.Pattern[str]:
    return re.compile(
        r"(?P<sign>[+-])?(?:(?P<whole>[0-9]+)\.?|(?=\.[0-9])\.)(?P<fraction>(?<=\.)[0-9]+)?"
        r"(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]+))?"
    )
