"""Scalars without quotes that kubectl takes for strings and another YAML reader does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fcompile.diagnostics.problem import Part, Path
from fcompile.model.patterns import lazy

from .places import Place
from .scalars import resolve

_TIME: Final = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
_CLOCK: Final = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?"
_DATE: Final = rf"[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}(?:(?:[Tt]|[ \t]+){_CLOCK})?"
_FLOAT: Final = r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
_INTEGER: Final = r"[-+]?0(?:[xX][0-9a-fA-F_]+|[bB][01_]+|o[0-7]+)"
_OTHER_TYPE: Final = lazy(rf"(?:{_TIME}|{_DATE}|{_FLOAT}|{_INTEGER}|=)\Z")
"""What YAML 1.1, YAML 1.2 or a widespread reader takes for a time, date, number or default value."""
# What stands before a scalar: white space or a bracket; within brackets a `?`, or the `:` of a key in quotes; a byte order mark.
_MAY_BE: Final = lazy(
    r"(?:(?<![^\s\[{,?\ufeff])|(?<=\W:)|\A)(?:"
    r"[-+]?[0-9][0-9_]*:[0-5]?[0-9]"
    r"|[0-9]{4}-[0-9]"
    r"|[-+]?[0-9_.]+[eE][-+]?[0-9]{3}"
    r"|[-+]?[0-9_]{200}"
    r"|[-+]?0[xXbBo][0-9a-fA-F_]{16}"
    r"|[-+]?0[xXbB]_"
    r"|[-+]?\.[0-9][0-9_]*_"
    r"|=(?![^\s,\]}:]))"
)


_RESEMBLES: Final = tuple(
    map(
        re.compile,
        (
            "e[-+]?[0-9][0-9][0-9]",
            "E[-+]?[0-9][0-9][0-9]",
            "0[xXbBo][0-9a-fA-F_]{16}",
            "0[xXbB]_",
            r"\.[0-9][0-9_]*_",
            r"=(?![^\s,\]}:])",
        ),
    )
)
_COLON: Final = re.compile(":[0-9]")
_DASH: Final = re.compile("-[0-9]")
_LONG: Final = 200
_LONG_NUMBER: Final = re.compile("[0-9_]{200}")


def may_be_ambiguous(text: str) -> bool:
    """Return whether a text may hold an ambiguous scalar. This quick test never misses one, and seldom says yes in vain.

    The expressions before `_MAY_BE` find whatever it could find, and more. Each begins with one letter: searching for one is a hundred
    times as fast as searching for a set of letters.
    """
    return (
        any(pattern.search(text) for pattern in _RESEMBLES)
        or any(text[colon.start() - 1] in "0123456789_" for colon in _COLON.finditer(text, 1))
        or any(text[max(dash.start() - 4, 0) : dash.start()].isdecimal() for dash in _DASH.finditer(text, 1))
        or (max(map(len, text.splitlines()), default=0) >= _LONG and _LONG_NUMBER.search(text) is not None)
    ) and _MAY_BE.search(text) is not None


def ambiguous(root: Place, text: str) -> Iterator[tuple[Path, Part, str]]:
    """Yield each ambiguous scalar with its path and source text, in the order of the text. What aliases and `<<` repeat is left out."""
    waiting: list[tuple[Path, Place]] = [((), root)]
    while waiting:
        path, place = waiting.pop()
        if place.plain and _is_ambiguous(text[place.start : place.end]):
            yield path, "value", text[place.start : place.end]
        children: list[tuple[Path, Place]] = [((*path, index), item) for index, item in enumerate(place.items or ())]
        for key, entry in (place.entries or {}).items():
            if not entry.merged:
                if entry.plain and _is_ambiguous(text[entry.start : entry.end]):
                    yield (*path, key), "key", text[entry.start : entry.end]
                children.append(((*path, key), entry.place))
        waiting += reversed(children)


def _is_ambiguous(text: str) -> bool:
    return _OTHER_TYPE.match(text) is not None and isinstance(resolve(text), str)
