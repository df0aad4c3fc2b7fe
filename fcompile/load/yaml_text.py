"""The text of a YAML document as kubectl hands it to its YAML library.

kubectl reads line by line, drops one carriage return before each line feed, and ends the last line. That matters for `\\r\\r\\n`, which
would be two line ends, and for a block scalar at the end of a file without a last line end.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_DOUBLE: Final = re.compile(r"\r(?=\r\n)")
_MARK: Final = "\ufeff"


class YamlText(NamedTuple):
    text: str
    """Without the byte order mark that may stand at the start."""
    skipped: int = 0
    """1 if there was a byte order mark."""
    removed: Sequence[int] = ()
    """Offsets in `text` before each of which a carriage return was dropped."""

    def start(self, offset: int) -> int:
        """Return the same place in the text as it was, for the start of a region."""
        return offset + self.skipped + bisect.bisect_right(self.removed, offset)

    def end(self, offset: int) -> int:
        """Return the same place in the text as it was, for the end of a region."""
        return offset + self.skipped + bisect.bisect_left(self.removed, offset)


def library_text(text: str) -> YamlText:
    """Return the text as the YAML library gets it when nobody stands before it."""
    return YamlText(text[1:], 1) if text.startswith(_MARK) else YamlText(text)


def yaml_text(text: str) -> YamlText:
    """Return the text as kubectl hands it on."""
    text, skipped, removed = library_text(text)
    if "\r\r\n" in text:
        from array import array  # there can be millions, and mostly there are none

        removed = array("L", (match.start() - count for count, match in enumerate(_DOUBLE.finditer(text))))
        text = _DOUBLE.sub("", text)
    return YamlText(text if text.endswith("\n") else text + "\n", skipped, removed)
