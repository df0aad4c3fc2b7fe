"""One side of a comparison: files read, checked, and their Frameworks compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from fcompile.check.document import Options
from fcompile.commands.report import WriterListener, fails
from fcompile.diagnostics.problem import Problem
from fcompile.diff.frameworks import Side
from fcompile.diff.result import Key, Object, ObjectKey
from fcompile.errors import UsageError
from fcompile.load.files import FileEntry
from fcompile.model.values import mapping, text
from fcompile.pipeline.compilation import Compilation, CompileError, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import open_file
from fcompile.waivers.collection import Waivers


class RawFile(NamedTuple):
    """A file and what is in it."""

    entry: FileEntry
    data: bytes | Problem


class Contents(NamedTuple):
    """What there is on a side."""

    frameworks: dict[Key, Side]
    objects: dict[ObjectKey, Object]


def read_side(
    files: Iterable[RawFile], options: Options, waivers: Waivers, whole: bool, listener: WriterListener, strict: bool
) -> Contents | None:
    """Read, check and compile; None when there is an error, which is told."""
    opened = (open_file(file.entry, file.data).for_frameworks() for file in files)
    compilation = Compilation(opened, options, (), waivers, whole)
    if fails(compilation.report(listener), strict):
        return None
    contents, nameless = Contents({}, {}), Counter[Sequence[str]]()
    try:
        for unit in compilation.units():
            _take(unit, contents, nameless)
    except CompileError as error:
        raise UsageError(str(error)) from None  # exit code 1 says that something differs
    return contents


def _take(unit: Unit, contents: Contents, nameless: Counter[Sequence[str]]) -> None:
    compiled = unit.compiled()
    if isinstance(compiled, Compiled):
        key = compiled.namespace, compiled.intent.framework
        contents.frameworks[key] = Side(compiled, partial(_line, unit), unit.value.get("status"))
        return
    value = unit.value
    metadata, kind, version = mapping(value, "metadata"), text(value, "kind"), text(value, "apiVersion")
    name = text(metadata, "name")
    if kind and version:
        of_kind = version.rpartition("/")[0], kind, text(metadata, "namespace") or "", name or text(metadata, "generateName") or ""
        # Each object without a name is one of its own: a hook of Argo CD, or something that has `items` and is no list by its kind.
        nameless[of_kind] += not name
        contents.objects[*of_kind, 0 if name else nameless[of_kind]] = Object(value, unit.document.source.name)


def _line(unit: Unit) -> tuple[str, int]:
    return unit.document.source.name, unit.document.locate((*unit.path, "metadata", "name"), "key").line
