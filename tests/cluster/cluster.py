"""A running cluster, and how it is started, joined and given up."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.cluster.api import Api
from tests.cluster.binaries import binaries
from tests.cluster.build import ClusterError, Say

with contextlib.suppress(ImportError):  # on Windows, where no cluster is to be had (`binaries` says so)
    import fcntl

KEEPER = Path(__file__).resolve().parent / "keeper.py"


class Cluster:
    """An etcd, a kube-apiserver and a kube-controller-manager (garbage collector, namespaces) on ports of 127.0.0.1.

    There is no scheduler and no kubelet: Pods stay as they were created. `tests.cluster.kubelet` has a stand-in that runs them.
    """

    def __init__(self, folder: Path) -> None:
        """Joins a cluster that is up, by its folder."""
        self.folder = folder
        #: An administrator's, for kubectl and any other client.
        self.kubeconfig = folder / "kubeconfig"
        plan = json.loads((folder / "plan.json").read_text())
        #: Of Kubernetes, as `1.36.3`.
        self.version: str = plan["version"]
        self._kubectl: str = plan["binaries"]["kubectl"]
        self._audited: list[dict[str, Any]] = []
        self._audited_bytes = 0
        about = json.loads((folder / "api.json").read_text())
        #: A client without kubectl's cost of a process for every request.
        self.api = Api(about["port"], folder / "certificates" / "apiserver.crt", plan["token"])

    @cached_property
    def pids(self) -> dict[str, int]:
        """The process id of each server."""
        pids: dict[str, int] = json.loads((self.folder / "cluster.json").read_text())["pids"]
        return pids

    @cached_property
    def environment(self) -> dict[str, str]:
        """This process's environment, with a `kubectl` of the cluster's version that talks to it."""
        path = f"{Path(self._kubectl).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PATH": path, "KUBECACHEDIR": str(self.folder / "kubectl-cache")}

    def kubectl(
        self, *arguments: str, input: str | None = None, check: bool = True, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Runs kubectl.

        :param input: what it reads from its stdin, which is else empty.
        :param check: an exit code other than 0 is an AssertionError that shows what kubectl wrote.
        :param timeout: in seconds.
        """
        done = subprocess.run(
            [self._kubectl, *arguments],
            env=self.environment,
            input=input or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
        if check and done.returncode:
            raise AssertionError(f"kubectl {' '.join(arguments)} exited with {done.returncode}:\n{done.stderr}{done.stdout}")
        return done

    def audit_log(self) -> list[dict[str, Any]]:
        """What a cluster that was started with `audited` has been asked so far, an audit.k8s.io/v1 Event for each request.

        A large answer can be here before its event is there; a watch has one event when it begins, and one when it ends.
        Only what is new is read: it comes to thousands, and somebody who waits for one asks again and again.
        """
        with (self.folder / "audit.log").open("rb") as log:
            log.seek(self._audited_bytes)
            whole, newline, _ = log.read().rpartition(b"\n")
        self._audited_bytes += len(whole + newline)
        self._audited += map(json.loads, whole.splitlines())
        return list(self._audited)

    @contextlib.contextmanager
    def namespace(self) -> Iterator[str]:
        """A new namespace, by its name; told to go afterwards, but not waited for."""
        name = f"test-{secrets.token_hex(5)}"
        status, answer = self.api.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        assert status == 201, answer
        try:
            yield name
        finally:
            self.api.request("DELETE", f"/api/v1/namespaces/{name}", {"propagationPolicy": "Background"})


@contextlib.contextmanager
def start(version: str | None = None, *, crd: bool = True, audited: bool = False, say: Say = lambda _: None) -> Iterator[Cluster]:
    """A cluster of one's own, ended afterwards, or when this process ends in whatever way.

    :param version: of Kubernetes; None for the default.
    :param crd: whether this project's CustomResourceDefinition is applied.
    :param audited: whether it keeps an audit log. It is also stricter then: who makes an object with an owner must have power over that,
        and the garbage collector and its like ask as service accounts, as in most clusters.
    :param say: is told what takes long.
    :raises Unavailable: there are no binaries, and no Go to build them.
    :raises ClusterError: it did not come up.
    """
    folder = _laid_out(version, say, audited)
    try:
        with _used(folder):
            yield _up(folder, crd)
    finally:
        _wait(lambda: not folder.exists(), seconds=10)


@contextlib.contextmanager
def shared(meeting: Path, version: str | None = None, *, say: Say = lambda _: None) -> Iterator[Cluster]:
    """The cluster that all processes with the same meeting place use: the first starts it, and it ends when the last gives it up.

    :param meeting: a folder that is theirs alone; the cluster itself is elsewhere.
    """
    with contextlib.ExitStack() as stack:
        with (meeting / "cluster.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            cluster = _joined(meeting / "cluster", stack)
            if cluster is None:
                folder = _laid_out(version, say)
                stack.enter_context(_used(folder))
                cluster = _up(folder, crd=True)
                (meeting / "cluster").write_text(str(folder))
        yield cluster


def _laid_out(version: str | None, say: Say, audited: bool = False) -> Path:
    """A new folder with all that a keeper needs to know. Nobody else may look into it."""
    number, paths = binaries(version, say)
    folder = Path(tempfile.mkdtemp(prefix="fcompile-cluster-"))
    commands = {name: str(path) for name, path in paths.items()}
    plan = {"version": number, "token": secrets.token_hex(20), "binaries": commands, "audited": audited}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "users").touch()
    return folder


@contextlib.contextmanager
def _used(folder: Path) -> Iterator[None]:
    """Keeps a cluster up: its keeper waits until nobody holds this lock any more. BlockingIOError when it waits no more."""
    with (folder / "users").open("rb") as users:
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield


def _up(folder: Path, crd: bool) -> Cluster:
    """Starts the keeper of a folder, and waits until its servers answer."""
    with (folder / "keeper.log").open("wb") as log:
        # It leaves a process of its own behind, in a session of its own: a Ctrl-C in a terminal does not reach that.
        command = [sys.executable, "-I", str(KEEPER), str(folder)]
        subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, check=True)
    _wait_for(folder, "api.json")
    cluster = Cluster(folder)
    if crd:
        apply_crd(cluster)
    (folder / "defined").touch()
    _wait_for(folder, "cluster.json")
    return cluster


