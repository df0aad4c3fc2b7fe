"""The files behind paths, read; or checked, on all cores when there are many."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from fcompile.check.document import Checked, Options, check_read, empty, load_problem
from fcompile.check.places import Place, Where, by_start, look_up
from fcompile.check.selection import boundary, skip_reason
from fcompile.load import Document, LoadError, read
from fcompile.load.files import FileEntry, find, may_be_meant, may_hold_framework
from fcompile.load.rules import FILE_TOO_LARGE
from fcompile.model.patterns import lazy
from fcompile.pipeline.file import File, open_file

if TYPE_CHECKING:
    from fcompile.pipeline.processes import Done

WORTH_PROCESSES = 64
"""From so many files on, starting processes costs less than they save."""
_AT_ONCE = 16
_LONG = 4096
"""So many characters of paths are enough for one process at a time: what is sent must fit into a pipe."""
_SAYS_FRAMEWORK = lazy(r"""^[^#\n]*\bkind["']?\s*:\s*["']?Framework(?:List)?\b""", re.MULTILINE)


class Inputs:
    """The files behind the paths that a user named."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._named = frozenset(paths)
        self._kept: dict[str, bytes | LoadError] = {}
        """What can be read only once, by its path."""
        # Two files are kept, since a problem may be between two; so several problems in a file do not read it again and again.
        self._documents = lru_cache(2)(self._read_again)
        self._opened: dict[str, str] = {}

    def files(self) -> Iterator[File]:
        """Yield every file with all of its documents, one after the other."""
        for entry in self._entries():
            yield open_file(entry, self._data(entry))

    def holding(self, literal: bytes) -> Iterator[File]:
        """Yield the files that have these bytes in them, read again."""
        for entry in self._entries():
            data = self._data(entry)
            if isinstance(data, bytes) and literal in data:
                yield open_file(entry, data)

    def checked(self, options: Options, jobs: int | None) -> Iterator[Checked]:
        """Yield every file checked, in the order of the files. `jobs` is the number of processes; None: as many as are worth it."""
        entries = self._entries()
        first = list(islice(entries, WORTH_PROCESSES))
        processes = jobs or (cores() if len(first) == WORTH_PROCESSES else 1)
        if processes == 1:
            for entry in chain(first, entries):
                yield check_entry(entry, options, self._data(entry))
            return
        from fcompile.pipeline.processes import in_processes

        batches = self._batches(chain(first, entries), options)
        for results in in_processes(partial(check_entry, options=options), batches, processes):
            yield from results

    def look_up(self, where: Where) -> Place:
        """Return the place of something that a checked file had, found by reading the file again."""
        return look_up(self._documents(where.file), where)

    def _entries(self) -> Iterator[FileEntry]:
        for entry in find(self._paths):
            self._opened[entry.name] = entry.path
            yield entry

    def _batches(self, entries: Iterable[FileEntry], options: Options) -> Iterator[list[FileEntry] | Done]:
        """Yield some files at a time, of long paths fewer. A file that can be read only once is checked here, in its turn."""
        from fcompile.pipeline.processes import Done

        batch: list[FileEntry] = []
        size = 0
        for entry in entries:
            once = self._can_be_read_only_once(entry)
            if batch and (once or len(batch) == _AT_ONCE or size >= _LONG):
                yield batch
                batch, size = [], 0
            if once:
                yield Done([check_entry(entry, options, self._data(entry))])
            else:
                batch.append(entry)
                size += len(entry.name) + len(entry.path)
        if batch:
            yield batch

    def _read_again(self, name: str) -> dict[int, Document]:
        """Return the documents of a file by where they begin."""
        data = self._data(FileEntry(name, self._opened[name]))
        return {} if isinstance(data, LoadError) else by_start(read(data, name, with_duplicates=True))

    def _data(self, entry: FileEntry) -> bytes | LoadError:
        if not self._can_be_read_only_once(entry):
            return _read(entry)
        if entry.path not in self._kept:
            self._kept[entry.path] = _read(entry)
        return self._kept[entry.path]

    def _can_be_read_only_once(self, entry: FileEntry) -> bool:
        """Return whether the file is the standard input or a pipe. Such a file must be named: in a folder only regular files count."""
        if entry.path == "-":
            return True
        return entry.path in self._named and entry.error is None and not os.path.isfile(entry.path)


def check_entry(entry: FileEntry, options: Options, data: bytes | LoadError | None = None) -> Checked:
    """Check one file; one that certainly holds no Framework is passed over quickly. Can run in any process."""
    if data is None:
        data = _read(entry)
    if isinstance(data, LoadError):
        passed = data.rule is FILE_TOO_LARGE and entry.holds_nothing_of_ours()
        return empty(entry.name) if passed else empty(entry.name)._replace(problems=[load_problem(data)])
    if not may_hold_framework(data):
        return _check_what_may_be_meant(entry, options, data)
    file = open_file(entry, data)
    if file.skipped:
        return empty(entry.name)._replace(skipped=file.skipped)
    documents = file.documents()
    if len(documents) < len(file.read) and not _SAYS_FRAMEWORK.search(data.replace(b"\0", b"").decode("utf-8", "replace")):
        # It cannot be read, and probably holds no Framework: it may be in a format of other tools.
        file = file._replace(read=[*documents])
    return check_read(entry.name, file.read, options)


def _check_what_may_be_meant(entry: FileEntry, options: Options, data: bytes) -> Checked:
    """Check a file that holds a Framework only if a name in it is misspelt. Such a file is never reported as skipped."""
    if not may_be_meant(data) or (entry.path != "-" and skip_reason(entry.path, boundary(entry.path, entry.within))):
        return empty(entry.name)
    return check_read(entry.name, [item for item in read(data, entry.name) if isinstance(item, Document)], options)


def _read(entry: FileEntry) -> bytes | LoadError:
    try:
        return entry.read()
    except LoadError as error:
        return error


def cores() -> int:
    """Return how many processes can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
