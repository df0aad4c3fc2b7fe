"""One compilation: files → overrides → check → the outcome for each object. Nothing is printed here, and only the files are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from fcompile.check.document import Checked, Options
from fcompile.check.objects import is_framework, objects_in
from fcompile.check.places import Lookup, look_up_in
from fcompile.diagnostics.problem import Path, Problem, Severity, field_path
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import Summary, Waived, Writer
from fcompile.errors import InputError, SettingError
from fcompile.load import Document
from fcompile.pipeline.compiled import Compiled, compile_framework, lacking, too_large
from fcompile.pipeline.file import File, check_file
from fcompile.pipeline.reporting import report
from fcompile.waivers.collection import Waivers

if TYPE_CHECKING:
    from fcompile.pipeline.overrides import Applied, Override
    from fcompile.pipeline.passthrough import PassedThrough


_MOST_NAMED = 10
"""Errors in the text of an exception."""


class Unit(NamedTuple):
    """An object of the input."""

    document: Document
    path: Path
    """Where it is in the document: empty, or the item of a list."""
    value: Any
    """As it was read, with overrides carried out."""
    namespace: str
    """For a Framework that names none."""

    @property
    def location(self) -> str:
        """Return the file and line of the object, as messages name them."""
        return f"{visible(self.document.source.name)}:{self.document.locate(self.path).line}"

    def compiled(self) -> Compiled | PassedThrough:
        """Compile a Framework, and pass any other object through. Raises CompileError, whatever is waived, for what cannot be."""
        if not is_framework(self.value):
            from fcompile.pipeline.passthrough import PassedThrough

            return PassedThrough(self.value, None if self.path else self.document)
        missing = lacking(self.value)
        if missing is not None:
            field = field_path((*self.path, *missing))
            raise CompileError(f"{self.location}: without `{field}` nothing can be built; no waiver helps")
        if large := too_large(self.value, self.namespace):
            raise CompileError(f"{self.location}: {large}; no waiver helps")
        return compile_framework(self.value, self.namespace)


class CompileError(InputError):
    """Nothing is compiled, since errors remain."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message, problems)
        self.problems = problems
        """The errors. Empty when a waived one leaves nothing that could be compiled."""

    def __str__(self) -> str:
        return str(self.args[0])


