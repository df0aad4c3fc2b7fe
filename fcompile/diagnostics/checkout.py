"""The repository that a folder is in, and files as GitHub names them: from its root, in whatever folder of it fcompile runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import lru_cache


def from_root(file: str) -> str:
    """Return the path of a file from the root of the git repository around the current folder; without one, from that folder."""
    if os.path.isabs(file) or file.startswith("<"):  # `<stdin>` is in no folder
        return file
    try:
        folder = os.getcwd()
    except OSError:  # the folder was deleted
        return file.removeprefix("./")
    root = root_of(folder)
    if root in (None, folder):
        return file.removeprefix("./")
    return os.path.relpath(os.path.join(folder, file), root)


@lru_cache(maxsize=4096)
def root_of(folder: str) -> str | None:
    """Return the root of the git repository that a folder is in, or None if it is in none."""
    return next((one for one in up_from(folder, os.sep) if os.path.lexists(os.path.join(one, ".git"))), None)


def up_from(folder: str, top: str) -> Iterator[str]:
    """Yield the folder and all above it, up to `top`. A folder like /tmp ends the way and is left out: anybody may add files there."""
    while not is_shared(folder):
        yield folder
        parent = os.path.dirname(folder)
        if folder in (top, parent):
            return
        folder = parent


@lru_cache(maxsize=4096)
def is_shared(folder: str) -> bool:
    """Return whether a folder is like /tmp: anybody may add files, and nobody can change another's."""
    shared = stat.S_ISVTX | stat.S_IWOTH
    try:
        return os.stat(folder).st_mode & shared == shared
    except (OSError, ValueError):
        return False
