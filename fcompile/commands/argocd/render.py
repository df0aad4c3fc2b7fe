"""Kustomize and Helm, told to do nothing but render: what they are made to read is followed beforehand, then `renderer` runs them."""

from __future__ import annotations

import os
import shutil

from fcompile.commands.argocd.chart import arguments
from fcompile.commands.argocd.discreet import makes_secrets
from fcompile.commands.argocd.kustomization import check_yaml, reached
from fcompile.commands.argocd.renderer import run
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import Settings
from fcompile.errors import UsageError
from fcompile.load import values


def helm(repository: Repository, settings: Settings) -> bytes:
    """Return what Helm makes of the chart in the current folder."""
    command = arguments(repository, settings)
    return run([_program("helm", "this is a Helm chart"), *command], repository.root)


def kustomize(repository: Repository) -> tuple[bytes, tuple[str, ...]]:
    """Return what kustomize makes of the current folder, and the files that it is made of."""
    found = tuple(dict.fromkeys(reached(repository, ".")))
    secret = False
    for one in found:
        if one.yaml:
            data = repository.read(one.path) if one.path else one.text
            if one.path:
                check_yaml(data, one.path)
            secret = secret or makes_secrets(values(data))
    # In what goes wrong kustomize repeats whole objects.
    return run([*_kustomize(), "."], repository.root, quiet=secret), tuple(dict.fromkeys(one.path for one in found if one.path))


def _kustomize() -> list[str]:
    if shutil.which("kustomize") is None and (kubectl := shutil.which("kubectl")) is not None:
        return [kubectl, "kustomize"]
    return [_program("kustomize", "this is a kustomization"), "build"]


def _program(name: str, why: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"{why}, and there is no `{name}` in the PATH: add it to the plugin's image")
    return os.path.abspath(found)
