"""What the program is called here, and what it says besides its result."""

from __future__ import annotations

import os
import sys


def program() -> str:
    """What a user types for it."""
    return "kubectl fcompile" if os.path.basename(sys.argv[0]).startswith("kubectl-") else "fcompile"


def say(message: str) -> None:
    """Say it on stderr, which is for people."""
    print(f"{program()}: {message}", file=sys.stderr, flush=True)


def as_called(text: str) -> str:
    """A text with commands between backquotes, with these as the user would type them."""
    return text.replace("`fcompile ", f"`{program()} ")
