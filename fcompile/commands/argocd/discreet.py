"""Keep Secrets out of reports: Argo CD shows them to all who may see the Application, whoever may read its repository.

Whether a document is a Secret is in its value, and there are many ways to write that. What cannot be read has no value, and is shown only
if it plainly says that it is a Framework.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from fcompile.check.objects import all_objects_in
from fcompile.diagnostics.problem import Problem
from fcompile.diagnostics.writer import Filter, Waived, Writer
from fcompile.load import Document
from fcompile.load.decoding import decode
from fcompile.model.values import mappings, sequence, text

_SEPARATOR = re.compile(r"^---", re.MULTILINE)
_KIND = re.compile(r"kind", re.IGNORECASE)
_FRAMEWORK = re.compile(r"^kind: *Framework *(?:#.*)?\r?$", re.MULTILINE)


def without_secrets(data: bytes, name: str) -> Callable[[Problem], Problem]:
    """Return what gives each error of a file without a word of its document, unless that is plainly a Framework."""
    written = decode(data, name).source.text
    begins = [0, *(match.start() for match in _SEPARATOR.finditer(written))]

    @cache  # A document of megabytes may have a thousand errors.
    def is_framework(number: int) -> bool:
        return _is_framework(written[begins[number] : begins[number + 1] if number + 1 < len(begins) else None])

    def discreet(error: Problem) -> Problem:
        if is_framework(bisect_right(begins, error.span.start) - 1):
            return error
        return error._replace(message=error.rule.summary.rstrip("."), source_line="")

    return discreet


def _is_framework(document: str) -> bool:
    """Return whether a document says `kind: Framework` on a line of its own, and speaks of no other kind."""
    return len(_KIND.findall(document)) == len(_FRAMEWORK.findall(document)) == 1 and "\\" not in document


Lines = tuple[tuple[int, int], ...]
"""Stretches of lines, the first and the last of each."""
_MOST_STRETCHES = 1_000


class Hidden(NamedTuple):
    """The lines of a text that are not to be shown; picklable."""

    secrets: Lines = ()
    unread: Lines = ()
    """These, and all that cannot be read or lies between documents."""


class Discreet(Filter):
    """A writer that takes away source lines on which a part of a Secret stands too: a file can be one line.

    It stands before all others, since there are problems of waivers and across files too. Where a document cannot be read, its lines
    are shown only with the error that says so, which `without_secrets` has seen.
    """

    def __init__(self, writer: Writer, hidden: Mapping[str, Hidden]) -> None:
        """:param hidden: by the name of the text; the file of waivers is none."""
        super().__init__(writer)
        self._hidden = hidden

    def problem(self, problem: Problem) -> None:
        self._writer.problem(self._without_line(problem))

    def waived(self, waived: Waived) -> None:
        self._writer.waived(waived._replace(problem=self._without_line(waived.problem)))

    def _without_line(self, problem: Problem) -> Problem:
        hidden = self._hidden.get(problem.file, Hidden())
        lines = hidden.unread if problem.rule.code.startswith("FC9") else hidden.secrets
        return problem._replace(source_line="") if any(first <= problem.span.line <= last for first, last in lines) else problem


def hidden_lines(read: Sequence[Document | Problem]) -> Hidden:
    """Return the lines of a text that are not to be shown."""
    documents = [item for item in read if isinstance(item, Document)]
    secrets = _bounded(_secrets(documents))
    if len(documents) == len(read):
        return Hidden(secrets, secrets)
    shown = [document.source.span(document.start, max(document.start, document.end - 1)) for document in documents]
    ends = [0, *(span.end_line for span in shown)]
    begins = [*(span.line for span in shown), 1 << 60]
    between = ((end + 1, begin - 1) for end, begin in zip(ends, begins, strict=True))
    return Hidden(secrets, _bounded(chain(secrets, between)))


def _bounded(stretches: Iterable[tuple[int, int]]) -> Lines:
    """Return stretches of lines; of very many, one that holds them all."""
    found = [(first, last) for first, last in stretches if first <= last]
    return tuple(found) if len(found) <= _MOST_STRETCHES else ((min(found)[0], max(last for _, last in found)),)


def _secrets(documents: Sequence[Document]) -> Iterator[tuple[int, int]]:
    """Yield the lines of each Secret, the first and the last."""
    for document in documents:
        for path, value in all_objects_in(document.value):
            if (text(value, "kind") or "").casefold() == "secret":
                start, end = document.extent(path) if path else (document.start, document.end)
                span = document.source.span(start, max(start, end - 1))
                yield span.line, span.end_line


def makes_secrets(documents: Sequence[Any]) -> bool:
    """Return whether documents are Secrets, have some in lists, patch some, or make kustomize generate some."""
    secret = ("secret", "secretgenerator")
    return any((text(value, "kind") or "").casefold() in secret or sequence(value, "secretGenerator") for value in mappings(*documents))
