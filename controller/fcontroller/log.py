"""Log lines: one JSON object each, on the standard error."""

from __future__ import annotations

import json
import logging
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from functools import partialmethod
from typing import Any

from fcompile.diagnostics.visible import harmless

LEVELS = ("debug", "info", "warning", "error")
_MINUTE = 60
_LONGEST = 10_000
"""Characters of a message."""


def _write(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Log:
    """Writes lines of at least some level."""

    def __init__(self, level: str = "info", write: Callable[[str], object] = _write) -> None:
        self._least = LEVELS.index(level)
        self._write = write

    def writes(self, level: str) -> bool:
        """Return whether lines of this level are written, so that callers can skip building them."""
        return LEVELS.index(level) >= self._least

    def always(self, message: str, **fields: Any) -> None:
        """Write a line whatever the level, and however long: for lines that have a setting of their own."""
        self._put("info", message, fields)

    def _line(self, level: str, message: str, /, **fields: Any) -> None:
        if self.writes(level):
            self._put(level, message[:_LONGEST], fields)

    debug, info = partialmethod(_line, "debug"), partialmethod(_line, "info")
    warning, error = partialmethod(_line, "warning"), partialmethod(_line, "error")

    def _put(self, level: str, message: str, fields: dict[str, Any]) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write(harmless(json.dumps({"time": time, "level": level, "message": message, **fields}, ensure_ascii=False)))


class OfLibraries(logging.Handler):
    """Writes what libraries log, such as what an exec plugin of a kubeconfig has said."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        write = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        write(self.format(record), library=record.name)


class Rarely:
    """Limits repeated messages to one a minute."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._said: OrderedDict[Hashable, float] = OrderedDict()

    def may(self, what: Hashable) -> bool:
        """Return whether to say `what` now: at most once a minute."""
        now = self._now()
        # What was said later than now was said before the clock was set back.
        while self._said and not 0 <= now - next(iter(self._said.values())) < _MINUTE:
            self._said.popitem(last=False)
        if what in self._said:
            return False
        self._said[what] = now
        return True
