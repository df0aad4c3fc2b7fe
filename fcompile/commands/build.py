"""`fcompile build`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import click

from fcompile.commands.group import command, completed
from fcompile.commands.option_values import check_folder, check_paths, checked_with, parsed
from fcompile.commands.options import kubernetes_version, namespace, paths, reporting, set_
from fcompile.commands.parsing import former
from fcompile.commands.progress import progress
from fcompile.commands.report import (
    OnlyWhenFound,
    WriterListener,
    fails,
    hint,
    holds_current_folder,
    open_report,
    say_namespace,
    waivers_file,
)
from fcompile.diagnostics.problem import field_path
from fcompile.diagnostics.visible import at_line_start, visible
from fcompile.diagnostics.writer import ColorChoice, counted
from fcompile.emit import json, yaml
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, UsageError
from fcompile.load.files import IGNORE_FILE
from fcompile.model.values import mapping
from fcompile.pipeline.compilation import Compilation
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.passthrough import PassedThrough
from fcompile.pipeline.selection import Selection, selection
from fcompile.program import say

REVIEW_ONLY = (
    "What will run, for review and `kubectl diff`, not for `kubectl apply`: the controller makes these objects.\n"
    "Values that only the cluster knows (uids, attempt ids, owner references) are left out."
)


FORMATS = ("yaml", "json", "name")


def _now(output: str) -> dict[str, str]:
    """Return what --output's value is as --format or --to."""
    kind, equals, folder = output.partition("=")
    if kind == "dir" and equals and folder:
        return {"to": folder}
    if output not in FORMATS:
        raise UsageError(f"-o {output}: write --format yaml, --format json, --format name or --to FOLDER")
    return {"format": output}


@command(
    page="expected-manifests.md",
    examples={
        "fcompile build train.yaml": "the Frameworks with every default and their digest, to be applied",
        "fcompile build --emit expected train.yaml | kubectl diff -f -": "is what runs what was reviewed?",
        "fcompile build --emit frameworks,expected --to compiled k8s": "a file per object, swapped in as a whole",
    },
)
@paths
@namespace
@kubernetes_version
@click.option(
    "--emit",
    metavar="LIST",
    shell_complete=completed("kinds"),
    help="what to print, separated by commas: frameworks, expected (= configmaps,services,pods)  [default: frameworks]",
)
@click.option("--format", type=click.Choice(FORMATS), default="yaml", show_default=True, help="how it is printed")
@click.option("--to", metavar="FOLDER", shell_complete=completed("folder"), help="write a file per object (YAML) into this folder")
@former(
    "-o",
    "--output",
    metavar="FORMAT",
    shell_complete=completed("output"),
    now=_now,
    help="--format FORMAT, or --to FOLDER for dir=FOLDER",
)
@click.option("--force", is_flag=True, help="with --to: also replace files that were edited since they were written")
@set_
@click.option(
    "--only",
    multiple=True,
    metavar="ROLE[INDEX]",
    shell_complete=completed("task"),
    help="only these tasks' Pods: [framework/]role or role[index]; may be given again",
)
@click.option("-v", "--verbose", is_flag=True, help="say on stderr which fields were filled in by default")
@reporting
def build(
    *,
    paths: tuple[str, ...],
    namespace: str | None,
    kubernetes_version: str,
    emit: str | None,
    format: str,
    to: str | None,
    force: bool,
    overrides: tuple[str, ...],
    only: tuple[str, ...],
    verbose: bool,
    strict: bool,
    waivers: str | None,
    color: ColorChoice,
) -> int:
    """Print the defaulted Frameworks, or exactly what will run.

    Documents of other kinds pass through. If one Framework has an error, nothing is printed at all, and the exit code is 1.
    """
    wanted = selection(("pods" if only else "framework") if emit is None else emit, only)
    if to is None and force:
        raise UsageError("--force replaces files in a folder: name it with --to FOLDER")
    if to is not None:
        check_folder(to)
        if format != "yaml":
            raise UsageError("--to writes YAML into a folder: --format goes with the standard output")
    checked, asked = checked_with(kubernetes_version, namespace), parsed(overrides)
    wanted = wanted._replace(version=checked.version)
    waived, whole = waivers_file(waivers), holds_current_folder(paths)
    check_paths(paths)
    files = Inputs(paths)
    compilation = Compilation(progress(files.files(), "files read"), checked, asked, waived, whole)
    listener = WriterListener(OnlyWhenFound(open_report("text", sys.stderr, color)))
    if fails(compilation.report(listener), strict):
        _tell_others(compilation.unreadable_files_of_others())
        return EXIT_ERRORS
    units = list(_units(compilation))
    compiled = [unit for unit in units if isinstance(unit, Compiled)]
    if not compiled:
        advice = hint(files)
        raise UsageError("no Framework found in the input" + (f": {advice}" if advice else ""))
    wanted.require(compiled)  # Whatever is wrong with it must be known before anything is printed.
    if not namespace:
        _tell_namespace(compiled, checked.namespace)
    if verbose:
        _tell_defaults(compiled)
    if to is not None:
        _write_folder(to, _objects(units, wanted), force)
    else:
        _print(units, wanted, format)
    return 0


