"""Print the JSON Schema (draft-07) of a Framework, for editors.

In a file, `# yaml-language-server: $schema=…` names it; in VS Code, the setting `yaml.schemas` names it for many files at once.
"""

from __future__ import annotations

import argparse
import sys

from fcompile.commands.arguments import add_version_argument
from fcompile.pipeline.settings import kubernetes_minor
from fcompile.schema.editor import rendered


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_version_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the schema; returns the exit code."""
    sys.stdout.write(rendered(kubernetes_minor(arguments.kubernetes_version)))
    return 0
