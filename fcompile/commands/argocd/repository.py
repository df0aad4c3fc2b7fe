"""The checkout that an application lies in: nothing outside of it is read, and nothing that is no file.

A repository is somebody else's: links may lead to the plugin's own secrets, a FIFO never ends, a huge file takes all memory. Whatever
is of that kind is refused with its name, also where it would not have been read: leaving out silently what belongs to an application
makes Argo CD delete it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from fcompile.commands.git.process import holder
from fcompile.diagnostics.visible import visible
from fcompile.errors import InputError
from fcompile.load.files import IGNORE_FILE, MAX_LEVELS, SUFFIXES, TOO_DEEP, is_within, open_regular, real_path
from fcompile.load.rules import MAX_FILE_BYTES as MAX_FILE

_NEVER_READ = ".git"


class Repository(NamedTuple):
    """`root` is a real path, without links."""

    root: str

    def holds(self, path: str) -> bool:
        """Return whether a real path is in it, and not in its history, which is not what was committed."""
        return is_within(path, self.root) and _NEVER_READ not in path[len(self.root) :].split(os.sep)

    def why_not(self, path: str, written: str, remote: re.Pattern[str], *, file: bool = True, folder: bool = False) -> str:
        """Return why something that a file refers to must not be read, or the empty string.

        :param written: how it is written there.
        :param remote: what its reader may take for an address, even where there is a file or folder of that name.
        :param file, folder: whether it may be one.
        """
        if not written or visible(written) != written or remote.search(written) or not os.path.lexists(path):
            return "is not in the repository: nothing is fetched; copy it in"
        if not self.holds(os.path.realpath(path)):
            return "leads out of the repository: nothing outside of it is read"
        if os.path.isdir(path):
            return "" if folder else "is a folder: name a file"
        if not file:
            return "is not a folder"
        return (
            "" if os.path.isfile(path) and os.path.getsize(path) <= MAX_FILE else f"is not a file, or one of more than {MAX_FILE:,} bytes"
        )

    def read(self, path: str) -> bytes:
        """Return a regular file of the repository. Raises InputError; what changes meanwhile is not read."""
        try:
            file = open_regular(path)
            if file is None:
                raise _no_file(path)
            with file:
                return self._read(path, file)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{visible(path)}: cannot be read ({getattr(error, 'strerror', '') or error}): check it, or leave it out"
            ) from None

    def _read(self, path: str, file: BinaryIO) -> bytes:
        descriptor = file.fileno()
        before = os.fstat(descriptor)
        if not self.holds(real_path(path, file)):
            raise _outside(path)
        if before.st_size > MAX_FILE:
            raise _too_large(path, before.st_size)
        data = bytearray()
        while len(data) <= MAX_FILE and (more := os.read(descriptor, 1 << 20)):
            data += more
        after = os.fstat(descriptor)
        if len(data) != after.st_size or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
            raise InputError(f"{visible(path)}: changed while it was read: try again")
        return bytes(data)

    def vet(self, folder: str, *, every: bool = False) -> None:
        """Refuse what must not be read in a folder and all below it. Raises InputError.

        :param every: hidden folders too, and no large file of whatever name: other programs will read what they like there.
        """
        real = os.path.realpath(folder)
        if not self.holds(real):
            raise _outside(folder)
        above = real[len(self.root) :].count(os.sep) - folder.count(os.sep)
        for entry in _below(folder, every):
            name = entry.path.removeprefix(os.path.join(".", ""))
            if visible(entry.name) != entry.name:
                raise InputError(f"{visible(name)}: a name with a line end or another control character: rename it")
            if above + entry.path.count(os.sep) > MAX_LEVELS + 1:
                raise InputError(f"{visible(name)} {TOO_DEEP}")
            wanted = every or entry.name.endswith(SUFFIXES) or entry.name == IGNORE_FILE
            if entry.is_symlink():
                if not self.holds(os.path.realpath(entry.path)):
                    raise _outside(name)
                if wanted and os.path.exists(entry.path) and not (entry.is_file() or entry.is_dir()):
                    raise _no_file(name)
            elif not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                raise _no_file(name)
            if wanted and entry.is_file() and (size := entry.stat().st_size) > MAX_FILE:
                raise _too_large(name, size)


def repository_of(folder: str, source_path: str) -> Repository:
    """Return the repository of an application's folder.

    :param source_path: the folder as the Application names it, within the repository; empty: unknown. Argo CD may have sent only a
        part of the repository, so that only the end of this path is there.
    """
    root = os.path.realpath(folder)
    if source_path:
        for step in reversed(os.path.normpath(source_path).split(os.sep)):
            parent, name = os.path.split(root)
            if name != step:
                break
            root = parent
        return Repository(root)
    return Repository(holder(root) or root)


def _below(folder: str, every: bool) -> Iterator[os.DirEntry[str]]:
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as found:
                entries = list(found)
        except OSError as error:
            raise InputError(f"{visible(str(error.filename))}: cannot be read ({error.strerror})") from None
        for entry in entries:
            yield entry
            hidden = entry.name == _NEVER_READ or (entry.name.startswith(".") and not every)
            if entry.is_dir(follow_symlinks=False) and not hidden:
                folders.append(entry.path)


def _outside(path: str) -> InputError:
    return InputError(f"{visible(path)}: leads out of the repository: nothing outside of it is read")


def _no_file(path: str) -> InputError:
    return InputError(f"{visible(path)}: neither a file nor a folder: remove it")


def _too_large(path: str, size: int) -> InputError:
    return InputError(f"{visible(path)}: {size:,} bytes, of which at most {MAX_FILE:,} are read: split it, or list it in {IGNORE_FILE}")
