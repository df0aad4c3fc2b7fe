"""Whole processes, measured from outside: wall and CPU seconds and peak memory, as the operating system accounts for them."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """One finished process (with the children it waited for). Seconds, and bytes."""

    wall: float
    cpu: float
    memory: int
    """The largest single process."""
    output: int
    """Bytes that it wrote to its standard output, a pipe that is read all the while."""


WITH_BYTECODE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What is installed has its bytecode beside it; a checkout under this variable would be compiled anew by each process."""


def run(command: Sequence[str], codes: Sequence[int] = (0,), folder: Path | None = None) -> Run:
    """Run the command to its end, in the folder if one is given.

    Any exit code that is not in `codes` is an error: what failed must not be timed.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, env=WITH_BYTECODE
    )
    assert process.stdout is not None
    descriptor, written = process.stdout.fileno(), 0
    buffer = bytearray(1 << 20)
    while count := os.readv(descriptor, [buffer]):
        written += count
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, written)


def median(runs: Sequence[Run]) -> Run:
    """The median of each figure by itself."""
    return Run(*(type(figures[0])(statistics.median(figures)) for figures in zip(*runs, strict=True)))


def paired(
    ours: Sequence[str], floor: Sequence[str], times: int, codes: Sequence[int] = (0,), *, of_cpu: bool = False
) -> tuple[Run, Run, float]:
    """Run both commands in turn, after one warm-up each; returns the medians, and the median of the ratios pair by pair.

    The ratios are those of wall time or of CPU seconds. Ours may end with any of `codes`.
    """
    run(ours, codes), run(floor)
    pairs = [(run(ours, codes), run(floor)) for _ in range(times)]
    ratio = statistics.median(one.cpu / other.cpu if of_cpu else one.wall / other.wall for one, other in pairs)
    return median([one for one, _ in pairs]), median([other for _, other in pairs]), ratio
