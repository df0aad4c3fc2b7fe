"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.program import say
from fcompile.schema.pod_schemas import DEFAULT_VERSION, NEWEST, OLDEST


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """PATH… and what a check depends on besides."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="a file, a folder (its *.yaml, *.yml and *.json, subfolders too) or - for stdin"
    )
    parser.add_argument(
        "-n", "--namespace", metavar="NAME", help=f"the namespace of Frameworks that give none (default: {DEFAULT_NAMESPACE})"
    )
    add_version_argument(parser)


def add_version_argument(parser: argparse.ArgumentParser) -> None:
    """--kubernetes-version."""
    parser.add_argument(
        "--kubernetes-version",
        default=f"1.{DEFAULT_VERSION}",
        metavar="VERSION",
        help=f"the version of the cluster, 1.{OLDEST} to 1.{NEWEST} (default: %(default)s)",
    )


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """How problems are judged and shown."""
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument(
        "--waivers", metavar="FILE", help="the waivers file (default: .fcompile-waivers.yaml in the current folder, if there is one)"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour in text (default: on a terminal)")


def kubernetes_minor(written: str) -> int:
    """The minor version of `1.36`, `v1.36` or `1.36.3`. Raises UsageError for anything that we do not know."""
    match = re.fullmatch(r"v?1\.(\d{1,3})(?:[.+-][\w.+-]*)?", written)
    if match is None or not OLDEST <= int(match[1]) <= NEWEST:
        raise UsageError(f"--kubernetes-version {written}: known are 1.{OLDEST} to 1.{NEWEST}")
    return int(match[1])


def options(arguments: argparse.Namespace) -> Options:
    """What a check depends on besides its input."""
    namespace = checked_namespace("--namespace", arguments.namespace or DEFAULT_NAMESPACE)
    return Options(kubernetes_minor(arguments.kubernetes_version), namespace)


def checked_namespace(origin: str, name: str) -> str:
    """A name that a namespace can have. Raises UsageError, which says where it came from."""
    if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name):
        raise UsageError(
            f"{origin} {visible(name)}: a namespace has up to 63 lower-case letters, digits and dashes, and no dash at its ends"
        )
    return name


def say_namespace(frameworks: Sequence[str], assumed: str, setting: str) -> None:
    """Say that Frameworks were given none, by their names, and what sets it."""
    listed = ", ".join(frameworks[:3]) + (", …" if len(frameworks) > 3 else "")
    say(f"no namespace given ({listed}): using `{assumed}`; {setting} sets another")
