"""`fcompile validate`."""

from __future__ import annotations

import sys

import click

from fcompile.commands.group import command
from fcompile.commands.option_values import check_paths, checked_with
from fcompile.commands.options import Count, kubernetes_version, namespace, paths, reporting
from fcompile.commands.progress import progress
from fcompile.commands.report import Strict, WriterListener, fails, hint, holds_current_folder, open_report, waivers_file
from fcompile.diagnostics import FORMATS
from fcompile.diagnostics.writer import ColorChoice, summary_line
from fcompile.errors import EXIT_ERRORS, ProcessError, UsageError
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.reporting import report
from fcompile.program import say

_MOST_JOBS = 256
_FAILING = ("junit", "github")
"""Formats that say what has failed."""


@command(
    page="diagnostics.md",
    examples={
        "fcompile validate .": "every problem in the files of this folder",
        "fcompile validate --strict --format sarif k8s > found.sarif": "for code scanning; warnings fail too",
    },
)
@paths
@namespace
@kubernetes_version
@click.option("--format", type=click.Choice(tuple(FORMATS)), default="text", show_default=True, help="how problems are printed")
@click.option(
    "-j",
    "--jobs",
    type=Count(1, _MOST_JOBS),
    metavar="N",
    help="how many processes check files  [default: one per core when there are many files]",
)
@click.option("--require", is_flag=True, help="fail when there is no Framework: a wrong path or an empty output")
@reporting
def validate(
    *,
    paths: tuple[str, ...],
    namespace: str | None,
    kubernetes_version: str,
    format: str,
    jobs: int | None,
    require: bool,
    strict: bool,
    waivers: str | None,
    color: ColorChoice,
) -> int:
    """Find every problem in Frameworks, with its place and, where one is certain, its fix.

    Documents of other kinds are skipped. Exit code 1 when there is an error (with --strict: or a warning; with --require: or no
    Framework).
    """
    # What is validated goes to the cluster as it is: no command compiles it again.
    options = checked_with(kubernetes_version, namespace)._replace(digests=True)
    check_paths(paths)
    files = Inputs(paths)
    checked = progress(files.checked(options, jobs), "files checked")
    writer = open_report(format, sys.stdout, color)
    listener = WriterListener(Strict(writer) if strict and format in _FAILING else writer)
    try:
        summary = report(checked, files.look_up, listener, waivers_file(waivers), holds_current_folder(paths))
    except ProcessError as error:
        raise UsageError(f"{error}; if memory is short, try `--jobs 1`") from None
    if format != "text":
        # There stdout is for a machine: what it came to is said to people here.
        say(summary_line(summary))
    if not summary.frameworks and not summary.errors and (advice := hint(files)):
        say(advice)
    if fails(summary, strict):
        return EXIT_ERRORS  # what has an error may be the Framework that is missed
    if require and not summary.frameworks:
        say("--require: there is no Framework in the input")
        return EXIT_ERRORS
    return 0
