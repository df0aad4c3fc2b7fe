"""Options that several commands share, and what their values mean."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.commands.group import argument
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.pipeline import settings
from fcompile.program import say
from fcompile.schema.pod_schemas import NEWEST, OLDEST

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from fcompile.pipeline.overrides import Override

F = TypeVar("F", bound=Callable[..., Any])


class Count(click.IntRange):
    """A number of things, from a least to a most."""

    name = "number"


class _Seconds(click.FloatRange):
    """A number of seconds, which is neither infinite nor NaN: that is in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = inf
        if not isfinite(number):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return float(super().convert(number, param, ctx))


SECONDS = _Seconds(0)


def completed(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return what completes values of a kind that `completion.values` knows, which is imported when somebody presses Tab."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from fcompile.commands.completion.values import offered

        return offered(kind, context, incomplete)

    return complete


paths = argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH...",
    shell_complete=completed("file"),
    help="files, folders (their *.yaml, *.yml and *.json, subfolders too) or - for stdin",
)
namespace = click.option(
    "-n", "--namespace", metavar="NAME", help=f"the namespace of Frameworks that give none  [default: {DEFAULT_NAMESPACE}]"
)
kubernetes_version = click.option(
    "--kubernetes-version",
    default=settings.DEFAULT_KUBERNETES,
    show_default=True,
    metavar="VERSION",
    shell_complete=completed("version"),
    help=f"the version of the cluster, 1.{OLDEST} to 1.{NEWEST}",
)
set_ = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="ROLE.FIELD=VALUE",
    shell_complete=completed("override"),
    help="set a field of a role: [framework/]role.field=value; may be given again",
)
_strict = click.option("--strict", is_flag=True, help="treat warnings as errors")
_waivers = click.option(
    "--waivers",
    metavar="FILE",
    shell_complete=completed("file"),
    help="the waivers file  [default: .fcompile-waivers.yaml in the current folder, if there is one]",
)
_color = click.option(
    "--color", type=click.Choice(("auto", "always", "never")), default="auto", show_default=True, help="colour in text; auto: on a terminal"
)


def reporting(function: F) -> F:
    """Add how problems are judged and shown."""
    return _strict(_waivers(_color(function)))


_OPTIONS = {"override": "--set", "kinds": "--emit"}


def option_of(setting: str) -> str:
    """Return what a setting of the compiler is called on the command line."""
    return _OPTIONS.get(setting, f"--{setting}")


def checked_with(kubernetes_version: str, namespace: str | None) -> Options:
    """Return what a check depends on besides its input. Raises SettingError."""
    return settings.options(kubernetes_version, DEFAULT_NAMESPACE if namespace is None else namespace)


def parsed(overrides: Sequence[str]) -> list[Override]:
    """Return the overrides that are asked for. Raises SettingError."""
    if not overrides:
        return []
    from fcompile.pipeline.overrides import parse

    return [parse(written, option_of("override")) for written in overrides]


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