def _wait_for(folder: Path, name: str) -> None:
    """Returns when the keeper has left a file. ClusterError when it does not."""
    there, failed = folder / name, folder / "failed"
    _wait(lambda: there.exists() or failed.exists(), seconds=150)
    if not there.exists():
        raise ClusterError(f"the cluster did not come up: {(failed if failed.exists() else folder / 'keeper.log').read_text().strip()}")


def _joined(pointer: Path, stack: contextlib.ExitStack) -> Cluster | None:
    """The cluster that somebody else started, if it is still up."""
    try:
        folder = Path(pointer.read_text())
        stack.enter_context(_used(folder))
        return Cluster(folder)
    except (FileNotFoundError, BlockingIOError):
        return None


def _wait(done: Callable[[], bool], seconds: float) -> None:
    """Returns when something is so, or after some seconds."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.02)


def apply_crd(cluster: Cluster, version: int | None = None) -> None:
    """Makes the cluster know Frameworks, by this project's CustomResourceDefinition.

    :param version: the minor version of Kubernetes that it is made for; None for the cluster's own.
    """
    minor = cluster.version.split(".")[1] if version is None else version
    command = [sys.executable, "-m", "fcompile", "crd", "--kubernetes-version", f"1.{minor}"]
    made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    if made.returncode:
        raise ClusterError(f"`fcompile crd` failed:\n{made.stderr}")
    cluster.kubectl("apply", "-f", "-", input=made.stdout)
    # `kubectl wait` fails at once while the new definition has no status, and an established one may not be served yet.
    served = "/apis/frameworkcontroller.microsoft.com/v1/namespaces/default/frameworks"
    _wait(lambda: cluster.api.request("GET", served)[0] == 200, seconds=30)
