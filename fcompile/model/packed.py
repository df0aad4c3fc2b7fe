"""JSON that an object holds compressed.

Whoever may write the object may have packed gigabytes into it: nothing is unpacked without a bound.
"""

from __future__ import annotations

INTENT_BYTES = 16 * 1024 * 1024
"""The largest intent, unpacked. `check` refuses a larger one."""
STATUS_BYTES = 32 * 1024 * 1024
"""The largest list of task statuses, unpacked: more than 10,000 tasks can have."""


def unpacked(text: str, limit: int) -> bytes:
    """Return what base64(gzip(…)) holds. Raises ValueError when it is no such text or holds more than `limit` bytes."""
    import base64
    import zlib

    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        data = inflater.decompress(base64.b64decode(text), limit + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(data) > limit:
        raise ValueError(f"it unpacks to more than {limit:,} bytes")
    if not inflater.eof:
        raise ValueError("it is cut short")
    return data
