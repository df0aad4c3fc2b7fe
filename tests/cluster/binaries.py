"""Which binaries a cluster is started from: those in KUBEBUILDER_ASSETS, or those that `build` makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.cluster.build import COMMANDS, DEFAULT_VERSION, ClusterError, Say, Unavailable, build, cached, full_version

HOW = (
    "install Go (https://go.dev/dl), from which `python -m tests.cluster build` makes them once, or set KUBEBUILDER_ASSETS to a folder "
    "with etcd, kube-apiserver, kube-controller-manager and kubectl"
)


def binaries(wanted: str | None, say: Say) -> tuple[str, dict[str, Path]]:
    """The Kubernetes version and the path of each command; builds what is missing.

    :param wanted: a version; None takes the default, or what KUBEBUILDER_ASSETS has.
    :raises Unavailable: something is missing and there is no Go; the text says how to get it.
    :raises ClusterError: the wanted version is not to be had.
    """
    if os.name == "nt":
        raise Unavailable("no Kubernetes API server runs on Windows itself: use its subsystem for Linux")
    version = full_version(wanted or DEFAULT_VERSION)
    found: dict[str, Path] = {}
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if folder:
        found = _assets(Path(folder))
        has = _version(found["kube-apiserver"])
        if wanted and has != version:
            raise ClusterError(f"KUBEBUILDER_ASSETS has Kubernetes {has}, but {version} is wanted: unset one of the two")
        version = has
    missing = [command for command in COMMANDS if command not in found]
    try:
        build(missing, version, say)
    except Unavailable as problem:
        before = f"KUBEBUILDER_ASSETS ({folder}) lacks {', '.join(missing)}; " if folder else ""
        raise Unavailable(f"{before}{problem}: {HOW}") from None
    return version, found | {command: cached(command, version) for command in missing}


def _assets(folder: Path) -> dict[str, Path]:
    """The commands that a folder has. kube-apiserver must be among them: it says which version the others have."""
    found = {command: folder.absolute() / command for command in COMMANDS if os.access(folder / command, os.X_OK)}
    if "kube-apiserver" not in found:
        raise ClusterError(f"KUBEBUILDER_ASSETS is {str(folder)!r}, where no kube-apiserver is: correct it or unset it")
    return found


def _version(api_server: Path) -> str:
    """The version that a kube-apiserver gives as its own, without the v."""
    done = subprocess.run([api_server, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    words = done.stdout.split()
    if done.returncode or len(words) != 2:
        raise ClusterError(f"{api_server} --version says {done.stdout + done.stderr!r} instead of a version")
    return words[1].removeprefix("v")
