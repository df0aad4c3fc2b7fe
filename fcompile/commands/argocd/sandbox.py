"""Commands as in the sidecar: another user, a root filesystem that cannot be written to, a process group, a deadline."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import IO, NamedTuple

from fcompile.commands.argocd import refuse_windows

refuse_windows()

USER = 999
GRACE = 5.0
"""Seconds from SIGTERM to SIGKILL."""
_NEW_MOUNTS = 0x00020000
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
_OWN_VARIABLES = ("PATH", "LANG", "PYTHONPATH", "VIRTUAL_ENV")


class Ran(NamedTuple):
    """How a command has ended, and what it has printed."""

    code: int
    out: bytes
    said: bytes
    seconds: float
    memory: int
    """The largest process, in bytes."""
    late: bool
    """Whether it was ended at its deadline."""


class _Started(NamedTuple):
    process: subprocess.Popen[bytes]
    out: IO[bytes]
    said: IO[bytes]


class Sandbox(NamedTuple):
    """How commands are run, and which parts of the sidecar's confinement this machine does not allow."""

    prepare: tuple[Callable[[], None], ...] = ()
    """What each process does before its command, in this order."""
    notes: tuple[str, ...] = ()

    def run(self, commands: Sequence[Sequence[str]], folder: str, environment: Mapping[str, str], deadline: float) -> list[Ran]:
        """Run commands at the same time, each in a process group of its own."""
        own = {name: os.environ[name] for name in _OWN_VARIABLES if name in os.environ}
        with ExitStack() as files:
            began, started = time.monotonic(), list[_Started]()
            try:
                started += (self._start(command, folder, {**own, **environment}, files) for command in commands)
                return [_finish(one, began, deadline) for one in started]
            finally:
                for one in started:
                    if one.process.returncode is None:
                        _end(one.process.pid, signal.SIGKILL)
                        one.process.wait()

    def let_in(self, folder: str) -> None:
        """Let commands read a private folder, if they run as another user, and nobody else."""
        if _user in self.prepare:
            os.chown(folder, -1, USER)
            os.chmod(folder, 0o710)

    def _start(self, command: Sequence[str], folder: str, environment: Mapping[str, str], files: ExitStack) -> _Started:
        out, said = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))  # noqa: SIM115
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environment, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=said,
            process_group=0,
            preexec_fn=self._prepare if self.prepare else None,
        )
        return _Started(process, out, said)

    def _prepare(self) -> None:
        for step in self.prepare:
            step()


def sandbox() -> Sandbox:
    """Return the sandbox that comes nearest to the sidecar on this machine."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return Sandbox(notes=(f"not tried: the user {USER} and a root filesystem that is read-only, for which doctor must be root",))
    mounts, user = _mounts(), _user
    for candidate in (
        Sandbox((mounts, user)),
        Sandbox((mounts,), (f"not tried as the user {USER}, the sidecar's: it cannot read this installation of fcompile",)),
        Sandbox((user,), ("not tried: a root filesystem that is read-only, which this machine does not allow",)),
    ):
        with suppress(subprocess.SubprocessError, OSError):
            (ran,) = candidate.run([[sys.executable, "-P", "-m", "fcompile", "--version"]], "/", {}, 30)
            if ran.code == 0:
                return candidate
    return Sandbox(notes=(f"not tried: the user {USER} and a root filesystem that is read-only, which this machine does not allow",))


def _finish(started: _Started, began: float, deadline: float) -> Ran:
    process, late, killed = started.process, False, False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        passed = time.monotonic() - began
        if passed > deadline and not late:
            late = _end(process.pid, signal.SIGTERM)
        if passed > deadline + GRACE and not killed:
            killed = _end(process.pid, signal.SIGKILL)
        time.sleep(0.005)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    texts = []
    for file in (started.out, started.said):
        file.seek(0)
        texts.append(file.read())
    return Ran(process.returncode, texts[0], texts[1], seconds, usage.ru_maxrss * 1024, late)


def _end(group: int, number: signal.Signals) -> bool:
    with suppress(ProcessLookupError):
        os.killpg(group, number)
    return True


def _user() -> None:
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)


def _mounts() -> Callable[[], None]:
    """Return what makes everything but the folder of temporary files read-only, for this process and those that it starts."""
    library = ctypes.CDLL(None, use_errno=True)
    writable = tempfile.gettempdir().encode()

    def call(function: str, *arguments: object) -> None:
        if getattr(library, function)(*arguments):
            raise OSError(ctypes.get_errno(), function)

    def prepare() -> None:
        call("unshare", _NEW_MOUNTS)
        call("mount", None, b"/", None, _RECURSIVE | _PRIVATE, None)
        call("mount", writable, writable, None, _BIND | _RECURSIVE, None)
        call("mount", b"/", b"/", None, _BIND | _REMOUNT | _READ_ONLY, None)

    return prepare
