"""A ResourceList as text: read from stdin, and written with as little changed as can be.

Frameworks are put into the text in the place of what they were; whatever stands around them keeps its comments, quotes and order. The
new text is read again: should it not say exactly what it must (flow style, anchors between items), the whole list is written anew.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from fcompile.check.document import empty
from fcompile.check.places import look_up_in
from fcompile.commands.report import open_report
from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.visible import visible
from fcompile.emit import yaml
from fcompile.errors import InputError, UsageError
from fcompile.load import Document, read
from fcompile.load.files import STDIN
from fcompile.load.rules import MAX_BYTES
from fcompile.model.values import text
from fcompile.pipeline.reporting import report

KIND = "ResourceList"
_GROUP = "config.kubernetes.io"
_FARTHEST = 100
"""Columns that an item of a list in block style may be indented by."""
_MOST_READ = MAX_BYTES + 1024 * 1024
"""Bytes. What is longer is refused with its place when it is read as YAML, and need not all be in memory for that."""


class SourceFile(NamedTuple):
    """The file that an item comes from, as its annotations have it."""

    path: str
    number: int | None
    """Which document of it; None: not known."""
    folder: str = ""


class ResourceList:
    """What kustomize or kpt passed in. `document.value` may be set to another value; `items` stay what they were."""

    def __init__(self, document: Document, read: list[Document | Problem]) -> None:
        self.document = document
        self.read = read
        self.value: dict[str, Any] = document.value
        self.items: list[Any] = self.value.get("items") or []
        self.config = self.value.get("functionConfig")

    def index_at(self, offset: int) -> int | None:
        """Return the index of the item that an offset in the text lies in; None before the first one."""
        return bisect_right(self._starts, offset) - 1 if self._starts and offset >= self._starts[0] else None

    @cached_property
    def _starts(self) -> list[int]:
        return [self.document.extent(("items", index))[0] for index in range(len(self.items))]

    def written(self, compiled: Mapping[int, Any], results: list[Any]) -> str:
        """Return the list with some items replaced, and results added."""
        if not compiled and not results:
            return self.document.source.text
        earlier = self.value.get("results")
        every = [*earlier, *results] if isinstance(earlier, list) else results
        wanted = {**self.value, "items": [compiled.get(index, item) for index, item in enumerate(self.items)]}
        wanted |= {"results": every} if results else {}
        spliced = self._spliced(compiled, results)
        return spliced if _says(spliced, wanted) else yaml.dump(wanted)

    def _spliced(self, compiled: Mapping[int, Any], results: list[Any]) -> str:
        """Return the text with items in the place of others; nothing where that cannot be."""
        text, done, parts = self.document.source.text, 0, []
        for index, item in sorted(compiled.items()):
            if yaml.dump(item) == yaml.dump(self.items[index]):
                continue  # compiled before: its comments and style stay
            start, end = self.document.extent(("items", index))
            column = start - text.rfind("\n", 0, start) - 1
            if column > _FARTHEST:
                return ""  # An item after others on one line: each line of it would be indented as far.
            indent = " " * column
            parts += [text[done:start], yaml.dump(item).rstrip("\n").replace("\n", f"\n{indent}")]
            done = max(text.find("\n", end), end)
        parts.append(text[done:])
        if results:
            parts += ["" if text.endswith("\n") else "\n", yaml.dump({"results": results})]
        return "".join(parts)


def _says(spliced: str, wanted: dict[str, Any]) -> bool:
    """Return whether a text reads as one document of this value."""
    found = list(read(spliced.encode(), STDIN))
    return len(found) == 1 and isinstance(found[0], Document) and found[0].value == wanted


def read_list() -> ResourceList:
    """Return the list on stdin. Raises InputError, after a report of what cannot be read."""
    if sys.stdin is None:
        raise UsageError("the standard input is closed: kustomize and kpt send a ResourceList there")
    if sys.stdin.isatty():
        raise UsageError("nothing comes on stdin: this is called by kustomize and kpt, which send a ResourceList; `build` takes files")
    found = list(read(sys.stdin.buffer.read(_MOST_READ), STDIN))
    _refuse_unreadable(found)
    documents = [item for item in found if isinstance(item, Document)]
    if not documents:
        raise InputError(f"{STDIN}: empty: kustomize and kpt send a {KIND} there")
    if len(documents) > 1:
        line = documents[1].locate(()).line
        raise InputError(f"{STDIN}:{line}: a second document: a {KIND} is one; for a stream of manifests there is `fcompile build -`")
    _refuse_other(documents[0])
    return ResourceList(documents[0], found)


def _refuse_unreadable(found: list[Document | Problem]) -> None:
    errors = [item for item in found if isinstance(item, Problem) and item.rule.severity is Severity.ERROR]
    if errors:
        report([empty(STDIN)._replace(problems=errors)], look_up_in(lambda _: found), open_report("text", sys.stderr))
        raise InputError(f"{STDIN} cannot be read: nothing is compiled")


def _refuse_other(document: Document) -> None:
    value = document.value
    version, kind = text(value, "apiVersion") or "", text(value, "kind")
    if kind != KIND or version.partition("/")[0] != _GROUP:
        what = "no Kubernetes object"
        if kind:
            what = f"{visible(version)} {visible(kind)}" if version else f"a {visible(kind)} without `apiVersion`"
        line = document.locate(("kind",)).line
        raise InputError(f"{STDIN}:{line}: this is {what}; a {KIND} of {_GROUP}/v1 is expected; for manifests there is `fcompile build -`")
    items = value.get("items")
    if items is not None and not isinstance(items, list):
        raise InputError(f"{STDIN}:{document.locate(('items',)).line}: `items` is not a list")
    for index, item in enumerate(items or []):
        if not isinstance(item, dict):
            raise InputError(f"{STDIN}:{document.locate(('items', index)).line}: `items[{index}]` is not an object")
