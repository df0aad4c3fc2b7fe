"""From checked files to reports: waivers are applied, problems across files are found, and everything is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fcompile.check.document import Checked
from fcompile.check.places import Lookup, Place, Where
from fcompile.check.rules.framework.cross_file import FrameworkFact, ServiceFact, cross_file_problems
from fcompile.check.rules.framework.generated_names import ObjectFact, generated_names
from fcompile.diagnostics.problem import NOWHERE, Problem, Severity, framework_label
from fcompile.diagnostics.writer import Summary, Writer, counted
from fcompile.load.rules import FILE_NOT_FOUND, FOLDER_WITHOUT_FILES, TOO_MANY_PROBLEMS
from fcompile.waivers.collection import Waivers

NO_FILES = (FILE_NOT_FOUND, FOLDER_WITHOUT_FILES)
"""Of a path that leads to none: nothing was checked."""
MOST_SHOWN = 1_000
"""Problems of one file."""


def report(
    checked: Iterable[Checked], look_up: Lookup, listener: Writer, waivers: Waivers | None = None, whole: bool | None = False
) -> Summary:
    """Tell the listener of every problem, and of every waived problem.

    :param waivers: besides those in the files' comments.
    :param whole: the files are the whole project: a waiver that covers no file at all is reported. None: no unused waiver is.
    """
    reporting = _Reporting(look_up, listener, waivers or Waivers())
    for file in checked:
        reporting.checked(file)
    return reporting.finish(whole)


class _Reporting:
    def __init__(self, look_up: Lookup, listener: Writer, waivers: Waivers) -> None:
        self._listener = listener
        self._look_up = look_up
        self._waivers = waivers
        self._frameworks: list[FrameworkFact] = []
        self._services: list[ServiceFact] = []
        self._objects: list[ObjectFact] = []
        self._files: list[str] = []
        self._checked = self._skipped = self._waived = 0
        self._severities: Counter[Severity] = Counter()
        self._problems: Counter[str] = Counter()
        self._looked_up: Counter[str] = Counter()

    def checked(self, checked: Checked) -> None:
        """Take the result of one file."""
        if checked.skipped:
            self._listener.skipped(checked.file, checked.skipped)
        self._objects += checked.objects
        if not checked.frameworks and not checked.problems and not checked.services:
            self._skipped += 1
            return
        self._files.append(checked.file)
        self._frameworks += checked.frameworks
        self._services += checked.services
        if checked.waivers is not None:
            self._waivers.extend(checked.waivers)
        if not any(problem.rule in NO_FILES for problem in checked.problems):
            self._checked += 1
            self._listener.file(checked.file, [framework_label(fact.namespace, fact.name) for fact in checked.frameworks])
        self._write(checked.problems)

    def finish(self, whole: bool | None) -> Summary:
        """Report the problems across files, then unused waivers."""
        across = cross_file_problems(self._frameworks, self._services, self._place)
        self._write([*across, *generated_names(self._objects, self._place)])
        # Only a run over the whole project can tell that an entry of the waivers file covers no file.
        unused = [] if whole is None else self._waivers.unused(None if whole else self._files)
        self._show([*self._waivers.problems, *unused])
        summary = Summary(
            files=self._checked,
            frameworks=len(self._frameworks),
            skipped=self._skipped,
            errors=self._severities[Severity.ERROR],
            warnings=self._severities[Severity.WARNING],
            notes=self._severities[Severity.NOTE],
            waived=self._waived,
            affected=len(self._problems),
        )
        self._listener.finish(summary)
        return summary

    def _write(self, problems: list[Problem]) -> None:
        kept, waived = self._waivers.apply(problems)
        self._show(kept)
        self._waived += len(waived)
        for waiver in waived:
            self._listener.waived(waiver)

    def _show(self, problems: list[Problem]) -> None:
        """Write at most MOST_SHOWN problems of a file. The others are counted, and one problem says how many there are."""
        hidden: dict[str, list[Problem]] = {}
        for problem in problems:
            self._severities[problem.severity] += 1
            self._problems[problem.file] += 1
            if self._problems[problem.file] <= MOST_SHOWN:
                self._listener.problem(problem)
            else:
                hidden.setdefault(problem.file, []).append(problem)
        for more in hidden.values():
            self._listener.problem(_hint(more))

    def _place(self, where: Where) -> Place:
        """Return the place of something, unless its file has too many problems to show another."""
        self._looked_up[where.file] += 1
        return self._look_up(where) if self._looked_up[where.file] <= 2 * MOST_SHOWN else Place(NOWHERE, "")


def _hint(hidden: list[Problem]) -> Problem:
    """Return the problem that is shown in place of those that are not."""
    worst = min((problem.severity for problem in hidden), key=list(Severity).index)
    message = f"{counted(len(hidden), 'more problem')} in this file {'is' if len(hidden) == 1 else 'are'} not shown"
    return Problem(TOO_MANY_PROBLEMS, worst, message, hidden[0].file, hidden[0].span, hidden[0].source_line)
