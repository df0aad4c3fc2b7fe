"""Label and field selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fcontroller.testing.memory_api.answers import Refusal, bad_request
from fcontroller.testing.memory_api.kinds import Kind
from fcontroller.testing.memory_api.values import Object

Selects = Callable[[Object], bool]

_SET = re.compile(r"\s*([^\s,!=()]+)\s+(in|notin)\s*\(([^()]*)\)\s*(?:,|$)")
_EQUAL = re.compile(r"\s*([^\s,!=()]+)\s*(==|!=|=)\s*([^\s,!=()]*)\s*(?:,|$)")
_EXISTS = re.compile(r"\s*(!?)\s*([^\s,!=()]+)\s*(?:,|$)")


def selector(kind: Kind, query: Mapping[str, str]) -> Selects | None:
    """Return what an object has to be for a query; None when any will do. Raises Refusal for a selector that cannot be read."""
    conditions = _labels(query.get("labelSelector", "")) + _fields(kind, query.get("fieldSelector", ""))
    if not conditions:
        return None
    return lambda value: all([condition(value) for condition in conditions])


def only_name(query: Mapping[str, str]) -> str:
    """Return the one name that an object must have for a query, or an empty string."""
    match = re.search(r"(?:^|,)metadata\.name==?([^,=]+)(?:,|$)", query.get("fieldSelector", ""))
    return match[1] if match else ""


def _labels(text: str) -> list[Selects]:
    found: list[Selects] = []
    at = 0
    while at < len(text):
        if match := _SET.match(text, at):
            values = frozenset(value.strip() for value in match[3].split(","))
            found.append(_label_in(match[1], values) if match[2] == "in" else _label_not_in(match[1], values))
        elif match := _EQUAL.match(text, at):
            values = frozenset((match[3],))
            found.append(_label_not_in(match[1], values) if match[2] == "!=" else _label_in(match[1], values))
        elif match := _EXISTS.match(text, at):
            found.append(_label_exists(match[2], wanted=not match[1]))
        else:
            raise bad_request(f"unable to parse requirement: {text[at:]}")
        at = match.end()
    return found


def _label(value: Object, name: str) -> str | None:
    label: str | None = value["metadata"].get("labels", {}).get(name)
    return label


def _label_in(name: str, values: frozenset[str]) -> Selects:
    return lambda value: _label(value, name) in values


def _label_not_in(name: str, values: frozenset[str]) -> Selects:
    return lambda value: _label(value, name) not in values


def _label_exists(name: str, wanted: bool) -> Selects:
    return lambda value: (_label(value, name) is not None) == wanted


def _fields(kind: Kind, text: str) -> list[Selects]:
    found = []
    for term in filter(None, text.split(",")):
        match = re.fullmatch(r"([^=!]*)(==|!=|=)(.*)", term)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        if match[1] not in kind.selectable:
            raise _unknown_field(kind, match[1])
        found.append(_field_is(match[1].split("."), match[3], wanted=match[2] != "!="))
    return found


def _unknown_field(kind: Kind, name: str) -> Refusal:
    if kind.custom or kind.fields:
        return bad_request(f"field label not supported: {name}")
    known = ", ".join(f'"{field}"' for field in kind.selectable)
    return bad_request(f'"{name}" is not a known field selector: only {known}')


def _field_is(path: list[str], text: str, wanted: bool) -> Selects:
    return lambda value: (_field(value, path) == text) == wanted


def _field(value: Any, path: list[str]) -> str:
    """Return a field as text; one that is not there is empty."""
    for name in path:
        value = (value or {}).get(name)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
