"""Print the defaulted Frameworks, or exactly what will run.

Documents of other kinds pass through. If one Framework has an error, nothing is printed at all, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from fcompile.commands.arguments import add_input_arguments, add_report_arguments, check_paths, options, overrides, say_namespace
from fcompile.commands.progress import progress
from fcompile.commands.report import OnlyWhenFound, Telling, fails, holds_current_folder, open_report, waivers_file
from fcompile.diagnostics.problem import field_path
from fcompile.diagnostics.visible import at_line_start, visible
from fcompile.emit import json, yaml
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, InputError, UsageError
from fcompile.pipeline.compilation import Compilation, Refused
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.passthrough import PassedThrough
from fcompile.pipeline.selection import Selection, selection
from fcompile.program import say

REVIEW_ONLY = (
    "What will run, for review and `kubectl diff`, not for `kubectl apply`: the controller makes these objects.\n"
    "Values that only the cluster knows (uids, attempt ids, owner references) are left out."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add_input_arguments(parser)
    parser.add_argument(
        "--emit",
        metavar="LIST",
        help="what to print, separated by commas: framework (the default), expected (= configmap,services,pods)",
    )
    parser.add_argument(
        "-o", "--output", default="yaml", metavar="FORMAT", help="yaml (the default), json, name, or dir=PATH: a file per object"
    )
    parser.add_argument("--force", action="store_true", help="with dir=PATH: also replace files that were edited since they were written")
    parser.add_argument(
        "--set", action="append", default=[], metavar="ROLE.FIELD=VALUE", help="set a field of a role: [framework/]role.field=value"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="ROLE[INDEX]", help="only these tasks' Pods: [framework/]role or role[index]"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say on stderr which fields were filled in by default")
    add_report_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check everything, then print everything, or nothing."""
    wanted = selection(arguments.emit or ("pods" if arguments.only else "framework"), arguments.only)
    output, folder = _output(arguments.output)
    checked, asked = options(arguments), overrides(arguments)
    waivers, whole = waivers_file(arguments.waivers), holds_current_folder(arguments.paths)
    check_paths(arguments.paths)
    compilation = Compilation(progress(Inputs(arguments.paths).files(), "files read"), checked, asked, waivers, whole)
    telling = Telling(OnlyWhenFound(open_report("text", sys.stderr, arguments.color)))
    if fails(compilation.report(telling), arguments.strict):
        return EXIT_ERRORS
    units = list(_units(compilation))
    compiled = [unit for unit in units if isinstance(unit, Compiled)]
    if not compiled:
        raise UsageError("no Framework found in the input")
    wanted.require(compiled)  # Whatever is wrong with it must be known before anything is printed.
    _tell(compiled, checked.namespace, arguments)
    _print(units, wanted, output, folder, arguments.force)
    return 0


def _output(written: str) -> tuple[str, str]:
    kind, equals, path = written.partition("=")
    if written in ("yaml", "json", "name") or (kind == "dir" and equals and path):
        return kind, path
    raise UsageError(f"-o {written}: write yaml, json, name or dir=PATH")


def _units(compilation: Compilation) -> Iterator[Compiled | PassedThrough]:
    for unit in compilation.units():
        if isinstance(unit.result, Refused):
            raise InputError(unit.refusal(unit.result))
        if isinstance(unit.result, Compiled) or unit.result.is_object:
            yield unit.result
        else:
            say(f"left out {unit.place}: not an object for a cluster")


def _tell(compiled: list[Compiled], namespace: str, arguments: argparse.Namespace) -> None:
    """Say on stderr which namespace was assumed, and with --verbose which fields were filled in."""
    assumed = [unit.intent.framework for unit in compiled if ("metadata", "namespace") in unit.filled]
    if assumed and not arguments.namespace:
        say_namespace(assumed, namespace, "--namespace")
    if arguments.verbose:
        for unit in compiled:
            for path in unit.filled:
                say(f"{visible(f'{unit.namespace}/{unit.intent.framework}')}: filled in {field_path(path)}")


def _print(units: list[Compiled | PassedThrough], wanted: Selection, output: str, folder: str, force: bool) -> None:
    if output == "name":
        write(f"{_name(thing)}\n" for thing in _objects(units, wanted))
    elif output == "json":
        write(_json(units, wanted))
    elif output == "dir":
        _write_folder(folder, _objects(units, wanted), force)
    else:
        write(_yaml(units, wanted))


def _write_folder(folder: str, objects: Iterator[Any], force: bool) -> None:
    from fcompile.emit.folder import EditedError
    from fcompile.emit.folder import write as write_folder

    try:
        count = write_folder(folder, progress(objects, "objects written"), force=force)
    except EditedError as error:
        raise UsageError(f"{error}, or use --force to lose the edits") from None
    say(f"wrote {count} file{'s' if count != 1 else ''} to {folder}")


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


def _name(thing: Any) -> str:
    """`kind.group/name`, as kubectl's `-o name` prints it."""
    group = str(thing.get("apiVersion", "")).rpartition("/")[0] if isinstance(thing, dict) else ""
    kind = str(thing.get("kind", "")).lower() if isinstance(thing, dict) else ""
    metadata = thing.get("metadata") if isinstance(thing, dict) else None
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return at_line_start(visible(f"{kind}.{group}/{name}" if group else f"{kind}/{name}"))
