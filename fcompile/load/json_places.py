"""The tree of places of a JSON value, and the faults of JSON that is valid and yet refused."""

from __future__ import annotations

import json
import re
from typing import Final

from . import rules
from .faults import DuplicateKey, Fault, duplicate_key, too_deep
from .places import Entry, Place
from .scalars import number_of_json

_TOKEN: Final = re.compile(r'[ \t\r\n]*("(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^ \t\r\n"\[\]{},:]+)', re.DOTALL)
_HALF_OF_PAIR: Final = re.compile("[\ud800-\udfff]")
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def places(text: str, start: int = 0, repeated: list[DuplicateKey] | None = None) -> Place:
    """Return the places in the valid JSON value at `start`. Raises Fault for a duplicate key, a number out of range or too deep nesting.

    :param repeated: collects the faults of duplicate keys instead of raising them; of several equal keys the last one counts.
    """
    open_places: list[Place] = []
    key: tuple[str, int, int] | None = None
    while token := _TOKEN.match(text, start):
        sign, begin, start = token.group(1), token.start(1), token.end()
        if sign in (",", ":"):
            continue
        if sign in ("}", "]"):
            place = open_places.pop()
            place.end = start
            if not open_places:
                return place
            continue
        parent = open_places[-1] if open_places else None
        if parent is not None and parent.entries is not None and key is None:
            key = _key(parent.entries, sign, begin, start, repeated)
            continue
        place = Place(begin, start)
        if parent is not None:
            _attach(parent, key, place)
            key = None
        if sign in ("{", "["):
            if len(open_places) == rules.MAX_DEPTH:
                raise too_deep(begin)
            place.entries, place.items = ({}, None) if sign == "{" else (None, [])
            open_places.append(place)
        else:
            _check_number(sign, begin)
            if parent is None:
                return place
    return open_places[0] if open_places else Place(start, start)


def _key(entries: dict[str, Entry], sign: str, begin: int, end: int, repeated: list[DuplicateKey] | None) -> tuple[str, int, int]:
    key = _HALF_OF_PAIR.sub("\ufffd", json.loads(sign))
    first = entries.get(key)
    if first is not None:
        fault = duplicate_key(key, begin, end, (("the first one is here", first.start, first.end),))
        if repeated is None:
            raise fault
        repeated.append(fault)
    return key, begin, end


def _attach(parent: Place, key: tuple[str, int, int] | None, place: Place) -> None:
    if parent.items is not None:
        parent.items.append(place)
    elif parent.entries is not None and key is not None:
        parent.entries[key[0]] = Entry(key[1], key[2], place, False)


def _check_number(sign: str, begin: int) -> None:
    # A number that is a whole JSON value may have other text right behind it, which is not part of it.
    match = _NUMBER.match(sign)
    if match is None:
        return
    try:
        number_of_json(match.group())
    except OverflowError:
        message = "the number is too large for a 64-bit floating point number: quote it if a text is meant"
        raise Fault(rules.NOT_A_JSON_NUMBER, message, begin, begin + match.end()) from None
