"""The two sides of `diff --git`: files of revisions, read from git's objects; no checkout is touched.

Only files that differ are read. Links are followed within the tree, submodules are no files, and hidden folders and what
`.fcompileignore` names are left out as in a folder.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager

from fcompile.check.tool_files import CHART, KUSTOMIZATIONS
from fcompile.commands.comparison_input import RawFile
from fcompile.commands.git.changes import Changed, between, changes, empty_tree
from fcompile.commands.git.links import kind_behind, tree_of
from fcompile.commands.git.objects import Objects
from fcompile.commands.git.reader import Reader
from fcompile.commands.git.revisions import is_revision, revisions, top_of_repository
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load.files import (
    IGNORE_FILE,
)


@contextmanager
def changed(written: str, paths: Sequence[str]) -> Iterator[tuple[list[RawFile], list[RawFile]]]:
    """Give the files that differ between the two sides of `REV`, `A..B` or `A...B`, as they are on each."""
    old, new = revisions(written)
    top = top_of_repository(new is None)
    with Objects() as objects:
        reader = Reader(top, objects)
        # In a merge that is not done, git names a file more than once.
        differing = {one.path: one for one in sorted(changes(old, new, paths, top))}
        trees = [tree_of(commit, top, objects, reader, differing) for commit in (old, new)]
        before_led, after_led = (tree.led for tree in trees)
        led_to = (Changed(path, before_led.get(path, b""), after_led.get(path, b"")) for path in before_led.keys() ^ after_led.keys())
        turned = {one.path: one for one in (*led_to, *_turned(old, new, paths, top, reader, differing)) if one.path not in differing}
        either = [*differing.values(), *sorted(turned.values())]
        own = {one.path for one in either if one.is_module or reader.is_of_interest((old, new), one.path)}
        for commit, tree in zip((old, new), trees, strict=True):
            tree.kinds.update(
                (one.path, kind) for one in either if one.path not in own and (kind := kind_behind(commit, one.path, tree, reader))
            )
        found = [one for one in either if one.path in own or any(one.path in tree.led or one.path in tree.kinds for tree in trees)]
        in_old, in_new = (
            [
                one
                for one in found
                if one.path in tree.led or one.path in tree.kinds or (one.path in own and not reader.ignored(side, one.path))
            ]
            for side, tree in zip((old, new), trees, strict=True)
        )
        before = [reader.at(old, one, one.before, trees[0].kinds.get(one.path, "")) for one in in_old if one.before]
        if new is not None:
            after = [reader.at(new, one, one.after, trees[1].kinds.get(one.path, "")) for one in in_new if one.after]
        else:
            after = [file for one in in_new if (file := reader.in_tree(one.path, trees[1].kinds.get(one.path, ""))) is not None]
        links = [path for path in differing if trees[0].links.get(path) != trees[1].links.get(path)]
        for commit, tree, side in (old, trees[0], before), (new, trees[1], after):
            side += [reader.link(commit, path, tree.links[path]) for path in links if path in tree.links]
        found += [differing[path] for path in links]
        if not found:
            for path in paths:
                if not os.path.lexists(path):
                    two = new is None and len(paths) == 1 and ".." not in path and is_revision(path)
                    hint = f"; two revisions are compared with --git {visible(written)}..{visible(path)}" if two else " in what is compared"
                    raise UsageError(f"--git: there is no file or folder `{path}`{hint}")
        contents = {(file.entry.path, file.kind): file.data for file in before}
        same = {file.entry.path for file in after if contents.get((file.entry.path, file.kind)) == file.data}
        same -= {reader.entry(path).path for path in turned}
        yield [file for file in before if file.entry.path not in same], [file for file in after if file.entry.path not in same]


def _turned(old: str, new: str | None, paths: Sequence[str], top: bytes, reader: Reader, differing: Container[bytes]) -> Iterator[Changed]:
    """Yield files that are the same on both sides, and that others, perhaps above, leave out or make a patch or template on one."""
    names = tuple(map(str.encode, (IGNORE_FILE, CHART, *KUSTOMIZATIONS)))
    if any(one.path.endswith(names) for one in changes(old, new, (), top, names)):
        for one in between(empty_tree(), old, ["--", *paths]):
            if one.is_module or one.path in differing or not reader.is_of_interest((old, new), one.path):
                continue
            if reader.counts(old, one.path) != reader.counts(new, one.path):
                yield one._replace(before=one.after)
