"""The output of the demo: on a terminal a picture that is redrawn, elsewhere a line for each change."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, Final, TextIO

from fcontroller.demo.rows import LEGEND, STYLES, Row, folded

_LABEL: Final = 24
_LINE: Final = _LABEL + 3 + 60
"""Up to how wide a line shows single tasks where there is no terminal."""
_LEGEND_FROM: Final = 6
"""A terminal of so few lines has no place to say what the signs mean."""
_NO_SIZE: Final = os.terminal_size((80, 24))


def screen(out: TextIO) -> Picture | Lines:
    """Return what shows rows in the way that suits the stream."""
    return Picture(out) if out.isatty() and os.environ.get("TERM") != "dumb" else Lines(out)


class Lines:
    """A line for each change, with the seconds since the beginning."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown: list[str] = []
        self._began = time.monotonic()

    def show(self, rows: Sequence[Row]) -> None:
        """Write the lines that were not there before."""
        lines = [row.text(_LINE, max(_LABEL, len(row.label))) for row in rows]
        seconds = time.monotonic() - self._began
        self._out.writelines(f"{seconds:6.1f} s  {line}\n" for line in lines if line not in self._shown)
        self._out.flush()
        self._shown = lines

    def close(self) -> None:
        """Do nothing: every line is written at once."""


class Picture:
    """A picture that stays in its place, and never is wider or higher than the terminal."""

    def __init__(self, out: TextIO) -> None:
        from rich.console import Console  # Imported late: it takes longer to import than the rest of the demo.

        self._out = out
        self._console = Console(file=out, highlight=False)
        self._live: Any = None
        self._rows: list[Row] = []
        self._size = _NO_SIZE

    def show(self, rows: Sequence[Row]) -> None:
        """Draw the picture anew if there is anything new."""
        size = _size(self._out)
        if self._live is None or size != self._size:
            self._begin(size)
        elif list(rows) == self._rows:
            return
        self._rows = list(rows)
        self._live.update(self._drawn(), refresh=True)

    def close(self) -> None:
        """Leave the last picture, and the cursor below it."""
        if self._live is not None:
            self._live.stop()

    def _begin(self, size: os.terminal_size) -> None:
        """Begin a picture, and clear the old one: a terminal that became narrower has broken its lines."""
        from rich.live import Live

        if self._live is not None:
            self._live.stop()
            self._console.clear()
        self._size = size
        self._console.size = (size.columns, size.lines)
        self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="crop")
        self._live.start()

    def _drawn(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        # One line stays free, so that the terminal does not scroll.
        width, height = self._size.columns, self._size.lines - 1
        legend = [Text(""), Text(LEGEND)] if height > _LEGEND_FROM else []
        label = min(max([len(row.label) for row in self._rows if row.signs], default=0), width // 2)
        shown = folded(self._rows, height - len(legend))
        lines = [*(Text(row.text(width, label), "" if row.signs else "bold") for row in shown), *legend]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
            for sign, style in STYLES.items():
                line.highlight_words([sign], style)
        return Group(*lines)


def _size(out: TextIO) -> os.terminal_size:
    """Return the size of a terminal. Not from $COLUMNS, which may be that of another one."""
    try:
        size = os.get_terminal_size(out.fileno())
    except OSError:
        size = _NO_SIZE
    return size if size.columns and size.lines else _NO_SIZE
