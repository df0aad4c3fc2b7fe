"""Regular expressions that most runs never need. They are compiled at their first use, so that starting is quick."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Lazy:
    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)
        return value


def lazy(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return the same as `re.compile`, but compile at the first use: an error in `source` shows only then."""
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))
