"""Where links of a side lead, and what is found through them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from fcompile.check.tool_files import FileKind
from fcompile.commands.git.answers import answer
from fcompile.commands.git.changes import REGULAR, UNNAMED, listed
from fcompile.commands.git.objects import Objects
from fcompile.commands.git.reader import ENDINGS, Reader
from fcompile.commands.git.resolve import end_of

_MOST_NAMES = 40
"""Of a file, by links to folders that it is in. With more it is shown without a look at each."""


class Tree(NamedTuple):
    """What links of a side, and kustomizations in other folders, lead to."""

    links: dict[bytes, bytes]
    """Links by which tools may find something, with where they lead."""
    led: dict[bytes, bytes]
    """Files that count only since links lead to them, with their blobs."""
    folders: dict[bytes, list[bytes]]
    """Folders to which links lead, with these links."""
    kinds: dict[bytes, FileKind]
    """Files that tools find by links, or from other folders, with their kinds."""

    def leads_to(self, path: bytes) -> bool:
        """Return whether others find the file, whatever its own name and place say."""
        return path in self.led or path in self.kinds


def tree_of(commit: str | None, top: bytes, objects: Objects, reader: Reader, differing: Iterable[bytes]) -> Tree:
    """Return what links lead to, of those that have a name for objects or that Helm or kustomize read."""
    links, files = _links_and_files(commit, top, objects, reader)
    made = Tree({}, {}, {}, reader.named_from_afar(commit, files | dict.fromkeys(links, UNNAMED), differing))
    if not links:
        return made
    above = set[bytes]()
    for path in files:
        while (path := path.rpartition(b"/")[0]) and path not in above:
            above.add(path)
    for path, target in links.items():
        end, ignored = end_of(path, links), reader.ignored(commit, path)
        kind = None if ignored else reader.kind_for_tools(commit, path)
        if end in above:
            made.links[path] = target
            made.folders.setdefault(end, []).append(path)
        elif end in files and not ignored and (kind or path.endswith(ENDINGS)):
            made.links[path] = target
            if not end.endswith(ENDINGS) or reader.ignored(commit, end):
                made.led[end] = files[end]
                if kind:
                    made.kinds[end] = kind
        elif end and not ignored and (kind or path.endswith(ENDINGS)):
            made.links[path] = target  # into a submodule, or to what something else makes: others may find a file there
    return made


def _links_and_files(commit: str | None, top: bytes, objects: Objects, reader: Reader) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """Return all links of a side, with where they lead, and all files, with their blobs."""
    links: dict[bytes, bytes] = {}
    files: dict[bytes, bytes] = {}
    if commit is None:
        for path in listed(["--"], top):
            full = os.path.join(top, path)
            if os.path.islink(full):
                links[path] = os.readlink(full)
            else:
                files[path] = UNNAMED
    else:
        for entry in filter(None, answer("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")):
            head, _, path = entry.partition(b"\t")
            mode, _, name = head.split(b" ")
            if mode == b"120000":
                links[path] = objects.read(name, os.fsdecode(path)) or b""
            elif mode in REGULAR:
                files[path] = name
        reader.note(commit, files, links)
    return links, files


def kind_behind(commit: str | None, path: bytes, tree: Tree, reader: Reader) -> FileKind | None:
    """Return the kind of a file that Helm or kustomize finds through links to folders; None: they do not."""
    names = (
        b"%b%b" % (link, path[at:]) for at, letter in enumerate(path) if letter == ord("/") for link in tree.folders.get(path[:at], ())
    )
    some = list(islice(names, _MOST_NAMES + 1))
    return FileKind.SOURCE if len(some) > _MOST_NAMES else next(filter(None, (reader.kind_for_tools(commit, name) for name in some)), None)
