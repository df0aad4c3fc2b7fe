"""Where a problem of an item is in the user's own files.

Items come written anew: without comments, in another order. Their annotations name the file; where that holds at the same field what
the item holds, its line is the one to show. Else the line is that of the list, and said to be so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from fcompile.check.tool_files import boundary
from fcompile.commands.krm.listed import ResourceList, SourceFile
from fcompile.commands.krm.results import result_of
from fcompile.diagnostics.problem import Path, Problem, Related, field_path
from fcompile.diagnostics.writer import Filter, Writer
from fcompile.load import Document, LoadError, read, values
from fcompile.load.files import STDIN, is_outside, read_regular, without_links
from fcompile.load.rules import MAX_BYTES
from fcompile.model.values import at, mapping, name_of, text

_ORIGIN = "config.kubernetes.io/origin"
_PACKAGE = "internal.config.kubernetes.io/package-path"
_PACKAGE_FILE = "Kptfile"
_LONGEST = 4_096
"""Characters of a path. No longer one is a file's, and it stands at each problem."""
PREFIXES = ("config.kubernetes.io/", "internal.config.kubernetes.io/")
"""Of annotations for functions: the second is kpt's and kustomize's newer one, and counts where both are there."""


class SourceMapper(Filter):
    """A writer that moves problems to where users have written them, and notes them as results."""

    def __init__(self, writer: Writer, listed: ResourceList, results: list[dict[str, Any]]) -> None:
        super().__init__(writer)
        self._listed = listed
        self._results = results
        self._documents = lru_cache(maxsize=64)(_documents)

    def problem(self, problem: Problem) -> None:
        index = self._index(problem)
        if index is None:
            # In the waivers file, for one.
            file = None if problem.file == STDIN else SourceFile(problem.file, None)
            self._results.append(result_of(problem, self._listed, None, file, file is not None))
            self._writer.problem(problem)
            return
        item = self._listed.items[index]
        file = file_of(item)
        moved = _moved(problem, item, file, self._of_item(file, item)) if file else None
        if moved and file and not _is_here(without_links(os.path.join(file.folder, file.path))):
            moved = moved._replace(source_line="")
        shown = moved or problem._replace(file=f"{STDIN} ({file.path})" if file else problem.file)
        related = tuple(self._named(near) for near in problem.related)
        shown = shown._replace(field=field_path(problem.path[2:]), related=related)
        self._results.append(result_of(shown, self._listed, index, file, moved is not None))
        self._writer.problem(shown)

    def _index(self, problem: Problem) -> int | None:
        if problem.path[:1] == ("items",):
            return int(problem.path[1])
        return self._listed.index_at(problem.span.start) if problem.file == STDIN and not problem.path else None

    def _of_item(self, file: SourceFile, item: Any) -> Sequence[Document]:
        """Return the documents of the file that the item can come from."""
        # Whoever wrote the item may have named any file.
        real = without_links(os.path.join(file.folder, file.path))
        if not _is_here(real) and not _is_in_package(file, real):
            return ()
        documents = self._documents(real)
        picked = documents if file.number is None else documents[file.number : file.number + 1]
        alike = [document for document in picked if _kind(document.value) == _kind(item)]
        named = [document for document in alike if name_of(document.value) == name_of(item)]
        return named or alike  # kustomize can have given it another name

    def _named(self, near: Related) -> Related:
        """Return the other place by its item: the line of the list says nothing to people."""
        index = self._listed.index_at(near.span.start) if near.span and near.file == STDIN else None
        if index is None:
            return near
        file = file_of(self._listed.items[index])
        return Related(near.message, file=f"items[{index}]" + (f" from {file.path}" if file else ""))


