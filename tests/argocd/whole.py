"""Argo CD's own application controller and repo-server, beside the test cluster, with a Git repository on disk."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from fcontroller.api import Json
from tests.argocd.tools import tool
from tests.cluster import Cluster
from tests.ports import free_port

HOME = "argocd"
"""Its namespace."""
CONFIG_MAP = Path(__file__).resolve().parents[2] / "plugins" / "argocd" / "argocd-cm.yaml"


class ArgoCd:
    """Argo CD, with one Application."""

    def __init__(self, cluster: Cluster, folder: Path, namespace: str) -> None:
        self.cluster, self.folder, self.namespace = cluster, folder, namespace

    def application(self) -> Json:
        """The Application, as Argo CD keeps it."""
        found: Json = json.loads(self.cluster.kubectl("-n", HOME, "get", "application", "lab", "-o", "json").stdout)
        return found

    def told(self) -> tuple[str, str]:
        """Sync status and health."""
        status = self.application().get("status") or {}
        return (status.get("sync") or {}).get("status", ""), (status.get("health") or {}).get("status", "")

    def until(self, done: Callable[[], bool], what: str, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, f"{what}: {self.application().get('status')}"
            time.sleep(0.3)

    def compare_again(self, times: int = 3) -> None:
        """Wait until Argo CD has compared the Application again, so often."""
        for _ in range(times):
            before = self.application()["status"]["reconciledAt"]
            annotation = "argocd.argoproj.io/refresh=hard"
            self.cluster.kubectl("-n", HOME, "annotate", "--overwrite", "application", "lab", annotation)
            self.until(lambda: self.application()["status"]["reconciledAt"] != before, "it is not compared again")  # noqa: B023


@contextlib.contextmanager
def argo_cd(cluster: Cluster, folder: Path, namespace: str, manifests: str, redis: int) -> Iterator[ArgoCd]:
    """Run Argo CD with an Application that syncs and heals itself: these manifests, in a namespace.

    :param redis: the port of its cache.
    """
    program, repository, home = tool("argocd"), folder / "repository", folder / "home"
    _commit(repository, manifests)
    for name in ("bin", "home", "tmp"):
        (folder / name).mkdir()
    # Argo CD's image has it: it would check signatures, which nobody asks for here.
    wrapper = folder / "bin" / "git-verify-wrapper.sh"
    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(0o755)
    _install(cluster)
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump_all([_access(cluster), _application(cluster, repository, namespace)]))
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(folder / "tmp"),
        "KUBECONFIG": str(cluster.kubeconfig),
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_TLS_DATA_PATH": str(home),
    }
    ports = [str(free_port()) for _ in range(3)]
    common = [f"--redis=127.0.0.1:{redis}", "--loglevel=warn"]
    commands = {
        "argocd-repo-server": [
            "--address=127.0.0.1",
            f"--port={ports[0]}",
            "--metrics-address=127.0.0.1",
            f"--metrics-port={ports[1]}",
        ],
        "argocd-application-controller": [
            *(f"--kubeconfig={cluster.kubeconfig}", f"--namespace={HOME}", f"--repo-server=127.0.0.1:{ports[0]}"),
            *("--app-resync=3", "--self-heal-timeout-seconds=1", f"--metrics-port={ports[2]}"),
        ],
    }
    with contextlib.ExitStack() as running:
        running.callback(cluster.kubectl, "-n", HOME, "delete", "application", "lab")
        for name, options in commands.items():
            log = running.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(
                [program, *options, *common],
                env={**environment, "ARGOCD_BINARY_NAME": name},
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            running.callback(_end, process)
        yield ArgoCd(cluster, folder, namespace)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _commit(repository: Path, manifests: str) -> None:
    repository.mkdir()
    (repository / "train.yaml").write_text(manifests)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=repository, check=True)


def _install(cluster: Cluster) -> None:
    """What Argo CD finds of itself in a cluster: its kinds, without their schemas, and the settings that we ship."""
    part = {"app.kubernetes.io/part-of": "argocd"}
    settings = yaml.safe_load(CONFIG_MAP.read_text())
    settings["metadata"]["labels"] = part
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "argocd-secret", "namespace": HOME, "labels": part}}
    kinds = [_kind("Application"), _kind("AppProject"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}}]
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(kinds))
    names = ("applications.argoproj.io", "appprojects.argoproj.io")
    cluster.kubectl("wait", "--for=condition=Established", *(f"crd/{name}" for name in names))
    every = {"group": "*", "kind": "*"}
    project = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": {"name": "default", "namespace": HOME},
        "spec": {"sourceRepos": ["*"], "destinations": [{"namespace": "*", "server": "*"}], "clusterResourceWhitelist": [every]},
    }
    values = [settings, {**secret, "stringData": {"server.secretkey": "a" * 32}}, project]
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(values))


def _kind(kind: str) -> Json:
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": schema}
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.argoproj.io"},
        "spec": {"group": "argoproj.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def _server(cluster: Cluster) -> tuple[Json, Any]:
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    return config["clusters"][0]["cluster"], config["users"][0]["user"]["token"]


def _access(cluster: Cluster) -> Json:
    """The Secret by which Argo CD knows a cluster that it is not in."""
    server, token = _server(cluster)
    data = server.get("certificate-authority-data") or base64.b64encode(Path(server["certificate-authority"]).read_bytes()).decode()
    config = json.dumps({"bearerToken": token, "tlsClientConfig": {"caData": data}})
    labels = {"argocd.argoproj.io/secret-type": "cluster"}
    about = {"name": "here", "namespace": HOME, "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": about,
        "stringData": {"name": "here", "server": server["server"], "config": config},
    }


def _application(cluster: Cluster, repository: Path, namespace: str) -> Json:
    server, _ = _server(cluster)
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "lab", "namespace": HOME},
        "spec": {
            "project": "default",
            "source": {"repoURL": repository.as_uri(), "targetRevision": "main", "path": "."},
            "destination": {"server": server["server"], "namespace": namespace},
            "syncPolicy": {"automated": {"selfHeal": True, "prune": True}},
        },
    }
