"""Print the defaulted Frameworks, or exactly what will run.

Documents of other kinds pass through. If one Framework has an error, nothing is printed at all, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any

from fcompile.check.document import Options, check_read, empty
from fcompile.check.ours import frameworks_in, is_framework, objects_in
from fcompile.commands.arguments import add_input_arguments, add_report_arguments, options, say_namespace
from fcompile.commands.overridden import name_overrides
from fcompile.commands.paths import check_paths
from fcompile.commands.progress import progress
from fcompile.commands.report import OnlyWhenFound, Reporting, fails, open_report
from fcompile.diagnostics.problem import Path, field_path
from fcompile.diagnostics.visible import at_line_start, visible
from fcompile.emit import json, yaml
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, InputError, UsageError
from fcompile.load import Document
from fcompile.pipeline import overrides
from fcompile.pipeline import selection as expected
from fcompile.pipeline.compiled import Compiled, compile_framework, lacking
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.passthrough import Passed, is_object, raw_text
from fcompile.program import say
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

REVIEW_ONLY = (
    "What will run, for review and `kubectl diff`, not for `kubectl apply`: the controller makes these objects.\n"
    "Values that only the cluster knows (uids, attempt ids, owner references) are left out."
)


Unit = Passed | Compiled


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
    only = tuple(expected.parse_only(written) for written in arguments.only)
    emit = expected.parse_emit(arguments.emit or ("pods" if only else "framework"))
    output, folder = _output(arguments.output)
    checked = options(arguments)
    check_paths(arguments.paths)
    files = Inputs(arguments.paths)
    reporting = Reporting(OnlyWhenFound(open_report("text", sys.stderr, arguments)), arguments, files.look_up)
    documents = list(_checked_documents(files, arguments, checked, reporting))
    if fails(reporting.finish(), arguments.strict):
        return EXIT_ERRORS
    units = [unit for document in documents for unit in _units(document, checked)]
    _check_names(only, units)
    _tell(units, checked, arguments)
    _print(units, emit, only, output, folder, arguments.force)
    return 0


def _output(written: str) -> tuple[str, str]:
    kind, equals, path = written.partition("=")
    if written in ("yaml", "json", "name") or (kind == "dir" and equals and path):
        return kind, path
    raise UsageError(f"-o {written}: write yaml, json, name or dir=PATH")


def _checked_documents(files: Inputs, arguments: argparse.Namespace, checked: Options, reporting: Reporting) -> Iterator[Document]:
    """Read all input, carry out the overrides, check: the documents in the order of the input."""
    opened = list(progress(files.files(), "files read"))
    documents = [document for file in opened if not file.skipped for document in file.read if isinstance(document, Document)]
    frameworks = [value for document in documents for _, value in frameworks_in(document.value)]
    try:
        applied = overrides.apply(map(overrides.parse, arguments.set), frameworks, types(NEWEST))
    except overrides.OverrideError as error:
        raise UsageError(str(error)) from None
    for file in opened:
        if file.skipped:
            reporting.checked(empty(file.name)._replace(skipped=file.skipped))
        else:
            its_own = [document for document in file.read if isinstance(document, Document)]
            reporting.checked(name_overrides(check_read(file.name, file.read, checked), its_own, applied))
    yield from documents


def _units(document: Document, checked: Options) -> Iterator[Unit]:
    for path, value in objects_in(document.value):
        if is_framework(value):
            missing = lacking(value)
            if missing is not None:
                field = field_path((*path, *missing))
                raise InputError(f"{_place(document, path)}: without `{field}` nothing can be built; no waiver helps")
            yield compile_framework(value, checked.namespace)
        elif is_object(value):
            yield Passed(value, "" if path else raw_text(document))
        else:
            say(f"left out {_place(document, path)}: not an object for a cluster")


def _place(document: Document, path: Path) -> str:
    return f"{visible(document.source.name)}:{document.locate(path).line}"


def _check_names(only: tuple[expected.Only, ...], units: list[Unit]) -> None:
    """Whatever is wrong with `--only` must be known before anything is printed."""
    compiled = [unit for unit in units if isinstance(unit, Compiled)]
    if not compiled:
        raise UsageError("no Framework found in the input")
    for one in only:
        if not any(one.picks(unit.intent.framework, role.name) for unit in compiled for role in unit.intent.roles):
            known = ", ".join(f"{unit.intent.framework}/{role.name}" for unit in compiled[:10] for role in unit.intent.roles)
            raise UsageError(f"--only: there is no role `{one.role}`; there are: {known}")
    for unit in compiled:
        list(expected.tasks(unit, only))


def _tell(units: list[Unit], checked: Options, arguments: argparse.Namespace) -> None:
    """On stderr: the namespace that was assumed, and with --verbose the fields that were filled in."""
    compiled = [unit for unit in units if isinstance(unit, Compiled)]
    assumed = [unit.intent.framework for unit in compiled if ("metadata", "namespace") in unit.filled]
    if assumed and not arguments.namespace:
        say_namespace(assumed, checked.namespace, "--namespace")
    if arguments.verbose:
        for unit in compiled:
            for path in unit.filled:
                say(f"{visible(f'{unit.namespace}/{unit.intent.framework}')}: filled in {field_path(path)}")


def _print(units: list[Unit], emit: tuple[str, ...], only: tuple[expected.Only, ...], output: str, folder: str, force: bool) -> None:
    if output == "name":
        write(f"{_name(thing)}\n" for thing in _objects(units, emit, only))
    elif output == "json":
        write(_json(units, emit, only))
    elif output == "dir":
        from fcompile.emit.folder import write as write_folder

        count = write_folder(folder, progress(_objects(units, emit, only), "objects written"), force=force)
        say(f"wrote {count} file{'s' if count != 1 else ''} to {folder}")
    else:
        write(_yaml(units, emit, only))


def _yaml(units: list[Unit], emit: tuple[str, ...], only: tuple[expected.Only, ...]) -> Iterator[str]:
    if "framework" not in emit:
        yield yaml.comment(REVIEW_ONLY)
    yield from _texts(units, emit, only, yaml.document, lambda passed: passed.raw)


def _json(units: list[Unit], emit: tuple[str, ...], only: tuple[expected.Only, ...]) -> Iterator[str]:
    objects = _objects(units, emit, only)
    first_two = [thing for thing, _ in zip(objects, range(2), strict=False)]
    if len(first_two) == 1:
        return iter([json.pretty(first_two[0])])
    return json.items(_texts(units, emit, only, json.item, lambda _: ""))


def _texts(
    units: list[Unit], emit: tuple[str, ...], only: tuple[expected.Only, ...], dump: Callable[[Any], str], raw: Callable[[Passed], str]
) -> Iterator[str]:
    # On a terminal the documents themselves show how far it is.
    for unit in units if sys.stdout.isatty() else progress(units, "documents written"):
        if isinstance(unit, Passed):
            if "framework" in emit:
                yield raw(unit) or dump(unit.value)
        else:
            yield from map(dump, expected.shared(unit, emit))
            if "pods" in emit:
                yield from expected.pod_texts(unit, only, dump)


def _objects(units: list[Unit], emit: tuple[str, ...], only: tuple[expected.Only, ...]) -> Iterator[Any]:
    for unit in units:
        if isinstance(unit, Passed):
            if "framework" in emit:
                yield unit.value
        else:
            yield from expected.shared(unit, emit)
            if "pods" in emit:
                yield from expected.pod_objects(unit, only)


def _name(thing: Any) -> str:
    """`kind.group/name`, as kubectl's `-o name` prints it."""
    group = str(thing.get("apiVersion", "")).rpartition("/")[0] if isinstance(thing, dict) else ""
    kind = str(thing.get("kind", "")).lower() if isinstance(thing, dict) else ""
    metadata = thing.get("metadata") if isinstance(thing, dict) else None
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return at_line_start(visible(f"{kind}.{group}/{name}" if group else f"{kind}/{name}"))
