"""Compressed JSON inside an object.

A few compressed bytes can unpack to gigabytes, so nothing is unpacked without a limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

INTENT_BYTES = 4 * 1024 * 1024
"""The largest intent, unpacked. `check` refuses a larger one. The controller keeps that of each attempt in memory, in which it takes four
times as much."""
STATUS_BYTES = 32 * 1024 * 1024
"""The largest list of task statuses, unpacked: more than 10,000 tasks can have."""
STATUS_VALUES = 1_500_000
"""The most values in such a list. 10,000 tasks of ten containers have 950,000; `[],` takes three bytes there, and sixty-four in memory."""
_PIECE = 256 * 1024
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A text of JSON, or one without an end: nothing is gone through twice."""


def role_statuses(attempt: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the `taskRoleStatuses` of an `attemptStatus`, compressed or not. Raises ValueError when they cannot be unpacked."""
    packed = packed_tasks(attempt)
    return json.loads(packed) if packed else attempt.get("taskRoleStatuses") or []


def packed_tasks(attempt: Mapping[str, Any]) -> str:
    """Return the JSON of the tasks of an `attemptStatus` that has them in compressed form alone, else nothing. Raises ValueError."""
    packed = attempt.get("taskRoleStatusesCompressed")
    if not packed or attempt.get("taskRoleStatuses") is not None:
        return ""
    if not isinstance(packed, str):
        raise ValueError("it is no text")
    text = unpacked(packed, STATUS_BYTES).decode()
    # Messages have commas and brackets too. To leave them out takes a second, so that is done only where they may be what is counted.
    if _values(text) > STATUS_VALUES and _values(_TEXT.sub("", text)) > STATUS_VALUES:
        raise ValueError(f"it has more than {STATUS_VALUES:,} values")
    return text


def _values(text: str) -> int:
    """Return how many values a JSON text has at most."""
    return sum(map(text.count, ",[{"))


def unpacked(text: str, limit: int) -> bytes:
    """Return what base64(gzip(…)) holds. Raises ValueError when it is no such text or holds more than `limit` bytes."""
    return b"".join(pieces(text, limit))


def pieces(text: str, limit: int) -> Iterator[bytes]:
    """Yield the same in pieces, so that the caller can do other work in between."""
    import base64
    import zlib

    inflater, size = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), 0
    rest = base64.b64decode(text)
    while not inflater.eof:
        try:
            piece = inflater.decompress(rest, min(_PIECE, limit + 1 - size))
        except zlib.error as error:
            raise ValueError(str(error)) from None
        rest, size = inflater.unconsumed_tail, size + len(piece)
        if size > limit:
            raise ValueError(f"it unpacks to more than {limit:,} bytes")
        if not (piece or rest or inflater.eof):
            raise ValueError("it is cut short")
        yield piece
