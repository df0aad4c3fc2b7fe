"""A file that was read: its documents, or why it is passed over."""

from __future__ import annotations

from typing import Any, NamedTuple

from fcompile.check.document import Read
from fcompile.check.selection import boundary, frameworks_in, looks_like_template, skip_reason
from fcompile.load import Document, LoadError, read
from fcompile.load.files import FileEntry, may_hold_framework


class File(NamedTuple):
    """A file that was read."""

    name: str
    read: Read
    skipped: str = ""
    """Why it is not to be checked although it seems to hold a Framework; empty when it is."""

    def documents(self) -> list[Document]:
        """Return the documents that can be read."""
        return [item for item in self.read if isinstance(item, Document)]

    def frameworks(self) -> list[dict[str, Any]]:
        """Return the Frameworks in the file."""
        return [value for document in self.documents() for _, value in frameworks_in(document.value)]


def open_file(entry: FileEntry, data: bytes | LoadError, top: str = "") -> File:
    """Return the file's documents, whatever they are, and whether it is a template or a patch that holds a Framework.

    :param top: the highest folder in which to look for a kustomization or a chart that uses the file; empty: see `boundary`.
    """
    if isinstance(data, LoadError):
        return File(entry.name, [data], "")
    found: Read = list(read(data, entry.name, with_duplicates=True))
    return File(entry.name, found, _skipped(entry, data, found, top))


def _skipped(entry: FileEntry, data: bytes, found: Read, top: str) -> str:
    if not may_hold_framework(data):
        return ""
    if any(isinstance(document, LoadError) for document in found) and looks_like_template(data.decode("utf-8", "replace")):
        return "a template, not YAML: render it first (such as: helm template … | fcompile validate -)"
    return "" if entry.path == "-" else skip_reason(entry.path, top or boundary(entry.path, entry.within)) or ""
