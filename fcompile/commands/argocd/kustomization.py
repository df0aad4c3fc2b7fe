"""Follow everything that a kustomization makes kustomize read, and refuse what lies elsewhere or is not known.

kustomize itself would leave the repository: for folders beside it, for addresses, for what a built-in generator or transformer names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from fcompile.check.objects import objects_in
from fcompile.check.tool_files import KUSTOMIZATIONS
from fcompile.commands.argocd.discreet import without_secrets
from fcompile.commands.argocd.kustomize_fields import KUSTOMIZATION, PLUGIN_FOLDER, PLUGINS, Read, Shape
from fcompile.commands.argocd.repository import Repository
from fcompile.diagnostics.problem import Part, Path, Problem, field_path
from fcompile.diagnostics.suggestions import closest
from fcompile.diagnostics.visible import visible
from fcompile.errors import InputError
from fcompile.load import Document, LoadError, read, values
from fcompile.load.decoding import decode
from fcompile.load.files import is_within

MAX_DEPTH: Final = 50
"""Kustomizations within kustomizations."""
MAX_READS: Final = 10_000
MAX_BYTES: Final = 64 * 1024 * 1024
"""Of all that is read, a file as often as kustomize reads it: two folders that both refer to two others double that at each step."""
_LONGEST: Final = 500
_REMOTE: Final = re.compile(r"://|^[^/]*[@:]|^github\.com/|\.git(?:$|[/?])|_git/", re.IGNORECASE)
"""What kustomize may take for an address, even where there is a file or folder of that name."""
_INLINE: Final = re.compile(r"[\n:{]")
"""What no path holds (a colon makes it an address), and every mapping in YAML."""
_LONGER_THAN_A_SEPARATOR: Final = r"^---(?!(?:[ \t]+#[^\r\n\x85\u2028\u2029]*|[ \t]*)\r?$)"
"""Where kubectl, and so our reader, takes a line for a separator that is more than that to YAML: `---#`, or one with an unusual break."""
_CUT_ELSEWHERE: Final = re.compile(_LONGER_THAN_A_SEPARATOR, re.MULTILINE)
_READ_OTHERWISE: Final = re.compile(f"{_LONGER_THAN_A_SEPARATOR}|\r(?!\n)|[\x85\u2028\u2029\ufeff]", re.MULTILINE)
"""These, and what ends a line or begins a file for one reader, and is text for another: in JSON, or after the first `---`."""


class Reached(NamedTuple):
    """What kustomize reads: a file, or a text that stands in a field of one; `yaml`: it parses it."""

    path: str
    yaml: bool
    text: bytes = b""
    """Without a path."""


def reached(repository: Repository, folder: str) -> Iterator[Reached]:
    """Yield what a kustomization is made of, in all folders that it refers to. Raises InputError."""
    yield from _Follower(repository).kustomization(folder, KUSTOMIZATION, folder, 0)


def check_yaml(data: bytes, name: str) -> None:
    """Refuse what our own reader cannot read: it has limits, and those who read it next may have none. Raises InputError."""
    for _ in _documents(data, name):
        pass


def _documents(data: bytes, name: str, unlike: re.Pattern[str] = _CUT_ELSEWHERE) -> Iterator[Document]:
    """Yield what our own reader reads. Raises InputError for what it cannot read, or what kustomize would read in another way.

    :param unlike: what it is known to read in another way.
    """
    source = decode(data, name).source
    if other := unlike.search(source.text):
        span = source.span(*other.span())
        raise InputError(
            f"{visible(name)}:{span.line}:{span.column}: kustomize and kubectl do not agree on where this line ends: write `---` alone on "
            "its line, and end lines as Unix or Windows does"
        )
    for item in read(data, name):
        if isinstance(item, Problem):
            raise InputError(f"{visible(name)}:{LoadError(without_secrets(data, name)(item))}")
        yield item


class _Follower:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._reads = self._size = 0
        """What kustomize would read so far."""
        self._costs: dict[tuple[str, str], tuple[int, int]] = {}
        """The same for each folder that was followed, by what reads it."""
        self._vetted: list[str] = []

    def kustomization(self, folder: str, shape: dict[str, Shape], root: str, depth: int) -> Iterator[Reached]:
        """Follow the kustomization in a folder.

        :param shape: KUSTOMIZATION or PLUGIN_FOLDER.
        :param root: the folder that plugins configured there start from.
        """
        real = os.path.realpath(folder)
        key = (real, "" if shape is KUSTOMIZATION else os.path.realpath(root))
        if key in self._costs:
            self._spend(*self._costs[key], folder)
            return
        if depth > MAX_DEPTH:
            raise InputError(f"{visible(folder)}: kustomizations refer to each other more than {MAX_DEPTH} levels deep, or in a circle")
        reads, size = self._reads, self._size
        self._vet(real, folder)
        path = _kustomization_in(folder)
        document = self._document(path)
        yield Reached(path, True)
        self._spend(1, os.path.getsize(path), folder)
        if document is not None:
            yield from self._value(document, (), document.value, shape, (real, root), depth)
        self._costs[key] = self._reads - reads, self._size - size

    def _spend(self, reads: int, size: int, name: str) -> None:
        """Count what kustomize would read for something. Raises InputError when it is too much."""
        self._reads, self._size = self._reads + reads, self._size + size
        if self._reads > MAX_READS or self._size > MAX_BYTES:
            raise InputError(
                f"{visible(name)}: kustomize would read more than {MAX_READS:,} files or {MAX_BYTES:,} bytes: a file counts as often as it "
                "is referred to"
            )

    def _vet(self, real: str, folder: str) -> None:
        """Refuse what must not be read below a folder, unless that was done for one above it."""
        if not any(is_within(real, one) for one in self._vetted):
            self._repository.vet(folder)
            self._vetted.append(real)

    def _document(self, path: str) -> Document | None:
        """Return the one document of a kustomization; None if there is nothing in it. kustomize would pass over what follows it."""
        documents = list(_documents(self._repository.read(path), path, _READ_OTHERWISE))
        if len(documents) > 1:
            raise _error(documents[1], (), "a second document: a kustomization is one, and kustomize reads nothing after it: remove it")
        return documents[0] if documents else None

    def _value(self, document: Document, path: Path, value: Any, shape: Shape, roots: tuple[str, str], depth: int) -> Iterator[Reached]:
        """Follow a value of a document that lies in the first of the two roots; plugins start from the second."""
        for where, what, written in _strings(document, path, value, shape):
            yield from self._string(document, where, what, written, roots, depth)

    def _string(self, document: Document, where: Path, what: Read, written: str, roots: tuple[str, str], depth: int) -> Iterator[Reached]:
        inline = what is Read.YAML or (what in (Read.FILE_OR_YAML, Read.PLUGIN) and _INLINE.search(written))
        if inline:
            data, name = written.encode("utf-8", "replace"), f"{document.source.name}, {field_path(where)}"
            yield Reached("", True, data)
            if what is Read.PLUGIN:
                yield from self._plugins(data, name, roots[1], depth)
                return
            check_yaml(data, name)
            if what is Read.FILE_OR_YAML and not _is_object(written):
                raise _error(document, where, f"`{visible(written[:80])}` is neither a file nor an object with a `kind`")
            return
        target = self._target(document, where, what, written, roots[0])
        if os.path.isdir(target):
            shape, root = (PLUGIN_FOLDER, roots[1]) if what is Read.PLUGIN else (KUSTOMIZATION, target)
            yield from self.kustomization(target, shape, root, depth + 1)
            return
        yield Reached(target, what not in (Read.NAMED_FILE, Read.TEXT_FILE))
        self._spend(1, os.path.getsize(target), target)
        if what is Read.PLUGIN:
            yield from self._plugins(self._repository.read(target), target, roots[1], depth)

    def _plugins(self, data: bytes, name: str, root: str, depth: int) -> Iterator[Reached]:
        """Follow what configures plugins: only those that are built in, of which is known what they read."""
        for document in _documents(data, name, _READ_OTHERWISE):
            for path, value in objects_in(document.value):
                shape = PLUGINS.get(str(value.get("kind"))) if isinstance(value, dict) and value.get("apiVersion") == "builtin" else None
                if shape is None:
                    raise _error(document, path, "not the configuration of a plugin that is built into kustomize: no other is run here")
                yield from self._value(document, path, value, shape, (root, root), depth)

    def _target(self, document: Document, where: Path, what: Read, written: str, root: str) -> str:
        """Return the path of something that is referred to. Raises InputError unless it is in the repository."""
        name = written.partition("=")[2] or written if what is Read.NAMED_FILE else written
        if "=" in name and what is Read.NAMED_FILE:
            raise _error(document, where, f"`{visible(written)}` holds more than one `=`: write `key=path`")
        # As kustomize does it: the text of the path first, and only then what its folders are links to.
        path = os.path.relpath(os.path.normpath(os.path.join(os.path.realpath(root), name)))
        folder = what in (Read.FOLDER, Read.FILE_OR_FOLDER, Read.PLUGIN)
        if why_not := self._repository.why_not(path, name, _REMOTE, file=what is not Read.FOLDER, folder=folder):
            raise _error(document, where, f"`{visible(written)}` {why_not}")
        return path


def _is_object(written: str) -> bool:
    """Return whether a text is objects alone. Of anything else, as `http://127.0.0.1/: a`, kustomize would open the file of that name."""
    found = values(written.encode())
    return bool(found) and all(isinstance(value, dict) and isinstance(value.get("kind"), str) for value in found)


def _kustomization_in(folder: str) -> str:
    found = [path for name in KUSTOMIZATIONS if os.path.lexists(path := os.path.normpath(os.path.join(folder, name)))]
    if not found:
        raise InputError(f"{visible(folder)}: a kustomization refers to this folder, and it has no kustomization.yaml")
    if len(found) > 1:
        raise InputError(f"{visible(found[1])}: {visible(os.path.basename(found[0]))} is there too: which of the two is meant? Remove one")
    return found[0]


def _strings(document: Document, path: Path, value: Any, shape: Shape) -> Iterator[tuple[Path, Read, str]]:
    """Yield every string that makes kustomize read something. Raises InputError for what does not have the shape."""
    if value is None or shape is Read.NOTHING:
        return
    if shape is Read.HELM:
        raise _error(
            document, path, "charts are not rendered from a kustomization: render the chart, or make it an application of its own", "key"
        )
    if isinstance(shape, Read):
        if not isinstance(value, str):
            raise _error(document, path, "write a string, in quotes if need be")
        yield path, shape, value
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise _error(document, path, "write a list")
        for index, item in enumerate(value):
            yield from _strings(document, (*path, index), item, shape[0])
    else:
        if not isinstance(value, dict):
            raise _error(document, path, "write a mapping")
        for key, item in value.items():
            if key not in shape:
                raise _error(document, (*path, key), _unknown(key, shape), "key")
            yield from _strings(document, (*path, key), item, shape[key])


def _unknown(key: str, shape: dict[str, Shape]) -> str:
    # Of two ways to fold the case, one knows the long s and the other the sign for kelvin.
    near = next((known for known in shape if known.lower() in (key.lower(), key.casefold()) or known.casefold() == key.casefold()), None)
    if near:
        return f"`{visible(key)}` is not spelt as kustomize documents it: write `{near}`"
    meant = closest(key, shape)
    advice = f"did you mean `{meant.word}`?" if meant else "remove it"
    return f"`{visible(key)}` is not a field that is known here, so it is not known what kustomize would read: {advice}"


def _error(document: Document, path: Path, message: str, part: Part = "value") -> InputError:
    span = document.locate(path, part)
    shown = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"  # it quotes what can be as long as a file
    return InputError(f"{visible(document.source.name)}:{span.line}:{span.column}: {shown}")
