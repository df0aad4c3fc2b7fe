"""The lines and columns of findings and facts, looked up only when there is something to report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from fcompile.diagnostics.problem import NOWHERE, Part, Path, Problem, Span
from fcompile.load import Document


class Where(NamedTuple):
    """Where something stands. Its line and column are looked up only when there is something to report."""

    file: str
    document: int
    """The offset at which its document begins in the text of the file."""
    path: Path
    part: Part = "value"


class Place(NamedTuple):
    """A `Where` that was looked up."""

    span: Span
    source_line: str


Lookup = Callable[[Where], Place]


def by_start(read: Iterable[Document | Problem]) -> dict[int, Document]:
    """Return the documents of a file by where they begin."""
    return {document.start: document for document in read if isinstance(document, Document)}


def look_up(documents: Mapping[int, Document], where: Where) -> Place:
    """Return the place of something noted while its file was checked, or the file's beginning if the file has changed since.

    :param documents: those of the file, `by_start`.
    """
    document = documents.get(where.document)
    if document is None:
        return Place(NOWHERE, "")
    span = document.locate(where.path, where.part)
    return Place(span, document.source_line(span.line))
