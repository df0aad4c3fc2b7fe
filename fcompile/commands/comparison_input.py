"""One side of a comparison: files read, checked, and their Frameworks compiled."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import NamedTuple

from fcompile.check.across import Place, Where
from fcompile.check.document import Options, by_start, check_read, empty, look_up
from fcompile.check.ours import is_framework, objects_in
from fcompile.check.values import mapping, text
from fcompile.commands.report import Reporting, fails, open_errors
from fcompile.diagnostics.problem import Path, field_path
from fcompile.diagnostics.visible import visible
from fcompile.diff.frameworks import Side
from fcompile.diff.result import Key, Object, ObjectKey
from fcompile.errors import UsageError
from fcompile.load import Document, LoadError
from fcompile.load.files import FileEntry, may_hold_framework
from fcompile.pipeline.compiled import compile_framework, lacking
from fcompile.pipeline.inputs import open_file
from fcompile.program import say


class File(NamedTuple):
    """A file and what is in it."""

    entry: FileEntry
    data: bytes | LoadError


MOST = 32 * 1024 * 1024
"""Bytes: no file of Frameworks comes near. Larger ones are passed over, so that one of a gigabyte does no harm."""


def is_small(name: str, size: int) -> bool:
    """Whether a file of that size is read; if not, it is said on stderr."""
    if size > MOST:
        say(f"skipped {visible(name)}: it has more than {MOST // 2**20} MiB")
    return size <= MOST


class Contents(NamedTuple):
    """What there is on a side."""

    frameworks: dict[Key, Side]
    objects: dict[ObjectKey, Object]


def read_side(files: Iterable[File], options: Options, arguments: argparse.Namespace) -> Contents | None:
    """Read, check and compile; None when there is an error, which is said on stderr."""
    documents: dict[str, list[Document]] = {}

    @lru_cache(2)
    def by_file(name: str) -> dict[int, Document]:
        return by_start(documents[name])

    def place(where: Where) -> Place:
        return look_up(by_file(where.file), where)

    reporting = Reporting(open_errors(arguments), arguments, place)
    for file in files:
        opened = open_file(file.entry, file.data)
        read = opened.read
        if isinstance(file.data, bytes) and not may_hold_framework(file.data):
            # Other tools may well read it; what cannot be read is none of our business.
            read = [item for item in read if isinstance(item, Document)]
        if opened.skipped:
            reporting.checked(empty(opened.name)._replace(skipped=opened.skipped))
            continue
        documents[opened.name] = [item for item in read if isinstance(item, Document)]
        reporting.checked(check_read(opened.name, read, options))
    if fails(reporting.finish(), arguments.strict):
        return None
    contents = Contents({}, {})
    for name, found in documents.items():
        for document in found:
            _take(document, name, options, contents)
    return contents


def _take(document: Document, file: str, options: Options, contents: Contents) -> None:
    for path, value in objects_in(document.value):
        if is_framework(value):
            missing = lacking(value)
            if missing is not None:
                field = field_path((*path, *missing))
                raise UsageError(f"{file}:{document.locate(path).line}: without `{field}` nothing can be compared; no waiver helps")
            compiled = compile_framework(value, options.namespace)
            key = compiled.namespace, compiled.intent.framework
            contents.frameworks[key] = Side(compiled, partial(_line, document, file, path), value.get("status"))
            continue
        metadata, kind, version = mapping(value, "metadata"), text(value, "kind"), text(value, "apiVersion")
        name = text(metadata, "name")
        if kind and version and name:
            group = version.rpartition("/")[0]
            contents.objects[group, kind, text(metadata, "namespace") or "", name] = Object(value, file)


def _line(document: Document, file: str, path: Path) -> tuple[str, int]:
    return file, document.locate((*path, "metadata", "name"), "key").line
