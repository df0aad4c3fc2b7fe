"""The waivers of a run, and the problems that they cover."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fcompile.diagnostics.problem import Edit, Problem, Severity
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import Waived

if TYPE_CHECKING:
    from fcompile.waivers.waiver import Waiver, WaiversRead

_BETWEEN_FILES = frozenset({"FC501", "FC502", "FC503", "FC504"})
"""Problems of two files, of which a run over some files may have one alone."""


class Waivers:
    """The waivers of one file, or of several after `extend`; small and picklable, so that they can be collected from workers.

    Apply them when all problems are known: some are found only across files.
    """

    def __init__(self, read: WaiversRead | None = None) -> None:
        self._waivers: dict[tuple[str, str, int], list[Waiver]] = {}
        """By code, and for comments by file and document; those of the waivers file are under an empty name."""
        self._documents: dict[str, list[int]] = {}
        """By the same name of a file: the documents with comments, by their first lines, in their order."""
        self._used: set[Waiver] = set()
        self._missed: dict[Waiver, Problem] = {}
        """A problem of its code that no waiver covers, and that it may be meant for."""
        self._unread: set[str] = set()
        self.problems: list[Problem] = list(read.problems) if read else []
        """What is wrong with the waivers themselves."""
        for waiver in read.waivers if read else ():
            file = waiver.file if waiver.kind == "comment" else ""
            self._waivers.setdefault((waiver.code, file, waiver.document), []).append(waiver)
            documents = self._documents.setdefault(file, [])
            if not documents or documents[-1] < waiver.document:
                documents.append(waiver.document)

    @classmethod
    def from_text(cls, text: str, file: str) -> Waivers:
        """Return the waivers in the comments of a YAML text (without byte order mark). Never raises."""
        from fcompile.waivers.comments import read_comments

        return cls(read_comments(text, file))

    @classmethod
    def from_file(cls, path: str, real: str = "") -> Waivers:
        """Return the waivers of a waivers file, as `read_file` reads it; what is wrong in it is in `problems`. Raises OSError."""
        from fcompile.waivers.file import read_file

        return cls(read_file(path, real))

    def __bool__(self) -> bool:
        return bool(self._waivers or self.problems)

    def extend(self, other: Waivers) -> None:
        """Take over the waivers of `other` and their problems."""
        for key, waivers in other._waivers.items():
            self._waivers.setdefault(key, []).extend(waivers)
        self._documents |= other._documents
        self._used |= other._used
        self._missed |= other._missed
        self._unread |= other._unread
        self.problems += other.problems

    def apply(self, problems: Iterable[Problem]) -> tuple[list[Problem], list[Waived]]:
        """Separate the problems that stay from those that a waiver covers. Can be called again with further problems."""
        kept, waived = [], []
        for problem in problems:
            code = problem.rule.code
            if problem.severity is Severity.ERROR and code.startswith("FC0"):
                self._unread.add(problem.file)
            candidates = self._candidates(problem)
            covering = [waiver for waiver in candidates if waiver.scope.covers(problem)]
            # All waivers that cover the problem are used, not only the one that is reported.
            self._used.update(covering)
            if covering:
                waived.append(Waived(problem, covering[0].reason, covering[0].kind, covering[0].file, covering[0].span))
            else:
                kept.append(problem)
                for waiver in candidates:
                    self._missed.setdefault(waiver, problem)
        return kept, waived

    def _candidates(self, problem: Problem) -> Sequence[Waiver]:
        """Return the waivers of a problem's code; of those in comments only the ones in its document, since there can be thousands."""
        code, documents = problem.rule.code, self._documents.get(problem.file, [])
        document = documents[max(bisect_right(documents, problem.span.line) - 1, 0)] if documents else 0
        return (*self._waivers.get((code, problem.file, document), ()), *self._waivers.get((code, "", 0), ()))

    def unused(self, checked: Iterable[str] | None = None) -> list[Problem]:
        """Return a problem for each waiver that has covered nothing, in the order of files and lines.

        `checked` holds the files of a run that saw only some of the project's, as under pre-commit: a waiver is then reported only if it
        could have covered something in one of them, and problems between files, which another may hold, count as covered. Those in a file
        that could not be read to its end are not reported.
        """
        files = None if checked is None else tuple(checked)

        def idle(waiver: Waiver) -> bool:
            if waiver in self._used or waiver.file in self._unread:
                return False
            return files is None or (waiver.code not in _BETWEEN_FILES and any(map(waiver.scope.covers_file, files)))

        unused = [waiver for waivers in self._waivers.values() for waiver in waivers if idle(waiver)]
        return [_unused(waiver, self._missed.get(waiver)) for waiver in sorted(unused, key=lambda waiver: (waiver.file, waiver.span.start))]


def _unused(waiver: Waiver, missed: Problem | None) -> Problem:
    from fcompile.waivers.rules import UNUSED, waiver_problem  # Most runs have no waivers.

    fix = Edit("remove the waiver", waiver.removal, "") if waiver.removal and not missed else None
    there_is = ""
    if missed:
        at = f"line {missed.span.line}" if missed.file == waiver.file else f"{visible(missed.file)}:{missed.span.line}"
        there_is = f"; there is one at {at}" + (f", of `{missed.field}`" if missed.field else "")
    message = f"this waiver of {waiver.code} covers no problem: remove it or correct where it applies{there_is}"
    return waiver_problem(UNUSED, message, waiver.file, waiver.span, waiver.source_line, fix)
