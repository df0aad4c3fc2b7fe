"""The input of a command: its files, read and checked, on all cores when there are many."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from fcompile.check.across import Place, Where
from fcompile.check.document import Checked, Options, Read, check_read, empty, load_problem, look_up
from fcompile.check.ours import looks_like_template, skip_reason
from fcompile.load import Document, LoadError, read
from fcompile.load.files import FileEntry, find, may_hold_framework

WORTH_PROCESSES = 64
"""From so many files on, starting processes costs less than they save."""
_AT_ONCE = 16
_SAYS_FRAMEWORK = re.compile(r"""^[^#\n]*\bkind["']?\s*:\s*["']?Framework\b""", re.MULTILINE)


class File(NamedTuple):
    """A file that was read."""

    name: str
    read: Read
    skipped: str
    """Why it is not to be checked although it seems to hold a Framework; empty when it is."""


class Inputs:
    """The files behind the paths that a user named."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._stdin: bytes | None = None
        self._opened: dict[str, str] = {}

    def files(self) -> Iterator[File]:
        """Every file with all of its documents, one after the other."""
        for entry in self._entries():
            yield open_file(entry, self._data(entry))

    def checked(self, options: Options, jobs: int | None) -> Iterator[Checked]:
        """Every file checked, in the order of the files. `jobs` is the number of processes; None: as many as are worth it."""
        entries = self._entries()
        first = list(islice(entries, WORTH_PROCESSES))
        processes = _processes(jobs, len(first))
        if processes == 1:
            for entry in first:
                yield check_entry(entry, options, self._data(entry))
            for entry in entries:
                yield check_entry(entry, options, self._data(entry))
            return
        # The standard input cannot be read in another process: it is one file, and checked here.
        for entry in first:
            if entry.path == "-":
                yield check_entry(entry, options, self._data(entry))
        yield from _in_processes((entry for part in (first, entries) for entry in part if entry.path != "-"), options, processes)

    def look_up(self, where: Where) -> Place:
        """The place of something that a checked file had, found by reading the file again."""
        entry = FileEntry(where.file, self._opened[where.file])
        data = self._data(entry)
        assert isinstance(data, bytes)
        return look_up(data, where)

    def _entries(self) -> Iterator[FileEntry]:
        for entry in find(self._paths):
            self._opened[entry.name] = entry.path
            yield entry

    def _data(self, entry: FileEntry) -> bytes | LoadError:
        if entry.path != "-":
            return _read(entry)
        if self._stdin is None:
            data = _read(entry)
            if isinstance(data, LoadError):
                return data
            self._stdin = data
        return self._stdin


def open_file(entry: FileEntry, data: bytes | LoadError) -> File:
    """The file's documents, whatever they are, unless it is a template or a patch that holds a Framework."""
    if isinstance(data, LoadError):
        return File(entry.name, [data], "")
    found: Read = list(read(data, entry.name))
    return File(entry.name, found, _skipped(entry, data, found))


def check_entry(entry: FileEntry, options: Options, data: bytes | LoadError | None = None) -> Checked:
    """Check one file, and pass quickly over one that certainly has nothing of ours. Runs in any process."""
    if data is None:
        data = _read(entry)
    if isinstance(data, LoadError):
        return empty(entry.name)._replace(problems=[load_problem(data)])
    if not may_hold_framework(data):
        return empty(entry.name)
    file = open_file(entry, data)
    if file.skipped:
        return empty(entry.name)._replace(skipped=file.skipped)
    documents = [document for document in file.read if isinstance(document, Document)]
    if len(documents) < len(file.read) and not _SAYS_FRAMEWORK.search(data.decode("utf-8", "replace")):
        # It cannot be read, and nothing in it says that it is a Framework: other tools may well read it.
        file = file._replace(read=[*documents])
    return check_read(entry.name, file.read, options)


def _read(entry: FileEntry) -> bytes | LoadError:
    try:
        return entry.read()
    except LoadError as error:
        return error


def _skipped(entry: FileEntry, data: bytes, found: Read) -> str:
    if not may_hold_framework(data):
        return ""
    if any(isinstance(document, LoadError) for document in found) and looks_like_template(data.decode("utf-8", "replace")):
        return "a template, not YAML: render it first (such as: helm template … | fcompile validate -)"
    return "" if entry.path == "-" else skip_reason(entry.path) or ""


def _processes(jobs: int | None, files: int) -> int:
    if jobs is not None:
        return max(jobs, 1)
    if files < WORTH_PROCESSES:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _in_processes(entries: Iterator[FileEntry], options: Options, processes: int) -> Iterator[Checked]:
    import multiprocessing

    # Forking keeps what is imported; nothing here has started a thread. Elsewhere the platform's own way has to do.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    with context.Pool(processes, _leave_interrupts_to_the_parent) as pool:
        yield from pool.imap(partial(check_entry, options=options), entries, _AT_ONCE)


def _leave_interrupts_to_the_parent() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
