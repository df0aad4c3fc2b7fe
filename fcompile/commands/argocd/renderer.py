"""Run a program that renders what strangers wrote, so that it can do nothing else.

It gets its arguments as such (no shell), no variable of ours and no PATH: what it would call, as git, is not found. It is confined, and
what it takes of time, memory and output is bounded.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Sequence
from typing import Final

from fcompile.commands.argocd.confine import FILES, NETWORK, Prepare, confinement
from fcompile.diagnostics.visible import visible
from fcompile.errors import InputError
from fcompile.program import say

DEADLINE: Final = 40
"""Seconds. Argo CD waits 60 for the whole call."""
MAX_MEMORY: Final = 512 * 1024 * 1024
MAX_OUTPUT: Final = 64 * 1024 * 1024
_MAX_SAID: Final = 64 * 1024
_NOWHERE: Final = "http://127.0.0.1:1"
_ENVIRONMENT: Final = {
    "HOME": "/nonexistent",
    "PATH": "/nonexistent",
    "LC_ALL": "C",
    "HTTP_PROXY": _NOWHERE,
    "HTTPS_PROXY": _NOWHERE,
    # Both programs are in Go, which takes all that it may before it looks for what is no longer used.
    "GOMEMLIMIT": str(MAX_MEMORY * 3 // 4),
}
_GO_DUMP: Final = re.compile(r"(?<!\n)\n++(?:\[signal |SIG[A-Z]+: |goroutine [0-9])")
"""Where a program in Go begins to tell of its crash what only its developers read: registers and stacks."""
_OPEN: Final = {NETWORK: "the network", FILES: "files outside of the repository"}


def run(command: Sequence[str], root: str, quiet: bool = False) -> bytes:
    """Return what a program prints that reads the repository at `root`. Raises InputError with what it says when it fails.

    :param quiet: not with what it says, which may be secret.
    """
    name = os.path.basename(command[0])
    with confinement([root, os.path.realpath(command[0])], MAX_MEMORY, 2 * DEADLINE) as prepare:
        process, lacking = _started(command, prepare)
    try:
        out, said = _both(process)
        code = process.wait(1)
    except (TimeoutError, subprocess.TimeoutExpired):
        raise InputError(f"{name} took longer than {DEADLINE} s: divide the application") from None
    finally:
        process.kill()
        process.wait()
    text = said.decode("utf-8", "replace").strip()
    memory = f"needs more than {MAX_MEMORY // 2**20:,} MiB of memory for this application"
    if code and ("out of memory" in text or "cannot allocate memory" in text):
        raise InputError(f"{name} {memory}: divide it")
    if code and "pthread_create failed" in text:
        raise InputError(f"{name} could start no thread: it {memory}, or there are too many threads here")
    if code and quiet:
        raise InputError(
            f"{name} {command[1]} failed with exit code {code}; there are Secrets here, so run it yourself to see what it says"
        )
    if code:
        lines = _GO_DUMP.split(text, maxsplit=1)[0].splitlines()
        raise InputError(f"{name} {command[1]} failed with exit code {code}:\n" + "\n".join(map(visible, lines)))
    for what in lacking:
        say(f"{name} could have reached {_OPEN[what]}: this system lets no process close that for another")
    return bytes(out)


def _started(command: Sequence[str], prepare: Prepare | None) -> tuple[subprocess.Popen[bytes], list[str]]:
    """Start a program, and return what could not be closed to it."""
    reading, report = os.pipe()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_ENVIRONMENT,
            # In our process group: what ends us at Argo CD's deadline ends it too.
            preexec_fn=None if prepare is None else lambda: prepare(report),
        )
    finally:
        os.close(report)
        with open(reading, encoding="ascii") as lines:
            lacking = lines.read().split()
    return process, [NETWORK, FILES] if prepare is None else lacking


def _both(process: subprocess.Popen[bytes]) -> tuple[bytearray, bytearray]:
    """Return standard output and error, read as they come, so that neither pipe fills up. Raises TimeoutError."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, said = bytearray(), bytearray()
    end = time.monotonic() + DEADLINE
    with selectors.DefaultSelector() as selector, process.stdout, process.stderr:
        selector.register(process.stdout, selectors.EVENT_READ, out)
        selector.register(process.stderr, selectors.EVENT_READ, said)
        while selector.get_map():
            if (left := end - time.monotonic()) <= 0:
                raise TimeoutError
            for key, _ in selector.select(left):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data is out or len(said) < _MAX_SAID:
                    key.data.extend(data)
                if len(out) > MAX_OUTPUT:
                    raise InputError(f"more than {MAX_OUTPUT:,} bytes were rendered: divide the application")
    return out, said
