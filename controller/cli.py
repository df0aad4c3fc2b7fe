"""The command line of the controller."""

from __future__ import annotations

import argparse
import importlib
import sys

from fcompile import __version__

COMMANDS = {
    "run": ("fcontroller.run", "run the Frameworks of a cluster"),
    "demo": ("fcontroller.demo.play", "run Frameworks to their end here, without a cluster"),
    "barrier": ("fcontroller.barrier", "wait, as an init container, until every task has a Pod IP"),
}


def main(argv: list[str] | None = None) -> int:
    """Run the command that `argv` (default: the process's own) asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="fcontroller", description="Runs Frameworks (frameworkcontroller.microsoft.com/v1).")
    parser.add_argument("--version", action="version", version=f"fcontroller {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    words, modules = sys.argv[1:] if argv is None else argv, {}
    for name, (module, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        if name in words:  # The others' modules take up to half a second to import.
            modules[name] = importlib.import_module(module)
            command.description = modules[name].__doc__
            modules[name].configure(command)
    arguments = parser.parse_args(argv)
    code: int = modules[arguments.command].run(arguments)
    return code


def entry_point() -> None:
    """The console script `fcontroller`."""
    sys.exit(main())
