"""The controller with its event loop measured: `python -m tests.stress.measured FILE run …`.

The file has the most seconds of CPU that passed between two turns of the loop, once the controller leads. Where a turn is when it becomes
too long is written to stderr.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

from fcontroller import run as program
from fcontroller.cli import main
from fcontroller.config.effective import EffectiveSettings

BEAT = 0.005
LONG = 0.1
"""Seconds of CPU of the process after which a turn is too long."""
_run = program._run


def long(_number: int, frame: FrameType | None) -> None:
    """Write where the process is."""
    print("a long turn:", *traceback.format_stack(frame), sep="\n", file=sys.stderr, flush=True)


async def beat(file: Path) -> None:
    """Write down the longest turn since somebody has removed the file. What begins the process, before there is work, is left out."""
    await asyncio.sleep(1)
    signal.signal(signal.SIGPROF, long)
    longest, last = 0.0, time.thread_time()
    while True:
        await asyncio.sleep(BEAT)
        now = time.thread_time()
        if not file.exists():
            longest = 0.0
        if now - last > longest:
            longest = now - last
            file.write_text(f"{longest}")
        last = time.thread_time()
        signal.setitimer(signal.ITIMER_PROF, LONG)


async def measured(settings: EffectiveSettings) -> int:
    beating = asyncio.create_task(beat(Path(sys.argv[1])))
    try:
        return await _run(settings)
    finally:
        beating.cancel()


if __name__ == "__main__":
    program._run = measured
    sys.exit(main(sys.argv[2:]))
