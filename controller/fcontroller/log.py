"""Log lines: one JSON object each, on the standard error."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from typing import Any

from fcompile.diagnostics.visible import harmless

LEVELS = ("debug", "info", "warning", "error")
_MINUTE = 60
_REMEMBERED = 10_000


def _write(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Log:
    """Writes what is at least as grave as a level."""

    def __init__(self, level: str = "info", write: Callable[[str], object] = _write) -> None:
        self._least = LEVELS.index(level)
        self._write = write

    def writes(self, level: str) -> bool:
        """Return whether it is worth putting together a line of this level."""
        return LEVELS.index(level) >= self._least

    def debug(self, message: str, **fields: Any) -> None:
        self._line("debug", message, fields)

    def info(self, message: str, **fields: Any) -> None:
        self._line("info", message, fields)

    def warning(self, message: str, **fields: Any) -> None:
        self._line("warning", message, fields)

    def error(self, message: str, **fields: Any) -> None:
        self._line("error", message, fields)

    def always(self, message: str, **fields: Any) -> None:
        """Write what has a switch of its own."""
        self._line("info", message, fields, always=True)

    def _line(self, level: str, message: str, fields: dict[str, Any], always: bool = False) -> None:
        if always or self.writes(level):
            time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            self._write(harmless(json.dumps({"time": time, "level": level, "message": message, **fields}, ensure_ascii=False)))


class Rarely:
    """Says what has not been said for a minute."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._said: OrderedDict[Hashable, float] = OrderedDict()

    def may(self, what: Hashable) -> bool:
        """Return whether to say it now."""
        now = self._now()
        if now < self._said.get(what, 0) + _MINUTE:
            return False
        self._said[what] = now
        self._said.move_to_end(what)
        if len(self._said) > _REMEMBERED:
            self._said.popitem(last=False)
        return True
