"""Objects as they are kept: plain JSON values that nobody changes once they are stored."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
"""An API object, decoded from JSON."""


def copied(value: Any) -> Any:
    """Return a copy that shares no dict and no list with the value.

    `copy.deepcopy` is twenty times slower, and every request copies.
    """
    if type(value) is dict:
        result = value.copy()
        for name, item in value.items():
            kind = type(item)
            if kind is dict or kind is list:
                result[name] = copied(item)
        return result
    if type(value) is list:
        return [copied(item) if type(item) is dict or type(item) is list else item for item in value]
    return value


def same(one: Any, other: Any) -> bool:
    """Return whether two values are written alike as JSON: unlike with `==`, 1 is neither true nor 1.0."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all([same(item, other[name]) for name, item in one.items()])
    if type(one) is list:
        return len(one) == len(other) and all([same(*pair) for pair in zip(one, other, strict=True)])
    return bool(one == other)
