"""What a YAML scalar means to kubectl.

kubectl reads YAML with a Go library that follows YAML 1.1 with deviations of its own, and then prints the result as JSON. Here a
scalar goes the same two steps: `resolve` gives the number, truth value, null or string that the library sees, and `as_value` or
`as_key` what its JSON says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final, TypeVar

from fcompile.model.patterns import lazy

Scalar = str | int | float | bool | None

TAG: Final = "tag:yaml.org,2002:"

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
_FIRST_OF_NUMBER: Final = frozenset("0123456789+-.")
_INTEGER: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))\Z")
_SIGNED_BINARY: Final = lazy(r"0b[-+][01]+\Z")
"""`0b-1`: a slip of the Go library, which then reads -1."""
_FLOAT: Final = lazy(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_DOT_FLOAT: Final = lazy(r"\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?\Z")
# Of tagged scalars, which are rare: not compiled until one comes.
_TIMESTAMP: Final = (
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:(?:([Tt])| +)([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})?)?\Z"
)
_BASE64: Final = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z"


class NotOfTag(ValueError):
    """The text of a scalar does not fit the tag that it is given."""


def resolve(text: str) -> Scalar:
    """Return the value of a plain (unquoted, untagged) scalar."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first not in _FIRST_OF_NUMBER:
        return text
    if first == ".":
        return _float(text.replace("_", ""), text) if _DOT_FLOAT.match(text) else text
    plain = text.replace("_", "")
    integer = _INTEGER.match(plain)
    if integer:
        number = _integer(integer)
        if number is not None:
            return number
    if _FLOAT.match(plain):
        return _float(plain, text)
    if _SIGNED_BINARY.match(plain):
        number = int(plain[2:], 2)
        return number if -(2**63) <= number < 2**63 else text
    return text


def _integer(match: re.Match[str]) -> int | None:
    """Return the integer, or None when it does not fit 64 bits: signed when it is written with a sign, unsigned otherwise."""
    sign, hexadecimal, binary, octal, decimal = match.groups()
    if decimal:
        if len(decimal) > 20:
            return None
        number = int(decimal)
    else:
        number = int(hexadecimal, 16) if hexadecimal else int(binary, 2) if binary else int(octal, 8)
    if sign == "-":
        number = -number
    limit = 2**63 if sign else 2**64
    return number if -(2**63) <= number < limit else None


def _float(plain: str, text: str) -> float | str:
    number = float(plain)
    return text if math.isinf(number) else number


