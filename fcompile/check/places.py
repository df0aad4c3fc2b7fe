"""The lines and columns of findings and facts, looked up only when there is something to report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
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


def look_up_in(read: Callable[[str], Iterable[Document | Problem]]) -> Lookup:
    """Return what finds the place of something noted while its file was checked: the file's beginning if that has changed since.

    :param read: returns what is in the file of a name.
    """

    # Two files are kept, since a problem may be between two; so several problems in a file do not read it again and again.
    @lru_cache(2)
    def documents(file: str) -> dict[int, Document]:
        return {document.start: document for document in read(file) if isinstance(document, Document)}

    def look_up(where: Where) -> Place:
        document = documents(where.file).get(where.document)
        if document is None:
            return Place(NOWHERE, "")
        span = document.locate(where.path, where.part)
        return Place(span, document.source_line(span.line))

    return look_up
