"""The files behind paths, read; or checked, on all cores when there are many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from fcompile.check.document import Checked, Options, empty
from fcompile.check.places import look_up_in
from fcompile.diagnostics.problem import Problem
from fcompile.load import Document, read
from fcompile.load.files import FileEntry, find, may_be_meant, may_hold_framework, may_hold_neighbour
from fcompile.pipeline.file import File, check_file, is_pointer, open_file, open_for_jobs

if TYPE_CHECKING:
    from fcompile.pipeline.processes import Done

WORTH_PROCESSES = 64
"""From so many files on, starting processes costs less than they save."""
_AT_ONCE = 16
_LONG = 4096
"""So many characters of paths are enough for one process at a time: what is sent must fit into a pipe."""


class Inputs:
    """The files behind the paths that a user named."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._named = frozenset(paths)
        self._kept: dict[str, bytes | Problem] = {}
        """What can be read only once, by its path."""
        self._opened: dict[str, FileEntry] = {}
        self.look_up = look_up_in(self._read_again)
        """Returns the place of something that a checked file had, found by reading the file again."""

    def files(self, opened: Callable[[FileEntry, bytes | Problem], File] = open_file) -> Iterator[File]:
        """Yield every file with all of its documents, one after the other, as `opened` returns it."""
        for entry in self._entries():
            yield opened(entry, self._data(entry))

    def holding(self, *literals: bytes) -> Iterator[File]:
        """Yield the files that have one of these literals in them, read again."""
        for entry in self._entries():
            data = self._data(entry)
            if isinstance(data, bytes) and any(literal in data for literal in literals):
                yield open_for_jobs(entry, data)

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

    def _entries(self) -> Iterator[FileEntry]:
        for entry in find(self._paths):
            self._opened[entry.name] = entry
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
                size += len(entry.name) + len(entry.path) + len(entry.real)
        if batch:
            yield batch

    def _read_again(self, name: str) -> Iterable[Document | Problem]:
        data = self._data(self._opened[name])
        return () if isinstance(data, Problem) else read(data, name, with_duplicates=True)

    def _data(self, entry: FileEntry) -> bytes | Problem:
        if not self._can_be_read_only_once(entry):
            return entry.content()
        if entry.path not in self._kept:
            self._kept[entry.path] = entry.content()
        return self._kept[entry.path]

    def _can_be_read_only_once(self, entry: FileEntry) -> bool:
        """Return whether the file is the standard input or a pipe. Such a file must be named: in a folder only regular files count."""
        if entry.path == "-":
            return True
        return entry.path in self._named and entry.error is None and not os.path.isfile(entry.path)


def check_entry(entry: FileEntry, options: Options, data: bytes | Problem | None = None) -> Checked:
    """Check one file; one that certainly holds nothing to check is passed over quickly. Can run in any process."""
    if data is None:
        data = entry.content()
    if isinstance(data, bytes) and not any(may(data) for may in (may_hold_framework, may_be_meant, may_hold_neighbour, is_pointer)):
        return empty(entry.name)
    return check_file(open_file(entry, data).for_frameworks(), options)


def cores() -> int:
    """Return how many processes can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
