"""`discover`: the files that hold Frameworks, by what is in them and not by their names; nothing at all when there is none.

With the parameter `allow-empty` the folder is printed then: Argo CD asks for what names the plugin, too, and calls `generate` after an
answer only.

Argo CD asks every plugin about every application that names none, so that this must be quick and must never claim what is not ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from fcompile.commands.argocd import application
from fcompile.commands.argocd.generate import enter
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import asks_for_empty
from fcompile.commands.argocd.sources import application_kind
from fcompile.commands.group import command
from fcompile.diagnostics.visible import at_line_start, visible
from fcompile.errors import UsageError
from fcompile.load.files import MAX_LEVELS, SUFFIXES, FileEntry, find, may_hold_framework
from fcompile.pipeline.file import open_file

EMPTY = "."
"""Printed for an application without a Framework, where that is asked for."""


@command(
    page="argocd.md",
    examples={
        "fcompile argocd discover": "does this folder hold a Framework?",
        "fcompile argocd discover apps/train": "does that one?",
    },
)
@application
def discover(*, folder: str) -> int:
    """Print the first file that holds a Framework, nothing when there is none.

    What is wrong with the application is for `fcompile argocd generate` to say.
    """
    found = next(_found(enter(folder)), EMPTY if asks_for_empty(os.environ) else None)
    if found is not None:
        print(at_line_start(visible(found)))
    return 0


def _found(repository: Repository) -> Iterator[str]:
    try:
        for path in _paths(repository):
            if _holds_framework(repository.read(path)):
                yield os.path.normpath(path)
    except UsageError:
        # Something is refused. If there are Frameworks it is for `generate` to say so: nobody else would check them.
        yield from _found_among_plain_files(repository)


def _paths(repository: Repository) -> Iterator[str]:
    if application_kind() == "kustomize":
        from fcompile.commands.argocd.kustomization import reached

        yield from (file.path for file in reached(repository, ".") if file.path)
    else:
        repository.vet(".")
        yield from (entry.path for entry in find(["."], repository.root) if entry.error is None)


def _found_among_plain_files(repository: Repository) -> Iterator[str]:
    for folder, folders, files in os.walk("."):
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if folder.count(os.sep) < MAX_LEVELS else []
        for path in (os.path.join(folder, name) for name in sorted(files) if name.endswith(SUFFIXES)):
            with suppress(UsageError):
                if not os.path.islink(path) and _holds_framework(repository.read(path)):
                    yield os.path.normpath(path)


def _holds_framework(data: bytes) -> bool:
    if not may_hold_framework(data):
        return False
    file = open_file(FileEntry("", "-"), data)
    return not file.of_others and bool(file.unreadable() or file.frameworks())
