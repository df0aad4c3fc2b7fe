"""One side of a comparison: files read, checked, and their Frameworks compiled."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from fcompile.check.document import Options
from fcompile.check.selection import Around, boundary, in_folder, rendered
from fcompile.commands.report import WriterListener, fails
from fcompile.diagnostics.problem import Problem
from fcompile.diff.frameworks import Side
from fcompile.diff.result import FILE, Key, Object, ObjectKey
from fcompile.errors import UsageError
from fcompile.load.files import FileEntry
from fcompile.model.values import mapping, text
from fcompile.pipeline.compilation import Compilation, CompileError, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import File, open_file
from fcompile.waivers.collection import Waivers


class RawFile(NamedTuple):
    """A file and what is in it."""

    entry: FileEntry
    data: bytes | Problem
    around: Around = in_folder
    """Reads files of the same side."""

    def built(self, opened: File) -> str:
        """Return what the file is if others make what runs of it, as it is opened; empty: it says itself what runs."""
        path = self.entry.path
        kind = rendered(path, boundary(path, self.entry.within), self.around) if path != "-" else ""
        if kind != "kustomization" and any(map(_kind_and_version, opened.objects())) and not opened.skipped:
            return ""
        return kind or ("template" if opened.skipped else "")


class Contents(NamedTuple):
    """What there is on a side."""

    frameworks: dict[Key, Side]
    objects: dict[ObjectKey, Object]


def read_side(files: Iterable[RawFile], options: Options, waivers: Waivers, listener: WriterListener, strict: bool) -> Contents | None:
    """Read, check and compile; None when there is an error, which is told."""
    contents, nameless, opened, built = Contents({}, {}), Counter[Sequence[str]](), [], set()
    for file in files:
        one = open_file(file.entry, file.data, around=file.around)
        opened.append(one.for_frameworks())
        if isinstance(file.data, bytes) and (kind := file.built(one)):
            built.add(one.name)
            contents.objects[FILE, kind, "", _name(file.entry), 0] = Object(_value(one, file.data), one.name)
    compilation = Compilation(opened, options, (), waivers, whole=None)
    if fails(compilation.report(listener), strict):
        return None
    try:
        for unit in compilation.units():
            if unit.document.source.name not in built:
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
    metadata, (kind, version) = mapping(value, "metadata"), _kind_and_version(value) or ("", "")
    name = text(metadata, "name")
    if kind:
        of_kind = version.rpartition("/")[0], kind, text(metadata, "namespace") or "", name or text(metadata, "generateName") or ""
        # Each object without a name is one of its own: a hook of Argo CD, or something that has `items` and is no list by its kind.
        nameless[of_kind] += not name
        contents.objects[*of_kind, 0 if name else nameless[of_kind]] = Object(value, unit.document.source.name)


def _kind_and_version(value: Any) -> tuple[str, str] | None:
    kind, version = text(value, "kind"), text(value, "apiVersion")
    return (kind, version) if kind and version else None


def _name(entry: FileEntry) -> str:
    """Return what a file is called on either side."""
    path = os.path.relpath(entry.path, entry.within or os.path.dirname(entry.path) or os.curdir)
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _value(opened: File, data: bytes) -> dict[str, Any]:
    """Return what can be compared of a file that holds no objects."""
    if opened.unreadable():
        return {"text": data.decode("utf-8", "replace")}
    documents = [document.value for document in opened.documents()]
    return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else {"documents": documents}


def _line(unit: Unit) -> tuple[str, int]:
    return unit.document.source.name, unit.document.locate((*unit.path, "metadata", "name"), "key").line
