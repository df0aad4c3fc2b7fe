"""Kustomize and Helm, told to do nothing but render: what they are made to read is followed beforehand, then `renderer` runs them."""

from __future__ import annotations

import os
import re
import shutil

from fcompile.commands.argocd.kustomization import check_yaml, reached
from fcompile.commands.argocd.renderer import run
from fcompile.commands.argocd.repository import MAX_FILE, Repository
from fcompile.commands.argocd.settings import Settings
from fcompile.diagnostics.visible import visible
from fcompile.errors import InputError, UsageError

_REMOTE = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")
"""What Helm may take for an address, even where there is a file of that name."""


def helm(repository: Repository, settings: Settings) -> bytes:
    """What Helm makes of the chart in the current folder."""
    repository.vet(".", every=True)
    command = ["template", settings.release[:53].rstrip("-."), ".", "--namespace", settings.checked.namespace, "--include-crds"]
    command += ["--kube-version", f"1.{settings.checked.version}.0"]
    for version in settings.api_versions:
        command += ["--api-versions", version]
    for path in settings.values_files:
        _inside(repository, path, "values-files")
        command += ["--values", path]
    for name, value in settings.helm_parameters:
        escaped = value.replace("\\", "\\\\").replace(",", "\\,")
        command += ["--set", f"{name}={escaped}"]
    return run([_program("helm", "this is a Helm chart"), *command], repository.root)


def kustomize(repository: Repository) -> tuple[bytes, tuple[str, ...]]:
    """What kustomize makes of the current folder, and the files that it is made of."""
    files = tuple(dict.fromkeys(reached(repository, ".")))
    for file in files:
        if file.yaml:
            check_yaml(repository.read(file.path), file.path)
    return run([*_kustomize(), "."], repository.root), tuple(dict.fromkeys(file.path for file in files))


def _kustomize() -> list[str]:
    if shutil.which("kustomize") is None and (kubectl := shutil.which("kubectl")) is not None:
        return [kubectl, "kustomize"]
    return [_program("kustomize", "this is a kustomization"), "build"]


def _program(name: str, why: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"{why}, and there is no `{name}` in the PATH: add it to the plugin's image")
    return os.path.abspath(found)


def _inside(repository: Repository, written: str, origin: str) -> str:
    """The path of something that is referred to. Raises InputError unless it is in the repository."""
    if _REMOTE.search(written) or not os.path.lexists(written):
        raise InputError(f"{visible(origin)}: `{visible(written)}` is not in the repository: nothing is fetched; copy it in")
    if not repository.holds(os.path.realpath(written)):
        raise InputError(f"{visible(origin)}: `{visible(written)}` leads out of the repository: nothing outside of it is read")
    if not os.path.isfile(written) or os.path.getsize(written) > MAX_FILE:
        raise InputError(f"{visible(origin)}: `{visible(written)}` is no file, or one of more than {MAX_FILE:,} bytes")
    return written
