"""Reading values that may have any type.

The rules run whatever the structure check said, so that one wrong type does not hide every other problem. A value
of a wrong type reads as absent here: the structure check has already reported it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return the value at a path, or None."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        else:
            value = value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None
    return value


def mapping(value: Any, key: str) -> dict[str, Any]:
    """Return the mapping under `key`, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def sequence(value: Any, key: str) -> list[Any]:
    """Return the list under `key`, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def text(value: Any, key: str) -> str | None:
    """Return the string under `key`, or None."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def name_of(value: Any) -> str | None:
    """Return the name of an object, or None."""
    return text(mapping(value, "metadata"), "name")


def integer(value: Any, key: str) -> int | None:
    """Return the whole number under `key`, or None. A boolean is none; `1.0` reads as 1, as it does in JSON for Kubernetes."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, bool):
        return None
    if isinstance(found, int):
        return found
    if isinstance(found, float) and found.is_integer():
        return int(found)
    return None


def mappings(*values: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping in some values."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            yield value
            waiting += value.values()


def strings(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Literal["key", "value"], str]]:
    """Yield every string in a value, keys included: its path below `path`, which of the two it is, and itself."""
    if isinstance(value, str):
        yield path, "value", value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), "key", key
            yield from strings(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, (*path, index))


def whole_number(digits: str) -> int | None:
    """Return the number that up to 18 decimal digits say; None for anything else. Python refuses to read thousands of them."""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


def without_nulls(value: Any) -> Any:
    """Return a copy without fields that are null: to Kubernetes null means a missing field."""
    if type(value) is dict:
        return {
            name: without_nulls(item) if type(item) is dict or type(item) is list else item
            for name, item in value.items()
            if item is not None
        }
    if type(value) is list:
        return [without_nulls(item) if type(item) is dict or type(item) is list else item for item in value]
    return value
