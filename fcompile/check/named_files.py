"""Which files a kustomization names: read once for each text, however many folders have or share it, and asked for each file.

A link, or a generator that is named in a hundred folders, costs no more than the text that it leads to. So no list of paths is made for
each folder: it is the path of a file that is written in all ways in which the folder may name it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from fcompile.check.objects import objects_in
from fcompile.load import LoadError, values
from fcompile.load.files import is_within
from fcompile.model.values import mapping, sequence, text

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_PATCHES = ("patches", "patchesJson6902", "replacements")
"""The fields whose items name a file each, by its `path`."""
_EMBEDDING = ("configmapgenerator", "secretgenerator")
"""The fields of a kustomization that make objects of the texts of files."""
_PLUGINS = ("generators", "transformers", "validators")
"""The fields of a kustomization that name files, or hold texts, that name other files."""
_FUNCTION = ("config.kubernetes.io/function", "config.k8s.io/function")
"""The annotations that say which program kustomize calls."""
_UP = os.path.join(os.pardir, "")
_MOST_UP = 200
"""Folders up that are counted: more lead to the root."""
_MOST_KEPT = 4096
"""Results that are kept of a function."""


class Names(NamedTuple):
    """Names of files in a text, as they may be written in any folder."""

    written: frozenset[str]
    """Without steps that lead nowhere, as `./`."""
    out: tuple[str, ...]
    """Those that may lead out of the folder."""
    up: int
    """The most folders up that one leads."""


class Contents(NamedTuple):
    """What a text names that configures kustomize, or a plugin of it."""

    named: Names
    """Files that it may name anywhere."""
    embedded: Names
    """Files of whose texts objects are made."""
    patches: Names
    strings: frozenset[str]
    plugins: frozenset[str]
    """What its fields for plugins hold."""
    functions: tuple[str, ...]
    """What is said of functions in it."""


class NamedFiles:
    """The files that are named in a folder."""

    def __init__(self, folder: str, names: Iterable[Names]) -> None:
        self._folder, self._names = folder, [one for one in names if one.written]

    def __contains__(self, path: str) -> bool:
        ways = list(_ways(path, self._folder, max([one.up for one in self._names], default=0))) if self._names else []
        return any(not one.written.isdisjoint(ways) for one in self._names)

    def outside(self, among: frozenset[str]) -> Iterator[str]:
        """Yield those of some files that are named, and not in the folder."""
        written = [name for one in self._names for name in one.out]
        if len(written) < len(among):
            found = among.intersection(os.path.normpath(os.path.join(self._folder, name)) for name in written)
        else:
            found = frozenset(path for path in among if path in self)
        return (path for path in found if not is_within(path, self._folder))


def _ways(path: str, folder: str, up: int) -> Iterator[str]:
    """Yield how a file may be named in a folder."""
    yield path
    for step in range(up + 1):
        if is_within(path, folder):
            yield _UP * step + path[len(os.path.join(folder, "")) :]
        folder = os.path.dirname(folder)


def _names(strings: Iterable[str]) -> Names:
    """Return the names of files that texts may be."""
    written = {_written(one) for one in strings if one and "\n" not in one}
    out = tuple(one for one in written if one.startswith(os.pardir) or os.path.isabs(one))
    return Names(frozenset(written), out, max([_steps_up(one) for one in out], default=0))


def _written(name: str) -> str:
    """Return a name without steps that lead nowhere."""
    one = os.path.normpath(name)
    return os.path.normpath(os.path.join(os.sep, one)) if _steps_up(one) > _MOST_UP else one


def _steps_up(name: str) -> int:
    return name.split(os.sep).count(os.pardir) if name.startswith(os.pardir) else 0


def remembered(function: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
    """Remember what a function returns, as `lru_cache` does, and the LoadError that it raises, too."""

    @lru_cache(maxsize=_MOST_KEPT)
    def result(*arguments: *Ts) -> T | LoadError:
        try:
            return function(*arguments)
        except LoadError as error:
            return error

    @wraps(function)
    def call(*arguments: *Ts) -> T:
        found = result(*arguments)
        if isinstance(found, LoadError):
            raise found.with_traceback(None)  # or each time adds to it
        return found

    return call


@remembered
def contents(data: bytes) -> Contents:
    """Return what a text names. Raises LoadError."""
    documents = list(values(data))
    strings = _strings(documents)
    listed = [text(item, "path") for one in documents for field in _PATCHES for item in sequence(one, field)]
    patches = [*listed, *(item for one in documents for item in sequence(one, "patchesStrategicMerge"))]
    annotations = [mapping(mapping(found, "metadata"), "annotations") for one in documents for _, found in objects_in(one)]
    return Contents(
        _names(_either(strings)),
        _names(_either(_strings(_fields(documents, _EMBEDDING)))),
        _names(one for one in patches if isinstance(one, str)),
        frozenset(strings),
        frozenset(_strings(_fields(documents, _PLUGINS))),
        tuple(filter(None, (text(one, key) for one in annotations for key in _FUNCTION))),
    )


def _either(strings: Iterable[str]) -> Iterator[str]:
    """Yield what may be names of files, as `run.sh` and `name=run.sh` are."""
    return (name for one in strings for name in (one, one.partition("=")[2]))


def _fields(documents: list[Any], names: tuple[str, ...]) -> list[Any]:
    """Return what is in fields of a kustomization: kustomize takes a key in any case."""
    return [item for one in documents if isinstance(one, dict) for key, item in one.items() if str(key).lower() in names]


def _strings(value: Any) -> set[str]:
    """Return all texts in a value but its keys."""
    found, waiting = set[str](), [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.add(one)
        elif isinstance(one, dict | list):
            waiting.extend(one.values() if isinstance(one, dict) else one)
    return found
