"""Options and arguments that several commands share; `option_values.py` has what their values mean."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import Any, TypeVar

import click

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.commands.group import argument, completed
from fcompile.pipeline import settings
from fcompile.schema.pod_schemas import NEWEST, OLDEST

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
