"""The command line of the controller."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any

from fcompile._version import __version__
from fcompile.errors import EXIT_CLOSED_PIPE, EXIT_INTERRUPTED, EXIT_USAGE, UsageError
from fcompile.program import safe

COMMANDS = {
    "run": ("fcontroller.run", "run the Frameworks of a cluster"),
    "demo": ("fcontroller.demo.play", "run Frameworks to their end here, without a cluster"),
    "barrier": ("fcontroller.barrier", "wait, as an init container, until every task has a Pod IP"),
}


def main(argv: list[str] | None = None) -> int:
    """Run the command that `argv` (default: the process's own) asks for; returns the exit code."""
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except UsageError as error:
        return _refuse(str(error))
    except ModuleNotFoundError as error:
        return _refuse(f"{error.name} is not installed: it comes with the extra `controller` (docs/install.md)")
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # Nobody reads the output any more. Python would try once more to write it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_CLOSED_PIPE
    return code


def _refuse(message: str) -> int:
    print(safe(f"fcontroller: {message}"), file=sys.stderr)
    return EXIT_USAGE


def _run(words: list[str]) -> int:
    if words[:1] in (["__complete"], ["__complete_line"]):
        from fcompile.commands.completion import engine

        return engine.run(words, lambda command: _parser([command])[0])
    parser, modules = _parser(words)
    arguments = parser.parse_args(words)
    code: int = modules[arguments.command].run(arguments)
    return code


def _parser(words: list[str]) -> tuple[argparse.ArgumentParser, dict[str, Any]]:
    """The command line, and the modules of those commands that are among the words."""
    parser = argparse.ArgumentParser(prog="fcontroller", description="Runs Frameworks (frameworkcontroller.microsoft.com/v1).")
    parser.add_argument("--version", action="version", version=f"fcontroller {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    modules: dict[str, Any] = {}
    for name, (module, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        if name in words:  # The others' modules take up to half a second to import.
            modules[name] = importlib.import_module(module)
            command.description = modules[name].__doc__
            modules[name].configure(command)
    return parser, modules


def entry_point() -> None:
    """The console script `fcontroller`."""
    sys.exit(main())
