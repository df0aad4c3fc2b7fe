"""The process that owns a cluster: starts its servers, and ends them when nobody uses the cluster any more.

Whoever uses a cluster holds a shared lock on the file `users` of its folder. The kernel gives the lock up when the user ends, however it
ends (SIGKILL too), and only then this process gets the exclusive one. Run as a script with the folder as its argument; it needs nothing
but the standard library. In the folder, which is removed with the servers, it finds `plan.json`, and leaves `api.json` when the API server
is up, `cluster.json` when all is, or `failed` with the reason when that cannot be. In between it waits for `defined`, a file that says that
the API server knows the kinds of objects that it will have: the garbage collector looks for new ones only every 30 seconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

START_WITHIN = 120  # seconds; it takes three on an idle machine
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "nonResourceURLs": ["*"]},
        {
            "level": "Request",  # with the object that was sent, built-in kinds with the server's defaults
            "resources": [
                {"group": "", "resources": ["pods", "configmaps", "services"]},
                {"group": "frameworkcontroller.microsoft.com", "resources": ["frameworks"]},
            ],
        },
        {"level": "Metadata"},
    ],
}
CONTROLLERS = ("garbage-collector-controller", "namespace-controller")
MORE_CONTROLLERS = ("clusterrole-aggregation-controller", "validatingadmissionpolicy-status-controller")
"""Those that put together the roles `edit` and `admin`, and check the types in admission policies; where there is an audit log."""


class Ended(BaseException):
    """Nobody uses this cluster, or somebody told this process to end."""


class Keeper:
    """The servers of one cluster, and the folder with all that is theirs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        plan: dict[str, Any] = json.loads((folder / "plan.json").read_text())
        self.binaries: dict[str, str] = plan["binaries"]
        self.token: str = plan["token"]
        self.audited: bool = plan["audited"]
        self.users: BinaryIO = (folder / "users").open("rb")
        self.servers: dict[str, subprocess.Popen[bytes]] = {}
        self.ports = Ports("etcd", "etcd-peer", "kube-apiserver")

    def run(self) -> None:
        """From the first server's start to the folder's end."""
        try:
            self.start()
        except Exception as problem:
            self.write("failed", str(problem))
        else:
            pids = {name: server.pid for name, server in self.servers.items()}
            self.write("cluster.json", json.dumps({"port": self.ports["kube-apiserver"], "pids": pids}))
        fcntl.flock(self.users, fcntl.LOCK_EX)

    def start(self) -> None:
        """One server after another, each when it can work: the next gives up soon if it cannot."""
        url = f"https://127.0.0.1:{self.ports['kube-apiserver']}"
        self.launch("etcd", *self.etcd_arguments())
        self.launch("kube-apiserver", *self.api_server_arguments())
        self.wait(lambda: self.get("/readyz") == 200)
        self.write("kubeconfig", kubeconfig(url, str(self.folder / "certificates" / "apiserver.crt"), self.token))
        self.write("api.json", json.dumps({"port": self.ports["kube-apiserver"]}))
        self.wait((self.folder / "defined").exists)
        self.launch("kube-controller-manager", *self.controller_manager_arguments())
        self.wait(lambda: self.get("/api/v1/namespaces/default") == 200)

    def etcd_arguments(self) -> list[str]:
        client, peer = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "etcd-peer"))
        return [
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            "--socket-reuse-port",
            "--log-level=warn",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        ]

    def api_server_arguments(self) -> list[str]:
        """A server as most clusters have it: all default admission but ServiceAccount, whose accounts would need one more controller."""
        tokens = self.folder / "tokens.csv"
        tokens.write_text(f'{self.token},admin,admin,"system:masters"\n')
        certificates = self.folder / "certificates"
        return [
            f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}",
            f"--cert-dir={certificates}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",  # or it looks for a default route, and does not start without a network
            "--endpoint-reconciler-type=none",
            f"--secure-port={self.ports['kube-apiserver']}",
            "--permit-port-sharing",
            "--service-cluster-ip-range=10.0.0.0/24",
            # The server makes the key of its own certificate before it reads this one.
            f"--service-account-key-file={certificates / 'apiserver.key'}",
            f"--service-account-signing-key-file={certificates / 'apiserver.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--allow-privileged=true",
            *(self.audit_arguments() if self.audited else ()),
        ]

    def audit_arguments(self) -> list[str]:
        """A log of all requests, and one more admission plugin, which clusters have that look at who may do what."""
        policy = self.folder / "audit-policy.json"
        policy.write_text(json.dumps(AUDIT_POLICY))
        return [
            f"--audit-policy-file={policy}",
            f"--audit-log-path={self.folder / 'audit.log'}",
            "--audit-log-maxsize=10000",  # megabytes: never a second file
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
        ]

    def controller_manager_arguments(self) -> list[str]:
        return [
            f"--kubeconfig={self.folder / 'kubeconfig'}",
            "--leader-elect=false",
            "--secure-port=0",
            "--controllers=" + ",".join([*CONTROLLERS, *(MORE_CONTROLLERS if self.audited else ())]),
            "--kube-api-qps=2000",
            "--kube-api-burst=4000",
            # Each controller asks as a service account of its own, with the rights that it has in most clusters.
            f"--use-service-account-credentials={str(self.audited).lower()}",
        ]

    def launch(self, name: str, *arguments: str) -> None:
        """Starts a server that writes into a log file of its own."""
        with (self.folder / f"{name}.log").open("wb") as log:
            self.servers[name] = subprocess.Popen(
                [self.binaries[name], *arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )

    def wait(self, ready: Any) -> None:
        """Until something is so; raises when it will not be, or when nobody waits for it."""
        end = time.monotonic() + START_WITHIN
        while not ready():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self.users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                raise Ended
            for name, server in self.servers.items():
                if server.poll() is not None:
                    raise RuntimeError(f"{name} ended with exit code {server.returncode}; it wrote:\n{self.last_lines(name)}")
            if time.monotonic() > end:
                raise RuntimeError(f"not up after {START_WITHIN} s; kube-apiserver wrote:\n{self.last_lines('kube-apiserver')}")
            time.sleep(0.05)

    def get(self, path: str) -> int:
        """The status code of a GET, 0 when there is no answer."""
        try:
            context = ssl.create_default_context(cafile=self.folder / "certificates" / "apiserver.crt")
            connection = HTTPSConnection("127.0.0.1", self.ports["kube-apiserver"], timeout=5, context=context)
            with contextlib.closing(connection):
                connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
                return connection.getresponse().status
        except (OSError, HTTPException):
            return 0

    def last_lines(self, name: str) -> str:
        return "\n".join((self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-15:])

    def write(self, name: str, text: str) -> None:
        """A file that others see whole or not at all."""
        new = self.folder / f"{name}.new"
        new.write_text(text)
        new.rename(self.folder / name)

    def stop(self) -> None:
        """Nothing in a throw-away cluster is worth a graceful end, which takes tens of seconds while watches are open."""
        for server in reversed(self.servers.values()):
            server.kill()
        for server in self.servers.values():
            server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Ports:
    """Free ports of 127.0.0.1. They stay bound here, so that nobody else gets one before its server, which shares it, is up."""

    def __init__(self, *names: str) -> None:
        self.sockets = {name: self.bound() for name in names}

    @staticmethod
    def bound() -> socket.socket:
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        return held

    def __getitem__(self, name: str) -> int:
        port: int = self.sockets[name].getsockname()[1]
        return port


def kubeconfig(url: str, certificate: str, token: str) -> str:
    """An administrator's kubeconfig; JSON, which is YAML too."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": certificate}}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin", "namespace": "default"}}],
            "current-context": "test",
        },
        indent=2,
    )


def die_with_parent() -> None:
    """Linux ends the server when this process is killed and can no longer do it. Elsewhere nothing does."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def told_to_end(*_: object) -> NoReturn:
    raise Ended


def main() -> None:
    if os.fork():
        return  # whoever waits for this process goes on
    signal.signal(signal.SIGTERM, told_to_end)
    keeper = Keeper(Path(sys.argv[1]))
    try:
        keeper.run()
    except Ended:
        pass
    finally:
        keeper.stop()


if __name__ == "__main__":
    main()
