"""`fcompile diff`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module

import click

from fcompile.check.tool_files import FileKind
from fcompile.commands.comparison_input import Contents, RawFile, read_side
from fcompile.commands.group import argument, command, completed
from fcompile.commands.option_values import check_paths, checked_with, is_there
from fcompile.commands.options import kubernetes_version, namespace, reporting
from fcompile.commands.report import WriterListener, open_errors, text_style, waivers_file
from fcompile.diagnostics.visible import first_of, visible
from fcompile.diagnostics.writer import ColorChoice
from fcompile.diff.result import Result, compare_all
from fcompile.emit.stdout import write
from fcompile.errors import UsageError
from fcompile.load.files import FileEntry, find, may_hold_framework
from fcompile.pipeline.file import open_file, why_skipped
from fcompile.program import say

Reader = Callable[[Iterable[RawFile]], Contents | None]
EXIT_DIFFERENT, EXIT_TROUBLE = 1, 2
FAIL_ON = ("difference", "ends-pods")
FORMATS = ("text", "markdown", "json", "html")
_KUBECTL = re.compile(r"(?:LIVE|MERGED)-[0-9]+")
"""The folders that `kubectl diff` makes. What is in them has no `.yaml` at its end."""


@command(
    page="diff.md",
    usages=("[OPTIONS] OLD NEW", "[OPTIONS] --git REV[..REV] [PATH]...", "[OPTIONS] --live PATH..."),
    examples={
        "fcompile diff --git main...HEAD": "what this branch changes",
        "fcompile diff --live --fail-on ends-pods k8s": "would applying these files end Pods of the cluster?",
    },
)
@argument(
    "paths",
    nargs=-1,
    metavar="PATH...",
    shell_complete=completed("file"),
    help="OLD and NEW, each a file, a folder or - for stdin; with --git, only these paths",
)
@click.option(
    "--git",
    metavar="REV[..REV]",
    shell_complete=completed("revision"),
    help="compare a revision with the working tree; A..B: two revisions; A...B: what B changed since it left A",
)
@click.option("--live", is_flag=True, help="compare what runs in the cluster with the files; asks kubectl")
@click.option("--context", metavar="NAME", help="with --live: the context of the kubeconfig")
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="how the differences are printed")
@namespace
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default=FAIL_ON[0],
    show_default=True,
    help="exit with 1 for any difference, or only for what ends Pods before they complete",
)
@click.option("--require", is_flag=True, help="fail when there is no Framework on either side: a wrong path or an empty output")
@kubernetes_version
@reporting
def diff(
    *,
    paths: tuple[str, ...],
    git: str | None,
    live: bool,
    context: str | None,
    format: str,
    namespace: str | None,
    fail_on: str,
    require: bool,
    kubernetes_version: str,
    strict: bool,
    waivers: str | None,
    color: ColorChoice,
) -> int:
    """Show what will run differently, and what each change does to a Framework that runs.

    Exit codes: 0 nothing differs, 1 something does, 2 trouble (errors in the input too). With `--fail-on ends-pods` 1 means that
    something ends Pods before their own completion, and 0 that nothing does.
    """
    if context is not None and not live:
        raise UsageError("--context names a cluster: it goes with --live")
    checked, said = checked_with(kubernetes_version, namespace), set[tuple[str, str]]()

    def read(files: Iterable[RawFile]) -> Contents | None:
        return read_side(files, checked, waivers_file(waivers), WriterListener(open_errors(color, strict), said), strict)

    if live:
        if git is not None:
            raise UsageError("--live compares files with the cluster, --git with a revision: give one of the two")
        if not paths:
            raise UsageError("--live compares files with the cluster: name the files")
        result = _with_cluster(paths, read, context or "")
    elif git is not None:
        if require:
            raise UsageError("--require does not go with --git, which looks only at files that differ: leave one of the two out")
        from fcompile.commands.git.revisions import called
        from fcompile.commands.git.sides import changed

        with changed(git, paths) as files:
            result = _compared(files, read, called(git))
    else:
        different, same = _named(paths)
        result = _compared(different, read)
        if result is not None and result.all_gone and not any(map(_holds_framework, same)):
            nothing = "there is no Framework on either side"
            if not result.compared and require:
                raise UsageError(f"--require: {nothing}")
            say("there is no Framework in NEW: each one of OLD counts as gone" if result.compared else nothing)
    if result is None:
        return EXIT_TROUBLE
    write(_formatted(result, format, color))
    fails = result.ends_pods if fail_on == "ends-pods" else result.differs
    if fail_on == "ends-pods":
        _say_what_is_not_known(result)
    return EXIT_DIFFERENT if fails else 0


def _say_what_is_not_known(result: Result) -> None:
    """Name what may end Pods though the gate lets it pass."""
    built, hidden, changed = list[str](), list[str](), list[str]()
    refused = [visible(f"{one.namespace}/{one.name}") for one in result.frameworks if one.refused_but_ends_pods]
    moved = [visible(f"{one.namespace}/{one.name}") for one in result.frameworks if one.may_move and not one.ends_pods]
    for one in result.objects:
        if one.is_file and one.kind != FileKind.UNREAD:
            (hidden if one.kind == FileKind.HIDDEN else built).append(visible(one.after or one.before))
        elif one.is_file or one.may_end_pods:
            changed.append(visible(one.title))
    unknown = "it is not known whether"
    said = {
        f"{unknown} what is built with {first_of(built, 3)} ends Pods: compare what it builds": built,
        f"{unknown} hidden folders are applied, and what {first_of(hidden, 3)} then ends: look at it": hidden,
        f"{unknown} the change of {first_of(changed, 3)} ends Pods: look at it": changed,
        f"{first_of(moved, 3)}: the namespace is given on one side alone, and where another one is applied to, the Framework moves, and "
        "its Pods end": moved,
        f"{first_of(refused, 3)}: the definition of `fcompile crd` refuses the edit, and FrameworkController's own takes it: Pods end "
        "then": refused,
    }
    for text, some in said.items():
        if some:
            say(f"--fail-on ends-pods: {text}")


def _compared(files: tuple[Iterable[RawFile], Iterable[RawFile]], read: Reader, sides: tuple[str, str] = ("", "")) -> Result | None:
    """Compare both sides; None: one has errors.

    :param sides: what to call them if both are of git, where the name of a file does not say which side an error is on.
    """
    before, after = map(read, files)
    if before is None or after is None:
        if all(sides):
            named = zip(sides, ("old", "new"), (before, after), strict=True)
            wrong = [f"{side}, the {age} side" for side, age, found in named if found is None]
            say(f"the errors are in {' and in '.join(wrong)}: nothing was compared")
        return None
    return compare_all(before.frameworks, after.frameworks, (before.objects, after.objects), in_git=all(sides))


def _with_cluster(paths: Sequence[str], read: Reader, context: str) -> Result | None:
    from fcompile.commands import live

    check_paths(paths)
    after = read([file for path in paths for _, file in _read(path)])
    if after is None:
        return None
    if not after.frameworks:  # nothing would be asked, and a gate with a wrong path would pass for ever
        raise UsageError(f"no Framework in {first_of(list(map(visible, paths)), 3)}: nothing was compared with the cluster")
    before = read(live.frameworks(after.frameworks, context))
    if before is None:
        return None
    wanted = {key: some[-1] for key, some in after.frameworks.items()}  # what is applied last
    wanted |= {key: live.with_pause_that_stays(wanted[key], side) for key, (side,) in before.frameworks.items()}
    there = {key: live.as_applied(side, wanted[key]) for key, (side,) in before.frameworks.items()}
    running = live.running(there, wanted, context)
    old, new = ({key: [side] for key, side in some.items()} for some in (there, wanted))
    return compare_all(old, new, ({}, {}))._replace(live=tuple(running))


def _named(paths: Sequence[str]) -> tuple[tuple[list[RawFile], list[RawFile]], list[RawFile]]:
    """Return the files of both sides that differ, and those that are on both byte by byte, which are not compared."""
    if len(paths) != 2:
        _check_named(paths)
        raise UsageError("name two things to compare, OLD and NEW, or use --git or --live")
    if tuple(paths) == ("-", "-"):
        raise UsageError("stdin can be OLD or NEW, not both: it is there once")
    _check_named(paths)
    old, new = (dict(_read(path)) for path in paths)
    same = {name for name, file in old.items() if name in new and _same(file, new[name])}
    before, after = ([file for name, file in side.items() if name not in same] for side in (old, new))
    return (before, after), [new[name] for name in same]


def _same(one: RawFile, other: RawFile) -> bool:
    """Return whether two files are the same, and what is around them does not make a patch or template of one alone."""
    return isinstance(one.data, bytes) and one.data == other.data and why_skipped(one.entry) == why_skipped(other.entry)


def _check_named(paths: Sequence[str]) -> None:
    """Raise UsageError for paths that lead to nothing; of revisions it says how they are compared."""
    try:
        check_paths(paths)
    except UsageError as error:
        from fcompile.commands.git.revisions import is_revision

        missing, there = ([path for path in paths if is_there(path) == found] for found in (False, True))
        if len(missing) <= 2 and all(map(is_revision, missing)):
            meant = visible(" ".join(["..".join(missing), *there]))
            raise UsageError(f"{error}; revisions of git are compared with --git {meant}") from None
        raise


def _holds_framework(file: RawFile) -> bool:
    return isinstance(file.data, bytes) and may_hold_framework(file.data) and any(open_file(file.entry, file.data).frameworks())


def _read(path: str) -> Iterator[tuple[str, RawFile]]:
    """Yield the files behind a path, each with what it is called below that."""
    for entry in _entries(path):
        yield entry.path.removeprefix(path).lstrip(f"/{os.sep}"), RawFile(entry, entry.content())


def _entries(path: str) -> Iterable[FileEntry]:
    if _KUBECTL.fullmatch(os.path.basename(path.rstrip("/"))) and os.path.isdir(path):
        with os.scandir(path) as found:
            return [FileEntry(entry.name, entry.path) for entry in sorted(found, key=lambda one: one.name) if entry.is_file()]
    return find([path])


def _formatted(result: Result, format: str, color: ColorChoice) -> Iterable[str]:
    """Return the result in a format, in pieces. The module of the format's name writes it, and is the only one that is imported."""
    module = import_module(f"fcompile.diff.{format}")
    texts: Iterable[str] = module.write(result) if format != "text" else module.Painter(text_style(color, sys.stdout)).write(result)
    return texts
