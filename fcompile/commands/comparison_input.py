"""One side of a comparison: files read, checked, and their Frameworks compiled."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from fcompile.check.document import Options
from fcompile.check.tool_files import IGNORE_KIND, PARAMETERS_KIND, Around, boundary, in_folder, kind_for_tools
from fcompile.commands.report import WriterListener, fails
from fcompile.default import LAST_APPLIED
from fcompile.diagnostics.problem import Problem
from fcompile.diff.frameworks import Side
from fcompile.diff.result import FILE, Key, Object, ObjectKey
from fcompile.errors import UsageError
from fcompile.load.files import SUFFIXES, FileEntry
from fcompile.model.names import DIGEST_ANNOTATION
from fcompile.model.values import mapping, text
from fcompile.pipeline.compilation import Compilation, CompileError, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import File, is_pointer, open_file, why_skipped
from fcompile.waivers.collection import Waivers

_POINTER = "LFS pointer"
"""What a file is called in place of which Git LFS, and Argo CD with it, checks out another one."""


class RawFile(NamedTuple):
    """A file and what is in it."""

    entry: FileEntry
    data: bytes | Problem
    around: Around = in_folder
    """Reads files of the same side."""
    kind: str = ""
    """What it is in place of a file: a link or a submodule."""
    taken_for: str = ""
    """Its kind for tools that find it by a link or from another folder; empty: its own name and place say that."""

    def built(self, opened: File) -> str:
        """Return the kind of the file if other tools make what runs from it; empty: it says itself what runs.

        :param opened: the same file, with its documents.
        """
        if self.kind:
            return self.kind
        path = self.entry.path
        kind = kind_for_tools(path, boundary(path, self.entry.within), self.around) if path != "-" else ""
        kind = kind or self.taken_for
        if isinstance(self.data, bytes) and is_pointer(self.data):
            kind = kind or _POINTER
        whole = kind in ("kustomization", "patch", IGNORE_KIND, PARAMETERS_KIND, _POINTER) or (
            kind == "chart" and (not self.is_manifest or self._is_template())
        )
        objects = [_kind_and_version(value) is not None for value in opened.objects()]
        if not whole and any(objects) and (all(objects) or not kind) and not opened.skipped:
            return ""
        return kind or ("template" if opened.skipped else "")

    @property
    def is_manifest(self) -> bool:
        """Return whether the file was named, or has a name that a file with objects has."""
        return not self.kind and (not self.entry.within or self.entry.path.endswith(SUFFIXES))

    def _is_template(self) -> bool:
        """Return whether Helm finds anything to do in the file. It does so in comments, too."""
        return self.has_actions and bool(why_skipped(self.entry, around=self.around))

    @property
    def has_actions(self) -> bool:
        """Return whether there may be actions of a template in the file."""
        return isinstance(self.data, bytes) and b"{{" in self.data

    def content(self, opened: File, kind: str) -> dict[str, Any]:
        """Return what can be compared of a file of which others make what runs: its text, where more than the values in it counts."""
        assert isinstance(self.data, bytes)
        if not self.is_manifest or opened.unreadable() or kind == _POINTER or (kind == "chart" and self.has_actions):
            try:
                return {"text": self.data.decode()}
            except UnicodeDecodeError:
                import hashlib  # It loads OpenSSL, and hardly any file is binary.

                return {"sha256": hashlib.sha256(self.data).hexdigest()}
        documents = [document.value for document in opened.documents()]
        return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else {"documents": documents}


class Contents(NamedTuple):
    """What there is on a side."""

    frameworks: dict[Key, list[Side]]
    objects: dict[ObjectKey, list[Object]]


def read_side(files: Iterable[RawFile], options: Options, waivers: Waivers, listener: WriterListener, strict: bool) -> Contents | None:
    """Read, check and compile; None when there is an error, which is told."""
    contents, nameless, opened, built = Contents({}, {}), Counter[Sequence[str]](), [], set()
    for file in files:
        one = open_file(file.entry, file.data, around=file.around)
        kind = file.built(one) if isinstance(file.data, bytes) else ""
        # What a script or a page of Markdown is as YAML is nobody's concern.
        opened.append(one._replace(read=[]) if kind and not file.is_manifest else one.for_frameworks())
        if kind:
            built.add(one.name)
            key = FILE, kind, "", _name(file.entry), 0
            contents.objects.setdefault(key, []).append(Object(file.content(one, kind), one.name))
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
        digest = text(mapping(mapping(unit.value, "metadata"), "annotations"), DIGEST_ANNOTATION)
        side = Side(compiled, partial(_line, unit), unit.value.get("status"), digest, _applied(unit.value))
        contents.frameworks.setdefault(key, []).append(side)
        return
    value = unit.value
    metadata, (kind, version) = mapping(value, "metadata"), _kind_and_version(value) or ("", "")
    name = text(metadata, "name")
    if kind:
        of_kind = version.rpartition("/")[0], kind, text(metadata, "namespace") or "", name or text(metadata, "generateName") or ""
        # Each object without a name is one of its own: a hook of Argo CD, or something that has `items` and is no list by its kind.
        nameless[of_kind] += not name
        contents.objects.setdefault((*of_kind, 0 if name else nameless[of_kind]), []).append(Object(value, unit.document.source.name))


def _applied(value: Any) -> dict[str, Any]:
    """Return the metadata that kubectl has applied last, where an object of a cluster says so."""
    written = text(mapping(mapping(value, "metadata"), "annotations"), LAST_APPLIED)
    try:
        return dict(mapping(json.loads(written), "metadata")) if written else {}
    except (ValueError, RecursionError):
        return {}


def _kind_and_version(value: Any) -> tuple[str, str] | None:
    kind, version = text(value, "kind"), text(value, "apiVersion")
    return (kind, version) if kind and version else None


def _name(entry: FileEntry) -> str:
    """Return what a file is called on either side."""
    path = os.path.relpath(entry.path, entry.within or os.path.dirname(entry.path) or os.curdir)
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _line(unit: Unit) -> tuple[str, int]:
    return unit.document.source.name, unit.document.locate((*unit.path, "metadata", "name"), "key").line
