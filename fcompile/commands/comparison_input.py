"""One side of a comparison: files read, checked, and their Frameworks compiled."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from fcompile.check.document import Options
from fcompile.check.tool_files import Around, FileKind, boundary, in_folder, is_embedded, kind_for_tools
from fcompile.commands.report import WriterListener, fails
from fcompile.default import LAST_APPLIED
from fcompile.diagnostics.problem import Problem
from fcompile.diff.frameworks import Side
from fcompile.diff.result import FILE, Key, Object, ObjectKey
from fcompile.errors import UsageError
from fcompile.load.files import SUFFIXES, FileEntry
from fcompile.model.names import DIGEST_ANNOTATION
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, sequence, text
from fcompile.pipeline.compilation import Compilation, CompileError, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import File, is_pointer, open_file, why_skipped
from fcompile.waivers.collection import Waivers

_NEVER_OBJECTS = frozenset({FileKind.KUSTOMIZATION, FileKind.PATCH, FileKind.IGNORE_FILE, FileKind.PARAMETERS, FileKind.POINTER})
"""Kinds of files that others read as a whole, whatever looks like an object in them."""

_SECRET = lazy(rb"""kind["']?\s*:\s*["']?secret\b""", re.IGNORECASE)
"""What stands in a file with a Secret, however little of it can be read."""


class RawFile(NamedTuple):
    """A file and what is in it."""

    entry: FileEntry
    data: bytes | Problem
    around: Around = in_folder
    """Reads files of the same side."""
    kind: FileKind | None = None
    """What it is in place of a file with objects: a link, a submodule or a hidden file."""
    taken_for: FileKind | None = None
    """Its kind for tools that find it by a link or from another folder; None: its own name and place say that."""

    def built(self, opened: File) -> FileKind | None:
        """Return the kind of the file if other tools make what runs from it; None: it says itself what runs.

        :param opened: the same file, with its documents.
        """
        kind = self.kind or self._for_tools() or self.taken_for
        if kind is None and isinstance(self.data, bytes) and is_pointer(self.data):
            kind = FileKind.POINTER
        if opened.skipped:
            return kind or FileKind.TEMPLATE
        return None if self._may_say_what_runs(kind) and _holds_objects(opened, alone=kind is not None) else kind

    def may_be_applied(self, opened: File) -> bool:
        """Return whether objects are in the file, or may be: it is a pointer, or too large to be read."""
        if not isinstance(self.data, bytes) or is_pointer(self.data):
            return True
        return _holds_objects(opened, alone=False) or self.may_hold_unread_objects(opened)

    def may_hold_unread_objects(self, opened: File) -> bool:
        """Return whether objects may be in the file that cannot be read here, though kubectl may read them: it has other limits."""
        return isinstance(self.data, bytes) and bool(opened.unreadable()) and b"apiVersion" in self.data and b"kind" in self.data

    def _for_tools(self) -> FileKind | None:
        path = self.entry.path
        return None if path == "-" else kind_for_tools(path, boundary(path, self.entry.within), self.around)

    def is_embedded(self) -> bool:
        """Return whether other tools may put the text of the file into an object as it is."""
        path = self.entry.path
        if self.taken_for is FileKind.SOURCE:  # a kustomization that is not above it names it, perhaps to make a ConfigMap of it
            return True
        return not self.kind and path != "-" and is_embedded(path, boundary(path, self.entry.within), self.around)

    def _may_say_what_runs(self, kind: FileKind | None) -> bool:
        """Return whether objects in a file of this kind are applied as they are."""
        if self.kind or kind in _NEVER_OBJECTS:
            return False
        if kind is not FileKind.CHART:
            return True
        # Helm finds actions in comments, too.
        return self.is_manifest and not (self.has_actions and why_skipped(self.entry, around=self.around))

    @property
    def is_manifest(self) -> bool:
        """Return whether the file was named, or has a name that a file with objects has."""
        return not self.kind and (not self.entry.within or self.entry.path.endswith(SUFFIXES))

    @property
    def has_actions(self) -> bool:
        """Return whether there may be actions of a template in the file."""
        return isinstance(self.data, bytes) and b"{{" in self.data

    def content(self, opened: File, kind: FileKind) -> dict[str, Any]:
        """Return what can be compared of a file of which others make what runs: its text, where more than the values in it counts."""
        assert isinstance(self.data, bytes)
        is_text = not (self.is_manifest or kind is FileKind.HIDDEN) or is_pointer(self.data)
        if is_text or opened.unreadable() or self.is_embedded() or (kind is FileKind.CHART and self.has_actions):
            if kind in (FileKind.UNREAD, FileKind.HIDDEN) and _SECRET.search(self.data):
                return _digest(self.data)
            try:
                return {"text": self.data.decode()}
            except UnicodeDecodeError:
                return _digest(self.data)
        documents = [document.value for document in opened.documents()]
        return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else {"documents": documents}

    def beside(self, opened: File) -> tuple[FileKind | None, dict[str, Any]]:
        """Return the kind of a file that says itself what runs, and what else can be compared of it, where other tools read it too.

        Helm takes a chart's files by their names: in `templates` it passes over `_job.yaml`. So it counts that there is such a file.
        """
        kind = self._for_tools()
        if kind and self.is_embedded():
            return kind, self.content(opened, kind)
        return (kind, {}) if kind is FileKind.CHART else (None, {})


class Contents(NamedTuple):
    """What there is on a side."""

    frameworks: dict[Key, list[Side]]
    objects: dict[ObjectKey, list[Object]]


def read_side(files: Iterable[RawFile], options: Options, waivers: Waivers, listener: WriterListener, strict: bool) -> Contents | None:
    """Read, check and compile; None when there is an error, which is told."""
    contents, nameless, opened, built = Contents({}, {}), Counter[Sequence[str]](), [], set()
    for file in files:
        one = open_file(file.entry, file.data, around=file.around)
        if file.kind is FileKind.HIDDEN and not file.may_be_applied(one):
            continue
        kind = file.built(one) if isinstance(file.data, bytes) else None
        # What a script or a page of Markdown is as YAML is nobody's concern.
        opened.append(one._replace(read=[]) if kind and not file.is_manifest else one.for_frameworks())
        if kind:
            built.add(one.name)
            content = file.content(one, kind)
        elif isinstance(file.data, bytes):
            unread = file.is_manifest and one.of_others and file.may_hold_unread_objects(one)
            kind, content = (FileKind.UNREAD, file.content(one, FileKind.UNREAD)) if unread else file.beside(one)
        if kind:
            key = FILE, kind, "", _name(file.entry), 0
            contents.objects.setdefault(key, []).append(Object(content, one.name))
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
        side = Side(compiled, partial(_line, unit), unit.value.get("status"), digest, *_applied(unit.value))
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


def _applied(value: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the metadata, and the fields of the spec, that kubectl has applied last, where an object of a cluster says so."""
    metadata = mapping(value, "metadata")
    written = text(mapping(metadata, "annotations"), LAST_APPLIED)
    try:
        last = json.loads(written) if written else {}
    except (ValueError, RecursionError):
        last = {}
    on_server, before = _applied_on_server(sequence(metadata, "managedFields")), mapping(last, "metadata")
    both = {kind: {**mapping(before, kind), **dict.fromkeys(on_server[kind])} for kind in ("annotations", "labels")}
    return {**before, **both}, frozenset((*mapping(last, "spec"), *on_server["spec"]))


def _applied_on_server(entries: Sequence[Any]) -> dict[str, list[str]]:
    """Return the annotations, the labels and the fields of the spec that kubectl has set by a server-side apply, and nobody else.

    What somebody else has set too stays when kubectl does not set it any more.
    """
    setters: dict[tuple[str, str], set[bool]] = {}
    for entry in entries:
        is_applied = (text(entry, "manager"), text(entry, "operation")) == ("kubectl", "Apply")
        fields = mapping(entry, "fieldsV1")
        for kind, inside in ("annotations", "f:metadata"), ("labels", "f:metadata"), ("spec", ""):
            for name in mapping(mapping(fields, inside) if inside else fields, f"f:{kind}"):
                setters.setdefault((kind, name.removeprefix("f:")), set()).add(is_applied)
    applied: dict[str, list[str]] = {"annotations": [], "labels": [], "spec": []}
    for (kind, name), some in setters.items():
        if some == {True}:
            applied[kind].append(name)
    return applied


def _digest(data: bytes) -> dict[str, Any]:
    """Return what can be shown of a file that is no text, or a secret one."""
    import hashlib  # It loads OpenSSL, and hardly any file is binary.

    return {"sha256": hashlib.sha256(data).hexdigest()}


def _holds_objects(file: File, *, alone: bool) -> bool:
    """Return whether there are objects in a file; `alone`: and nothing else."""
    found = [_kind_and_version(value) is not None for value in file.objects()]
    return any(found) and (all(found) or not alone)


def _kind_and_version(value: Any) -> tuple[str, str] | None:
    kind, version = text(value, "kind"), text(value, "apiVersion")
    return (kind, version) if kind and version else None


def _name(entry: FileEntry) -> str:
    """Return what a file is called on either side."""
    path = os.path.relpath(entry.path, entry.within or os.path.dirname(entry.path) or os.curdir)
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _line(unit: Unit) -> tuple[str, int]:
    return unit.document.source.name, unit.document.locate((*unit.path, "metadata", "name"), "key").line
