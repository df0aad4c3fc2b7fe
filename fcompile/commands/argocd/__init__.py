"""What Argo CD asks of a config management plugin, and what it is told about Frameworks.

`discover`, `generate` and `parameters` are called by Argo CD's plugin server in the folder of an application; plugins/argocd has the
plugin.yaml that says so. `bundle` prints Argo CD's settings, `doctor` tries all of it here.
"""

from __future__ import annotations

import argparse
import importlib

ACTIONS = {
    "generate": "print the manifests of an application: Frameworks compiled, everything else as it is",
    "discover": "print the files that hold Frameworks, nothing when there is none",
    "doctor": "call the plugin for a folder as Argo CD would, and say what would go wrong",
    "bundle": "print what Argo CD must be told about Frameworks: health, actions, what to compare, the plugin",
    "parameters": "print what can be set in the roles of the application, as Argo CD's announcements",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, about in ACTIONS.items():
        action = actions.add_parser(name, help=about, description=about)
        if name in ("bundle", "doctor"):
            importlib.import_module(f"{__name__}.{name}").configure(action)
        else:
            action.add_argument("folder", nargs="?", default=".", help="the folder of the application (default: the current one)")


def run(arguments: argparse.Namespace) -> int:
    """Carry the action out."""
    action = importlib.import_module(f"fcompile.commands.argocd.{arguments.action}")
    code: int = action.run(arguments)
    return code
