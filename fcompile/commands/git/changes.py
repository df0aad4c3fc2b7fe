"""Which files differ between two trees of git, or between a tree and the working tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fcompile.commands.git.answers import answer
from fcompile.load import rules
from fcompile.load.files import MAX_LEVELS, PIECE, open_regular

REGULAR = (b"100644", b"100755")
"""The modes of files."""
_MODULE = b"160000"
"""The mode of a submodule."""
UNNAMED = b"?"
"""In place of an object's name: of a file of the working tree, or a link to be followed."""


class Changed(NamedTuple):
    """A file that differs, by its path from the top, with its object on each side (empty: it is not there, or is no file)."""

    path: bytes
    before: bytes
    after: bytes
    is_module: bool = False
    """It is a submodule: the objects are commits of another repository."""


def changes(old: str, new: str | None, paths: Sequence[str], top: bytes, suffix: bytes | tuple[bytes, ...] = b"") -> Iterable[Changed]:
    """Return what differs.

    :param paths: where to look; empty: everywhere. :param suffix: how the paths of files end that are looked at in the working tree.
    """
    limits = ["--", *paths]
    return between(old, new, limits) if new is not None else _in_working_tree(old, limits, top, suffix)


def between(old: str, new: str, limits: Sequence[str]) -> list[Changed]:
    """Return what differs between two trees.

    :param limits: what git takes last: `--`, and paths.
    """
    fields = answer("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--end-of-options", old, new, *limits).split(b"\0")
    return [_raw(head, path) for head, path in zip(fields[::2], fields[1::2], strict=False)]


def empty_tree() -> str:
    """Return the id of a tree without files."""
    return answer("hash-object", "-t", "tree", "--stdin").decode().strip()


def _raw(head: bytes, path: bytes) -> Changed:
    """Return one record of git's raw format: `:mode mode object object status`."""
    old_mode, new_mode, old, new, _ = head[1:].split(b" ")
    is_module = _MODULE in (old_mode, new_mode)
    kept = (*REGULAR, _MODULE) if is_module else REGULAR
    return Changed(path, old if old_mode in kept else b"", new if new_mode in kept else b"", is_module)


def _in_working_tree(old: str, limits: Sequence[str], top: bytes, suffix: bytes | tuple[bytes, ...] = b"") -> Iterator[Changed]:
    """Yield what differs in the working tree, among files whose path ends with `suffix`.

    Files are compared here: git would compare what filters make of them, which are programs that its configuration names.
    """
    committed = {one.path: one.after for one in between(empty_tree(), old, limits) if not one.is_module}
    for path in committed.keys() | set(listed(limits, top)):
        name = committed.get(path, b"")
        if path.endswith(suffix) and (not name or not _holds(top, path, name)):
            yield Changed(path, name, UNNAMED)


def listed(limits: Sequence[str], top: bytes) -> Iterable[bytes]:
    """Return the paths of the working tree, without those that are ignored."""
    # Without a path `ls-files` lists what is below the current folder.
    where = [] if len(limits) > 1 else ["-C", os.fsdecode(top)]
    return filter(None, answer(*where, "ls-files", "--cached", "--others", "--exclude-standard", "--full-name", "-z", *limits).split(b"\0"))


def _holds(top: bytes, path: bytes, name: bytes) -> bool:
    """Return whether a file of the working tree is a blob, as it is or, as on Windows, with another end of each line."""
    full = regular_file(top, path)
    file = None if full is None else open_regular(os.fsdecode(full))
    if file is None:
        return False
    digest = "sha256" if len(name) == 64 else "sha1"
    with file:
        size = os.fstat(file.fileno()).st_size
        if _blob_id(digest, size, iter(lambda: file.read(PIECE), b"")) == name:
            return True
        if size > rules.MAX_FILE_BYTES:
            return False
        file.seek(0)
        data = file.read().replace(b"\r\n", b"\n")
    return len(data) < size and _blob_id(digest, len(data), [data]) == name


def _blob_id(digest: str, size: int, pieces: Iterable[bytes]) -> bytes:
    """Return the id that git gives a blob."""
    import hashlib

    found = hashlib.new(digest, b"blob %d\0" % size, usedforsecurity=False)
    for piece in pieces:
        found.update(piece)
    return found.hexdigest().encode()


def regular_file(top: bytes, path: bytes) -> bytes | None:
    """Return the path of a file in the working tree; None if it is none there, or only behind a link."""
    full = os.path.join(os.path.realpath(top), path)
    if path.count(b"/") > MAX_LEVELS:
        return None
    try:
        linked = os.path.realpath(os.path.dirname(full)) != os.path.dirname(full)
        return full if not linked and stat.S_ISREG(os.lstat(full).st_mode) else None
    except OSError:
        return None
