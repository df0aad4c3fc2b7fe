"""`fcompile completion`."""

from __future__ import annotations

import os
import sys

import click

from fcompile.commands.group import argument, command

SHELLS = ("bash", "zsh", "fish")


@command(
    page="install.md#completion",
    examples={
        "source <(fcompile completion bash)": "in ~/.bashrc (bash 4.4 or newer); in ~/.zshrc with zsh, after compinit",
        "fcompile completion fish > ~/.config/fish/conf.d/fcompile.fish": "once",
    },
)
@argument("shell", type=click.Choice(SHELLS), metavar="SHELL", help=f"the shell that the script is for: {', '.join(SHELLS)}")
def completion(*, shell: str) -> int:
    """Print a script that completes fcompile and fcontroller in a shell: commands, options, their values, files, names from the files.

    `kubectl fcompile` needs none of this, only the completion of kubectl itself (`kubectl completion --help`, 1.26 or newer).
    """
    with open(os.path.join(os.path.dirname(__file__), f"fcompile.{shell}"), encoding="utf-8") as script:
        sys.stdout.write(script.read())
    return 0
