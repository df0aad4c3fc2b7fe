"""What YAML and JSON output share: the characters that are written as escapes, the form of numbers, and the error for other values."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from fcompile.model.patterns import lazy


class EmitError(ValueError):
    """A value that JSON, and so Kubernetes, has no form for: NaN, an infinity, half a surrogate pair, a key that is no string."""


SHOWN_ESCAPED = lazy(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, NEL among them; not tab and line feed
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\U000e0000-\U000e0fff"  # invisible, or turns the text around
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"  # too
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"  # too
    "\u2028\u2029\ufeff"  # line ends to a YAML 1.1 reader; a byte order mark
    "\ud800-\udfff\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff"  # not characters, or not to every reader
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
    + "]"
)
"""Characters that some reader refuses or takes for something else, or that a reviewer would not see. A fixed list: what
Python itself calls printable changes from version to version, and the output must not."""

DEEPEST = 250
"""How deeply maps and lists may be nested: Python's own stack ends soon after."""


WIDE_YAML = "\\U{code:08x}"
WIDE_JSON = "\\u{high:04x}\\u{low:04x}"
"""How a code point above U+FFFF is escaped."""


def quoted(text: str, wide: str) -> str:
    """Return `text` in double quotes, on one line. Raises EmitError for half a surrogate pair, which UTF-8 cannot encode."""
    return escaped(encode_basestring(text), wide)


def escaped(text: str, wide: str) -> str:
    """Return `text` with each character of `SHOWN_ESCAPED` as its escape. Raises EmitError like `quoted`."""
    if text.isascii() and text.isprintable():
        return text
    return SHOWN_ESCAPED.sub(lambda match: _escape(match[0], wide), text)


def holds_escaped(text: str) -> bool:
    """Return whether a text holds a character of `SHOWN_ESCAPED`. Most hold none by what they are; to search a long one takes long."""
    return not (text.isascii() and text.isprintable()) and SHOWN_ESCAPED.search(text) is not None


def _escape(character: str, wide: str) -> str:
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        raise EmitError(f"half a surrogate pair (U+{code:04X}) cannot be written as UTF-8; remove it")
    if code > 0xFFFF:
        high, low = 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + (code & 0x3FF)
        return wide.format(code=code, high=high, low=low)
    return f"\\u{code:04x}"


def literal(value: Any, number: Callable[[int | float], str], language: str) -> str:
    """Return null, a boolean, or a number as `number` writes it. Raises EmitError for a value of any other type."""
    if value is None:
        return "null"
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is float:
        return number(value)
    raise EmitError(f"a {kind.__name__} has no form in {language}")


def not_a_key(key: Any) -> EmitError:
    return EmitError(f"a key must be a string, not {type(key).__name__}: {key!r}")


def json_number(number: int | float) -> str:
    """Return the number as Go's encoding/json and ECMAScript print it: `1`, `0.000001`, `1e-7`, `100000000000000000000`, `1e+21`.

    Only minus zero keeps a `.0`. A whole number outside int64 and uint64 is a float to Kubernetes, and is written as that float.
    Raises EmitError for NaN, an infinity and what a float cannot hold.
    """
    number = kubernetes_number(number)
    if isinstance(number, int):
        return str(number)
    text = repr(number)
    if text.endswith(".0") and text != "-0.0":  # `-0` would be read as the integer 0
        return text[:-2]
    mantissa, has_exponent, exponent = text.partition("e")
    if not has_exponent:
        return text
    if -7 < int(exponent) < 21:
        from decimal import Decimal  # hardly any number is as large or small

        return format(Decimal(text), "f")
    return f"{mantissa}e{exponent[0]}{exponent[1:].lstrip('0')}"


def kubernetes_number(number: int | float) -> int | float:
    """Return the number that Kubernetes reads: an int within int64 or uint64, else a finite float. Raises EmitError."""
    if isinstance(number, int) and -(2**63) <= number < 2**64:
        return number
    try:
        number = float(number)
    except OverflowError:
        number = float("inf")
    if number - number != 0:  # NaN or an infinity
        raise EmitError("a number that is infinite, not a number or too large for a float has no form in JSON")
    return number
