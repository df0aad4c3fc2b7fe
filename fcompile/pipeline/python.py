"""The input of `fcompile.compile`, as files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fcompile.check.document import Options
from fcompile.check.objects import is_framework
from fcompile.diagnostics.problem import Path, field_path
from fcompile.diagnostics.visible import visible
from fcompile.emit import yaml
from fcompile.emit.scalars import DEEPEST, EmitError
from fcompile.load import rules
from fcompile.load.files import FileEntry
from fcompile.pipeline import settings
from fcompile.pipeline.compilation import Compilation
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import File, open_file
from fcompile.pipeline.inputs import Inputs
from fcompile.pipeline.overrides import parse
from fcompile.waivers.collection import Waivers

TEXT = "<text>"
"""The name of a text in problems."""

_LONGEST_PATH = 4096
_PATH = re.compile(rb"[^\s:#{\[]+\.(?:yaml|yml|json)\s*")
"""A path, given as a text: as YAML it is one word, in which nothing is found to be wrong."""


def options(kubernetes_version: str | None, namespace: str) -> Options:
    """Return what a check depends on besides its input. Raises SettingError and TypeError."""
    version = settings.DEFAULT_KUBERNETES if kubernetes_version is None else settings.text("kubernetes_version", kubernetes_version)
    # A script may look at the problems alone, and so finds what `validate` finds.
    return settings.options(version, settings.text("namespace", namespace))._replace(digests=True)


def compilation(
    paths: Sequence[str | os.PathLike[str]],
    text: str | bytes | None,
    frameworks: Iterable[object] | None,
    check_options: Options,
    overrides: Iterable[str],
    waivers: str | os.PathLike[str] | None,
) -> Compilation:
    """Return the compilation of what is given. Raises TypeError, SettingError and OSError."""
    asked = [parse(written) for written in settings.texts("overrides", overrides)]
    known = None if waivers is None else Waivers.from_file(os.fsdecode(waivers))
    if text is not None:
        files: Iterable[File] = [_of_text(text)]
    elif frameworks is not None:
        files = _of_frameworks(frameworks)
    else:
        files = Inputs([os.fsdecode(path) for path in paths]).files()
    return Compilation(files, check_options, asked, known)


def _of_text(text: str | bytes) -> File:
    if not isinstance(text, str | bytes):
        raise TypeError(f"text= takes a str or bytes, not {type(text).__name__}")
    # Half surrogate pairs are passed on, and reported as a problem of the text.
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) < _LONGEST_PATH and _PATH.fullmatch(data):
        raise TypeError("text= takes what is in a file: write `compile(path)` for its path")
    return open_file(FileEntry(TEXT, "-"), data)


def _of_frameworks(frameworks: Iterable[object]) -> Iterator[File]:
    if isinstance(_without_models(frameworks), Mapping | str | bytes) or not isinstance(frameworks, Iterable):
        raise TypeError("frameworks= takes several Frameworks: write one as a list of one")
    for number, framework in enumerate(frameworks):
        name = f"frameworks[{number}]"
        if isinstance(framework, Compiled):
            raise TypeError(f"{name} is compiled: write `[one.framework for one in …]`")
        value = _Plain(name).of(framework)
        if not is_framework(value):
            raise TypeError(f"{name} is not a Framework: it lacks its `apiVersion` or its `kind`, or has others")
        try:
            data = yaml.dump(value).encode()
        except EmitError as error:
            raise TypeError(f"{name}: {error}") from None
        # Written as YAML, it is read and checked like any file, and problems have lines to show.
        yield open_file(FileEntry(name, "-"), data)


class _Plain:
    """Makes values of the types that YAML has. Raises TypeError for other types, and for more depth, values or text than a file may have.

    A part that stands in many places is written at each of them, and counts as often.
    """

    def __init__(self, name: str) -> None:
        """:param name: of what the values are of."""
        self._name = name
        self._values, self._characters = rules.MAX_NODES, rules.MAX_FILE_BYTES
        """That there may still be."""

    def of(self, value: Any, path: Path = ()) -> Any:
        """Return a value in these types."""
        self._values -= 1
        if self._values < 0:
            raise TypeError(f"{self._name}: more than {rules.MAX_NODES:,} values")
        if len(path) > DEEPEST:
            raise TypeError(f"{self._name}: nested deeper than {DEEPEST} levels")
        value = _without_models(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        for kind in (int, float):
            if isinstance(value, kind):
                return _exactly(kind, value)
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) for key in value):
                raise TypeError(f"{self._name}: {_called(path)} has a key that is not a string")
            items = [(self._text(key), item) for key, item in value.items()]
            return {key: self.of(item, (*path, key)) for key, item in items}
        if isinstance(value, list | tuple):
            return [self.of(item, (*path, index)) for index, item in enumerate(value)]
        what = f"{_called(path)} is of the type {type(value).__name__}"
        raise TypeError(f"{self._name}: {what}: write strings, numbers, booleans, lists and mappings")

    def _text(self, text: str) -> Any:
        self._characters -= len(text)
        if self._characters < 0:
            raise TypeError(f"{self._name}: more than {rules.MAX_FILE_BYTES // 2**20} MiB of text")
        return _exactly(str, text)


def _exactly(kind: type[str | int | float], value: Any) -> Any:
    """Return what a subclass of `kind` holds. What `str()` makes of a member of an Enum is its name."""
    return {str: str.__str__, int: int.__int__, float: float.__float__}[kind](value)


def _called(path: Path) -> str:
    return f"`{visible(field_path(path))}`" if path else "it"


def _without_models(value: Any) -> Any:
    """Return a model of `fcompile.declare` as plain values. pydantic is not imported here: the caller did that to make the model."""
    manifest = getattr(type(value), "manifest", None)
    return value if manifest is None else manifest(value)
