"""What git answers to one question: what it says against it is an error of `--git`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcompile.commands.git.process import ask
from fcompile.errors import UsageError

if TYPE_CHECKING:
    from subprocess import CompletedProcess


def answer(*arguments: str) -> bytes:
    """Return what git printed. Raises UsageError with what it said if it failed."""
    return output(run(*arguments))


def output(done: CompletedProcess[bytes]) -> bytes:
    """Return what git has printed. Raises UsageError with what it said if it failed."""
    if done.returncode:
        raise UsageError(f"--git: {done.stderr.decode('utf-8', 'replace').strip().removeprefix('fatal: ')}")
    return done.stdout


def run(*arguments: str) -> CompletedProcess[bytes]:
    """Return what git says, and how it ends. Raises UsageError where there is no git."""
    try:
        return ask(*arguments)
    except FileNotFoundError:
        raise UsageError("--git needs the program git, which is not in the PATH: install it") from None