def _units(compilation: Compilation) -> Iterator[Compiled | PassedThrough]:
    for unit in compilation.units():
        compiled = unit.compiled()
        if isinstance(compiled, Compiled) or compiled.is_object:
            yield compiled
        else:
            say(f"left out {unit.location}: not an object for a cluster")


def _tell_others(files: list[str]) -> None:
    """Say why `validate` has nothing against these files: whoever applies the output would miss what is in them."""
    for file in files[:3]:
        say(
            f"{visible(file)}: no Framework is recognized in it, but what cannot be read cannot be passed through: "
            f"render it first if it is a template, or list it in {IGNORE_FILE}"
        )


def _tell_namespace(compiled: list[Compiled], namespace: str) -> None:
    assumed = [unit.intent.framework for unit in compiled if ("metadata", "namespace") in unit.filled]
    if assumed:
        say_namespace(assumed, namespace, "--namespace")


def _tell_defaults(compiled: list[Compiled]) -> None:
    for unit in compiled:
        for path in unit.filled:
            say(f"{visible(f'{unit.namespace}/{unit.intent.framework}')}: filled in {field_path(path)}")


def _print(units: list[Compiled | PassedThrough], wanted: Selection, format: str) -> None:
    if format == "name":
        write(f"{_name(thing)}\n" for thing in _objects(units, wanted))
    elif format == "json":
        write(_json(units, wanted))
    else:
        write(_yaml(units, wanted))


def _write_folder(folder: str, objects: Iterator[Any], force: bool) -> None:
    from fcompile.emit.folder import EditedError
    from fcompile.emit.folder import write as write_folder

    try:
        count = write_folder(folder, progress(objects, "objects written"), force=force)
    except EditedError as error:
        raise UsageError(f"{error}, or use --force to lose the edits") from None
    say(f"wrote {counted(count, 'file')} to {folder}")


def _yaml(units: list[Compiled | PassedThrough], wanted: Selection) -> Iterator[str]:
    if "framework" not in wanted.kinds:
        yield yaml.comment(REVIEW_ONLY)
    for unit in _shown(units):
        yield from wanted.texts(unit, yaml.document, verbatim=True)


def _json(units: list[Compiled | PassedThrough], wanted: Selection) -> Iterator[str]:
    first_two = list(islice(_objects(units, wanted), 2))
    if len(first_two) == 1:
        return iter([json.pretty(first_two[0])])
    return json.items(text for unit in _shown(units) for text in wanted.texts(unit, json.item))


def _shown(units: list[Compiled | PassedThrough]) -> Iterable[Compiled | PassedThrough]:
    """Return the units, with progress; on a terminal the documents themselves show how far it is."""
    return units if sys.stdout.isatty() else progress(units, "documents written")


def _objects(units: list[Compiled | PassedThrough], wanted: Selection) -> Iterator[Any]:
    return (thing for unit in units for thing in wanted.objects(unit))


def _name(thing: dict[str, Any]) -> str:
    """Return `kind.group/name`, as kubectl's `-o name` prints it."""
    group, kind = thing["apiVersion"].rpartition("/")[0], thing["kind"].lower()
    name = mapping(thing, "metadata").get("name", "")
    return at_line_start(visible(f"{kind}.{group}/{name}" if group else f"{kind}/{name}"))
