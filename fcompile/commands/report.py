"""From checked files to a report: waivers applied, what lies across files looked at, everything counted and written."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TextIO

from fcompile.check.across import FrameworkFact, Lookup, ServiceFact, across
from fcompile.check.document import Checked
from fcompile.check.waivers import Waivers
from fcompile.commands.progress import clear
from fcompile.diagnostics import open_writer
from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import Report, Style, Summary, Writer
from fcompile.errors import UsageError
from fcompile.program import say

WAIVERS_FILE = ".fcompile-waivers.yaml"


class Reporting:
    """Takes the checked files one by one, and reports."""

    def __init__(self, writer: Writer, arguments: argparse.Namespace, look_up: Lookup) -> None:
        self._report = Report(writer)
        self._look_up = look_up
        self._waivers = _waivers_file(arguments.waivers)
        # Only a run over everything can tell that an entry of the waivers file covers no file at all.
        self._whole = any(os.path.isdir(path) and os.path.samefile(path, os.curdir) for path in arguments.paths)
        self._frameworks: list[FrameworkFact] = []
        self._services: list[ServiceFact] = []
        self._files: list[str] = []
        self.frameworks = 0

    def checked(self, checked: Checked) -> None:
        """What one file came to."""
        if checked.skipped:
            clear()
            say(f"skipped {visible(checked.file)}: {checked.skipped}")
        if not checked.frameworks and not checked.problems and not checked.services:
            self._report.skipped()
            return
        self._files.append(checked.file)
        self.frameworks += len(checked.frameworks)
        self._frameworks += checked.frameworks
        self._services += checked.services
        if checked.waivers is not None:
            self._waivers.extend(checked.waivers)
        self._report.file(checked.file, [f"{fact.namespace}/{fact.name}" for fact in checked.frameworks])
        self._write(checked.problems)

    def finish(self) -> Summary:
        """What lies across files, then what became of the waivers."""
        self._write(list(across(self._frameworks, self._services, self._look_up)))
        for problem in (*self._waivers.problems, *self._waivers.unused(None if self._whole else self._files)):
            clear()
            self._report.problem(problem)
        clear()
        return self._report.finish()

    def _write(self, problems: list[Problem]) -> None:
        kept, waived = self._waivers.apply(problems)
        for problem in kept:
            clear()
            self._report.problem(problem)
        for one in waived:
            self._report.waived(one)


class OnlyWhenFound:
    """A writer that says nothing when there is nothing to say: `build` prints a result, not a report."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.problem = writer.problem
        self.waived = writer.waived
        self.file = writer.file

    def finish(self, summary: Summary) -> None:
        if summary.errors or summary.warnings:
            self._writer.finish(summary)


class OnlyErrors:
    """A writer that says only why something cannot be done; `validate` has the rest."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.waived = writer.waived
        self.file = writer.file

    def problem(self, problem: Problem) -> None:
        if problem.severity is Severity.ERROR:
            self._writer.problem(problem)

    def finish(self, summary: Summary) -> None:
        if summary.errors:
            self._writer.finish(summary)


def text_style(arguments: argparse.Namespace, stream: TextIO) -> Style:
    """How text looks on the stream."""
    from fcompile.diagnostics.text import use_color

    terminal = stream.isatty()
    width = 120
    if terminal:
        import shutil

        width = max(shutil.get_terminal_size().columns, 60)
    return Style(use_color(arguments.color, terminal, os.environ), width)


def open_report(name: str, stream: TextIO, arguments: argparse.Namespace) -> Writer:
    """The writer of a format, as the arguments want it."""
    return open_writer(name, stream, text_style(arguments, stream))


def open_errors(arguments: argparse.Namespace) -> Writer:
    """The writer of a command that prints something else: on stderr why that is not possible; with --strict warnings are reasons, too."""
    writer = open_report("text", sys.stderr, arguments)
    return OnlyWhenFound(writer) if arguments.strict else OnlyErrors(writer)


def fails(summary: Summary, strict: bool) -> bool:
    """Whether a run ends with exit code 1."""
    return bool(summary.errors or (strict and summary.warnings))


def _waivers_file(named: str | None) -> Waivers:
    path = named or (WAIVERS_FILE if os.path.lexists(WAIVERS_FILE) else None)
    if path is None:
        return Waivers()
    if named is None and not os.path.isfile(path):  # a FIFO would keep us waiting for ever
        raise UsageError(f"{path} is not a file: remove it")
    try:
        return Waivers.from_file(path)
    except OSError as error:
        raise UsageError(f"--waivers {path}: cannot be read: {error.strerror}") from None
