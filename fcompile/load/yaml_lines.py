"""The YAML that people write for Kubernetes, read line by line: three times as fast as from libyaml's events, and without importing PyYAML.

Only what every YAML reader takes for the same thing is read here: mappings and lists in block style, one key or item a line, whose
values are on that line (plain, in quotes without escapes, or a flat `[…]` or `{…}`) or are the text of a `|`. Everything else, and
everything that is wrong, is left to `yaml_values`: `read_lines` gives UNUSUAL, and nothing has been decided.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from fcompile.model.patterns import lazy

from . import rules
from .scalars import PLAIN_KEYS, PLAIN_VALUES, NotAJsonNumber

UNUSUAL: Final = object()
"""The text is not of the kind that is read here."""

_QUOTED: Final = r'"[^"\\\n]*+"|' + r"'[^'\n]*+'"
_KEY: Final = r'[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}+|"[^"\\\n]{0,200}+"|' + r"'[^'\n]{0,200}+'"
_PLAIN: Final = (
    r"(?:[A-Za-z0-9_./$(+]|[^\x00-\x7f]|-{1,2}[A-Za-z0-9_./$(])"
    r"[^\n:#]*+(?:(?::(?=[^ \n])|(?<![ ])\#)[^\n:#]*+)*+"
)
_ITEM: Final = rf"{_QUOTED}|-{{0,2}}[A-Za-z0-9_./$(][A-Za-z0-9_./$()=@+*%^<>~; -]*+"
_PAIR: Final = rf"(?:{_KEY}):[ ]++(?:{_ITEM})"
_LINE: Final = re.compile(
    rf"""
    ([ ]*+)(-[ ]++)?+               # 1 indentation, 2 dash
    (?:
      ({_KEY}):(?=[ ]|\Z)[ ]*+          # 3 key
    )?+
    (?:
      ({_PLAIN})                        # 4 plain scalar, perhaps with white space at its end
      |({_QUOTED})                      # 5 quoted scalar
      |(\[[ ]*+(?:(?:{_ITEM})(?:,[ ]*+(?!\])|(?=\])))*+\])     # 6 flat list
      |(\{{[ ]*+(?:(?:{_PAIR})(?:,[ ]*+(?!\}})|(?=\}})))*+\}})  # 7 flat mapping
      |(\|[-+]?+)                       # 8 text follows
    )?+
    [ ]*+(?:(?:(?<=[ ])|\A)\#[^\n]*+)?
    """,
    re.VERBOSE,
)
_START: Final = re.compile(r"---[ ]*+(?:(?<=[ ])\#[^\n]*+)?\n")
_LIST_ITEM: Final = lazy(rf"\s*({_ITEM})\s*[,\]]")
_MAPPING_ITEM: Final = lazy(rf"\s*({_KEY}):\s+({_ITEM})\s*[,}}]")
_INDENTED: Final = re.compile(r"( *+)[^ \n]")


class _Unusual(Exception):
    pass


def read_lines(text: str) -> Any:
    """Return the value of a document that has only usual lines, the last of them with a line end; otherwise UNUSUAL."""
    may_be_too_many = len(text) > rules.MAX_NODES and 2 * (text.count("\n") + text.count(",")) > rules.MAX_NODES
    if may_be_too_many or not text.endswith("\n") or not text.replace("\n", "").isprintable():
        return UNUSUAL
    try:
        return _read(text)
    except (_Unusual, NotAJsonNumber):
        return UNUSUAL


_SCALAR, _NOTHING, _FLAT, _TEXT = range(4)
"""What stands in a line besides its key: a scalar, nothing, a list or mapping in its own brackets, or the header of a text."""
_Line = tuple[int, int, str | None, int, Any]
"""The column at which a line begins, that of what follows its dash (-1: it has none), its key, and what else is there: kind and value."""


class _Lines(dict[str, _Line | None]):
    """What lines say, each different one read once: most lines of a manifest are in it again, or in others. None: nothing."""

    def __missing__(self, written: str) -> _Line | None:
        found = _line(written)
        if len(written) <= _KEEP_LENGTH and len(self) < _KEEP_COUNT:
            self[written] = found
        return found


_KEEP_LENGTH: Final = 200
_KEEP_COUNT: Final = 10_000
_LINES: Final = _Lines()


def _read(text: str) -> Any:
    """Read all lines in one loop, which is long for speed."""
    start = _START.match(text)
    offset = start.end() if start else 0  # of the next line
    after_text = offset  # lines before it belong to the text of a `|`
    stack: list[tuple[int, Any]] = []  # the open lists and mappings, with the columns of their dashes or keys
    indent = -1  # of the innermost of them, `container`
    container: Any = None
    in_mapping = False
    waiting: str | None = None  # the key in `container` whose value may begin on the next line
    for written in text[offset:].split("\n"):
        offset += len(written) + 1
        if offset <= after_text:
            continue
        line = _LINES[written]
        if line is None:
            continue
        column, inner, name, kind, value = line
        if kind is _FLAT:
            value = _flat_list(value) if value[0] == "[" else _flat_mapping(value)
        if inner < 0:
            if column != indent or not in_mapping:
                if container is None or (waiting is not None and column > indent):
                    container, indent = _open(stack, container, waiting, {}, column)
                else:
                    container, indent = _close(stack, column, dict)
                in_mapping = True
        else:
            if container is None or (waiting is not None and column >= indent):
                container, indent = _open(stack, container, waiting, [], column)
            elif column != indent or in_mapping:
                container, indent = _close(stack, column, list)
            in_mapping = name is not None
            waiting = None
            if name is None:
                if kind is _TEXT:
                    value, after_text = _text(text, offset, indent, value)
                container.append(value)
                continue
            container, indent = _open(stack, container, None, {}, inner)
        if name in container:
            raise _Unusual
        if kind is _TEXT:
            value, after_text = _text(text, offset, indent, value)
        container[name] = value
        waiting = name if kind is _NOTHING else None
    return stack[0][1] if stack else UNUSUAL


def _line(written: str) -> _Line | None:
    line = _LINE.fullmatch(written)
    if line is None:
        raise _Unusual
    spaces, dash, key, plain, quoted, flat_list, flat_mapping, block = line.groups()
    kind, value = _SCALAR, None
    if plain is not None:
        value = PLAIN_VALUES[plain.rstrip(" ")]
    elif quoted is not None:
        value = quoted[1:-1]
    elif block is not None:
        kind, value = _TEXT, block
    elif flat_list is not None or flat_mapping is not None:
        kind, value = _FLAT, flat_list or flat_mapping
    else:
        kind = _NOTHING
    name = None
    if key is not None:
        name = key[1:-1] if key[0] in "\"'" else PLAIN_KEYS[key]
        if name is None:
            raise _Unusual
    elif dash is None and kind is _NOTHING:
        return None
    elif dash is None or kind is _NOTHING:
        raise _Unusual
    column = len(spaces)
    return column, -1 if dash is None else column + len(dash), name, kind, value


def _open(stack: list[tuple[int, Any]], outer: Any, key: str | None, inner: Any, column: int) -> tuple[Any, int]:
    """Begin a list or mapping: as the value of `key` in the outer mapping, as an item of the outer list, or as the whole document."""
    if len(stack) >= rules.MAX_DEPTH:
        raise _Unusual
    if key is not None:
        outer[key] = inner
    elif outer is not None:
        outer.append(inner)
    stack.append((column, inner))
    return inner, column


def _close(stack: list[tuple[int, Any]], column: int, kind: type) -> tuple[Any, int]:
    """Go back to the list or mapping that a line at this column continues."""
    while stack and (stack[-1][0] > column or (stack[-1][0] == column and type(stack[-1][1]) is not kind)):
        stack.pop()
    if not stack or stack[-1][0] != column:
        raise _Unusual
    return stack[-1][1], column


def _scalar(text: str) -> Any:
    return text[1:-1] if text[0] in "\"'" else PLAIN_VALUES[text.rstrip(" ")]


def _flat_list(text: str) -> list[Any]:
    return [_scalar(item) for item in _LIST_ITEM.findall(text, 1)]


def _flat_mapping(text: str) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, item in _MAPPING_ITEM.findall(text, 1):
        name = key[1:-1] if key[0] in "\"'" else PLAIN_KEYS[key]
        if name is None or name in mapping:
            raise _Unusual
        mapping[name] = _scalar(item)
    return mapping


@lru_cache(256)
def _lines_of_text(indent: int) -> re.Pattern[str]:
    return re.compile(rf"(?: {{{indent}}}[^\n]*+\n| {{0,{indent - 1}}}\n)*+")


def _text(text: str, offset: int, parent: int, header: str) -> tuple[str, int]:
    """Return the text after `|`, and where it ends. `parent` is the column of the list or mapping that it belongs to."""
    first = _INDENTED.match(text, offset)
    if first is None or len(first.group(1)) <= parent:
        raise _Unusual
    indent = len(first.group(1))
    body = _lines_of_text(indent).match(text, offset)
    assert body is not None
    content = "\n".join([line[indent:] for line in body.group().split("\n")])
    if header != "|+":
        content = content.rstrip("\n") + ("\n" if header == "|" else "")
    return content, body.end()
