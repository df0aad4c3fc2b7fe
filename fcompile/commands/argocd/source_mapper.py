"""Where a problem of a rendered text comes from: the line of the template or base that it was made of, when only one can be meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from fcompile.check.document import Options, check_read
from fcompile.check.rules.framework.structure import MISSING_FIELD
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.sources import Source
from fcompile.diagnostics.problem import Problem, Span
from fcompile.diagnostics.writer import Filter, Summary, Writer
from fcompile.errors import UsageError
from fcompile.load import read
from fcompile.program import say

MOST_WRITTEN = 100
"""Problems. Argo CD keeps what is said in the Application, and the line of each is looked for in all sources."""
_MOST_LOOKED_AT = 10_000
"""Lines that hold what is looked for. Of more than that, none is meant."""
_MOST_KEPT = 64 * 1024 * 1024
"""Bytes of sources that are kept from one problem to the next."""
_MOST_CHECKED = 1024 * 1024
"""Bytes of a source that is checked by itself."""
_TELLING = 5
"""A line of fewer characters would be found in too many files by chance."""


class SourceMapper(Filter):
    """A writer that moves problems of rendered texts to their sources."""

    def __init__(self, writer: Writer, texts: Sequence[Source], repository: Repository, options: Options) -> None:
        super().__init__(writer)
        self._options = options
        self._incomplete = cache(self._incomplete_lines)
        self._templates = {source.name: source.templates for source in texts if source.templates}
        self._repository = repository
        self._texts: dict[str, bytes] = {}
        self._kept = 0
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
        # The same line; the value under another key, as in a patch; the key with a value that a template fills in.
        places = (
            self._only(templates, _whole, problem),
            self._only(templates, _value, problem),
            self._only(templates, _key, problem, "{{"),
        )
        found = next(filter(None, places), None)
        if found is None:
            return problem
        file, number, line = found
        if problem.rule is MISSING_FIELD and len(templates) > 1 and number not in self._incomplete(file):
            return problem  # A patch has taken away what the line's own file has.
        start, end = len(line) - len(line.lstrip()), len(line.rstrip())
        moved = end - len(problem.source_line.rstrip())
        if found != places[2]:
            start, end = max(problem.span.column - 1 + moved, start), max(problem.span.end_column - 1 + moved, start + 1)
        return problem._replace(file=file, span=Span(number, start + 1, number, end + 1, 0, 0), source_line=line)

    def _only(self, templates: tuple[str, ...], part: Callable[[str], str], problem: Problem, sign: str = "") -> _Line | None:
        """Return the one line of which a part is the same as in the problem's; None if there is no such line, or several.

        No list of lines is made: a text can be nothing but line ends.

        :param sign: what the line must hold besides.
        """
        wanted = part(problem.source_line)
        if len(wanted) < _TELLING:
            return None
        sought, found, left = wanted.encode("utf-8", "replace"), None, _MOST_LOOKED_AT
        for file in templates:
            text = self._text(file)
            place = text.find(sought)
            while place >= 0:
                left -= 1
                begin, end = text.rfind(b"\n", 0, place) + 1, text.find(b"\n", place) % (len(text) + 1)
                line = text[begin:end].decode("utf-8", "replace")
                if part(line) == wanted and sign in line:
                    if found is not None:
                        return None
                    found = _Line(file, text.count(b"\n", 0, begin) + 1, line.removesuffix("\r"))
                if left == 0:
                    return None
                place = text.find(sought, end)
        return found

    def _incomplete_lines(self, file: str) -> set[int]:
        """Return the lines of a file in which something lacks a field already."""
        text = self._text(file)
        if len(text) > _MOST_CHECKED:
            return set()
        problems = check_read(file, list(read(text, file)), self._options).problems
        return {problem.span.line for problem in problems if problem.rule is MISSING_FIELD}

    def _text(self, file: str) -> bytes:
        if file in self._texts:
            return self._texts[file]
        try:
            text = self._repository.read(file)
        except UsageError:  # not a file of this chart, but of one that is packed in it
            text = b""
        if self._kept + len(text) <= _MOST_KEPT:
            self._texts[file] = text
            self._kept += len(text)
        return text


class _Line(NamedTuple):
    file: str
    number: int
    text: str


def _whole(line: str) -> str:
    return line.strip().removeprefix("- ").strip()


def _value(line: str) -> str:
    return line.partition(": ")[2].strip().strip("'\"")


def _key(line: str) -> str:
    return _whole(line).partition(":")[0]
