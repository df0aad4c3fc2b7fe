"""Kubernetes quantities (`500m`, `1Gi`, `1e3`): their grammar, and their amounts exactly.

The facts are those of `resource.Quantity`: a decimal number with a decimal or binary suffix or a decimal exponent, nothing finer than a
billionth, and with a binary suffix nothing beyond 2^63 - 1.
"""

from __future__ import annotations

import re
from typing import Any

from fcompile.model.patterns import lazy

NANO = 10**9
PATTERN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
"""What people write. `is_quantity` knows a few more strings, which editors need not allow."""
_USUAL = lazy(PATTERN.replace("[0-9]+)?", "[0-9]{1,9})?").replace("[0-9]+", "[0-9]{1,40}").replace("[0-9]*", "[0-9]{0,40}"))
"""The usual quantities: with some digits, and not too many."""
_PARTS = lazy(
    r"(?P<sign>[+-])?(?P<whole>[0-9]*)\.?(?P<fraction>(?<=\.)[0-9]+)?(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]+))?"
)
_SUFFIX = r"(?:[KMGT]i|[numkMGTPE]|[eE][+-]?[0-9]+)"
NO_DIGITS = rf"[+-]?\.{_SUFFIX}?|[+-]{_SUFFIX}?|{_SUFFIX}"
"""A number without digits, which is 0 to the API server, if it is short enough for its fast path."""
# The white space that a JSON string can hold unescaped. The API server strips it from both ends of the raw text.
_SPACE = " \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_LIMIT = (2**63 - 1) * NANO
_FAR = 1000
"""Powers of ten that are enough to compare with: `1e999999999` must not fill the memory."""


def is_quantity(value: Any) -> bool:
    """Return whether a value is a quantity: a number, or a string of the grammar."""
    if type(value) is str:
        return _USUAL.fullmatch(value) is not None or _is_odd_quantity(value)
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


def lacks_number(text: str) -> bool:
    """Return whether a quantity has no digits before its suffix or exponent: the API server reads it as 0."""
    return not text[:1].isdigit() and re.fullmatch(NO_DIGITS, text.strip(_SPACE)) is not None


def nanos(value: Any) -> int | None:
    """Return the amount of a quantity in billionths, rounded away from zero, or None when `value` is no quantity."""
    if not is_quantity(value):
        return None
    if isinstance(value, int):
        return value * NANO
    text = value.strip(_SPACE) if isinstance(value, str) else repr(value)
    match = _PARTS.fullmatch(text)
    assert match is not None
    whole, fraction, suffix = match["whole"], match["fraction"] or "", match["suffix"] or ""
    mantissa = int(whole + fraction or 0) << _BINARY.get(suffix, 0)
    amount = _scaled(mantissa, _exponent(match["exponent"]) + _DECIMAL.get(suffix, 0) + 9 - len(fraction))
    if suffix in _BINARY:
        amount = min(amount, _BINARY_LIMIT)
    return -amount if match["sign"] == "-" else amount


def _scaled(mantissa: int, ten: int) -> int:
    """Return `mantissa` * 10^`ten`, rounded up."""
    if mantissa == 0:
        return 0
    if ten >= 0:
        return int(mantissa * 10 ** min(ten, _FAR))
    return 1 if -ten > _FAR + mantissa.bit_length() else -(-mantissa // 10**-ten)


def _is_odd_quantity(text: str) -> bool:
    text = text.strip(_SPACE)
    if len(text) > 4000 or not re.fullmatch(f"{PATTERN}|{NO_DIGITS}", text):
        return False
    match = _PARTS.fullmatch(text)
    assert match is not None
    if match["exponent"] and not -(2**63) <= int(match["exponent"]) < 2**63:
        return False
    return bool(match["whole"] or match["fraction"]) or _exponent(match["exponent"]) >= -9


def _exponent(text: str | None) -> int:
    """Return an exponent as the API server has it, cut to 32 bits."""
    return (int(text or 0) + 2**31) % 2**32 - 2**31


def canonical(text: str, unit: int = 1) -> str:
    """Return a quantity as the API server writes it: `0.5` is `500m`, `1024Mi` is `1Gi`, and `1.500` and `1025Ki` stay what they are.

    `unit` is what it is rounded to, away from zero, in billionths. What is no quantity, or does not fit 64 bits, comes back as it is.
    """
    amount = nanos(text)
    if amount is None or abs(amount) >= _BINARY_LIMIT:
        return text
    text = text.strip(_SPACE)
    match = _PARTS.fullmatch(text)
    assert match is not None
    if _is_kept(match, unit):
        return text
    amount = -(-amount // unit) * unit if amount >= 0 else amount // unit * unit
    if match["suffix"] in _BINARY and abs(amount) >= 1024 * NANO and amount % NANO == 0:
        whole, steps = _without_factors(amount // NANO, 1024, len(_BINARY))
        return f"{whole}{['', *_BINARY][steps]}"
    digits, power = _without_factors(amount, 10, 27)
    power -= 9
    digits, power = digits * 10 ** (power % 3), power - power % 3
    if match["exponent"] and digits:
        return f"{digits}e{power}" if power else f"{digits}"
    return f"{digits}{({0: ''} | {of: suffix for suffix, of in _DECIMAL.items()})[power]}" if digits else "0"


def _is_kept(match: re.Match[str], unit: int) -> bool:
    """Return whether the API server takes the text for canonical after a quick look at its digits and scale."""
    whole, fraction, suffix = match["whole"].lstrip("0") or "0", match["fraction"] or "", match["suffix"] or ""
    digits = whole + fraction
    if suffix in _BINARY:
        return not fraction and 14 - len(whole) >= _BINARY[suffix] * 3 // 10 and int(whole) % 8 != 0
    scale = _DECIMAL.get(suffix, 0) + _exponent(match["exponent"]) - len(fraction)
    rounds = scale < (-3 if unit > 1 else -9)
    return len(digits) <= 18 and not rounds and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _without_factors(number: int, factor: int, most: int) -> tuple[int, int]:
    """Return `number` divided by `factor` as often as possible, at most `most` times, and how often that was."""
    count = 0
    while number and number % factor == 0 and count < most:
        number, count = number // factor, count + 1
    return number, count
