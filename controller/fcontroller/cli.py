"""The command line of the controller."""

from __future__ import annotations

import errno
import sys
from typing import TYPE_CHECKING

from fcompile._version import __version__
from fcompile.errors import EXIT_CLOSED_PIPE, EXIT_INTERRUPTED, EXIT_USAGE, UsageError
from fcompile.program import check_streams, forget_unsaid, forget_unwritten, safe

if TYPE_CHECKING:
    from fcompile.commands.group import Group

COMMANDS = {
    "run": ("fcontroller.run", "run the Frameworks of a cluster"),
    "demo": ("fcontroller.demo", "run Frameworks to their end here, without a cluster"),
    "barrier": ("fcontroller.barrier", "wait, as an init container, until every task has a Pod IP"),
}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What is said where nothing more can be written: no other error of the system is about the output."""


def main(argv: list[str] | None = None) -> int:
    """Run the command that `argv` (default: the process's own) asks for; returns the exit code."""
    try:
        check_streams()
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except UsageError as error:
        return _refuse(str(error))
    except ModuleNotFoundError as error:
        advice = "in a clone `pip install '.[controller]'`, else see docs/install.md#extras"
        return _refuse(f"{error.name} is not installed: it comes with the extra `controller`: {advice}")
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # Nobody reads the output any more.
        forget_unwritten()
        return EXIT_CLOSED_PIPE
    except OSError as error:
        if error.errno not in _FULL:
            raise
        forget_unwritten()
        return _refuse(f"cannot write the output: {error.strerror}")
    return code


def _refuse(message: str) -> int:
    try:
        print(safe(f"fcontroller: {message}"), file=sys.stderr)
    except OSError:  # Nowhere to say it.
        forget_unsaid()
    return EXIT_USAGE


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        print(_version())
        return 0
    if words[:1] in (["__complete"], ["__complete_line"]):
        from fcompile.commands.completion import engine

        return engine.run(words, group())
    from fcompile.commands.group import run

    return run(group(), "fcontroller", words)


def _version() -> str:
    return f"fcontroller {__version__}"


def group() -> Group:
    """Return the program as click has it."""
    from fcompile.commands.group import Group, version_option

    return Group(
        "fcontroller",
        params=[version_option(_version)],
        lazy=COMMANDS,
        help="Run Frameworks (frameworkcontroller.microsoft.com/v1).",
        page="operations.md",
        examples={
            "fcontroller run --namespace ml --check": "which settings are in force, and why",
            "fcontroller demo train.yaml": "a Framework run to its end on this machine",
        },
    )


def entry_point() -> None:
    """Run the console script `fcontroller`."""
    sys.exit(main())
