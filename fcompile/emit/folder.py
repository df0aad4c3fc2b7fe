"""One file per object, in a folder that is swapped as a whole.

- The files are written into a new folder beside it, which then takes its place: a reader sees the old folder or the new one, and so does
  whoever comes after an interruption.
- The folder holds `.fcompile-manifest` with the digests of its files. (Not `….json`: `kubectl apply -f FOLDER` would read it.)
- A folder with anything else in it, or with files that were edited, is refused: nothing that is not ours is ever deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import PurePath
from typing import Any

from fcompile.diagnostics.visible import listed, visible
from fcompile.emit import swap, yaml
from fcompile.emit.ending import cleared_up
from fcompile.emit.json import canonical
from fcompile.errors import UsageError

MANIFEST = ".fcompile-manifest"

_BARE_GROUPS = ("", "frameworkcontroller.microsoft.com")
MAX_MANIFEST_BYTES = 128 * 1024 * 1024
_DIGITS = 64
"""Of a digest."""
_LONGEST_NAME = 240  # Most file systems end at 255 bytes.
_UNSAFE = re.compile("[^a-z0-9.-]")


class FolderError(UsageError):
    """The folder cannot be written; the message says why, and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))  # the message contains file names that somebody else chose


class EditedError(FolderError):
    """Files in the folder were edited: only `force` replaces them."""


def write(path: str, objects: Iterable[dict[str, Any]], *, force: bool = False) -> int:
    """Make `path` a folder with one file per object and nothing else; returns their number.

    `force` allows to replace files that were edited after they were written here. Files that were not written here are never
    replaced. Raises FolderError, and then `path` is as it was.
    """
    target = os.path.abspath(path)
    try:
        _check_target(path, target, force)
        with cleared_up(), swap.beside(target) as (new, opened):
            count = _fill(new, opened, objects)
            swap.into_place(new, opened, target, lambda old: _check_content(path, old, force))
    except OSError as error:
        raise FolderError(f"cannot write the folder {path}: {error.strerror or error}{_at(error, target)}") from error
    return count


def file_name(thing: dict[str, Any]) -> str:
    """Return the name of an object's file, made of kind, namespace and name: `pod_default_train-worker-0.yaml`.

    The kind is in lower case and followed by its group (`deployment.apps_…`), except for the core group and FrameworkController's.
    The namespace is left out where the object has none. Characters other than lower-case letters, digits, `.` and `-` become
    `%` and their UTF-8 bytes in hexadecimal, so that no two objects share a file on any file system and none leaves the folder.
    A name that would be too long ends with `~` and a digest, and so does that of an object without a name.
    """
    metadata = thing.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    group, slash, _ = str(thing.get("apiVersion", "")).rpartition("/")
    kind = str(thing.get("kind") or "object").lower()
    parts = [f"{kind}.{group}" if slash and group not in _BARE_GROUPS else kind]
    parts += [str(metadata[field]) for field in ("namespace", "name") if metadata.get(field)]
    stem = "_".join(_UNSAFE.sub(_percent, part) for part in parts)
    if not metadata.get("name"):
        return _with_digest(stem, canonical(thing))
    return _with_digest(stem, stem.encode()) if len(stem) > _LONGEST_NAME else f"{stem}.yaml"


def _with_digest(stem: str, data: bytes) -> str:
    return f"{stem[: _LONGEST_NAME - 17]}~{hashlib.sha256(data).hexdigest()[:16]}.yaml"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _fill(folder: str, opened: int | None, objects: Iterable[dict[str, Any]]) -> int:
    digests: dict[str, str] = {}
    for thing in objects:
        name = file_name(thing)
        if name in digests:
            raise FolderError(f"two objects would be written to the same file, {name}: give one of them another name or namespace")
        data = yaml.dump(thing).encode()
        digests[name] = hashlib.sha256(data).hexdigest()
        with open(swap.inside(folder, opened, name), "xb", opener=partial(os.open, dir_fd=opened)) as file:
            file.write(data)
    manifest = json.dumps({"writtenBy": "fcompile build", "files": digests}, indent=2, sort_keys=True) + "\n"
    with open(swap.inside(folder, opened, MANIFEST), "xb", opener=partial(os.open, dir_fd=opened)) as file:
        file.write(manifest.encode())
    return len(digests)


