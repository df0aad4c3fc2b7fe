"""Keep Secrets out of reports: Argo CD shows them to all who may see the Application, whoever may read its repository.

Whether a document is a Secret is in its value, and there are many ways to write that. What cannot be read has no value, and is shown only
if it plainly says that it is a Framework.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from fcompile.check.selection import objects_in
from fcompile.diagnostics.problem import Problem
from fcompile.diagnostics.writer import Waived, Writer
from fcompile.errors import UsageError
from fcompile.load import Document, LoadError
from fcompile.load.decoding import decode
from fcompile.model.values import sequence, text

_SEPARATOR = re.compile(r"^---", re.MULTILINE)
_KIND = re.compile(r"kind", re.IGNORECASE)
_FRAMEWORK = re.compile(r"^kind: *Framework *(?:#.*)?\r?$", re.MULTILINE)


def without_secrets(error: LoadError, data: bytes) -> LoadError:
    """Return the error without a word of its document, unless that is plainly a Framework."""
    if _is_framework(decode(data, error.name).source.text, error.span.start):
        return error
    return LoadError(error.rule, error.rule.summary.rstrip("."), error.span, "", error.name, error.related)


def _is_framework(text: str, offset: int) -> bool:
    """Return whether the document at an offset says `kind: Framework` on a line of its own, and speaks of no other kind."""
    start = max((match.start() for match in _SEPARATOR.finditer(text, 0, offset + 3)), default=0)
    following = _SEPARATOR.search(text, offset + 3)
    document = text[start : following.start() if following else len(text)]
    return len(_KIND.findall(document)) == len(_FRAMEWORK.findall(document)) == 1 and "\\" not in document


class Discreet:
    """A writer that takes away source lines on which a part of a Secret stands too: a file can be one line.

    It stands before all others, since there are problems of waivers and across files too. Where a document cannot be read, its lines
    are shown only with the error that says so, which `without_secrets` has seen.
    """

    def __init__(self, writer: Writer, read_again: Callable[[str], Sequence[Document | LoadError]]) -> None:
        """:param read_again: reads a text by its name."""
        self._writer = writer
        self._read_again = read_again
        self._lines = lru_cache(64)(self._lines_of)
        self.file = writer.file
        self.finish = writer.finish

    def problem(self, problem: Problem) -> None:
        self._writer.problem(self._without_line(problem))

    def waived(self, waived: Waived) -> None:
        self._writer.waived(waived._replace(problem=self._without_line(waived.problem)))

    def _without_line(self, problem: Problem) -> Problem:
        if not problem.source_line:
            return problem
        secrets, unread = self._lines(problem.file)
        lines = unread if problem.rule.code.startswith("FC9") else secrets
        return problem._replace(source_line="") if any(first <= problem.span.line <= last for first, last in lines) else problem

    def _lines_of(self, name: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the lines of Secrets, and those with all that cannot be read or lies between documents."""
        try:
            read = self._read_again(name)
        except (UsageError, KeyError):  # The file of waivers is no text of the application.
            return [], []
        documents = [item for item in read if isinstance(item, Document)]
        secrets = list(_secrets(documents))
        if len(documents) == len(read):
            return secrets, secrets
        shown = [document.source.span(document.start, max(document.start, document.end - 1)) for document in documents]
        ends = [0, *(span.end_line for span in shown)]
        begins = [*(span.line for span in shown), 1 << 60]
        return secrets, [*secrets, *((end + 1, begin - 1) for end, begin in zip(ends, begins, strict=True))]


def _secrets(documents: Sequence[Document]) -> Iterator[tuple[int, int]]:
    """Yield the lines of each Secret, the first and the last."""
    for document in documents:
        for path, value in objects_in(document.value):
            if (text(value, "kind") or "").casefold() == "secret":
                start, end = document.extent(path) if path else (document.start, document.end)
                span = document.source.span(start, max(start, end - 1))
                yield span.line, span.end_line


def makes_secrets(documents: Sequence[Any]) -> bool:
    """Return whether documents are Secrets, or make kustomize generate some."""
    for document in documents:
        for _, value in objects_in(document):
            kind = (text(value, "kind") or "").casefold()
            written_in_place = (item for item in sequence(value, "generators") if isinstance(item, str))
            if (
                kind in ("secret", "secretgenerator")
                or sequence(value, "secretGenerator")
                or any("\n" in item for item in written_in_place)
            ):
                return True
    return False
