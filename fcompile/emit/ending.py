"""What was begun is cleared up when the process is told to end, as it is on Ctrl-C."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import FrameType


class _Ended(BaseException):
    """The process was told to end."""


class Ending:
    """Whether and how the process was told to end."""

    def __init__(self) -> None:
        self.number = 0
        """Of the signal."""
        self.clearing = False
        """Whether what was begun is being cleared up, which nothing may interrupt."""

    def __call__(self, number: int, _: FrameType | None) -> None:
        """Begin to clear up, or let that go on."""
        self.number = number
        if not self.clearing:
            self.clearing = True
            raise _Ended


@contextlib.contextmanager
def cleared_up() -> Iterator[Ending]:
    """Raise SIGTERM and SIGHUP as an exception, so that what was begun is cleared up. Then the process ends by the signal."""
    import signal

    ending = Ending()
    asking = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # Who has set another handler sees to that himself.
    taken = [number for number in asking if signal.getsignal(number) is signal.SIG_DFL]
    with contextlib.suppress(ValueError):  # in another thread than the first, none can be set
        for number in taken:
            signal.signal(number, ending)
    try:
        with contextlib.suppress(_Ended):
            yield ending
    finally:
        with contextlib.suppress(ValueError):
            for number in taken:
                signal.signal(number, signal.SIG_DFL)
        if ending.number:
            os.kill(os.getpid(), ending.number)
