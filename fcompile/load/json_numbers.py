"""A number of JSON, as kubectl passes it on."""

from __future__ import annotations

import math

from .scalars import as_value


def number(text: str) -> int | float:
    """Return a number as kubectl passes it on: outside of 64 bits an integer becomes a float. Raises OverflowError beyond that too."""
    if len(text) <= 20 and not any(letter in text for letter in ".eE"):
        integer = int(text)
        if -(2**63) <= integer < 2**64:
            return integer
    value = as_value(float(text))
    if isinstance(value, float) and math.isinf(value):
        raise OverflowError(text)
    assert isinstance(value, int | float)
    return value
