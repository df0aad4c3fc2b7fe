"""`fcompile argocd`: a group."""

from __future__ import annotations

import sys

import click

from fcompile.commands.group import Group, argument, completed
from fcompile.errors import UsageError

ACTIONS = {
    "generate": "print the manifests of an application: Frameworks compiled, everything else as it is",
    "discover": "print the first file that holds a Framework, nothing when there is none",
    "doctor": "call the plugin for a folder as Argo CD would, and say what would go wrong",
    "bundle": "print what Argo CD must be told about Frameworks: health, actions, what to compare, the plugin",
    "parameters": "print what can be set in the roles of the application, as Argo CD's announcements",
}

application = argument(
    "folder", default=".", metavar="[FOLDER]", shell_complete=completed("folder"), help="the folder of the application  [default: .]"
)


def refuse_windows() -> None:
    """Raise UsageError on Windows, which has nothing of what programs are confined with."""
    if sys.platform == "win32":
        raise UsageError("Argo CD runs its plugins on Linux: call this there, for example in WSL")


@click.group(
    cls=Group,
    lazy={name: (f"{__name__}.{name}", about) for name, about in ACTIONS.items()},
    page="argocd.md",
    examples={
        "fcompile argocd doctor apps/train": "what would Argo CD say?",
        "fcompile argocd bundle all --to argocd": "everything that Argo CD must be told",
    },
)
def argocd() -> None:
    """Be a config management plugin of Argo CD, and say what Argo CD is told about Frameworks.

    `discover`, `generate` and `parameters` are called by Argo CD's plugin server in the folder of an application; plugins/argocd has
    the plugin.yaml that says so. `bundle` prints Argo CD's settings, `doctor` tries all of it here.
    """
