"""`discover`: the files that hold Frameworks, by what is in them and not by their names; nothing at all when there is none.

Argo CD asks every plugin about every application that names none, so that this must be quick and must never claim what is not ours.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator

from fcompile.check.ours import frameworks_in
from fcompile.commands.argocd.generate import enter
from fcompile.commands.argocd.repository import Repository, repository_of
from fcompile.commands.argocd.sources import kind_of
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load import LoadError, read
from fcompile.load.files import find, may_hold_framework
from fcompile.model.names import GROUP

_API_VERSION = re.compile(rb"""^[^#\n]*\bapiVersion["']?\s*:\s*["']?""" + re.escape(GROUP).encode() + rb"/", re.MULTILINE)
"""In a template, which cannot be read before it is rendered."""


def run(arguments: argparse.Namespace) -> int:
    """Print the first file that holds a Framework. What is wrong with the application is for `generate` to say."""
    enter(arguments.folder)
    repository = repository_of(".", os.environ.get("ARGOCD_APP_SOURCE_PATH", ""))
    try:
        found = next(_found(repository), None)
    except UsageError:
        found = None
    if found is not None:
        print(visible(found))
    return 0


def _found(repository: Repository) -> Iterator[str]:
    kind = kind_of(".")
    if kind == "kustomize":
        from fcompile.commands.argocd.render import reached

        paths = reached(repository, ".", set())
    else:
        repository.vet(".")
        paths = (entry.path for entry in find(["."]) if entry.error is None)
    for path in paths:
        if _holds_framework(repository.read(path)):
            yield os.path.normpath(path)


def _holds_framework(data: bytes) -> bool:
    if not may_hold_framework(data):
        return False
    found = list(read(data, ""))
    if any(isinstance(item, LoadError) for item in found):
        return _API_VERSION.search(data) is not None
    return any(next(frameworks_in(item.value), None) for item in found if not isinstance(item, LoadError))
