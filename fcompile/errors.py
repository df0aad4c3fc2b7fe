"""How a command ends early."""

from __future__ import annotations

EXIT_ERRORS = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 3
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141


class UsageError(Exception):
    """The command cannot be carried out as it was asked for: exit code 2, the message is all that is printed."""

    code = EXIT_USAGE


class InputError(UsageError):
    """The same because of what is in the input: exit code 1."""

    code = EXIT_ERRORS
