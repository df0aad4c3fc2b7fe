"""Bytes → text, and what is wrong with the bytes."""

from __future__ import annotations

import bisect
import re
from typing import Final

from . import rules
from .faults import Fault
from .source import Source

_MARK: Final = "\ufeff"
_ESCAPED: Final = re.compile("[\udc80-\udcff]")
_UTF16: Final = "the file is in UTF-16, which kubectl reads and most other tools do not: save it in UTF-8"
_UTF32: Final = "the file is in UTF-32, which Kubernetes does not read: save it in UTF-8"
_OTHERS: Final = (
    (b"\xff\xfe\0\0", "utf-32-le", _UTF32),  # Before UTF-16, whose mark this begins with.
    (b"\0\0\xfe\xff", "utf-32-be", _UTF32),
    (b"\xff\xfe", "utf-16-le", _UTF16),
    (b"\xfe\xff", "utf-16-be", _UTF16),
)
"""Byte order marks of other encodings, and what is said of them."""


class Decoded:
    """The text of a file. Bytes that are not UTF-8 stand as replacement characters, and `bad_byte` finds them."""

    def __init__(self, source: Source, marked: bool, fault: Fault | None = None, bad: dict[int, int] | None = None) -> None:
        self.source = source
        self.marked = marked
        """The text began with one more byte order mark than the one that kubectl takes away."""
        self.fault = fault
        """Why no document can be read at all."""
        self._bad = bad or {}
        self._places = sorted(self._bad)

    def bad_byte(self, start: int, end: int) -> Fault | None:
        """Return the fault for the first byte that is not UTF-8 in a region of the text, or None."""
        index = bisect.bisect_left(self._places, start)
        if index == len(self._places) or self._places[index] >= end:
            return None
        offset = self._places[index]
        message = f"the byte 0x{self._bad[offset]:02X} here is not UTF-8: save the file in UTF-8"
        return Fault(rules.NOT_UTF8, message, offset)


def decode(data: bytes, name: str) -> Decoded:
    for mark, encoding, message in _OTHERS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return Decoded(Source(name, text), True, Fault(rules.NOT_UTF8, message, 0))
    try:
        text = data.decode()
        bad: dict[int, int] = {}
    except UnicodeDecodeError:
        escaped = data.decode("utf-8", "surrogateescape")
        bad = {match.start(): ord(match.group()) - 0xDC00 for match in _ESCAPED.finditer(escaped)}
        text = _ESCAPED.sub("\ufffd", escaped)
    marks = next(count for count in (0, 1, 2) if count == 2 or not text.startswith(_MARK, count))
    return Decoded(Source(name, text[marks:]), marks > 1, None, {offset - marks: byte for offset, byte in bad.items()})
