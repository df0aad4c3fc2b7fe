"""Show what will run differently, and what each change does to a Framework that runs.

Exit codes: 0 nothing differs, 1 something does, 2 trouble (errors in the input too). With `--fail-on ends-pods` 1 means
that something ends Pods before their own completion, and 0 that nothing does.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator

from fcompile.commands.arguments import add_report_arguments, add_version_argument, check_paths, options
from fcompile.commands.comparison_input import File, is_small, read_side
from fcompile.commands.report import text_style
from fcompile.diff.result import Result, compare_all
from fcompile.emit.stdout import write
from fcompile.errors import UsageError
from fcompile.load import LoadError
from fcompile.load.files import FileEntry, find

EXIT_DIFFERENT, EXIT_TROUBLE = 1, 2
FAIL_ON = ("difference", "ends-pods")
FORMATS = ("text", "markdown", "json", "html")
_KUBECTL = re.compile(r"(?:LIVE|MERGED)-[0-9]+")
"""The folders that `kubectl diff` makes. What is in them has no `.yaml` at its end."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.usage = "%(prog)s [options] OLD NEW\n       %(prog)s [options] --git REV[..REV] [PATH…]\n       %(prog)s [options] --live PATH…"
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="OLD and NEW, each a file, a folder or - for stdin; with --git, only these paths"
    )
    parser.add_argument(
        "--git",
        metavar="REV[..REV]",
        help="compare a revision with the working tree; A..B: two revisions; A...B: what B changed since it left A",
    )
    parser.add_argument("--live", action="store_true", help="compare what runs in the cluster with the files; asks kubectl")
    parser.add_argument("--context", default="", metavar="NAME", help="with --live: the context of the kubeconfig")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how the differences are printed (default: %(default)s)")
    parser.add_argument("-n", "--namespace", metavar="NAME", help="the namespace of Frameworks that give none (default: default)")
    fail_on = "exit with 1 for any difference, or only for what ends Pods before they complete (default: %(default)s)"
    parser.add_argument("--fail-on", choices=FAIL_ON, default=FAIL_ON[0], help=fail_on)
    add_version_argument(parser)
    add_report_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read both sides, compare them, print."""
    result = _live(arguments) if arguments.live else _compared(arguments)
    if result is None:
        return EXIT_TROUBLE
    write(_formatted(result, arguments))
    fails = result.ends_pods if arguments.fail_on == "ends-pods" else result.differs
    return EXIT_DIFFERENT if fails else 0


def _compared(arguments: argparse.Namespace) -> Result | None:
    checked = options(arguments)
    old, new = _files(arguments)
    before, after = read_side(old, checked, arguments), read_side(new, checked, arguments)
    if before is None or after is None:
        return None
    return compare_all(before.frameworks, after.frameworks, (before.objects, after.objects))


def _live(arguments: argparse.Namespace) -> Result | None:
    from fcompile.commands import live

    if not arguments.paths or arguments.git is not None:
        raise UsageError("--live compares the cluster with files: name these, and nothing else to compare with")
    check_paths(arguments.paths)
    checked = options(arguments)
    after = read_side([file for path in arguments.paths for _, file in _read(path)], checked, arguments)
    if after is None:
        return None
    before = read_side(live.frameworks(after.frameworks, arguments.context), checked, arguments)
    if before is None:
        return None
    there = {key: live.as_applied(side, after.frameworks[key]) for key, side in before.frameworks.items()}
    running = live.running(there, after.frameworks, arguments.context)
    return compare_all(there, after.frameworks, ({}, {}))._replace(live=tuple(running))


def _files(arguments: argparse.Namespace) -> tuple[Iterable[File], Iterable[File]]:
    if arguments.git is not None:
        from fcompile.commands.git import changed

        return changed(arguments.git, arguments.paths)
    if len(arguments.paths) != 2:
        raise UsageError("name two things to compare, OLD and NEW, or use --git or --live")
    check_paths(arguments.paths)
    old, new = (dict(_read(path)) for path in arguments.paths)
    same = {name for name, file in old.items() if name in new and new[name].data == file.data and isinstance(file.data, bytes)}
    return tuple([file for name, file in side.items() if name not in same] for side in (old, new))  # type: ignore[return-value]


def _read(path: str) -> Iterator[tuple[str, File]]:
    """The files behind a path, each with what it is called below that."""
    for entry in _entries(path):
        if entry.error is None and os.path.isfile(entry.path) and not is_small(entry.name, os.path.getsize(entry.path)):
            continue
        try:
            data: bytes | LoadError = entry.read()
        except LoadError as error:
            data = error
        yield entry.path.removeprefix(path), File(entry, data)


def _entries(path: str) -> Iterable[FileEntry]:
    if _KUBECTL.fullmatch(os.path.basename(path.rstrip("/"))) and os.path.isdir(path):
        with os.scandir(path) as found:
            return [FileEntry(entry.name, entry.path) for entry in sorted(found, key=lambda one: one.name) if entry.is_file()]
    return find([path])


def _formatted(result: Result, arguments: argparse.Namespace) -> Iterable[str]:
    if arguments.format == "markdown":
        from fcompile.diff import markdown

        return markdown.write(result)
    if arguments.format == "json":
        from fcompile.diff import json

        return json.write(result)
    if arguments.format == "html":
        return _html(result)
    from fcompile.diff.text import Painter

    style = text_style(arguments.color, sys.stdout)
    return Painter(style.color, style.width).write(result)


def _html(result: Result) -> Iterable[str]:
    from fcompile.diff import html

    try:
        return html.write(result)
    except ImportError:
        raise UsageError("--format html needs jinja2: pip install 'jinja2>=3.1,<4'") from None