def resolve_tagged(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with an explicit tag. kubectl ignores tags that are not of YAML's core: the text is the value.

    Raises NotOfTag with the reason.
    """
    kind = tag.removeprefix(TAG)
    if kind == tag or kind not in ("bool", "int", "float", "null", "timestamp", "binary"):
        return text
    if kind == "binary":
        return _binary(text)
    value = resolve(text)
    if kind == "timestamp":
        if _is_timestamp(text):
            return text
    elif kind == "null":
        if value is None:
            return None
    elif kind == "bool":
        if isinstance(value, bool):
            return value
    elif isinstance(value, float):
        if kind == "float":
            return value
    elif isinstance(value, int) and not isinstance(value, bool):
        if kind == "int":
            return value
        if value < 2**63:
            return float(value)
    raise NotOfTag(f"`{shorten(text)}` is no {kind}, as its tag `!!{kind}` says: remove the tag or correct the value")


def _binary(text: str) -> str:
    """Decode base64 to text. Like in kubectl, each byte that is not UTF-8 becomes a replacement character."""
    import base64

    compact = text.replace("\n", "").replace("\r", "")
    if not re.match(_BASE64, compact):
        raise NotOfTag(
            f"`{shorten(text)}` is not base64 (with its padding), as its tag `!!binary` says: remove the tag or correct the value"
        )
    decoded = base64.b64decode(compact).decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", "\ufffd", decoded)


def _is_timestamp(text: str) -> bool:
    from calendar import monthrange

    match = re.match(_TIMESTAMP, text)
    if not match:
        return False
    year, month, day, letter, hour, minute, second, zone = match.groups()
    if not 1 <= int(month) <= 12 or not 1 <= int(day) <= monthrange(int(year), int(month))[1]:
        return False
    if hour is None:
        return True
    if (zone is None) == (letter is not None) or int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        return False
    return zone in (None, "Z") or (int(zone[1:3]) <= 24 and int(zone[4:6]) < 60)


def as_value(scalar: Scalar) -> Scalar:
    """Return the value that kubectl sends: a float with a whole value is printed as an integer, and so read back as one.

    Infinity and not-a-number come back unchanged: JSON has no such numbers, the caller refuses them.
    """
    if isinstance(scalar, float) and scalar.is_integer() and abs(scalar) < 1e21:
        return int(scalar) if abs(scalar) < 2**53 else _printed_integer(scalar)
    return scalar


def _printed_integer(number: float) -> int:
    """Return the integer whose leading digits are the shortest that mean this float, and whose other digits are 0."""
    from decimal import Decimal

    return int(Decimal(repr(number)))


def as_key(scalar: Scalar) -> str | None:
    """Return the key that kubectl sends, or None where it refuses it (null, and integers of 2^63 and more)."""
    if isinstance(scalar, str):
        return scalar
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    if isinstance(scalar, int):
        return str(scalar) if scalar < 2**63 else None
    return None if scalar is None else _single_precision(scalar)


def _single_precision(number: float) -> str:
    """Return the shortest decimal that is the same number in 32 bits: kubectl keeps no more of a floating point key."""
    import struct
    from decimal import Decimal

    if math.isnan(number):
        return ".nan"
    try:
        narrow = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        narrow = math.copysign(math.inf, number)
    if math.isinf(narrow):
        return ".inf" if narrow > 0 else "-.inf"
    for precision in range(9):
        shortest = f"{narrow:.{precision}e}"
        if struct.pack("f", float(shortest)) == struct.pack("f", narrow):
            break
    return shortest if not -4 <= int(shortest.partition("e")[2]) < 6 else format(Decimal(shortest), "f")


class NotAJsonNumber(ValueError):
    """A number that JSON cannot say: infinite or not a number."""


def finite_value(scalar: Scalar, text: str) -> Scalar:
    """Return `as_value`, and raise NotAJsonNumber for infinity and not-a-number."""
    if isinstance(scalar, float) and not math.isfinite(scalar):
        raise NotAJsonNumber(f'`{text}` is not a number that JSON knows: if a text is meant, quote it as `"{text}"`')
    return as_value(scalar)


def number_of_json(text: str) -> int | float:
    """Read a number of JSON as kubectl does: an integer beyond 64 bits becomes a float. Raises OverflowError for what no float can hold."""
    if len(text) <= 20 and not any(letter in text for letter in ".eE"):
        integer = int(text)
        if -(2**63) <= integer < 2**64:
            return integer
    value = as_value(float(text))
    if isinstance(value, float) and math.isinf(value):
        raise OverflowError(text)
    assert isinstance(value, int | float)
    return value


def shorten(text: str) -> str:
    """Shorten a text for a message: to one line and at most 40 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:37] + "..."


_KEEP_LENGTH: Final = 80
_KEEP_COUNT: Final = 20_000
Meaning = TypeVar("Meaning")


class _Plain(dict[str, Meaning]):
    """What plain scalars mean, found once for each different text."""

    def __init__(self, meaning: Callable[[str], Meaning]) -> None:
        self._meaning = meaning

    def __missing__(self, text: str) -> Meaning:
        found = self._meaning(text)
        if len(text) <= _KEEP_LENGTH and len(self) < _KEEP_COUNT:
            self[text] = found
        return found


PLAIN_VALUES: Final = _Plain(lambda text: finite_value(resolve(text), text))
PLAIN_KEYS: Final = _Plain(lambda text: as_key(resolve(text)))
