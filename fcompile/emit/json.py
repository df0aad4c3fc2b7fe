"""Plain values as JSON: canonical, for digests, and indented, for people and kubectl.

Canonical JSON, on which every digest stands (a change here changes digests, and so needs a new lowering version):

- UTF-8, no white space, nothing after the value.
- The keys of an object in the order of their code points (not of UTF-16 units, as RFC 8785 has it).
- In strings only what JSON demands is escaped: `\\"`, `\\\\`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t`, other controls as `\\u00xx` in lower
  case. No normalization.
- A whole number within int64 or uint64 in all its digits. Any other number is a float, in the fewest digits that give the same
  float back, as ECMAScript and Go print it: `0.5`, `1e-7`, `1e+21`. So `1.0` is `1`, and so is `-0.0` `0`: an API server keeps neither.
- NaN, infinities, halves of surrogate pairs and keys that are no strings are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from json.encoder import encode_basestring
from typing import Any

from fcompile.emit.scalars import DEEPEST, WIDE_JSON, EmitError, json_number, literal, not_a_key, quoted


def canonical(value: Any) -> bytes:
    """Return `value` as canonical JSON, described above. Raises EmitError."""
    return _encoded(value, 0)


def _encoded(value: Any, depth: int) -> bytes:
    parts: list[str] = []
    _canonical(value, parts.append, depth)
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError as error:
        raise EmitError(f"half a surrogate pair (U+{ord(error.object[error.start]):04X}) cannot be written as UTF-8; remove it") from None


def canonical_pieces(value: dict[str, Any]) -> Iterator[bytes]:
    """Yield the canonical JSON of a mapping in pieces, one for each entry of a list in it. Raises EmitError."""
    separator = b"{"
    for key in _sorted_keys(value):
        yield separator + canonical(key) + b":"
        separator = b","
        if type(value[key]) is list:
            opening = b"["
            for entry in value[key]:
                yield opening + _encoded(entry, 2)
                opening = b","
            yield b"]" if value[key] else b"[]"
        else:
            yield _encoded(value[key], 1)
    yield b"}" if value else b"{}"


def pretty(value: Any) -> str:
    """Return `value` indented by two spaces, with a line end; mappings keep their order. Raises EmitError.

    Characters that a reviewer would not see, or that some reader takes for a line end, are escaped.
    """
    return f"{_pretty(value, chr(10))}\n"


def item(value: Any) -> str:
    """Return `value` as an item for `items`: after a comma, and indented to its place in the List."""
    return f",\n    {_pretty(value, chr(10) + '    ')}"


def items(texts: Iterable[str]) -> Iterator[str]:
    """Yield a `v1` List of the objects in `texts`, each of which holds any number of texts that `item` made."""
    yield '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": ['
    first = True
    for text in texts:
        yield text[1:] if first and text else text
        first = first and not text
    yield "]\n}\n" if first else "\n  ]\n}\n"


def _canonical(value: Any, write: Callable[[str], None], depth: int) -> None:
    kind = type(value)
    if kind is str:
        write(encode_basestring(value))
    elif kind is dict:
        _check_depth(depth)
        separator = "{"
        for key in _sorted_keys(value):
            write(f"{separator}{encode_basestring(key)}:")
            separator = ","
            _canonical(value[key], write, depth + 1)
        write("}" if value else "{}")
    elif kind is list:
        _check_depth(depth)
        separator = "["
        for entry in value:
            write(separator)
            separator = ","
            _canonical(entry, write, depth + 1)
        write("]" if value else "[]")
    else:
        text = _literal(value)
        write("0" if text == "-0.0" else text)


def _sorted_keys(mapping: dict[Any, Any]) -> list[str]:
    for key in mapping:
        if type(key) is not str:
            raise not_a_key(key)
    return sorted(mapping)


def _pretty(value: Any, margin: str) -> str:
    """Return `value` indented; `margin` is the line end and indentation of the line that it begins in."""
    kind = type(value)
    if kind is str:
        return quoted(value, WIDE_JSON)
    if kind is not dict and kind is not list:
        return _literal(value)
    if not value:
        return "{}" if kind is dict else "[]"
    _check_depth(len(margin) // 2)
    deeper = margin + "  "
    if kind is list:
        return f"[{','.join(deeper + _pretty(entry, deeper) for entry in value)}{margin}]"
    entries = (f"{deeper}{_pretty_key(key)}: {_pretty(entry, deeper)}" for key, entry in value.items())
    return f"{{{','.join(entries)}{margin}}}"


def _pretty_key(key: Any) -> str:
    if type(key) is not str:
        raise not_a_key(key)
    return quoted(key, WIDE_JSON)


def _literal(value: Any) -> str:
    return literal(value, json_number, "JSON")


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise EmitError(f"nested deeper than {DEEPEST} levels")