def file_of(item: Any) -> SourceFile | None:
    """Return what an item's annotations say of its file: kustomize's origin, or kpt's path and index."""
    annotations = mapping(mapping(item, "metadata"), "annotations")
    origin = _origin(text(annotations, _ORIGIN) or "")
    if 0 < len(origin) <= _LONGEST:
        return SourceFile(origin, None)
    found = {name: annotations.get(prefix + name) for prefix in PREFIXES for name in ("path", "index") if prefix + name in annotations}
    path, index = found.get("path"), str(found.get("index", 0))
    if not isinstance(path, str) or not 0 < len(path) <= _LONGEST:
        return None
    return SourceFile(path, int(index) if re.fullmatch("[0-9]{1,6}", index) else None, text(annotations, _PACKAGE) or "")


def _origin(written: str) -> str:
    """Return the path in kustomize's `buildMetadata: [originAnnotations]`; empty for what comes from another repository."""
    try:
        (value,) = values(written.encode()) or [None]
    except (LoadError, ValueError):
        return ""
    return "" if at(value, ("repo",)) else text(value, "path") or ""


def _moved(problem: Problem, item: Any, file: SourceFile, documents: Sequence[Document]) -> Problem | None:
    """Return the problem in the user's file, when it is certain that it is there."""
    path = problem.path[2:]
    if not path:
        return _by_line(problem, file, documents)
    found = [document for document in documents if _same(document.value, item, path)]
    if len(found) != 1:
        return None
    span = found[0].locate(path, problem.part)
    fix = problem.fix and problem.fix._replace(span=found[0].locate(problem.fix.path[2:], problem.fix.part))
    return problem._replace(file=file.path, span=span, source_line=found[0].source_line(span.line), fix=fix)


def _by_line(problem: Problem, file: SourceFile, documents: Sequence[Document]) -> Problem | None:
    """Return a problem without a field, as of a comment, in the user's file, if that has its line once."""
    source, wanted = next((document.source for document in documents), None), problem.source_line.strip()
    lines = source.text.splitlines() if source and wanted else []
    found = [number for number, line in enumerate(lines, 1) if line.strip() == wanted]
    if source is None or len(found) != 1:
        return None
    moved = len(source.line(found[0]).rstrip()) - len(problem.source_line.rstrip())
    start = source.line_start(found[0]) + problem.span.column - 1 + moved
    span = source.span(start, start + problem.span.end - problem.span.start)
    return problem._replace(file=file.path, span=span, source_line=source.line(found[0]))


def _kind(value: Any) -> tuple[str | None, str | None]:
    return text(value, "apiVersion"), text(value, "kind")


def _is_here(real: str) -> bool:
    """Return whether a file is in the repository of the current folder: its lines may be shown."""
    try:
        return not is_outside(real, (os.path.realpath(boundary(STDIN)),))
    except OSError:  # the current folder is gone
        return False


def _is_in_package(file: SourceFile, real: str) -> bool:
    """Return whether a file is in the package that kpt names, which is anywhere."""
    package = os.path.realpath(file.folder) if os.path.isabs(file.folder) and "\0" not in file.folder else ""
    return os.path.isfile(os.path.join(package, _PACKAGE_FILE)) and not is_outside(real, (package,))


def _documents(real: str) -> tuple[Document, ...]:
    """Return the documents of a file, none if it is not there or no file."""
    try:
        data = read_regular(real, MAX_BYTES, real) or b""
    except (OSError, ValueError):
        return ()
    return tuple(item for item in read(data, real) if isinstance(item, Document))


_ABSENT = object()


def _same(one: Any, other: Any, path: Path) -> bool:
    """Return whether both hold the same at the path, in items of lists of the same name; or both lack it from the same step on."""
    for step in path:
        one, other = _step(one, step), _step(other, step)
        if one is _ABSENT or other is _ABSENT:
            return one is other
        if isinstance(step, int) and text(one, "name") != text(other, "name"):
            return False
    return bool(one == other)


def _step(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else _ABSENT
    return value.get(step, _ABSENT) if isinstance(value, dict) else _ABSENT
