"""Find every problem in Frameworks, with its place and, where one is certain, its fix.

Documents of other kinds are skipped. Exit code 1 when there is an error (with --strict: or a warning; with --require: or no Framework).
"""

from __future__ import annotations

import argparse
import sys

from fcompile.commands.arguments import add_input_arguments, add_report_arguments, check_paths, options
from fcompile.commands.progress import progress
from fcompile.commands.report import Telling, fails, holds_current_folder, open_report, waivers_file
from fcompile.diagnostics import FORMATS
from fcompile.diagnostics.writer import summary_line
from fcompile.errors import EXIT_ERRORS, ProcessError, UsageError
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.reporting import report
from fcompile.program import say

_MOST_JOBS = 256


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add_input_arguments(parser)
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="how problems are printed (default: %(default)s)")
    jobs = "how many processes check files (default: one per core when there are many files)"
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help=jobs)
    parser.add_argument("--require", action="store_true", help="fail when there is no Framework: a wrong path or an empty output")
    add_report_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check all inputs and report."""
    checked_with = options(arguments)
    if arguments.jobs is not None and not 1 <= arguments.jobs <= _MOST_JOBS:
        raise UsageError(f"--jobs {arguments.jobs}: write a number from 1 to {_MOST_JOBS}")
    check_paths(arguments.paths)
    files = Inputs(arguments.paths)
    checked = progress(files.checked(checked_with, arguments.jobs), "files checked")
    telling = Telling(open_report(arguments.format, sys.stdout, arguments.color))
    try:
        summary = report(checked, files.look_up, telling, waivers_file(arguments.waivers), holds_current_folder(arguments.paths))
    except ProcessError as error:
        raise UsageError(f"{error}; if memory is short, `--jobs 1` needs the least") from None
    if arguments.format != "text":
        # There stdout is for a machine: what it came to is said to people here.
        say(summary_line(summary))
    if arguments.require and not summary.frameworks:
        say("--require: there is no Framework in the input")
        return EXIT_ERRORS
    return EXIT_ERRORS if fails(summary, arguments.strict) else 0
