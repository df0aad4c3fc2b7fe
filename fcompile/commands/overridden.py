"""Problems with values that no file holds, because an override has set them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fcompile.check.document import Checked
from fcompile.check.ours import frameworks_in
from fcompile.check.values import mapping, sequence
from fcompile.diagnostics.problem import Path, Problem
from fcompile.load import Document
from fcompile.pipeline.overrides import Applied


def name_overrides(checked: Checked, documents: Iterable[Document], applied: Iterable[Applied], setting: str = "--set") -> Checked:
    """Let the problems with values that were set name what has set them, in place of a line that says something else.

    :param setting: what the user knows overrides as.
    """
    applied = list(applied)
    if not applied or not checked.problems:
        return checked
    set_here = [(document, path, one) for document in documents for path, one in _places(document, applied)]
    return checked._replace(problems=[_named(problem, set_here, setting) for problem in checked.problems])


def _places(document: Document, applied: list[Applied]) -> Iterator[tuple[Path, Applied]]:
    """Yield the fields of a document that were set, by their paths in it."""
    for path, value in frameworks_in(document.value):
        for index, role in enumerate(sequence(mapping(value, "spec"), "taskRoles")):
            yield from ((((*path, "spec", "taskRoles", index, *one.path)), one) for one in applied if one.role is role)


def _named(problem: Problem, set_here: list[tuple[Document, Path, Applied]], setting: str) -> Problem:
    for document, path, one in reversed(set_here):  # of two for one field the last one holds
        if document.start <= problem.span.start <= document.end and problem.path[: len(path)] == path:
            written = f"{setting} {one.override.written}"
            return problem._replace(message=f"{written}: {problem.message}", source_line="", fix=None)
    return problem
