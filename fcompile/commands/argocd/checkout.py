"""A repository on its way from the repo-server to the plugin: looked through for links, packed, unpacked."""

from __future__ import annotations

import os
import subprocess
import tarfile
from collections.abc import Iterator
from itertools import takewhile

from fcompile.commands.git.process import ask
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load.files import MAX_LEVELS, TOO_DEEP, is_within

GIT_SECONDS = 20.0


def ignored(folder: str) -> frozenset[str]:
    """Return what git ignores in a folder, by paths within it: it is in no checkout. Empty where there is no git or no repository."""
    try:
        # A .gitignore can be a FIFO.
        done = ask("-C", folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", seconds=GIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(os.fsdecode(name).rstrip("/") for name in done.stdout.split(b"\0") if name) if done.returncode == 0 else frozenset()


def walk(root: str, left_out: frozenset[str] = frozenset()) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk as os.walk does, past what is left out. Raises UsageError where folders lie too deep: os.walk may call itself for each."""

    def kept(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if os.path.relpath(os.path.join(folder, name), root) not in left_out] if left_out else names

    for folder, folders, files in os.walk(root):
        if folder.count(os.sep) - root.count(os.sep) > MAX_LEVELS:
            raise UsageError(f"{visible(os.path.relpath(folder, root))} {TOO_DEEP}")
        folders[:] = kept(folder, folders)
        yield folder, folders, kept(folder, files)


def leading_out(root: str, left_out: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the links that are absolute, or at one of their steps lead out of the repository: Argo CD refuses a repository with one."""
    for folder, folders, files in walk(root, left_out):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            if os.path.islink(path) and _leads_out(root, folder, os.readlink(path)):
                yield os.path.relpath(path, root)


def _leads_out(root: str, folder: str, target: str) -> bool:
    if os.path.isabs(target):
        return True
    for step in target.split(os.sep):
        folder = os.path.normpath(os.path.join(folder, step))
        if not is_within(folder, root):
            return True
    return False


def common_root(root: str, app: str, annotation: str) -> str:
    """Return what Argo CD sends to `generate` under the annotation manifest-generate-paths: the folder that all of its paths are below.

    As getApplicationRootPath of Argo CD 3.5 does it, which leaves out a path above all others that comes after one beside them.

    :param root: of the repository; a real path, as `app`, the folder of the application.
    """
    common, beside = app.split(os.sep), False
    for written in annotation.split(";"):
        if written:
            # What leads out of the repository ends at its root.
            inside = os.path.normpath(os.path.join(os.sep, os.path.relpath(app, root), written))
            parts = _within(root, inside.lstrip(os.sep)).split(os.sep)
            equal = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(common, parts, strict=False)))
            if equal < min(len(common), len(parts)):
                common, beside = common[:equal], True
            elif not beside:
                common = common[:equal]
    return os.sep.join(common) or os.sep


def _within(root: str, path: str) -> str:
    """Follow links, but not out of the repository."""
    joined = os.path.normpath(os.path.join(root, path))
    real = os.path.realpath(joined)
    return real if is_within(real, root) else joined


def pack(root: str, archive: str, left_out: frozenset[str] = frozenset()) -> int:
    """Pack everything but what is left out, as the repo-server does. Return the number of files."""
    count = 0
    with tarfile.open(archive, "w:gz", compresslevel=6) as packed:
        for folder, folders, files in walk(root, left_out):
            of_files = frozenset(files)
            for name in sorted((*folders, *files)):
                path = os.path.join(folder, name)
                if os.path.isfile(path) or os.path.isdir(path) or os.path.islink(path):
                    packed.add(path, os.path.relpath(path, root), recursive=False)
                    count += name in of_files
    return count


def unpack(archive: str, folder: str) -> None:
    """Unpack an archive, with the same modes for all files and for all folders, and without their owners."""
    with tarfile.open(archive) as packed:
        for member in packed:
            member.mode = 0o755 if member.isdir() else 0o644
            if not (member.issym() and os.path.isabs(member.linkname)):
                packed.extract(member, folder, set_attrs=False, filter="tar")
    for where, folders, files in os.walk(folder):
        for names, mode in ((folders, 0o755), (files, 0o644)):
            for path in (os.path.join(where, name) for name in names):
                if not os.path.islink(path):  # to a folder too: what it leads to may be anybody's, and elsewhere
                    os.chmod(path, mode)
