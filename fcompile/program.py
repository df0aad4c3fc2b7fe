"""What the program is called here, its standard streams, and what it says besides its result."""

from __future__ import annotations

import os
import sys

from fcompile.errors import UsageError

TYPE_CHECKING = False  # As in fcompile.cli: importing `typing` takes long.
if TYPE_CHECKING:
    from typing import TextIO

DOCUMENTATION = "docs/"
"""Where its pages are, for every link to them: the folder of the repository, until there is a site."""


def program() -> str:
    """Return what a user types to call this program."""
    return "kubectl fcompile" if os.path.basename(sys.argv[0]).startswith("kubectl-") else "fcompile"


def check_streams() -> None:
    """See to streams that the caller has closed. Python has None for them, and writes to the standard output what goes to None."""
    _write_all()
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")  # a character that the terminal does not have is no reason to stop
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # the next file to be opened must not come to stand in the place of a standard stream
    os.close(descriptor)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise UsageError("the standard output is closed")


def _write_all() -> None:
    """Have the standard streams write all that they are given.

    Under PYTHONUNBUFFERED what the system does not take at once, as on a full disk or after a stop, is lost without an error.
    """
    import io

    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(getattr(stream, "buffer", None), io.RawIOBase):
            setattr(sys, name, open(stream.fileno(), "w", 1, stream.encoding, stream.errors, closefd=False))  # noqa: SIM115


def forget_unwritten() -> None:
    """Forget what is in the standard output and cannot be written, and what is in stderr if it cannot be written either.

    Python would try both once more at its end, complain, and make the exit code 120.
    """
    _discard(sys.stdout)
    forget_unsaid()


def forget_unsaid() -> None:
    """Forget what is in stderr if nobody can be told."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError, AttributeError):
        return


def say(message: str) -> None:
    """Say it on stderr, which is for people.

    What was written by others is in many a message: an argument, a name, what another program said.
    """
    print(f"{program()}: {safe(message)}", file=sys.stderr, flush=True)


def say_first(messages: list[str], most: int, more: str) -> None:
    """Say the first messages, and of all others how many they are; `{}` in `more` stands for that number."""
    for message in messages[:most]:
        say(message)
    if len(messages) > most:
        say(more.format(f"{len(messages) - most:,}"))


def safe(text: str) -> str:
    """Return lines of text in which nothing acts on a terminal, nor on a runner of CI."""
    from fcompile.diagnostics.visible import at_line_start, visible  # most runs say nothing

    return "\n".join(at_line_start(visible(line)) for line in text.split("\n"))


def as_called(text: str) -> str:
    """Return a text in which commands, between backquotes or at the beginning, are as the user would type them."""
    if text.startswith("fcompile "):
        text = program() + text.removeprefix("fcompile")
    return text.replace("`fcompile ", f"`{program()} ")
