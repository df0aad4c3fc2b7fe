"""`fcompile convert`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import click

from fcompile.commands.group import command, completed
from fcompile.commands.option_values import check_folder, check_paths, checked_with
from fcompile.commands.options import paths
from fcompile.commands.progress import progress
from fcompile.convert.conversion import Conversion, Converted
from fcompile.convert.report import FORMATS, report
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import counted
from fcompile.emit.files import write as write_files
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, UsageError
from fcompile.load.files import STDIN, is_within, read_regular
from fcompile.pipeline.file import open_for_jobs
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.settings import DEFAULT_KUBERNETES
from fcompile.program import say, say_first

_SHOWN = 10
"""Files and documents that are left out."""


@command(
    page="kubeflow.md",
    examples={
        "fcompile convert job.yaml": "a Framework on stdout, and what is different on stderr",
        "fcompile convert --to frameworks --format markdown k8s 2> report.md": "a file for each file, and a report for a review",
    },
)
@paths
@click.option(
    "--to", metavar="FOLDER", shell_complete=completed("folder"), help="write a file for each file of the input there, not one stream"
)
@click.option("--force", is_flag=True, help="with --to: replace files that are there and differ")
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="how the report on stderr is printed")
@click.option("--strict", is_flag=True, help="exit with 1 when something is different")
@click.option("-n", "--namespace", metavar="NAME", help="the namespace of jobs that give none  [default: their Frameworks give none]")
@click.option("-v", "--verbose", is_flag=True, help="report also what is converted, and what changes nothing")
def convert(*, paths: tuple[str, ...], to: str | None, force: bool, format: str, strict: bool, namespace: str | None, verbose: bool) -> int:
    """Convert jobs of Kubeflow to Frameworks: PyTorchJob, TFJob, MPIJob, JAXJob, XGBoostJob, PaddleJob, TrainJob, JobSet.

    The Frameworks go to stdout, with comments where somebody must look, and the report to stderr. Other documents pass through. Exit
    code 1 when a job is refused or a document cannot be read (with --strict: or when something is different).
    """
    if force and to is None:
        raise UsageError("--force replaces files in a folder: name it with --to FOLDER")
    if verbose and format == "json":
        raise UsageError("--verbose: JSON has every field already")
    if to is not None:
        check_folder(to)
    check_paths(paths)
    if find_spec("ruamel") is None or find_spec("ruamel.yaml") is None:
        advice = "in a clone `pip install '.[convert]'`, else see docs/install.md#extras"
        raise UsageError(f"ruamel.yaml is not installed: it comes with the extra `convert`: {advice}")
    options = checked_with(DEFAULT_KUBERNETES, namespace)
    conversion = Conversion(progress(Inputs(paths).files(open_for_jobs), "files read"), options, namespace)
    if not conversion.accounts and not conversion.frameworks and not conversion.unreadable:
        if conversion.skipped:
            _tell_left_out(conversion)
        raise UsageError(f"there is no job of Kubeflow in the input{conversion.found()}")
    wanted: dict[str, str] = {}
    if to is not None:
        _refuse_to_overwrite(to, conversion)
        wanted = _checked_folder(to, conversion.files, force=force)
    if format != "json":
        _tell_left_out(conversion)
        _tell("passed through", conversion.by_hand)
    for error in conversion.unreadable if format != "json" else ():  # there it is in the document, and nothing else may be on stderr
        say(f"{visible(error.file)}:{error.span.line}:{error.span.column}: {visible(error.message)}")
    sys.stderr.writelines(report(conversion, format, verbose=verbose))
    if to is not None:
        write_files(to, wanted)
        if format != "json":
            say(f"wrote {counted(len(wanted), 'file')} to {to}" if wanted else f"nothing is written to {to}")
            _tell_left_over(to, conversion)
    else:
        write(conversion.texts())
    failed = conversion.refused or conversion.unreadable or (strict and conversion.differences)
    if strict and conversion.differences and format != "json":
        say("--strict: what is different makes the exit code 1")
    return EXIT_ERRORS if failed else 0


def _tell_left_out(conversion: Conversion) -> None:
    """Name the files and documents that are neither converted nor passed through."""
    _tell("skipped", conversion.skipped)
    _tell("left out", conversion.left_out)


def _tell(what: str, found: list[tuple[str, str]]) -> None:
    say_first([f"{what} {visible(place)}: {reason}" for place, reason in found], _SHOWN, f"{what} {{}} more")


def _refuse_to_overwrite(to: str, conversion: Conversion) -> None:
    """Raise UsageError when a file of the input is in the folder: what is written there could take its place."""
    folder = os.path.realpath(to)
    for file in conversion.files:
        if file.name != STDIN and is_within(os.path.realpath(file.name), folder):
            raise UsageError(f"{to} holds files that are read: name another folder")


def _tell_left_over(to: str, conversion: Conversion) -> None:
    """Name each file of an earlier run whose job is refused now: nothing was written over it."""
    refused = {account.file for account in conversion.refused}
    for name, file in _named(conversion.files).items():
        path = os.path.join(to, name)
        if file.name in refused and not any(file.texts) and os.path.lexists(path):
            say(f"{visible(path)} is from an earlier run: its job is refused now")


def _checked_folder(folder: str, files: list[Converted], *, force: bool) -> dict[str, str]:
    """Return what is to be written, by the names of files. Raises UsageError when one is there and differs, or is a link."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--to {visible(folder)}: it is not a folder")
    wanted = {name: text for name, file in _named(files).items() if (text := "".join(file.texts))}
    for name, text in wanted.items():
        path = os.path.join(folder, name)
        if not force and os.path.lexists(path) and _data_of(path) != text.encode():
            raise UsageError(f"{visible(path)} is there and differs: use --force to replace it, or another folder")
    return wanted


def _named(files: list[Converted]) -> dict[str, Converted]:
    """Return the files by the names that they get, below the folder that all files of the input have in common."""
    paths = [os.path.abspath(file.name) for file in files if file.name != STDIN]
    try:
        top = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""  # noqa: TID251
    except ValueError:
        raise UsageError("the files are on different drives: convert those of one drive at a time") from None
    found: dict[str, Converted] = {}
    for file in files:
        name = "stdin.yaml" if file.name == STDIN else os.path.relpath(os.path.abspath(file.name), top)
        if name.endswith(".json") and any(file.texts):
            name = f"{name.removesuffix('.json')}.yaml"  # what is written is YAML
        if name in found:
            both = f"{visible(found[name].name)} and {visible(file.name)}"
            raise UsageError(f"{both} would both be written as {visible(name)}: convert them into two folders")
        found[name] = file
    return found


def _data_of(path: str) -> bytes | None:
    """Return what is in a file; None: it is a link, which would be replaced, or none that can be read."""
    try:
        return None if os.path.islink(path) else read_regular(path)
    except OSError:
        return None