def _check_target(path: str, target: str, force: bool) -> None:
    """Raise FolderError unless `target` was written by fcompile, or does not exist and can be made."""
    parent = os.path.dirname(target)
    if not os.path.isdir(parent):
        raise FolderError(f"cannot make the folder {path}: there is no folder {parent}; make it first")
    if os.path.ismount(target):
        raise FolderError(f"{path} is a mount point and cannot be replaced as a whole: choose a folder inside it")
    swap.recover(target, _check_leftover)
    if os.path.islink(target):
        raise FolderError(f"{path} is a symbolic link and would be lost: name the folder that it points to, {os.path.realpath(target)}")
    if not os.path.lexists(target):
        return
    if not os.path.isdir(target):
        raise FolderError(f"{path} is a file, not a folder: choose another path")
    if PurePath(os.getcwd()).is_relative_to(target):
        raise FolderError(f"{path} is the folder that you are in, or holds it, and cannot be replaced: choose a folder of its own")
    with swap.locked(target):
        _check_content(path, target, force)


def _check_content(path: str, folder: str, force: bool) -> None:
    """Raise FolderError when `folder` holds what was not written here, or (without `force`) what was edited since."""
    foreign, edited = [], []
    digests = _manifest(folder)
    for name, is_file in _entries(folder):
        if name == MANIFEST and is_file and digests is not None:
            continue
        if digests is None or not is_file or name not in digests:
            foreign.append(name)
        elif not force and _digest(os.path.join(folder, name)) != digests[name]:
            edited.append(name)
    if foreign:
        raise FolderError(
            f"{path} holds what was not written by fcompile and would be lost ({listed(foreign, 3)}): "
            "choose a new or empty folder, or move that elsewhere"
        )
    if edited:
        raise EditedError(f"files in {path} were edited after fcompile wrote them ({listed(edited, 3)}): move them elsewhere")


def _check_leftover(folder: str) -> None:
    """Raise FolderError unless a folder that a killed run left behind holds only what was written here."""
    if _manifest(folder) is not None:
        _check_content(folder, folder, force=False)
    elif not all(is_file and (name == MANIFEST or name.endswith(".yaml")) for name, is_file in _entries(folder)):
        raise FolderError(f"{folder} holds what was not written by fcompile")


def _entries(folder: str) -> Iterator[tuple[str, bool]]:
    with os.scandir(folder) as entries:
        yield from sorted((entry.name, entry.is_file(follow_symlinks=False)) for entry in entries)


def _manifest(folder: str) -> dict[str, str] | None:
    """Return the digests by file name, or None where the folder has no manifest of ours."""
    file = os.path.join(folder, MANIFEST)
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            return None
        with open(file, "rb") as opened:
            data = opened.read(MAX_MANIFEST_BYTES + 1)
        # Whoever may write to a repository can put one there. Of ours, every value is a digest: others cost far more than they weigh.
        if len(data) > MAX_MANIFEST_BYTES or data.count(b",") * _DIGITS > len(data):
            return None
        content = json.loads(data)
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    digests = content.get("files") if isinstance(content, dict) else None
    return digests if isinstance(digests, dict) else None


def _digest(file: str) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _at(error: OSError, target: str) -> str:
    """Return where it went wrong. A user does not know the hidden folder that is filled first: what counts is the folder around it."""
    if swap.is_in_sibling(str(error.filename), target):
        return f": it is made beside its place, in {os.path.dirname(target)}, and swapped in as a whole"
    return f": {error.filename}" if error.filename else ""
