"""JSON inside texts, exactly as Go prints it: users of upstream's controller compare diagnostics."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_ESCAPED: Final = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that Go escapes and Python does not, lest the text be read as HTML or JavaScript. They can only be in strings."""
_HALF: Final = re.compile("[\ud800-\udfff]")


def go_json(value: Any) -> str:
    """Return compact JSON; fields keep their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)


def valid(text: str) -> str:
    """Replace each half of a surrogate pair by U+FFFD: neither Go nor the API server can store one."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)
