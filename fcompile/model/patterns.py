"""Regular expressions that most runs never need. They are compiled at their first use, so that starting is quick."""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)
        return value


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return the same as `re.compile`, but compile at the first use: an error in `source` shows only then."""
    return cast("re.Pattern[str]", _Lazy(source, flags))
