"""What is nested deeper in a JSON text than Python can decode."""

from __future__ import annotations

import re

LEVELS = 200
"""Of what is cut since it is nested too deep, so many are left: more than any object has whose fields have types."""
CUT = "nested too deep"
"""What then stands in the place of a deeper value. It is a text, for which no field is, so that nobody takes it for what was there."""
_BRACKET = re.compile(rb'(?:[^][{}"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)*+([][{}]|\Z)', re.DOTALL)
"""The next bracket that is in no text, or the end: nothing is gone through twice."""


def cut(text: bytes) -> bytes:
    """Return a JSON text with `CUT` in the place of what is nested too deep.

    An API server takes 10,000 levels where fields have no types, as in `managedFields`, which anybody may write.
    """
    kept, depth, start = list[bytes](), 0, 0
    for found in _BRACKET.finditer(text):
        if found[1] in (b"[", b"{"):
            depth += 1
            if depth == LEVELS + 1:
                kept += text[start : found.start(1)], f'"{CUT}"'.encode()
        elif found[1]:
            depth -= 1
            if depth == LEVELS:
                start = found.end()
    return b"".join([*kept, text[start:]] if depth <= LEVELS else kept)
