"""One compilation: files → override → check → what each object comes to. Nothing is printed here, and nothing read but the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from fcompile.check.across import Place, Where
from fcompile.check.document import Checked, Options, check_read, empty, look_up
from fcompile.check.ours import is_framework, objects_in
from fcompile.check.waivers import Waivers
from fcompile.diagnostics.problem import Path, field_path
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import Summary
from fcompile.load import Document
from fcompile.pipeline.inputs import File
from fcompile.pipeline.reporting import Listener, report

if TYPE_CHECKING:
    from fcompile.pipeline.compiled import Compiled
    from fcompile.pipeline.overrides import Applied, Override
    from fcompile.pipeline.passthrough import PassedThrough


class Refused(NamedTuple):
    """A Framework that cannot be compiled whatever is waived, since a field is missing."""

    path: Path
    """Of the field, in the Framework."""


class Unit(NamedTuple):
    """An object of the input, and what it comes to."""

    document: Document
    path: Path
    """Where it is in the document: empty, or the item of a list."""
    value: Any
    """As it was read, with overrides carried out."""
    result: Compiled | PassedThrough | Refused

    @property
    def place(self) -> str:
        """Return its file and line, as messages name them."""
        return f"{visible(self.document.source.name)}:{self.document.locate(self.path).line}"

    def refusal(self, refused: Refused) -> str:
        """Return why nothing comes of it, for a message."""
        return f"{self.place}: without `{field_path((*self.path, *refused.path))}` nothing can be built; no waiver helps"


class Compilation:
    """Some files, and what they come to."""

    def __init__(self, files: Iterable[File], options: Options, overrides: Iterable[Override] = ()) -> None:
        """Read all files, and carry out the overrides, in their order, on the Frameworks in them. Raises SettingError."""
        self.files = tuple(files)
        self.applied = self._override(tuple(overrides))
        self._options = options

    def _override(self, overrides: tuple[Override, ...]) -> list[Applied]:
        if not overrides:
            return []
        from fcompile.pipeline.overrides import apply
        from fcompile.schema.pod_schemas import NEWEST
        from fcompile.schema.types import types

        return apply(overrides, [value for file in self.files if not file.skipped for value in file.frameworks()], types(NEWEST))

    def checked(self) -> Iterator[Checked]:
        """Check each file, in their order."""
        for file in self.files:
            if file.skipped:
                yield empty(file.name)._replace(skipped=file.skipped)
            else:
                yield self._with_overrides_named(check_read(file.name, file.read, self._options), file)

    def report(self, listener: Listener, waivers: Waivers | None = None, whole: bool = False) -> Summary:
        """Check everything, and tell the listener of it: `reporting.report`."""
        return report(self.checked(), self.look_up, listener, waivers, whole)

    def units(self) -> Iterator[Unit]:
        """Compile each Framework, and yield what each object comes to, in the order of the input. There must be no errors left."""
        for file in self.files:
            if not file.skipped:
                for document in file.documents():
                    for path, value in objects_in(document.value):
                        yield Unit(document, path, value, self._result(document, path, value))

    def look_up(self, where: Where) -> Place:
        """Return the place of something in the files."""
        return look_up(self._documents.get(where.file, {}), where)

    @cached_property
    def _documents(self) -> dict[str, dict[int, Document]]:
        """By file, and by where they begin."""
        return {file.name: {document.start: document for document in file.documents()} for file in self.files}

    def _with_overrides_named(self, checked: Checked, file: File) -> Checked:
        if not self.applied:
            return checked
        from fcompile.pipeline.overrides import name_overrides

        return name_overrides(checked, file.documents(), self.applied)

    def _result(self, document: Document, path: Path, value: Any) -> Compiled | PassedThrough | Refused:
        if not is_framework(value):
            from fcompile.pipeline.passthrough import PassedThrough

            return PassedThrough(value, None if path else document)
        from fcompile.pipeline.compiled import compile_framework, lacking

        missing = lacking(value)
        return compile_framework(value, self._options.namespace) if missing is None else Refused(missing)
