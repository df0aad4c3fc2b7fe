"""The divisor of a resourceFieldRef: the API server compares how it is written, after it has tidied most ways of writing."""

from __future__ import annotations

import re
from typing import Any

from fcompile.check.amounts import amount
from fcompile.model.quantities import NANO

_CPU = ("1", "1m")
_OTHERS = ("1", *(f"1{unit}" for unit in "kMGTPE"), *(f"1{unit}i" for unit in "KMGTPE"))
_DECIMAL_UNITS = frozenset(NANO * 10**power for power in (0, 3, 6, 9, 12, 15, 18))
_BINARY_UNITS = frozenset(NANO * 2**power for power in (10, 20, 30, 40, 50, 60))
_PARTS = re.compile(r"[-+]?0*([0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?(.*)")


def divides(resource: str, divisor: Any) -> bool:
    """Return whether the API server takes `divisor` for `resource`. None, 0 and what is no quantity are nobody's fault here."""
    value = amount(divisor)
    if not value:
        return True
    written = str(divisor).strip()
    is_cpu = resource.endswith(".cpu")
    if written in (_CPU if is_cpu else _OTHERS):
        return True
    if _is_kept(written):
        return False
    if written[-1:].isdigit() and not written.isdigit() and "e" in written.lower():
        return value == NANO
    if is_cpu:
        return value == NANO or (value == NANO // 1000 and not written.endswith("i"))
    return value in (_BINARY_UNITS if written.endswith("i") and value >= 1024 * NANO else _DECIMAL_UNITS)


def _is_kept(written: str) -> bool:
    """Return whether the API server takes the way of writing for tidy, and leaves it as it is."""
    match = _PARTS.fullmatch(written)
    if not match:
        return False
    digits, fraction, exponent, unit = match.groups("")
    if unit.endswith("i"):
        return not fraction[1:] and int(digits or "0") % 8 != 0
    shifted = (digits or "0") + fraction[1:]
    scale = int(exponent[1:] or "0") - len(fraction[1:])
    return scale % 3 == 0 and shifted[0] != "0" and not shifted.endswith("000") and len(shifted) <= 18
