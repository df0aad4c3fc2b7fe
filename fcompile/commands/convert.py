"""Convert jobs of Kubeflow (PyTorchJob, TFJob, MPIJob, JAXJob, XGBoostJob, PaddleJob, TrainJob, JobSet) to Frameworks.

The Frameworks go to stdout, with comments where somebody must look, and the report to stderr. Other documents pass through. The exit
code is 1 when a job is refused or a document cannot be read, and with --strict also when something is different.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from fcompile.check.document import Options
from fcompile.commands.arguments import check_paths
from fcompile.commands.convert_output import write_folder
from fcompile.convert.conversion import Conversion
from fcompile.convert.report import FORMATS, report
from fcompile.diagnostics.visible import visible
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, UsageError
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.settings import DEFAULT_KUBERNETES, options
from fcompile.program import say


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders; - is the standard input")
    parser.add_argument("--to", metavar="FOLDER", help="write a file for each file of the input there, instead of one stream")
    parser.add_argument("--force", action="store_true", help="with --to: replace files that are there and differ")
    parser.add_argument("--format", default="text", choices=FORMATS, help="of the report: text (the default), markdown or json")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when something is different")
    parser.add_argument("--namespace", default="default", metavar="NAME", help="of jobs that name none, to compare names: default")
    parser.add_argument("-v", "--verbose", action="store_true", help="report also what is converted, and what changes nothing")


def run(arguments: argparse.Namespace) -> int:
    """Convert everything, report, and print."""
    check_paths(arguments.paths)
    if find_spec("ruamel") is None or find_spec("ruamel.yaml") is None:
        raise UsageError("convert needs ruamel.yaml: install fcompile with the extra `convert`")
    asked: Options = options(DEFAULT_KUBERNETES, arguments.namespace)
    conversion = Conversion(Inputs(arguments.paths).files(), asked)
    for error in conversion.unreadable:
        say(f"{visible(error.name)}:{error.span.line}:{error.span.column}: {visible(error.message)}")
    sys.stderr.writelines(report(conversion, arguments.format, verbose=arguments.verbose))
    if arguments.to is not None:
        write_folder(arguments.to, conversion.files, force=arguments.force)
    else:
        write([conversion.text()])
    failed = conversion.refused or conversion.unreadable or (arguments.strict and conversion.different)
    return EXIT_ERRORS if failed else 0
