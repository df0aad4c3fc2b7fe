"""Kustomize and Helm, run so that a repository can make them do nothing but render it.

They get their arguments as such (no shell), no variable of ours, no network that they would know of, and no PATH: what they would call,
as git, is not found. What a kustomization refers to is followed beforehand, because kustomize itself would leave the repository.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from fcompile.check.values import mapping, sequence
from fcompile.commands.argocd.repository import MAX_FILE, Repository
from fcompile.commands.argocd.settings import Settings
from fcompile.commands.argocd.sources import KUSTOMIZATIONS
from fcompile.diagnostics.visible import visible
from fcompile.errors import InputError, UsageError
from fcompile.load import LoadError, values

MAX_RENDERED = 64 * 1024 * 1024
_MAX_SAID = 64 * 1024
_FOLDERS_OR_FILES = ("resources", "bases", "components", "generators", "transformers", "validators")
_FILES = ("crds", "configurations", "patchesStrategicMerge")
_ITEMS_WITH_PATH = ("patches", "patchesJson6902", "replacements")
_GENERATORS = ("configMapGenerator", "secretGenerator")
_REMOTE = re.compile(r"://|^git(?:@|::)|(?:^|[/@])github\.com[/:]|\.git(?:$|[/?])|_git/")
"""What kustomize takes for the address of a repository, even where there is a folder of that name."""


def helm(repository: Repository, settings: Settings) -> bytes:
    """What Helm makes of the chart in the current folder."""
    repository.vet(".", every=True)
    command = ["template", settings.release[:53].rstrip("-."), ".", "--namespace", settings.checked.namespace, "--include-crds"]
    command += ["--kube-version", f"1.{settings.checked.version}.0"]
    for version in settings.api_versions:
        command += ["--api-versions", version]
    for path in settings.values_files:
        _inside(repository, ".", path, "values-files")
        command += ["--values", path]
    for name, value in settings.helm_parameters:
        escaped = value.replace("\\", "\\\\").replace(",", "\\,")
        command += ["--set", f"{name}={escaped}"]
    return _rendered([_program("helm", "this is a Helm chart"), *command])


def kustomize(repository: Repository) -> tuple[bytes, tuple[str, ...]]:
    """What kustomize makes of the current folder, and the files that it is made of."""
    files = tuple(dict.fromkeys(reached(repository, ".", set())))
    return _rendered([*_kustomize(), "."]), files


def _kustomize() -> list[str]:
    if shutil.which("kustomize") is None and (kubectl := shutil.which("kubectl")) is not None:
        return [kubectl, "kustomize"]
    return [_program("kustomize", "this is a kustomization"), "build"]


def _program(name: str, why: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"{why}, and there is no `{name}` in the PATH: add it to the plugin's image")
    return os.path.abspath(found)


def reached(repository: Repository, folder: str, done: set[str]) -> Iterator[str]:
    """The files that a kustomization is made of, in all folders that it refers to."""
    real = os.path.realpath(folder)
    if real in done:
        return
    done.add(real)
    repository.vet(folder)
    path = next((path for name in KUSTOMIZATIONS if os.path.lexists(path := os.path.join(folder, name))), None)
    if path is None:
        raise InputError(f"{visible(folder)}: a kustomization refers to this folder, and it has no kustomization.yaml")
    yield os.path.normpath(path)
    try:
        documents = values(repository.read(path))
    except LoadError as error:
        raise InputError(f"{visible(path)}:{error}") from None
    for field, written in (reference for document in documents for reference in _references(document)):
        target = _inside(repository, folder, written, f"`{field}` of {os.path.normpath(path)}")
        if os.path.isdir(target):
            yield from reached(repository, target, done)
        else:
            yield os.path.normpath(target)


def _references(kustomization: Any) -> Iterator[tuple[str, str]]:
    """Every path in a kustomization, with its field; objects that are written out in place of one are left out."""
    found = [(field, item) for field in (*_FOLDERS_OR_FILES, *_FILES) for item in sequence(kustomization, field)]
    found += [(field, mapping({"": item}, "").get("path")) for field in _ITEMS_WITH_PATH for item in sequence(kustomization, field)]
    found.append(("openapi", mapping(kustomization, "openapi").get("path")))
    for field in _GENERATORS:
        for generator in sequence(kustomization, field):
            named = [str(item).rpartition("=")[2] for item in sequence(generator, "files")]
            single = generator.get("env") if isinstance(generator, dict) else None
            found += [(field, item) for item in (*named, *sequence(generator, "envs"), single)]
    yield from ((field, item) for field, item in found if isinstance(item, str) and item and "\n" not in item)


def _inside(repository: Repository, folder: str, written: str, origin: str) -> str:
    """The path of something that is referred to. Raises InputError unless it is in the repository."""
    path = os.path.join(folder, written)
    if _REMOTE.search(written) or not os.path.lexists(path):
        raise InputError(f"{visible(origin)}: `{visible(written)}` is not in the repository: nothing is fetched; copy it in")
    if not repository.holds(os.path.realpath(path)):
        raise InputError(f"{visible(origin)}: `{visible(written)}` leads out of the repository: nothing outside of it is read")
    if not os.path.isdir(path) and (not os.path.isfile(path) or os.path.getsize(path) > MAX_FILE):
        raise InputError(f"{visible(origin)}: `{visible(written)}` is no file, or one of more than {MAX_FILE:,} bytes")
    return path


def _rendered(command: Sequence[str]) -> bytes:
    """What the program prints. Raises InputError with what it says when it fails."""
    nowhere = "http://127.0.0.1:1"
    environment = {"HOME": "/nonexistent", "PATH": "/nonexistent", "LC_ALL": "C", "HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere}
    # In our process group: what ends us at the deadline ends it too.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        out, said = _both(process)
        code = process.wait()
    finally:
        process.kill()
        process.wait()
    name = os.path.basename(command[0])
    if code:
        text = said.decode("utf-8", "replace").strip()
        raise InputError(f"{name} {command[1]} failed with exit code {code}:\n" + "\n".join(map(visible, text.splitlines())))
    return bytes(out)


def _both(process: subprocess.Popen[bytes]) -> tuple[bytearray, bytearray]:
    """Standard output and error, read as they come, so that neither pipe fills up."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector, process.stdout, process.stderr:
        selector.register(process.stdout, selectors.EVENT_READ, out)
        selector.register(process.stderr, selectors.EVENT_READ, said)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data is out or len(said) < _MAX_SAID:
                    key.data.extend(data)
                if len(out) > MAX_RENDERED:
                    raise InputError(f"more than {MAX_RENDERED:,} bytes were rendered: divide the application")
    return out, said
