"""How what was checked is told: in a format, on a stream; and where waivers come from."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from fcompile.check.objects import objects_in
from fcompile.commands.progress import clear
from fcompile.diagnostics import open_writer
from fcompile.diagnostics.checkout import is_shared
from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.visible import first_of, visible
from fcompile.diagnostics.writer import ColorChoice, Filter, Style, Summary, Writer
from fcompile.errors import UsageError
from fcompile.load.files import STDIN, is_within
from fcompile.model.names import KIND
from fcompile.model.values import mapping, text
from fcompile.program import say
from fcompile.waivers.collection import Waivers

if TYPE_CHECKING:
    from fcompile.pipeline.inputs import Inputs

WAIVERS_FILE = ".fcompile-waivers.yaml"


class WriterListener(Filter):
    """Tells people on stderr what was skipped. A line of progress is taken away before anything is written."""

    def __init__(self, writer: Writer, said: set[tuple[str, str]] | None = None) -> None:
        """:param said: the files that were named as skipped before, each with the reason: none is named twice."""
        super().__init__(writer)
        self._said = set[tuple[str, str]]() if said is None else said

    def skipped(self, file: str, reason: str) -> None:
        if (file, reason) not in self._said:
            self._said.add((file, reason))
            clear()
            say(f"skipped {visible(file)}: {reason}")

    def problem(self, problem: Problem) -> None:
        clear()
        self._writer.problem(problem)

    def finish(self, summary: Summary) -> None:
        clear()
        self._writer.finish(summary)


class OnlyWhenFound(Filter):
    """A writer that says nothing when there is nothing to say: `build` prints a result, not a report."""

    def finish(self, summary: Summary) -> None:
        if summary.errors or summary.warnings:
            self._writer.finish(summary)


class OnlyErrors(Filter):
    """A writer that says only why something cannot be done; `validate` has the rest."""

    def problem(self, problem: Problem) -> None:
        if problem.severity is Severity.ERROR:
            self._writer.problem(problem)

    def finish(self, summary: Summary) -> None:
        if summary.errors:
            self._writer.finish(summary)


class Strict(Filter):
    """Reports warnings as errors, for tools that look at the report and not at the exit code."""

    def problem(self, problem: Problem) -> None:
        self._writer.problem(problem._replace(severity=Severity.ERROR) if problem.severity is Severity.WARNING else problem)


def text_style(color: ColorChoice, stream: TextIO) -> Style:
    """Return how text looks on the stream. `color` is `auto`, `always` or `never`."""
    from fcompile.diagnostics.text import use_color

    terminal = stream.isatty()
    width = 120
    if terminal:
        import shutil

        width = max(shutil.get_terminal_size().columns, 60)
    return Style(use_color(color, terminal, os.environ), width)


def open_report(name: str, stream: TextIO, color: ColorChoice = "auto") -> Writer:
    """Return the writer of a format."""
    return open_writer(name, stream, text_style(color, stream))


def open_errors(color: ColorChoice, strict: bool) -> Writer:
    """Return the writer of a command that prints something else: why that is not possible; if `strict`, warnings are reasons."""
    writer = open_report("text", sys.stderr, color)
    return OnlyWhenFound(writer) if strict else OnlyErrors(writer)


def fails(summary: Summary, strict: bool, setting: str = "--strict") -> bool:
    """Return whether a run ends with exit code 1. If only `setting` makes it so, say that on stderr: the report says `warning`."""
    if strict and summary.warnings and not summary.errors:
        say(f"{setting}: warnings count as errors")
        return True
    return summary.errors > 0


def say_namespace(frameworks: Sequence[str], assumed: str, setting: str) -> None:
    """Say which Frameworks name no namespace, which one is used, and what sets another."""
    say(f"no namespace given ({first_of(frameworks, 3)}): using `{assumed}`; {setting} sets another")


def waivers_file(named: str | None = None) -> Waivers:
    """Return the waivers of the file that is named, or else of the one in the current folder. Raises UsageError."""
    if named == "":  # a variable that is not set: what it names is meant, not the default
        raise UsageError("--waivers: name a file")
    path = named or (WAIVERS_FILE if os.path.lexists(WAIVERS_FILE) else None)
    if path is None:
        return Waivers()
    if named is None and not os.path.isfile(path):  # a FIFO would keep us waiting for ever
        raise UsageError(f"{path} is not a file: remove it")
    here = os.path.realpath(os.curdir)
    real = "" if named else os.path.realpath(path)
    if real and not is_within(real, here):  # lines of it may be shown
        raise UsageError(f"{path} is a link that leads out of this folder: if you trust it, name it with --waivers")
    if sys.platform != "win32" and named is None and is_shared(os.getcwd()) and os.stat(path).st_uid != os.getuid():
        say(f"{path} is not read: it is another user's, in a folder where anybody can put files; if you trust it, name it with --waivers")
        return Waivers()
    try:
        return Waivers.from_file(path, real)
    except OSError as error:
        raise UsageError(f"--waivers {path}: cannot be read: {error.strerror}") from None


def holds_current_folder(paths: Sequence[str]) -> bool:
    """Return whether the current folder, which the waivers file is for, is among the paths."""
    return any(os.path.isdir(path) and os.path.samefile(path, os.curdir) for path in paths)


def hint(files: Inputs) -> str:
    """Return what to do with what the files hold in place of a Framework: a job of Kubeflow's, an object with task roles; or nothing."""
    import shlex

    from fcompile.convert.registry import is_job

    for file in files.holding(b"kubeflow.org", b"taskRoles"):
        for document in () if file.skipped else file.documents():
            for _, value in objects_in(document.value):
                name = visible(file.name)
                if isinstance(mapping(value, "spec").get("taskRoles"), list):
                    kind = visible(text(value, "kind") or "")
                    return f"{name} holds {f'the kind {kind}' if kind else 'an object'} with task roles: only `kind: {KIND}` has any"
                if is_job(value):
                    named = "-" if name == STDIN else shlex.quote(name)
                    return f"{name} holds the kind {value['kind']}: `fcompile convert {named}` makes a Framework of it"
    return ""
