"""Log lines: one JSON object each, on the standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from fcontroller.config.settings import LEVELS


def _write(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Log:
    """Writes what is at least as grave as a level."""

    def __init__(self, level: str = "info", write: Callable[[str], object] = _write) -> None:
        self._least = LEVELS.index(level)
        self._write = write

    def writes(self, level: str) -> bool:
        """Whether it is worth putting together a line of this level."""
        return LEVELS.index(level) >= self._least

    def debug(self, message: str, **fields: Any) -> None:
        self._line("debug", message, fields)

    def info(self, message: str, **fields: Any) -> None:
        self._line("info", message, fields)

    def warning(self, message: str, **fields: Any) -> None:
        self._line("warning", message, fields)

    def error(self, message: str, **fields: Any) -> None:
        self._line("error", message, fields)

    def _line(self, level: str, message: str, fields: dict[str, Any]) -> None:
        if self.writes(level):
            time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            self._write(json.dumps({"time": time, "level": level, "message": message, **fields}, ensure_ascii=False))
