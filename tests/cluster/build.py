"""Builds Kubernetes' commands and etcd from their sources, once for each version, into a cache outside the checkout.

There are no prebuilt binaries in any package registry, but the Go module proxy has the sources. `modules/` holds a go.mod and a go.sum for
each version that is pinned; for any other version the go.mod is made from Kubernetes' own.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kubectl")
COMMANDS = ("etcd", *KUBERNETES)
DEFAULT_VERSION = "1.36.3"
MODULES = Path(__file__).resolve().parent / "modules"

Say = Callable[[str], None]


class Unavailable(Exception):
    """This machine has neither the binaries nor what builds them; the text says how to get either."""


class ClusterError(Exception):
    """The cluster was asked for and cannot be had; the text says why."""


def pinned_versions() -> list[str]:
    """The Kubernetes versions whose sources are pinned in `modules/`, oldest first."""
    names = [path.name for path in MODULES.iterdir() if path.name != "etcd"]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def full_version(wanted: str) -> str:
    """`1.36.3` for `v1.36.3`, and for `1.36` when that minor version has a pinned patch version; ClusterError for anything else."""
    text = wanted.removeprefix("v")
    if re.fullmatch(r"1\.\d+\.\d+", text):
        return text
    for version in pinned_versions():
        if re.fullmatch(r"1\.\d+", text) and version.startswith(text + "."):
            return version
    raise ClusterError(
        f"Kubernetes version {wanted!r}: give major.minor.patch, or the minor of a pinned one: {', '.join(pinned_versions())}"
    )


def cache() -> Path:
    """The folder that holds a folder of binaries for each version."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fcompile" / "cluster"


def cached(command: str, version: str) -> Path:
    """Where a command's binary is once it is built, for a cluster of a Kubernetes version."""
    return cache() / _folder(command, version) / command


def _folder(command: str, version: str) -> str:
    """The part of the cache that a command is in, named for its own version.

    Of kube-controller-manager only the garbage collector and the end of namespaces are wanted, which have worked in the same way for
    years, so one serves servers of all versions; the modules of old ones are not in every proxy, either.
    """
    if command == "etcd":
        return f"etcd-{_etcd_version()}"
    return DEFAULT_VERSION if command == "kube-controller-manager" else version


def build(commands: list[str], version: str, say: Say) -> None:
    """Builds the commands that the cache lacks; minutes for the first, less for the next. Runs at the same time wait for each other.

    :param version: of Kubernetes, in full.
    :param say: is told what is being done, a line at a time.
    :raises Unavailable: Go is not installed.
    :raises ClusterError: Go could not build it.
    """
    if all(cached(command, version).exists() for command in commands):
        return
    if shutil.which("go") is None:
        raise Unavailable(f"{', '.join(commands)} of Kubernetes {version} are not built yet, and Go is not installed")
    with _alone() as folder:
        for command in commands:
            if not cached(command, version).exists():
                _build_one(command, version, folder, say)


@contextlib.contextmanager
def _alone() -> Iterator[Path]:
    """A scratch folder in the cache, for one process at a time."""
    import fcntl  # not on Windows, where nothing is built

    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in cache().glob("building-*"):  # by a build that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=cache(), prefix="building-") as folder:
            yield Path(folder)


def _build_one(command: str, version: str, scratch: Path, say: Say) -> None:
    folder = _folder(command, version)
    package = "go.etcd.io/etcd/server/v3" if command == "etcd" else f"k8s.io/kubernetes/cmd/{command}"
    module = scratch / f"module-{folder}"
    mode = _lay_module(module, "etcd" if command == "etcd" else folder)
    say(f"building {folder if command == 'etcd' else f'{command} {folder}'} from source, once; this takes minutes")
    target = cached(command, version)
    flags = ["-trimpath", f"-mod={mode}", "-buildvcs=false", "-ldflags", _linker_flags(command, folder)]
    _go(module, "build", *flags, "-o", str(scratch / command), package)
    target.parent.mkdir(parents=True, exist_ok=True)
    (scratch / command).rename(target)


def _lay_module(module: Path, name: str) -> str:
    """Writes a module's files where Go may change them. Returns the -mod to build with: pinned modules must need no change."""
    if (MODULES / name).is_dir():
        shutil.copytree(MODULES / name, module, dirs_exist_ok=True)
        return "readonly"
    module.mkdir(exist_ok=True)
    if not (module / "go.mod").exists():
        (module / "go.mod").write_text(module_file(name, module))
    return "mod"


def module_file(version: str, folder: Path) -> str:
    """The go.mod that builds a version of Kubernetes as a dependency; asks the Go module proxy for Kubernetes' own.

    Kubernetes' own go.mod finds its `k8s.io/*` modules in folders beside it (in newer versions through a workspace, with `v0.0.0`
    in go.mod). They are published, too: as v0.36.3 for 1.36.3. Old versions also hold every other dependency at the version that
    it was tested with.
    """
    about = json.loads(_go(folder, "mod", "download", "-json", f"k8s.io/kubernetes@v{version}"))
    own: dict[str, Any] = json.loads(_go(folder, "mod", "edit", "-json", about["GoMod"]))
    staging = version.replace("1.", "v0.", 1)
    replaced = {item["Path"]: f"{item['Path']} {staging}" for item in own["Require"] if item["Version"] == "v0.0.0"}
    for item in own.get("Replace") or ():
        path, new = item["Old"]["Path"], item["New"]
        replaced[path] = f"{new['Path']} {new['Version']}" if new.get("Version") else f"{path} {staging}"
    lines = [f"\t{path} => {new}" for path, new in sorted(replaced.items())]
    return "\n".join(
        [
            "module fcompile.test/kubernetes",
            "",
            f"go {own['Go']}",
            "",
            f"require k8s.io/kubernetes v{version}",
            "",
            "replace (",
            *lines,
            ")",
            "",
        ]
    )


def _linker_flags(command: str, version: str) -> str:
    """Without them a server calls itself v0.0.0-master. Old ones answer `/version` with the client library's."""
    if command == "etcd":
        return "-s -w"
    major, minor, _ = version.split(".")
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(["-s -w", *(f"-X {package}.{name}={value}" for package in packages for name, value in values.items())])


def _go(folder: Path, *arguments: str) -> str:
    """Runs go in a folder with settings of our own; returns what it prints on stdout."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"}
    done = subprocess.run(
        ["go", *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-20:])
        raise ClusterError(f"`go {' '.join(arguments)}` failed:\n{last}")
    return done.stdout


def _etcd_version() -> str:
    found = re.search(r"^require go\.etcd\.io/etcd/server/v3 v(\S+)$", (MODULES / "etcd" / "go.mod").read_text(), re.MULTILINE)
    assert found, "modules/etcd/go.mod requires no etcd"
    return found[1]
