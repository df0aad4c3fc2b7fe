"""What the demo shows: each Framework with its roles, drawn again and again on a terminal; a line for each change elsewhere."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from typing import TextIO

from fcontroller.decide.retry import NEVER_RETRIED
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, CREATION_PENDING, CREATION_REQUESTED, PREPARING, RUNNING
from fcontroller.decide.status import Role, Status

_WAITS, _STARTS, _RUNS, _GOES, _SUCCEEDED, _FAILED, _ENDED = "·", "◌", "●", "◐", "✓", "✗", "–"
_LEGEND = f"{_WAITS} waits  {_STARTS} starts  {_RUNS} runs  {_GOES} goes  {_SUCCEEDED} succeeded  {_FAILED} failed  {_ENDED} was ended"
_MOST = 60
"""Tasks of a role that are drawn one by one."""


class Screen:
    """Where Frameworks are shown."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._live = out.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn: list[str] = []
        self._began = time.monotonic()

    def show(self, statuses: Mapping[str, Status | None]) -> bool:
        """Show how things are. Return whether all Frameworks have completed.

        :param statuses: by the Framework's name.
        """
        lines: list[str] = []
        for name, status in statuses.items():
            if status is not None:
                lines += _framework(name, status)
        if lines != self._drawn:
            if self._live:
                self._draw([*lines, "", _LEGEND])
            else:
                seconds = time.monotonic() - self._began
                self._out.writelines(f"{seconds:6.1f} s  {line}\n" for line in lines if line not in self._drawn)
            self._drawn = lines
            self._out.flush()
        return bool(statuses) and all(status is not None and status.state == COMPLETED for status in statuses.values())

    def _draw(self, lines: list[str]) -> None:
        # Up to where the last picture began, and each line to its end.
        up = f"\x1b[{len(self._drawn) + 2}A\r" if self._drawn else ""
        self._out.write(up + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")

    def close(self) -> None:
        """Nothing more is shown."""
        self._out.flush()


def _framework(name: str, status: Status) -> list[str]:
    completion = status.attempt.completion
    end = f", {completion['code']} {completion['phrase']}" if completion else ""
    return [f"{name}: {status.state}, attempt {status.attempt.id}{end}", *(_role(name, role) for role in status.roles)]


def _role(framework: str, role: Role) -> str:
    signs = [_sign(task.state, (task.attempt.completion or {}).get("code")) for task in role.tasks]
    drawn = "".join(signs) if len(signs) <= _MOST else "  ".join(f"{sign} {count}" for sign, count in Counter(signs).items())
    retries = sum(task.retries.total for task in role.tasks)
    return f"  {f'{framework}-{role.name}':<24} {drawn}" + (f"  ({retries} retried)" if retries else "")


def _sign(state: str, code: int | None) -> str:
    if state == CREATION_PENDING:
        return _WAITS
    if state in (CREATION_REQUESTED, PREPARING):
        return _STARTS
    if state == RUNNING:
        return _RUNS
    if state in (ATTEMPT_COMPLETED, COMPLETED):
        return _SUCCEEDED if not code else _ENDED if code in NEVER_RETRIED else _FAILED
    return _GOES
