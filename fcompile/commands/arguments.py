"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.pipeline import settings
from fcompile.program import say
from fcompile.schema.pod_schemas import NEWEST, OLDEST

if TYPE_CHECKING:
    from fcompile.pipeline.overrides import Override


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
        default=settings.DEFAULT_KUBERNETES,
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


_OPTIONS = {"override": "--set", "kinds": "--emit"}


def option_of(setting: str) -> str:
    """Return what a setting of the compiler is called on the command line."""
    return _OPTIONS.get(setting, f"--{setting}")


def options(arguments: argparse.Namespace) -> Options:
    """Return what a check depends on besides its input. Raises SettingError."""
    return settings.options(arguments.kubernetes_version, arguments.namespace or DEFAULT_NAMESPACE)


def overrides(arguments: argparse.Namespace) -> list[Override]:
    """Return the overrides that are asked for. Raises SettingError."""
    if not arguments.set:
        return []
    from fcompile.pipeline.overrides import parse

    return [parse(written, option_of("override")) for written in arguments.set]


def say_namespace(frameworks: Sequence[str], assumed: str, setting: str) -> None:
    """Say that Frameworks were given none, by their names, and what sets it."""
    listed = ", ".join(frameworks[:3]) + (", …" if len(frameworks) > 3 else "")
    say(f"no namespace given ({listed}): using `{assumed}`; {setting} sets another")


def check_paths(paths: Sequence[str]) -> None:
    """Raise UsageError for paths that lead to nothing: a command that was called for the wrong thing has nothing to report on."""
    missing = [visible(path) for path in paths if path != "-" and not _is_there(path)]
    if missing:
        listed = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise UsageError(f"{listed}: no such file or folder{'' if all(map(os.path.isabs, paths)) else _here()}")


def _here() -> str:
    try:
        return f" in {visible(os.getcwd())}"
    except OSError:  # somebody has removed it
        return ""


def _is_there(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # it is told with its reason when it is read
    return True
