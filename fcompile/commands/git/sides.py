"""The two sides of `diff --git`: files of revisions, read from git's objects; no checkout is touched.

Only files that differ are read. Links are followed within the tree, submodules are no files, and what `.fcompileignore` names is left
out as in a folder. Of hidden folders, files with objects are told of: kubectl and Argo CD read them.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter

from fcompile.check.tool_files import CHART, KUSTOMIZATIONS, FileKind
from fcompile.commands.comparison_input import RawFile
from fcompile.commands.git.changes import Changed, between, changes, empty_tree
from fcompile.commands.git.links import Tree, kind_behind, tree_of
from fcompile.commands.git.objects import Objects
from fcompile.commands.git.reader import Reader
from fcompile.commands.git.revisions import is_revision, revisions, top_of_repository
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load.files import IGNORE_FILE


@contextmanager
def changed(written: str, paths: Sequence[str]) -> Iterator[tuple[list[RawFile], list[RawFile]]]:
    """Give the files that differ between the two sides of `REV`, `A..B` or `A...B`, as they are on each."""
    old, new = revisions(written)
    top = top_of_repository(new is None)
    with Objects() as objects:
        reader = Reader(top, objects)
        # In a merge that is not done, git names a file more than once.
        differing = {one.path: one for one in sorted(changes(old, new, paths, top))}
        before, after = (tree_of(commit, top, objects, reader, differing) for commit in (old, new))
        turned = {
            one.path: one
            for one in (*_led_to(before, after), *_turned(old, new, paths, top, reader, differing))
            if one.path not in differing
        }
        either = [*differing.values(), *sorted(turned.values())]
        own = {one.path for one in either if one.is_module or reader.is_of_interest((old, new), one.path)}
        for commit, tree in (old, before), (new, after):
            others = (one.path for one in either if one.path not in own)
            tree.kinds.update((path, kind) for path in others if (kind := kind_behind(commit, path, tree, reader)))
        links = [path for path in differing if before.links.get(path) != after.links.get(path)]
        if not links and not any(one.path in own or before.leads_to(one.path) or after.leads_to(one.path) for one in either):
            _check(paths, written, in_tree=new is None)
        sides = []
        both = (old, before, attrgetter("before")), (new, after, attrgetter("after"))
        # A file that is hidden on one side alone, since the other has a kustomization that names it, is new or gone there.
        hidden = [
            one
            for one in either
            if not one.is_module
            and all(not blob(one) or (not tree.leads_to(one.path) and reader.only_hidden(commit, one.path)) for commit, tree, blob in both)
        ]
        for commit, tree, blob in both:
            there = (one for one in either if tree.leads_to(one.path) or (one.path in own and not reader.ignored(commit, one.path)))
            files = (reader.file(commit, one, blob(one), tree.kinds.get(one.path)) for one in there)
            led = (reader.link(commit, path, tree.links[path]) for path in links if path in tree.links)
            unseen = filter(None, (reader.file(commit, one, blob(one)) for one in hidden))
            sides.append([*filter(None, files), *led, *(file._replace(kind=FileKind.HIDDEN) for file in unseen)])
        contents = {(file.entry.path, file.kind): file.data for file in sides[0]}
        same = {file.entry.path for file in sides[1] if contents.get((file.entry.path, file.kind)) == file.data}
        same -= {reader.entry(path).path for path in turned}
        old_files, new_files = ([file for file in side if file.entry.path not in same] for side in sides)
        yield old_files, new_files


def _check(paths: Sequence[str], written: str, *, in_tree: bool) -> None:
    """Raise UsageError for a path at which there is nothing: it may be meant as a revision."""
    for path in paths:
        if not os.path.lexists(path):
            two = in_tree and len(paths) == 1 and ".." not in path and is_revision(path)
            hint = f"; two revisions are compared with --git {visible(written)}..{visible(path)}" if two else " in what is compared"
            raise UsageError(f"--git: there is no file or folder `{path}`{hint}")


def _led_to(before: Tree, after: Tree) -> Iterator[Changed]:
    """Yield the files that count on one side alone, since only there a link leads to them."""
    for path in before.led.keys() ^ after.led.keys():
        yield Changed(path, before.led.get(path, b""), after.led.get(path, b""))


def _turned(old: str, new: str | None, paths: Sequence[str], top: bytes, reader: Reader, differing: Container[bytes]) -> Iterator[Changed]:
    """Yield files that are the same on both sides, and that others, perhaps above, leave out or make a patch or template on one."""
    names = tuple(map(str.encode, (IGNORE_FILE, CHART, *KUSTOMIZATIONS)))
    if any(one.path.endswith(names) for one in changes(old, new, (), top, names)):
        for one in between(empty_tree(), old, ["--", *paths]):
            if one.is_module or one.path in differing or not reader.is_of_interest((old, new), one.path):
                continue
            if reader.counts(old, one.path) != reader.counts(new, one.path):
                yield one._replace(before=one.after)
