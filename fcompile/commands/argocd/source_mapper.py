"""Where a problem of a rendered text comes from: the line of the template or base that it was made of, when only one can be meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.sources import Source
from fcompile.diagnostics.problem import Problem, Span
from fcompile.diagnostics.writer import Filter, Summary, Writer
from fcompile.errors import UsageError
from fcompile.program import say

MOST_WRITTEN = 100
"""Problems. Argo CD keeps what is said in the Application, and the line of each is held against all lines of all sources."""
_TELLING = 5
"""A line of fewer characters would be found in too many files by chance."""


class SourceMapper(Filter):
    """A writer that moves problems of rendered texts to their sources."""

    def __init__(self, writer: Writer, texts: Sequence[Source], repository: Repository) -> None:
        super().__init__(writer)
        self._templates = {source.name: source.templates for source in texts if source.templates}
        self._repository = repository
        self._lines = lru_cache(maxsize=64)(self._lines_of)
        self._written = 0

    def problem(self, problem: Problem) -> None:
        templates = self._templates.get(problem.file, ())
        # That two Frameworks have one name, and the like, is said of two places: they must be of one kind.
        self._written += 1
        if self._written <= MOST_WRITTEN:
            self._writer.problem(self._moved(problem, templates) if templates and not problem.related else problem)

    def finish(self, summary: Summary) -> None:
        if self._written > MOST_WRITTEN:
            say(f"{self._written - MOST_WRITTEN:,} more problems are not shown; `fcompile validate` shows them")
        self._writer.finish(summary)

    def _moved(self, problem: Problem, templates: tuple[str, ...]) -> Problem:
        every = [(file, number, line) for file in templates for number, line in self._lines(file)]
        filled_in = [one for one in every if "{{" in one[2]]
        # The same line; the value under another key, as in a patch; the key with a value that a template fills in.
        places = (_only(every, _whole, problem), _only(every, _value, problem), _only(filled_in, _key, problem))
        found = next(filter(None, places), None)
        if found is None:
            return problem
        file, number, line = found
        start, end = len(line) - len(line.lstrip()), len(line.rstrip())
        moved = end - len(problem.source_line.rstrip())
        if found != places[2]:
            start, end = max(problem.span.column - 1 + moved, start), max(problem.span.end_column - 1 + moved, start + 1)
        return problem._replace(file=file, span=Span(number, start + 1, number, end + 1, 0, 0), source_line=line)

    def _lines_of(self, file: str) -> list[tuple[int, str]]:
        try:
            text = self._repository.read(file).decode("utf-8", "replace")
        except UsageError:  # not a file of this chart, but of one that is packed in it
            return []
        return list(enumerate(text.splitlines(), 1))


Line = tuple[str, int, str]


def _only(lines: list[Line], part: Callable[[str], str], problem: Problem) -> Line | None:
    """Return the one line of which a part is the same as in the problem's; None if there is no such line, or several."""
    wanted = part(problem.source_line)
    found = [one for one in lines if part(one[2]) == wanted] if len(wanted) >= _TELLING else []
    return found[0] if len(found) == 1 else None


def _whole(line: str) -> str:
    return line.strip().removeprefix("- ").strip()


def _value(line: str) -> str:
    return line.partition(": ")[2].strip().strip("'\"")


def _key(line: str) -> str:
    return _whole(line).partition(":")[0]
