"""Named files below a folder that others may have files in as well: each is there as it was or as it is to be, never half of it.

All are first written under other names beside those that they are to have. Only when that went well does each take its place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from pathlib import PurePath

from fcompile.diagnostics.visible import visible
from fcompile.emit.ending import Ending, cleared_up
from fcompile.errors import UsageError


def write(folder: str, texts: Mapping[str, str]) -> None:
    """Write texts by their names below a folder, `a/b.yaml`, which is made where it is missing.

    A link that has the name of a file is replaced by the file; what it points to stays as it is. Raises UsageError when a folder on the
    way to a file is a link that leads out, and when something cannot be written.
    """
    top = os.path.realpath(folder)
    if os.path.lexists(top) and not os.path.isdir(top):
        raise UsageError(f"{visible(folder)} is a file, not a folder: choose another path")
    with cleared_up() as ending:
        _write(folder, {_target(folder, top, name): text for name, text in texts.items()}, ending)


def _write(folder: str, texts: Mapping[str, str], ending: Ending) -> None:
    made: list[str] = []
    new: dict[str, str] = {}
    try:
        for target, text in texts.items():
            _make_folder(os.path.dirname(target), made)
            new[target] = os.path.join(os.path.dirname(target), f".fcompile-{os.urandom(6).hex()}.tmp")
            _write_new(new[target], text.encode(), _mode(target))
        for target, temporary in new.items():
            os.replace(temporary, target)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise UsageError(visible(f"cannot write into the folder {folder}: {error.strerror or error}{where}")) from error
    finally:
        ending.clearing = True
        for temporary in new.values():
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        for path in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(path)  # one that has a file by now stays


def _target(folder: str, top: str, name: str) -> str:
    """Return where a file goes. Raises UsageError when that is not below the folder, or holds what is no file."""
    if os.path.isabs(name) or any(step in ("", os.curdir, os.pardir) for step in name.replace(os.sep, "/").split("/")):
        raise ValueError(f"not a name below a folder: {name!r}")
    parent, last = os.path.split(os.path.join(top, name))
    real = os.path.realpath(parent)
    shown = visible(os.path.join(folder, name))
    if not PurePath(real).is_relative_to(top):
        raise UsageError(f"{shown} would be written to {visible(real)}, to which a link in {visible(folder)} leads: remove the link")
    target = os.path.join(real, last)
    if os.path.lexists(target) and not os.path.islink(target) and not os.path.isfile(target):
        raise UsageError(f"{shown} is there and is not a file: remove it, or choose another folder")
    return target


def _make_folder(path: str, made: list[str]) -> None:
    """Make a folder and those above it; the new ones are added to `made`."""
    missing = []
    while not os.path.isdir(path):
        if os.path.lexists(path):
            raise NotADirectoryError(errno.ENOTDIR, "there is a file in the place of a folder, so choose another path", path)
        missing.append(path)
        path = os.path.dirname(path)
    for one in reversed(missing):
        os.mkdir(one)
        made.append(one)


def _mode(target: str) -> int | None:
    """Return the permissions of a file that is to be replaced; None: there is none, or a link."""
    return stat.S_IMODE(os.stat(target).st_mode) if os.path.isfile(target) and not os.path.islink(target) else None


def _write_new(path: str, data: bytes, mode: int | None) -> None:
    with open(path, "xb") as file:
        file.write(data)
    if mode is not None:
        os.chmod(path, mode)
