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
from collections.abc import Sequence

from fcompile.commands.argocd.kustomization import check_yaml, reached
from fcompile.commands.argocd.repository import MAX_FILE, Repository
from fcompile.commands.argocd.settings import Settings
from fcompile.diagnostics.visible import visible
from fcompile.errors import InputError, UsageError

MAX_RENDERED = 64 * 1024 * 1024
_MAX_SAID = 64 * 1024
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
    return _rendered([_program("helm", "this is a Helm chart"), *command])


def kustomize(repository: Repository) -> tuple[bytes, tuple[str, ...]]:
    """What kustomize makes of the current folder, and the files that it is made of."""
    files = tuple(dict.fromkeys(reached(repository, ".")))
    for file in files:
        if file.yaml:
            check_yaml(repository.read(file.path), file.path)
    return _rendered([*_kustomize(), "."]), tuple(dict.fromkeys(file.path for file in files))


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