class Compilation:
    """Some files, and what is compiled from them."""

    def __init__(
        self,
        files: Iterable[File],
        options: Options,
        overrides: Iterable[Override] = (),
        waivers: Waivers | None = None,
        whole: bool | None = False,
    ) -> None:
        """Read all files, and carry out the overrides, in their order, on the Frameworks in them.

        Raises SettingError; not for a role that is missing while the input has errors.

        :param waivers: besides those in the files' comments.
        :param whole: the files are the whole project, so that an entry of the waivers file that covers none of them is unused.
            None: they were chosen for something else, and no unused waiver is reported.
        """
        self._files = tuple(files)
        self._options = options
        self._waivers = waivers
        self._whole = whole
        self.applied: list[Applied] = []
        self._refused: SettingError | None = None
        """Why an override means no role, as long as the input has errors."""
        self.applied = self._override(tuple(overrides))
        if self.applied:
            # With a colon, since what is set may be a key.
            self._options = options._replace(overrides="".join(f"\n{done.override.written}:" for done in self.applied))

    def _override(self, overrides: tuple[Override, ...]) -> list[Applied]:
        if not overrides:
            return []
        from fcompile.pipeline.overrides import apply, first_refusal
        from fcompile.schema.pod_schemas import NEWEST
        from fcompile.schema.types import types

        frameworks = [value for file in self._files if not file.skipped for value in file.frameworks()]
        refused = first_refusal(overrides, frameworks)
        if refused is not None and self._errors():
            # They come first: a role is not there, either, when its file cannot be read, or a word above it is misspelt.
            self._refused = refused
            return []
        return apply(overrides, frameworks, types(NEWEST))

    def _errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def version(self) -> int:
        """Return the Kubernetes 1.x minor version that is checked for."""
        return self._options.version

    def checked(self) -> Iterator[Checked]:
        """Check each file, in their order."""
        for file in self._files:
            checked = check_file(file, self._options)
            if self.applied and checked.problems:
                from fcompile.pipeline.overrides import name_overrides

                checked = name_overrides(checked, file.documents(), self.applied)
            yield checked

    def unreadable_files_of_others(self) -> list[str]:
        """Return the files that cannot be read and hold no Framework. Those who look for Frameworks alone pass over them."""
        return [file.name for file in self._files if file.of_others and file.unreadable()]

    def report(self, listener: Writer) -> Summary:
        """Check everything, and report it to the listener."""
        return report(self.checked(), self.look_up, listener, self._waivers, self._whole)

    def units(self) -> Iterator[Unit]:
        """Yield each object, to be compiled, in the order of the input. There must be no errors left.

        Raises SettingError for an override without a role, where a caller has waived the errors that came first.
        """
        if self._refused is not None:
            raise self._refused
        for file in self._files:
            if not file.skipped:
                for document in file.documents():
                    for path, value in objects_in(document.value):
                        yield Unit(document, path, value, self._options.namespace)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return every problem that no waiver covers, in the order of the files. Never raises."""
        return tuple(self._collected.problems)

    @property
    def waived(self) -> tuple[Waived, ...]:
        """Return every problem that a waiver covers, with its reason. Never raises."""
        return tuple(self._collected.waivers)

    @property
    def skipped(self) -> dict[str, str]:
        """Return the files that were passed over although they seem to hold a Framework, each with the reason. Never raises."""
        return dict(self._collected.files)

    @cached_property
    def frameworks(self) -> tuple[Compiled, ...]:
        """Return every Framework, compiled, in the order of the files. Raises CompileError while errors remain."""
        errors = self._errors()
        if errors:
            more = [f"… and {len(errors) - _MOST_NAMED} more"] if len(errors) > _MOST_NAMED else []
            raise CompileError("\n".join([*map(str, errors[:_MOST_NAMED]), *more]), errors)
        return tuple(self._compiled())

    def expected(self, kinds: str = "expected", only: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Return the objects that will run, Framework by Framework, as `fcompile build` prints them.

        Raises CompileError while errors remain, and SettingError for a kind, role or task that there is not.

        :param kinds: some of `framework`, `configmap`, `services` and `pods`, separated by commas; `expected` is the last three.
        :param only: the Pods of these roles or tasks alone, as `[framework/]role` or `[framework/]role[index]`.
        """
        from fcompile.pipeline.selection import selection
        from fcompile.pipeline.settings import text, texts

        wanted = selection(text("kinds", kinds), texts("only", only), self.version)
        wanted.require(self.frameworks)
        return [thing for framework in self.frameworks for thing in wanted.objects(framework)]

    def _compiled(self) -> Iterator[Compiled]:
        from fcompile.emit.order import ordered

        for unit in self.units():
            compiled = unit.compiled()
            if isinstance(compiled, Compiled):
                # A copy, so that a caller can change it.
                yield compiled._replace(framework=ordered(compiled.framework))

    @cached_property
    def _collected(self) -> _Collector:
        collector = _Collector()
        self.report(collector)
        return collector

    @cached_property
    def look_up(self) -> Lookup:
        """Return what finds the place of something in the files."""
        return look_up_in({file.name: file.read for file in self._files}.__getitem__)


class _Collector(Writer):
    """A listener that keeps all that it is told of."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.waivers: list[Waived] = []
        self.files: list[tuple[str, str]] = []

    def skipped(self, file: str, reason: str) -> None:
        self.files.append((file, reason))

    def problem(self, problem: Problem) -> None:
        self.problems.append(problem)

    def waived(self, waived: Waived) -> None:
        self.waivers.append(waived)
