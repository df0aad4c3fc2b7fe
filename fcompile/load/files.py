"""Which files a command reads, and which of these may hold Frameworks.

- A path that the user names is read whatever its name and kind: a file, a FIFO (`<(…)`), a device; `-` is the standard input.
- A folder is read with all folders below it: files that end in .yaml, .yml or .json, in the order of the bytes of their paths.
- Below a named folder, hidden folders (`.git`) and links to folders are left out. A name that ends like a file's and is a FIFO, a socket
  or a device, or a link to one, is an error: kubectl would wait for it, or stop. So is a link to a file that is in no named folder: what is
  outside may be anybody's, and would be shown.
- A folder that is read may hold `.fcompileignore`: names, or patterns with `*` and `?`, one a line, `#` for comments. What of
  that same folder fits one is left out, unless it is named itself.
- A file that is named twice, or named and in a named folder, is read once.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import BinaryIO, Final, NamedTuple

from fcompile.diagnostics.problem import Problem
from fcompile.model.patterns import lazy

from . import rules
from .source import file_problem, file_too_large

STDIN: Final = "<stdin>"
"""The name of the standard input in messages."""
SUFFIXES: Final = (".yaml", ".yml", ".json")
IGNORE_FILE: Final = ".fcompileignore"
OTHER_FILE: Final = "is another file than a moment ago: try again"
_LOOKS_ESCAPED: Final = lazy(r"\\(?=x[0-9a-f]{2}|u[0-9a-f]{4})")
"""The backslash of what is written as an escape in a path."""
NO_PATH: Final = "a path holds no NUL character, and no half of a surrogate pair"

_LITERALS: Final = (b"frameworkcontroller.microsoft.com", b"FC_", b"taskRoles")
_NEIGHBOUR: Final = lazy(rb"""(?<![^\s:"'{,\[])(?:Service|ConfigMap|Secret)["']?[ \t]*(?:[\r\n,}\]#]|\Z)""")
"""As a whole value: in the prose of definitions of resources it is a word among others."""
_HIDDEN: Final = lazy(rb"\\(?:[xuU\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])|![^\s!]*?(?:binary|%)|!<|^%TAG", re.MULTILINE)
"""What can make a text without its letters: escapes, a continued line in double quotes, and base64 under any name of its tag."""
_HIDERS: Final = (b"\\", b"!", b"%")
"""One of them is in whatever `_HIDDEN` finds. To look for them is ten times faster."""
_QUARTERS: Final = (b"framewor", b"kcontrol", b"ler.micr", b"osoft.com")
PIECE: Final = 1024 * 1024
"""Bytes of a large file that are in memory at a time."""
MAX_LEVELS: Final = 100
"""Folders within folders. For each file it is asked what all folders above it are, and the longer a path, the longer that takes."""
TOO_DEEP: Final = f"lies more than {MAX_LEVELS} folders deep: move it up"
MAX_PATTERNS: Final = 1_000
"""Of a file with patterns: each name is held against them all."""
_OVERLAP: Final = 4096
"""Bytes that two pieces share, so that nothing is overlooked because it is divided."""
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Windows has only the last, without which line ends would be other ones."""


class FileEntry(NamedTuple):
    """A file to read, or the reason why there is none."""

    name: str
    """As the user wrote it, continued into folders; for messages."""
    path: str
    """What to open; `-` for the standard input."""
    error: Problem | None = None
    within: str = ""
    """The folder that was named; empty for a file that was named itself."""
    real: str = ""
    """Where what is within a folder was found, without links. Nothing else is read: a link may have taken its place."""

    def content(self) -> bytes | Problem:
        """Return the bytes of the file, or why it cannot be read."""
        if self.error is not None:
            return self.error
        most = rules.MAX_FILE_BYTES + 1
        try:
            if self.path == "-":
                if sys.stdin is None or sys.stdin.closed:
                    return file_problem(rules.FILE_UNREADABLE, self.name, "the standard input is closed: name a file, or pipe one in")
                data = _from_stdin(most)
            else:
                file = open_regular(self.path, self.real) if self.real else open(self.path, "rb")  # noqa: SIM115
                if file is None:
                    return file_problem(rules.FILE_UNREADABLE, self.name, f"`{self.name}` {OTHER_FILE}")
                with file:
                    # A large buffer would cost memory, and most files are small.
                    data = file.read() if 0 < os.fstat(file.fileno()).st_size < most else file.read(most)
        except OSError as error:
            return _os_error(self.name, error)
        return data if len(data) < most else file_too_large(self.name)

    def holds_nothing_of_ours(self) -> bool:
        """Return whether a file certainly holds no Framework, however large it is."""
        if not os.path.isfile(self.path):
            return False
        with open(self.path, "rb") as file:
            return not may_hold_framework_in(iter(lambda: file.read(PIECE), b""))


def _from_stdin(most: int) -> bytes:
    """Return what there is to read. A program around this one may have put a stream of text there, as io.StringIO."""
    if hasattr(sys.stdin, "buffer"):
        return sys.stdin.buffer.read(most)
    return sys.stdin.read(most).encode("utf-8", "surrogatepass")


def find(paths: Sequence[str], around: str = "") -> Iterator[FileEntry]:
    """Yield the files behind the paths as they are found; what cannot be read comes as an entry with an error.

    :param around: a folder that links in named folders may lead into as well.
    """
    named = {without_links(path) for path in paths}
    trusted = {*named, without_links(around)} if around else named
    done: set[str] = set()
    for path in paths:
        real = without_links(path)
        if real not in done:
            done.add(real)
            yield from _named(path, real, named, trusted)


def may_hold_framework(data: bytes) -> bool:
    """Return whether a file may hold a Framework, or a Service that selects on its labels; False only when it certainly does not.

    The group of a Framework's apiVersion (or `taskRoles`, since that can be misspelt), or `FC_` of the labels, must be in the bytes,
    unless the file uses one of the few ways to spell a text otherwise. When this is true, reading the file decides.
    """
    if _holds_one_of(_LITERALS, data) or (_holds_one_of(_HIDERS, data) and _HIDDEN.search(data)):
        return True
    return b"\0" in data and _holds_one_of(_LITERALS, data.translate(None, b"\0"))


def _holds_one_of(texts: Iterable[bytes], data: bytes) -> bool:
    return any(text in data for text in texts)


def may_hold_framework_in(pieces: Iterable[bytes]) -> bool:
    """Return the same for a text in pieces, of which not all need be in memory."""
    before = b""
    for piece in pieces:
        if may_hold_framework(before + piece):
            return True
        before = piece[-_OVERLAP:]
    return False


def may_be_meant(data: bytes) -> bool:
    """Return whether a file may hold our API group in other letter case, or with up to three wrong letters.

    Three wrong letters leave one quarter of the group intact. Files with the kind and `taskRoles` are found by `may_hold_framework`.
    """
    lowered = data.translate(None, b"\0").lower()
    return b"apiversion" in lowered and _holds_one_of(_QUARTERS, lowered)


def may_hold_neighbour(data: bytes) -> bool:
    """Return whether a file may hold a Service, which can have the name of one that a role asks for, or what Pods call by its name.

    False only when it certainly does not, or when `may_hold_framework`, which knows other ways to spell a text, is true.
    """
    return _NEIGHBOUR.search(data.translate(None, b"\0")) is not None


def open_regular(path: str, real: str = "") -> BinaryIO | None:
    """Open a regular file for reading; return None for anything else, on which a reader might wait for ever. Raises OSError.

    :param real: the only path, without links, that it may have.
    """
    # Checked first, since opening a FIFO tells its writer that there is a reader. O_NONBLOCK is for one that replaces the file just now.
    if not stat.S_ISREG(os.stat(path).st_mode):
        return None
    file = open(os.open(path, _READ), "rb")  # noqa: SIM115
    # Some file systems take a path in any case, and show it in theirs.
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and (not real or real_path(path, file).casefold() == real.casefold()):
        return file
    file.close()
    return None


def real_path(path: str, file: BinaryIO) -> str:
    """Return where an open file is; the kernel knows best, since links can change between looking and opening."""
    try:
        return os.readlink(f"/proc/self/fd/{file.fileno()}")
    except OSError:
        return os.path.realpath(path)


def read_regular(path: str, most: int = -1, real: str = "") -> bytes | None:
    """Return the first bytes of a regular file, all of them unless `most` says how many; None for anything else. Raises OSError."""
    file = open_regular(path, real)
    if file is None:
        return None
    with file:
        return file.read(most)


def _named(path: str, real: str, named: set[str], trusted: set[str]) -> Iterator[FileEntry]:
    if path == "-":
        yield FileEntry(STDIN, "-")
        return
    name = _shown(path)
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as error:
        yield FileEntry(name, path, _os_error(name, error))
        return
    if not is_folder:
        yield FileEntry(name, path)
        return
    count = 0
    for entry in _folder(path, real, named, trusted):
        count += 1
        yield entry
    if count == 0 and not any(is_within(other, real) for other in named - {real}):
        message = f"no .yaml, .yml or .json file to be read in the folder `{name}`: name another folder, or the file itself"
        yield FileEntry(name, path, file_problem(rules.FOLDER_WITHOUT_FILES, name, message))


def _folder(path: str, real: str, named: set[str], trusted: set[str]) -> Iterator[FileEntry]:
    # Iterators on a stack of our own: folders can be nested deeper than Python's calls.
    inside = [_entries(path, real, named, trusted, path)]
    while inside:
        entry = next(inside[-1], None)
        if entry is None:
            inside.pop()
        elif isinstance(entry, FileEntry):
            yield entry
        elif len(inside) > MAX_LEVELS:
            name = _shown(entry[0])
            yield FileEntry(
                name, entry[0], file_problem(rules.FILE_UNREADABLE, name, f"`{name}` {TOO_DEEP}, or list one above it in {IGNORE_FILE}")
            )
        else:
            inside.append(_entries(*entry, named, trusted, path))


def _entries(path: str, real: str, named: set[str], trusted: set[str], top: str) -> Iterator[FileEntry | tuple[str, str]]:
    """Yield the files of a folder that are to be read, and its folders as (path, real path), in order."""
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=_order)
        ignored = _ignored(entries, trusted)
    except OSError as error:
        yield FileEntry(_shown(path), path, _os_error(_shown(path), error))
        return
    for entry in entries:
        real_entry = os.path.join(real, entry.name)
        if real_entry in named or any(fnmatchcase(entry.name, pattern) for pattern in ignored):
            continue
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield entry.path, real_entry
        elif entry.name.endswith(SUFFIXES) and (file := _file(entry, real_entry, trusted, top)) is not None:
            yield file


def _ignored(entries: list[os.DirEntry[str]], trusted: set[str]) -> list[str]:
    """Return the patterns of a folder's `.fcompileignore`. Raises OSError."""
    for entry in entries:
        if entry.name == IGNORE_FILE and entry.is_file():
            if is_outside(real := without_links(entry.path), trusted):
                raise OSError(errno.EINVAL, f"{IGNORE_FILE} is a link that leads out of the folder")
            data = read_regular(entry.path, rules.MAX_FILE_BYTES, real) or b""
            patterns = ignore_patterns(data.decode("utf-8", "replace").splitlines())
            if len(patterns) > MAX_PATTERNS:
                raise OSError(errno.EFBIG, f"more than {MAX_PATTERNS:,} patterns in {IGNORE_FILE}")
            return patterns
    return []


def ignore_patterns(lines: Iterable[str]) -> list[str]:
    """Return the patterns in the lines of a `.fcompileignore`."""
    stripped = [line.strip().rstrip("/") for line in lines]
    return [line for line in stripped if line and not line.startswith("#")]


def without_links(path: str) -> str:
    """Return the path without links, by which a file is recognized."""
    try:
        return path if path == "-" else os.path.realpath(path)
    except (OSError, ValueError):  # the current folder is gone, or the path has a NUL character; opening it will report that
        return path


def _order(entry: os.DirEntry[str]) -> bytes:
    """Return a sort key for entries of one folder that puts whole paths in the order of their bytes."""
    return os.fsencode(entry.name) + (b"/" if entry.is_dir(follow_symlinks=False) else b"")


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is that of the folder or below it, by their names alone."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def is_outside(folder: str, trusted: Container[str]) -> bool:
    """Return whether a path is outside of all these folders, or in a `.git`, which can hold passwords; all of them without links."""
    if ".git" in folder.split(os.sep):
        return True
    while folder not in trusted:
        above = os.path.dirname(folder)
        if above == folder:
            return True
        folder = above
    return False


def _file(entry: os.DirEntry[str], real: str, trusted: set[str], top: str) -> FileEntry | None:
    """Return what has the name of a file below the folder `top`; None for a link to a folder."""
    file = FileEntry(_shown(entry.path), entry.path, within=top, real=without_links(entry.path) if entry.is_symlink() else real)
    try:
        mode, linked = entry.stat().st_mode, entry.is_symlink()
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):  # what has become a link since the folder was listed is not read
            kind = "a FIFO" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
            reason = f"is {'a link to ' if linked else ''}{kind}, not a file: remove it, or list it in {IGNORE_FILE}"
        elif linked and is_outside(file.real, trusted):
            reason = f"is a link that leads out of `{_shown(top)}`: name the file itself, or list the link in {IGNORE_FILE}"
        else:
            return file
    except OSError as error:
        return file._replace(error=_os_error(file.name, error))
    return file._replace(error=file_problem(rules.FILE_UNREADABLE, file.name, f"`{file.name}` {reason}"))


def _shown(path: str) -> str:
    """Return a path that can be printed: bytes that are no text become escapes such as `\\xff`, and different paths stay different."""
    if "\\" in path:
        path = _LOOKS_ESCAPED.sub(r"\\x5c", path)
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # other halves of surrogate pairs; opening the file will report them
        return path.encode("utf-8", "backslashreplace").decode()


def _os_error(name: str, error: OSError | ValueError) -> Problem:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        link = " (a link to a file that does not exist)" if os.path.islink(name) else ""
        return file_problem(rules.FILE_NOT_FOUND, name, f"there is no file or folder `{name}`{link}: check the path")
    if isinstance(error, PermissionError):
        return file_problem(rules.FILE_UNREADABLE, name, f"no permission to read `{name}`: change its permissions, or leave it out")
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else NO_PATH
    return file_problem(rules.FILE_UNREADABLE, name, f"`{name}` cannot be read ({reason}): check it, or leave it out")
