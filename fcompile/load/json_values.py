"""JSON → plain values, as kubectl reads a stream whose first character is `{`."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from . import rules
from .faults import DuplicateKey, Fault, too_deep, too_large
from .scalars import number_of_json

_WHITE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKET: Final = re.compile(r"[\[\]{}]")
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},:]', re.DOTALL)
_CONSTANT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|-?(?:NaN|Infinity)', re.DOTALL)
_HALF_OF_PAIR: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_MANY: Final = 1_000_000
"""A text with fewer characters than this cannot hold too many values."""


class _Refused(Exception):
    """Valid JSON that is refused; `json_places` finds out why and where."""


class JsonSyntax(Fault):
    """The text is not JSON at all, so that kubectl may try it as YAML."""


def skip_white(text: str, start: int) -> int:
    match = _WHITE.match(text, start)
    return match.end() if match else start


def read(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at `start`, and where it ends. Raises Fault, with offsets in `text`."""
    if len(text) - start > _MANY:
        _measure(text, start)
    try:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except _Refused:
            _SYNTAX_ONLY.raw_decode(text, start)
            raise _refused(text, start) from None
        except RecursionError:
            raise _refused(text, start) from None
    except json.JSONDecodeError as error:
        raise _syntax(text, start, error) from None
    if text.count("{", start, end) + text.count("[", start, end) > rules.MAX_DEPTH:
        _measure(text, start)
    if (end - start) * 4 > rules.MAX_BYTES and len(text[start:end].encode()) > rules.MAX_BYTES:
        raise too_large(start)
    if _ESCAPED_HALF.search(text, start, end):
        value = _without_halves(value)
    return value, end


def in_spite_of_duplicates(text: str, start: int) -> tuple[Any, list[DuplicateKey]]:
    """Read a value that has duplicate keys, of which the last counts. Return their faults too. Raises Fault for anything else."""
    from .json_places import places

    repeated: list[DuplicateKey] = []
    places(text, start, repeated)
    return _without_halves(_TOLERANT.raw_decode(text, start)[0]), repeated


def _refused(text: str, start: int) -> Fault:
    """Return the fault of a value that is valid JSON and was refused."""
    from .json_places import places

    try:
        places(text, start)
    except Fault as fault:
        return fault
    raise AssertionError("a JSON value was refused for no reason")


def end_of(text: str, start: int) -> int:
    """Return where a refused value ends; the end of the text if the value is too large or deep to find out."""
    try:
        _measure(text, start)
        return _SYNTAX_ONLY.raw_decode(text, start)[1]
    except (Fault, RecursionError, json.JSONDecodeError):
        return len(text)


def _measure(text: str, start: int) -> None:
    """Refuse a value that is too large, too deep or has too many parts, before anything is built from it."""
    size = 512
    while not _measure_part(text, start, min(size, rules.MAX_BYTES + 1)):
        if size > rules.MAX_BYTES:
            if len(text) - start > rules.MAX_BYTES:
                raise too_large(start)
            return
        size *= 8


def _measure_part(text: str, start: int, size: int) -> bool:
    """Measure the next `size` characters; return False when the value does not end within them."""
    bare = _STRING.sub("", text[start : start + size])
    depth, end, opened = 0, len(bare), 0
    for bracket in _BRACKET.finditer(bare):
        opens = bracket.group() in ("{", "[")
        depth += 1 if opens else -1
        opened += opens
        if depth > rules.MAX_DEPTH:
            raise too_deep(_bracket_number(text, start, opened))
        if depth <= 0 or opened > rules.MAX_NODES:
            end = bracket.end()
            break
    if opened + bare.count(",", 0, end) + bare.count(":", 0, end) > rules.MAX_NODES:
        message = f"the document holds more than {rules.MAX_NODES:,} keys and values: split it"
        raise Fault(rules.TOO_MANY_NODES, message, start)
    return depth <= 0


def _bracket_number(text: str, start: int, number: int) -> int:
    """Return where the `number`-th opening bracket stands; the first is 1."""
    for token in _TOKEN.finditer(text, start):
        number -= token.group() in ("{", "[")
        if number == 0:
            return token.start()
    return start


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise _Refused
    return mapping


def _number(text: str) -> int | float:
    try:
        return number_of_json(text)
    except OverflowError:
        raise _Refused from None


def _constant(name: str) -> Any:
    raise json.JSONDecodeError("Expecting value", name, 0)


def _without_halves(value: Any) -> Any:
    """Replace each half of a surrogate pair that stands alone by U+FFFD, as kubectl does."""
    if isinstance(value, str):
        return _HALF_OF_PAIR.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(item) for key, item in value.items()}
    return value


def _syntax(text: str, start: int, error: json.JSONDecodeError) -> JsonSyntax:
    """Return the fault in our own words and at our own place: those of Python differ between its versions."""
    problem = error.msg
    offset = error.pos if error.doc is text else _constant_place(text, start)
    offset = min(offset, len(text))
    comma = _trailing_comma(text, offset)
    if problem.startswith("Unterminated string"):
        return JsonSyntax(rules.UNCLOSED_QUOTE, 'the string that begins with " here is never closed: add the closing "', offset)
    if comma is not None:
        return JsonSyntax(rules.JSON_SYNTAX, "JSON allows no comma before a closing bracket: remove it", comma)
    if not text[offset:].strip():
        return JsonSyntax(rules.UNCLOSED_BRACKET, "the file ends before the JSON does: add the closing bracket of this value", start)
    if problem.startswith("Invalid control character"):
        message = "a line break or control character stands within a string: write it as an escape, such as `\\n`"
    elif "escape" in problem:
        message = 'unknown escape in a string: JSON knows `\\" \\\\ \\/ \\b \\f \\n \\r \\t` and `\\u` with 4 hexadecimal digits'
    elif "delimiter" in problem:
        message = (
            f"`{problem.split(chr(39))[1]}` is expected here: add it" if problem.count("'") >= 2 else "a delimiter is expected here: add it"
        )
    elif "property name" in problem:
        message = "a key is expected here: write one in double quotes"
    else:
        message = "a JSON value is expected here: write a string in double quotes, a number, `true`, `false`, `null`, `{` or `[`"
    return JsonSyntax(rules.JSON_SYNTAX, message, offset)


def _trailing_comma(text: str, offset: int) -> int | None:
    """Return where the comma right before a closing bracket stands, or None. Versions of Python report it at different places."""
    if text[offset : offset + 1] == ",":
        after = skip_white(text, offset + 1)
        return offset if text[after : after + 1] in ("}", "]") else None
    before = len(text[:offset].rstrip(" \t\r\n")) - 1
    return before if text[offset : offset + 1] in ("}", "]") and text[before : before + 1] == "," else None


def _constant_place(text: str, start: int) -> int:
    """Return where `NaN` or `Infinity` stands outside of a string."""
    for token in _CONSTANT.finditer(text, start):
        if not token.group().startswith('"'):
            return token.start()
    return start


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_number, parse_int=_number, parse_constant=_constant)
_TOLERANT: Final = json.JSONDecoder(parse_float=number_of_json, parse_int=number_of_json, parse_constant=_constant)
_SYNTAX_ONLY: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_constant)
