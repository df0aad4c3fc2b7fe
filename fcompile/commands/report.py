"""From checked files to a report: waivers applied, what lies across files looked at, everything counted and written."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from typing import TextIO

from fcompile.check.document import Checked
from fcompile.check.places import Lookup, Place, Where
from fcompile.check.rules.framework.cross_file import FrameworkFact, ServiceFact
from fcompile.check.rules.framework.cross_file import cross_file_problems as across
from fcompile.commands.progress import clear
from fcompile.diagnostics import open_writer
from fcompile.diagnostics.problem import Problem, Severity, Span, framework_label
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import Report, Style, Summary, Writer, counted
from fcompile.errors import UsageError
from fcompile.load.rules import TOO_MANY_PROBLEMS
from fcompile.program import say
from fcompile.waivers.collection import Waivers

WAIVERS_FILE = ".fcompile-waivers.yaml"
MOST_SHOWN = 1_000
"""Problems of one file."""


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
        self._shown: Counter[str] = Counter()
        self._looked_up: Counter[str] = Counter()
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
        self._report.file(checked.file, [framework_label(fact.namespace, fact.name) for fact in checked.frameworks])
        self._write(checked.problems)

    def finish(self) -> Summary:
        """What lies across files, then what became of the waivers."""
        self._write(list(across(self._frameworks, self._services, self._place)))
        self._show([*self._waivers.problems, *self._waivers.unused(None if self._whole else self._files)])
        clear()
        return self._report.finish()

    def _write(self, problems: list[Problem]) -> None:
        kept, waived = self._waivers.apply(problems)
        self._show(kept)
        for one in waived:
            self._report.waived(one)

    def _show(self, problems: list[Problem]) -> None:
        """Write problems, of one file not more than MOST_SHOWN: the others are counted, and one problem stands for them."""
        hidden: dict[str, list[Problem]] = {}
        for problem in problems:
            self._shown[problem.file] += 1
            if self._shown[problem.file] <= MOST_SHOWN:
                clear()
                self._report.problem(problem)
            else:
                hidden.setdefault(problem.file, []).append(problem)
        for more in hidden.values():
            clear()
            self._report.hidden(more, _hint(more))

    def _place(self, where: Where) -> Place:
        """The place of something, as long as it may be shown."""
        self._looked_up[where.file] += 1
        return self._look_up(where) if self._looked_up[where.file] <= 2 * MOST_SHOWN else Place(Span(1, 1, 1, 1, 0, 0), "")


def _hint(hidden: list[Problem]) -> Problem:
    """Return the problem that stands for problems that are not shown."""
    worst = min((problem.severity for problem in hidden), key=list(Severity).index)
    message = f"{counted(len(hidden), 'more problem')} in this file {'is' if len(hidden) == 1 else 'are'} not shown"
    return Problem(TOO_MANY_PROBLEMS, worst, message, hidden[0].file, hidden[0].span, hidden[0].source_line, "", "")


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
