"""Keep Secrets out of reports: Argo CD shows them to all who may see the Application, whoever may read its repository.

Whether a document is a Secret is in its value, and there are many ways to write that. What cannot be read has no value, and is shown only
if it plainly says that it is a Framework.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from fcompile.check.selection import objects_in
from fcompile.diagnostics.problem import Problem
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


def without_lines_of_secrets(problems: list[Problem], documents: Sequence[Document]) -> list[Problem]:
    """Return the problems without source lines on which a part of a Secret stands too: a file can be one line."""
    if not problems:
        return problems
    secrets = list(_secrets(documents))
    return [_without_line(problem) if _touches(problem, secrets) else problem for problem in problems] if secrets else problems


def _secrets(documents: Sequence[Document]) -> Iterator[tuple[int, int]]:
    """Yield the lines of each Secret, the first and the last."""
    for document in documents:
        for path, value in objects_in(document.value):
            if (text(value, "kind") or "").casefold() == "secret":
                start, end = document.extent(path) if path else (document.start, document.end)
                span = document.source.span(start, max(start, end - 1))
                yield span.line, span.end_line


def _touches(problem: Problem, secrets: list[tuple[int, int]]) -> bool:
    return any(first <= problem.span.line <= last for first, last in secrets)


def _without_line(problem: Problem) -> Problem:
    return problem._replace(source_line="")


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
