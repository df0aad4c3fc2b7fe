"""Print a script that completes fcompile and fcontroller in a shell: commands, options, their values, files, names from the files.

bash (4.4 or newer), in ~/.bashrc:     source <(fcompile completion bash)
zsh, in ~/.zshrc, after compinit:      source <(fcompile completion zsh)
fish, once:                            fcompile completion fish > ~/.config/fish/conf.d/fcompile.fish

`kubectl fcompile` needs none of this, only the completion of kubectl itself (`kubectl completion --help`, 1.26 or newer).
"""

from __future__ import annotations

import argparse
import os
import sys

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    with open(os.path.join(os.path.dirname(__file__), f"fcompile.{arguments.shell}"), encoding="utf-8") as script:
        sys.stdout.write(script.read())
    return 0
