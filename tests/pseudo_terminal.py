"""A command on a terminal that nobody sees: what is on its screen, what has left it at the top, and what somebody types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence

import pyte

PATIENCE = 120
"""Seconds that anything may take on a machine that is busy."""
_ANEW = b"\r\x1b[2K"
"""What a picture begins with that is drawn in the place of another."""
# The terminal is to be that of the process, or nobody would be told of Ctrl-C.
_OWN_IT = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
# A test run may have been started with SIGINT ignored (`nohup`, or `&` in a script), and what it starts inherits that.
_INTERRUPTIBLE = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


def interruptible(*command: str) -> list[str]:
    """Return a command that runs this one with SIGINT as on a terminal; the first word is a path."""
    return [sys.executable, "-c", _INTERRUPTIBLE, *command]


class PseudoTerminal:
    """Runs a command until it ends, or until the `with` does."""

    def __init__(self, command: Sequence[str], columns: int, lines: int, environment: Mapping[str, str] | None = None) -> None:
        self._screen = pyte.HistoryScreen(columns, lines, history=10_000)
        self._stream = pyte.ByteStream(self._screen)
        self.pictures: list[list[str]] = []
        """All that was on the screen before it was drawn anew, however many pictures came at once."""
        self._held = b""
        self._ours, theirs = pty.openpty()
        self._set_size(columns, lines)
        self.process = subprocess.Popen(
            interruptible(sys.executable, "-c", _OWN_IT, *command),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
            start_new_session=True,
        )
        os.close(theirs)

    @property
    def lines(self) -> list[str]:
        """What is on the screen now, without empty lines at its end."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip().split("\n")

    @property
    def scrolled_away(self) -> list[str]:
        """The lines that have left the screen at its top."""
        return ["".join(line[column].data for column in sorted(line)).rstrip() for line in self._screen.history.top]

    def hides_cursor(self) -> bool:
        """Return whether the cursor is not to be seen."""
        hidden: bool = self._screen.cursor.hidden
        return hidden

    def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is true of what is shown."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, self.lines
            assert self.read(1), f"it has ended with {self.process.wait()}: {self.lines}"

    def read(self, seconds: float) -> bool:
        """Take in what is written next, for so long at most. Return whether there may be more."""
        if select.select([self._ours], [], [], seconds)[0]:
            try:
                written = os.read(self._ours, 1 << 16)
            except OSError:  # Linux says so at the end.
                written = b""
            self._show(written)
            return bool(written)
        return True

    def _show(self, written: bytes) -> None:
        first, *others = (self._held + written).split(_ANEW)
        last = [first, *others][-1]
        # What may be the beginning of `_ANEW` waits for the rest.
        held = next((size for size in range(len(_ANEW) - 1, 0, -1) if written and last.endswith(_ANEW[:size])), 0)
        self._held = last[len(last) - held :]
        for number, piece in enumerate([first, *others]):
            if number:
                self.pictures.append(self.lines)
                self._stream.feed(_ANEW)
            self._stream.feed(piece[: len(piece) - held] if number == len(others) else piece)

    def end(self) -> int:
        """Take in all that is written; return the exit code."""
        while self.read(PATIENCE):
            pass
        return self.process.wait(PATIENCE)

    def type(self, text: bytes) -> None:
        """Press keys."""
        os.write(self._ours, text)

    def resize(self, columns: int, lines: int) -> None:
        """Make it larger or smaller, as somebody does who draws at the window's corner."""
        self._screen.resize(lines, columns)
        self._set_size(columns, lines)

    def _set_size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
