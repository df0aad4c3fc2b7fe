"""A file that was read: its documents, whether a Framework may be among them, or why it is passed over.

What cannot be read is judged here for all commands. Those that look for Frameworks (`validate`, `diff`, `explain`) pass over the files of
other tools. Those that print all that they were given (`build`, the plugin for Argo CD) do not: what is missing would be deleted.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from fcompile.check.document import Checked, Options, Read, check_read, empty
from fcompile.check.objects import is_framework, objects_in
from fcompile.check.rules.framework.misspelt_kind import misspelt_kind
from fcompile.check.tool_files import Around, boundary, in_folder, looks_like_template, skip_reason
from fcompile.diagnostics.problem import Problem
from fcompile.load import Document, read
from fcompile.load.files import FileEntry, may_hold_framework
from fcompile.load.rules import FILE_TOO_LARGE
from fcompile.model.names import GROUP
from fcompile.model.patterns import lazy

_SAYS_FRAMEWORK = lazy(
    rf"""^[^#\n]*\b(?:kind["']?\s*:\s*["']?Framework(?:List)?\b|apiVersion["']?\s*:\s*["']?{re.escape(GROUP)}/)""", re.MULTILINE
)
"""In what cannot be read: it was meant as a Framework."""


_POINTER = "a pointer of Git LFS, not the file: fetch that first, with `git lfs pull`"
_TEMPLATE = "a template, not YAML: render it first, for example with `helm template`"


class File(NamedTuple):
    """A file that was read."""

    name: str
    read: Read
    skipped: str = ""
    """Why it is not to be checked although it seems to hold a Framework; empty when it is."""
    of_others: bool = False
    """No Framework is in it: what cannot be read of it may be in a format of other tools."""

    def documents(self) -> list[Document]:
        """Return the documents that can be read."""
        return [item for item in self.read if isinstance(item, Document)]

    def objects(self) -> list[Any]:
        """Return the objects in the file."""
        return [value for document in self.documents() for _, value in objects_in(document.value)]

    def frameworks(self) -> list[dict[str, Any]]:
        """Return the Frameworks in the file."""
        return [value for value in self.objects() if is_framework(value)]

    def unreadable(self) -> list[Problem]:
        """Return why documents, or the whole file, cannot be read."""
        return [item for item in self.read if isinstance(item, Problem)]

    def for_frameworks(self) -> File:
        """Return what counts when only Frameworks are looked for: in a file of other tools, nothing that cannot be read."""
        return self._replace(read=[*self.documents()]) if self.of_others else self


def open_file(entry: FileEntry, data: bytes | Problem, top: str = "", around: Around = in_folder) -> File:
    """Return the file's documents, whatever they are, whether it is of other tools, and whether it is a template or a patch of a Framework.

    :param top: the highest folder in which to look for a kustomization or a chart that uses the file; empty: see `boundary`.
    :param around: reads these.
    """
    if isinstance(data, Problem):
        return File(entry.name, [data], of_others=data.rule is FILE_TOO_LARGE and entry.holds_nothing_of_ours())
    file = File(entry.name, list(read(data, entry.name, with_duplicates=True)))
    if is_pointer(data):
        return file._replace(of_others=True, skipped=_POINTER)
    if not may_hold_framework(data):
        misspelt = any(any(misspelt_kind(value)) for value in file.objects())
        return file._replace(of_others=True, skipped=why_skipped(entry, top, around) if misspelt else "")
    if not file.unreadable():
        return file._replace(skipped=why_skipped(entry, top, around))
    return file._replace(
        of_others=not _SAYS_FRAMEWORK.search(_written(data)) and not file.frameworks(), skipped=_why_skipped(file, data, entry, top, around)
    )


def is_pointer(data: bytes) -> bool:
    """Return whether a file is what Git LFS has in place of another one."""
    return data.startswith(b"version https://git-lfs.github.com/spec/")


def open_for_jobs(entry: FileEntry, data: bytes | Problem) -> File:
    """Return the file's documents. A template and a patch are passed over whatever they hold, not only with a Framework in them."""
    file = open_file(entry, data)
    if file.skipped or isinstance(data, Problem) or may_hold_framework(data):
        return file
    return file._replace(skipped=_why_skipped(file, data, entry, "", in_folder))


def check_file(file: File, options: Options) -> Checked:
    """Check a file, unless it is to be skipped."""
    return empty(file.name)._replace(skipped=file.skipped) if file.skipped else check_read(file.name, file.read, options)


def _why_skipped(file: File, data: bytes, entry: FileEntry, top: str, around: Around) -> str:
    return _TEMPLATE if file.unreadable() and looks_like_template(_written(data)) else why_skipped(entry, top, around)


def _written(data: bytes) -> str:
    """Return a text that cannot be read, as far as there is one."""
    return data.translate(None, b"\0").decode("utf-8", "replace")


def why_skipped(entry: FileEntry, top: str = "", around: Around = in_folder) -> str:
    """Return why a Framework in the file is none yet; empty where it is one."""
    return "" if entry.path == "-" else skip_reason(entry.path, top or boundary(entry.path, entry.within), around) or ""
