"""One side of a comparison: files read, checked, and their Frameworks compiled."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from fcompile.check.document import Options
from fcompile.commands.report import Telling, fails
from fcompile.diagnostics.visible import visible
from fcompile.diff.frameworks import Side
from fcompile.diff.result import Key, Object, ObjectKey
from fcompile.errors import UsageError
from fcompile.load import LoadError
from fcompile.load.files import FileEntry, may_hold_framework
from fcompile.model.values import mapping, text
from fcompile.pipeline.compilation import Compilation, Refused, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import File as ReadFile
from fcompile.pipeline.file import open_file
from fcompile.program import say
from fcompile.waivers.collection import Waivers


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


def read_side(files: Iterable[File], options: Options, waivers: Waivers, whole: bool, telling: Telling, strict: bool) -> Contents | None:
    """Read, check and compile; None when there is an error, which is told."""
    compilation = Compilation(map(_opened, files), options, (), waivers, whole)
    if fails(compilation.report(telling), strict):
        return None
    contents = Contents({}, {})
    for unit in compilation.units():
        _take(unit, contents)
    return contents


def _opened(file: File) -> ReadFile:
    opened = open_file(file.entry, file.data)
    if isinstance(file.data, bytes) and not may_hold_framework(file.data):
        # Other tools may well read it; what cannot be read is none of our business.
        return opened._replace(read=[*opened.documents()])
    return opened


def _take(unit: Unit, contents: Contents) -> None:
    if isinstance(unit.result, Refused):
        raise UsageError(unit.refusal(unit.result))
    if isinstance(unit.result, Compiled):
        key = unit.result.namespace, unit.result.intent.framework
        contents.frameworks[key] = Side(unit.result, partial(_line, unit), unit.value.get("status"))
        return
    value = unit.value
    metadata, kind, version = mapping(value, "metadata"), text(value, "kind"), text(value, "apiVersion")
    name = text(metadata, "name")
    if kind and version and name:
        group = version.rpartition("/")[0]
        contents.objects[group, kind, text(metadata, "namespace") or "", name] = Object(value, unit.document.source.name)


def _line(unit: Unit) -> tuple[str, int]:
    return unit.document.source.name, unit.document.locate((*unit.path, "metadata", "name"), "key").line
