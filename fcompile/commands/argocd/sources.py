"""What an application consists of: the texts to compile, from plain files or from what kustomize or Helm make of the folder."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from fcompile.check.tool_files import KUSTOMIZATIONS
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import Settings
from fcompile.errors import InputError
from fcompile.load.files import find
from fcompile.load.rules import FOLDER_WITHOUT_FILES

_SEPARATOR = re.compile(rb"^---[^\n]*\n?", re.MULTILINE)
_TEMPLATE = re.compile(rb"^# Source: ([^\n]+)$", re.MULTILINE)


MAX_RENDERED = 20_000
"""Documents that are rendered. Each is compiled by itself, and a loop in a template makes as many as it likes."""


class Source(NamedTuple):
    """One text: a file, or one document that was rendered."""

    name: str
    """For messages."""
    path: str = ""
    """To read it from; empty: it is `data`."""
    data: bytes = b""
    templates: tuple[str, ...] = ()
    """Files that a rendered document may come from."""

    def content(self, repository: Repository) -> bytes:
        """Return the bytes of the text."""
        return repository.read(self.path) if self.path else self.data


def sources(repository: Repository, settings: Settings) -> Iterator[Source]:
    """Yield the texts of the application in the current folder. Raises InputError and UsageError."""
    kind = application_kind()
    if kind == "files":
        repository.vet(".")
        for entry in find(["."], repository.root):
            if entry.error is not None:
                if entry.error.rule is FOLDER_WITHOUT_FILES:
                    continue  # whether that is an error depends on allow-empty
                raise InputError(entry.error.message)
            yield Source(entry.name.removeprefix("./"), entry.path)
        return
    from fcompile.commands.argocd import render  # Most applications are plain files.

    if kind == "helm":
        yield from _of_chart(render.helm(repository, settings))
    else:
        text, files = render.kustomize(repository)
        for number, document in enumerate(_documents(text), 1):
            yield Source(f"{_kustomization()}, document {number} as rendered", "", document, files)


def application_kind() -> str:
    """Return how the current folder becomes manifests: `files`, `kustomize` or `helm`, as Argo CD itself would tell."""
    chart, kustomization = os.path.lexists("Chart.yaml"), _kustomization()
    if chart and kustomization:
        raise InputError(f"both Chart.yaml and {kustomization} are in the folder: which of the two makes the manifests? Move one elsewhere")
    return "helm" if chart else "kustomize" if kustomization else "files"


def _kustomization() -> str:
    return next(filter(os.path.lexists, KUSTOMIZATIONS), "")


def _of_chart(text: bytes) -> Iterator[Source]:
    for number, document in enumerate(_documents(text), 1):
        match = _TEMPLATE.search(document)
        # Helm begins the path with the name of the chart, which lies in the current folder.
        template = match[1].decode("utf-8", "replace").partition("/")[2] if match else ""
        yield Source(f"{template or f'document {number} of the chart'}, as rendered", "", document, (template,) if template else ())


def _documents(stream: bytes) -> Iterator[bytes]:
    """Yield the documents of a stream, cut where every reader cuts it; those without anything in them are left out."""
    begin, count = 0, 0
    for match in itertools.chain(_SEPARATOR.finditer(stream), [None]):
        document = stream[begin : match.start() if match else None]
        begin = match.end() if match else 0
        if document.strip():
            count += 1
            if count > MAX_RENDERED:
                raise InputError(f"more than {MAX_RENDERED:,} documents were rendered: divide the application")
            yield document
