"""Objects of other kinds, which are printed unchanged: as their own text, with comments, where that can be part of a stream."""

from __future__ import annotations

from typing import Any, NamedTuple

from fcompile.load import Document
from fcompile.model.patterns import lazy
from fcompile.model.values import text as text_of

_FIRST_SEPARATOR = lazy(r"\A---[ \t]*(?:\r?\n)?")
"""The separator that a document can begin with when it is the first one of a file. A comment may follow it."""
_LAST_MARK = lazy(r"\r?\n\.\.\.[ \t]*\Z")
_KEEPS_LINE_ENDS = lazy(r"[|>][1-9]?\+")


class PassedThrough(NamedTuple):
    """An object that is no Framework, as it was read."""

    value: Any
    document: Document | None
    """What it is the whole of; None: it is an item of a list."""

    def text(self) -> str:
        """Return the object's own text where that can be printed as it is, else the empty string."""
        return own_text(self.document) if self.document else ""

    @property
    def is_object(self) -> bool:
        """Return whether `kubectl apply` could take it, unlike a kustomization, a Chart.yaml and the like, which are not printed."""
        version, kind = text_of(self.value, "apiVersion"), text_of(self.value, "kind")
        return bool(version and kind) and not (version or "").startswith("kustomize.config.k8s.io/")


def own_text(document: Document) -> str:
    """Return the text of a document if it can be part of a stream as it is, else the empty string."""
    written = _LAST_MARK.sub("", _FIRST_SEPARATOR.sub("", document.text).strip("\ufeff\r\n"))
    if not written or written.lstrip()[0] in "{[" or any(line.startswith(("---", "...", "%")) for line in written.splitlines()):
        return ""
    if not _ends_in_block(document):
        return f"---\n{written}\n"
    # Some readers drop the line end before `---`, which would change such a block, and `|+` keeps empty lines too.
    return "" if _KEEPS_LINE_ENDS.search(written) else f"---\n{written}\n...\n"


def _ends_in_block(document: Document) -> bool:
    """Return whether the last value is a block that keeps its last line end."""
    value, path = document.value, []
    while isinstance(value, dict | list) and value:
        path.append(len(value) - 1 if isinstance(value, list) else next(reversed(value)))
        value = value[path[-1]]
    if not isinstance(value, str) or not value.endswith("\n"):
        return False
    return document.source.text[document.locate(tuple(path)).start] not in ('"', "'")
