"""Print the CustomResourceDefinition of Framework, for `kubectl apply -f -`.

Its Pod templates have the fields of one Kubernetes version: give the cluster's with --kubernetes-version.
"""

from __future__ import annotations

import argparse
import sys

from fcompile.commands.arguments import add_version_argument
from fcompile.pipeline.settings import kubernetes_minor
from fcompile.schema.crd import rendered


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_version_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the definition; returns the exit code."""
    sys.stdout.write(rendered(kubernetes_minor(arguments.kubernetes_version)))
    return 0
