"""Files of either side by their paths, and what other files of that side make of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache, partial

from fcompile.check.tool_files import KUSTOMIZATIONS, FileKind, kind_for_tools, named_in, never_ignored
from fcompile.commands.comparison_input import RawFile
from fcompile.commands.git.changes import UNNAMED, Changed, regular_file
from fcompile.commands.git.objects import Objects
from fcompile.commands.git.resolve import end_of
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load.files import IGNORE_FILE, MAX_LEVELS, MAX_PATTERNS, SUFFIXES, TOO_DEEP, FileEntry, ignore_patterns, is_outside
from fcompile.pipeline.file import why_skipped

ENDINGS = tuple(map(os.fsencode, SUFFIXES))
"""Of paths, as git has them, at which objects are looked for."""
_KUSTOMIZATIONS = tuple(map(str.encode, KUSTOMIZATIONS))
_HIDING = (b"\\", b"!", b"generators", b"transformers", b"validators")
"""What can hold a name otherwise than in its letters, or leads to files that hold it."""
_MOST_HINTS = 40
"""Names that are looked for in the text of a kustomization. With more it is read as YAML at once."""


class Reader:
    """Reads files of either side by their path from the top."""

    def __init__(self, top: bytes, objects: Objects) -> None:
        self._top, self._objects = top, objects
        self._patterns: dict[tuple[str | None, bytes], list[str]] = {}
        self._trees: dict[str, tuple[Mapping[bytes, bytes], Mapping[bytes, bytes]]] = {}
        """By commit: its files with their blobs, and its links with where they lead."""
        self._near: set[bytes] = set()
        """Kustomizations that name nothing in other folders that differs."""
        self._around = cache(partial(partial, self._read_around))

    def note(self, commit: str, files: Mapping[bytes, bytes], links: Mapping[bytes, bytes]) -> None:
        """Keep what a commit holds: files with their blobs, and links with where they lead.

        git goes through all that is in a folder for each path that it is asked for.
        """
        self._trees[commit] = files, links

    def file(self, commit: str | None, one: Changed, blob: bytes, taken_for: FileKind | None = None) -> RawFile | None:
        """Return the file as it is on a side, and of a submodule its commit; None if it is not there."""
        if commit is None:
            return self._in_tree(one.path, taken_for)
        if not blob:
            return None
        entry = self.entry(one.path)
        if one.is_module:
            return RawFile(entry, blob, self._around(commit), FileKind.SUBMODULE)
        data = self._objects.read(blob, entry.name)
        if data is None:
            # A file of which nothing is known must not look like one that is not there.
            raise UsageError(
                f"--git: {visible(entry.name)} is not in this repository, only its name. Nothing is fetched: in a partial clone "
                "`git fetch --refetch --no-filter` brings what is missing, else `git fsck` says what is damaged"
            )
        return RawFile(entry, data, self._around(commit), taken_for=taken_for)

    def _in_tree(self, path: bytes, taken_for: FileKind | None = None) -> RawFile | None:
        """Return the file in the working tree; None if it is none there."""
        entry, full = self.entry(path), regular_file(self._top, path)
        if full is None:
            return None
        return RawFile(entry, entry._replace(real=os.fsdecode(full)).content(), self._around(None), taken_for=taken_for)

    def link(self, commit: str | None, path: bytes, target: bytes) -> RawFile:
        """Return a link as a file in which stands where it leads."""
        return RawFile(self.entry(path), target, self._around(commit), FileKind.LINK)

    def is_of_interest(self, commits: tuple[str | None, ...], path: bytes) -> bool:
        """Return whether Frameworks, or what they are built of, can be in the file."""
        if path.endswith(ENDINGS):
            return True
        return any(self.kind_for_tools(commit, path) for commit in commits)

    def kind_for_tools(self, commit: str | None, path: bytes) -> FileKind | None:
        """Return the kind of a file that is for other tools; None: it is no such file."""
        return kind_for_tools(self.entry(path).path, os.path.abspath(os.fsdecode(self._top)), self._around(commit))

    def named_from_afar(self, commit: str | None, files: Mapping[bytes, bytes], differing: Iterable[bytes]) -> dict[bytes, FileKind]:
        """Return the files that kustomizations name and that are not below them, with their kinds: kustomize may be allowed to read these.

        :param files: all of a side, with their blobs. :param differing: only these count: most kustomizations name none of them, and need
            not be read as YAML.
        """
        found: dict[bytes, FileKind] = {}
        names = {path.rpartition(b"/")[2].lower() for path in differing}
        top = os.path.abspath(os.fsdecode(self._top))
        wanted = frozenset(os.path.join(top, os.fsdecode(path)) for path in differing)
        hints = () if len(names) > _MOST_HINTS else (*names, *_HIDING)
        for path, blob in files.items():
            folder, _, name = path.rpartition(b"/")
            if name not in _KUSTOMIZATIONS or blob in self._near:
                continue
            data = (self._objects.read(blob, os.fsdecode(path)) if blob != UNNAMED else self._content(commit, path)) or b""
            data = data.translate(None, b"\0").lower()
            leads_out = any(hint in data for hint in (b"..", *_HIDING))
            if not leads_out or (hints and not any(hint in data for hint in hints)):
                self._near |= {blob} - {UNNAMED}
                continue
            inside = os.path.join(top, os.fsdecode(folder)) if folder else top
            named = named_in(inside, top, self._around(commit))
            if named:
                found |= {os.fsencode(os.path.relpath(one, top)): FileKind.SOURCE for one in named.outside(wanted)}
        return found

    def counts(self, commit: str | None, path: bytes) -> tuple[bool, str]:
        """Return whether a walk through the folders would leave the file out, and why else no Framework is looked for in it."""
        ignored = self.ignored(commit, path)
        return ignored, "" if ignored else why_skipped(self.entry(path), around=self._around(commit))

    def ignored(self, commit: str | None, path: bytes) -> bool:
        """Return whether a walk through the folders would leave it out."""
        return self._is_in_hidden_folder(commit, path) or self._is_listed(commit, path)

    def only_hidden(self, commit: str | None, path: bytes) -> bool:
        """Return whether a walk would leave it out for a hidden folder alone, and not since somebody has listed it."""
        return path.endswith(ENDINGS) and self._is_in_hidden_folder(commit, path) and not self._is_listed(commit, path)

    def _is_in_hidden_folder(self, commit: str | None, path: bytes) -> bool:
        return any(step.startswith(b".") for step in path.split(b"/")[:-1]) and not self.kind_for_tools(commit, path)

    def _is_listed(self, commit: str | None, path: bytes) -> bool:
        """Return whether a `.fcompileignore` names it, or a folder that it is in."""
        steps = path.split(b"/")
        return any(
            fnmatchcase(os.fsdecode(steps[depth]), pattern)
            for depth in range(len(steps) - never_ignored(os.fsdecode(steps[-1])))
            for pattern in self._ignore_file(commit, b"/".join(steps[:depth]))
        )

    def _ignore_file(self, commit: str | None, folder: bytes) -> list[str]:
        """Return the patterns of a folder's own `.fcompileignore`."""
        if (commit, folder) not in self._patterns:
            path = b"/".join(filter(None, (folder, IGNORE_FILE.encode())))
            patterns = ignore_patterns((self._content(commit, path) or b"").decode("utf-8", "replace").splitlines())
            if len(patterns) > MAX_PATTERNS:  # as in a folder that is read: each name is held against them all
                raise UsageError(f"--git: {visible(os.fsdecode(path))} holds more than {MAX_PATTERNS:,} patterns: write fewer")
            self._patterns[commit, folder] = patterns
        return self._patterns[commit, folder]

    def _content(self, commit: str | None, path: bytes) -> bytes | None:
        """Return what is in a file of a side; None if there is none. A link is followed within the tree."""
        if commit is None:
            top = os.path.realpath(self._top)
            real = os.path.realpath(os.path.join(top, path))
            if is_outside(os.fsdecode(real), {os.fsdecode(top)}):
                return None
            file = self._in_tree(os.path.relpath(real, top))
            return file.data if file is not None and isinstance(file.data, bytes) else None
        files, links = self._trees[commit]
        name = files.get(path) or files.get(end_of(path, links))
        if name is None and path.startswith((b"/", b"../")):
            name = b"%b:%b" % (commit.encode(), path)
        return None if name is None else self._objects.read(name, os.fsdecode(path), is_there=True)

    def _read_around(self, commit: str | None, path: str) -> bytes | None:
        return self._content(commit, os.path.relpath(os.fsencode(path), os.path.abspath(self._top)))

    def entry(self, path: bytes) -> FileEntry:
        """Return the entry of a file, whether it is in the working tree or not. Raises UsageError for one that is too deep."""
        full = os.path.join(self._top, path)
        if path.count(b"/") > MAX_LEVELS:
            raise UsageError(f"--git: {visible(os.path.dirname(os.fsdecode(path)))} {TOO_DEEP}, or list one above it in {IGNORE_FILE}")
        name = os.path.relpath(full).decode("utf-8", "backslashreplace")
        return FileEntry(name, os.fsdecode(full), within=os.fsdecode(self._top))
