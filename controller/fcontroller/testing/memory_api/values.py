"""Objects as they are kept: plain JSON values that nobody changes once they are stored."""

from __future__ import annotations

from typing import Any

import msgspec

Object = dict[str, Any]
"""An API object, decoded from JSON."""

_text = msgspec.json.Encoder(order="deterministic").encode


def copied(value: Any) -> Any:
    """Return a copy that shares no dict and no list with the value. `copy.deepcopy` is many times slower, and every request copies."""
    return msgspec.to_builtins(value)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are written alike as JSON: unlike with `==`, 1 is neither true nor 1.0."""
    return one is other or _text(one) == _text(other)
