"""Files as GitHub names them: from the root of the repository, in whatever folder of it fcompile runs."""

from __future__ import annotations

import os
from functools import lru_cache


def from_root(file: str) -> str:
    """Return the path of a file from the root of the git repository around the current folder; without one, from that folder."""
    if os.path.isabs(file) or file.startswith("<"):  # `<stdin>` is in no folder
        return file
    try:
        below = _below_root(os.getcwd())
    except OSError:  # the folder was deleted
        below = ""
    if not below:
        return file.removeprefix("./")
    return os.path.normpath(os.path.join(below, file))


@lru_cache(maxsize=16)
def _below_root(folder: str) -> str:
    """Return a folder's path below the root of its repository: empty at the root, and where there is none."""
    root = folder
    while not os.path.lexists(os.path.join(root, ".git")):
        above = os.path.dirname(root)
        if above == root:
            return ""
        root = above
    return os.path.relpath(folder, root) if folder != root else ""
