"""What the README says to type on a cluster."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.deploy.test_rights import COMMAND, account, controller, until


def commands(repository: Path) -> list[str]:
    """The lines of the section's first block."""
    section = (repository / "README.md").read_text("utf-8").split("\n## On a cluster\n")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return block[1].splitlines()


def test_on_a_cluster(audited_cluster: Cluster, repository: Path, tmp_path: Path) -> None:
    cluster = audited_cluster
    path = f"{Path(sys.executable).parent}{os.pathsep}{cluster.environment['PATH']}"
    printed = ""
    first, *others = commands(repository)

    def type_in(line: str) -> None:
        nonlocal printed
        done = subprocess.run(
            ["sh", "-c", line], cwd=repository, env={**cluster.environment, "PATH": path}, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        printed += done.stdout

    type_in(first)  # Nothing starts a Deployment's Pods here, so the controller is started by hand.
    options = ["run", f"--kubeconfig={account(cluster, 'fcontroller', tmp_path)}", "--lease-namespace=fcontroller", "--listen="]
    with controller([*COMMAND, *options]), Kubelet(cluster.api, "default") as kubelet:
        ending = threading.Thread(target=end_them, args=(cluster, kubelet))
        ending.start()
        for line in others:
            if "rollout status" not in line:
                type_in(line)
        ending.join()
    assert re.search(r"^hello +Completed +0 +0 +2 +2 +0 +Succeeded ", printed, re.MULTILINE), printed


def end_them(cluster: Cluster, kubelet: Kubelet) -> None:
    """Have the containers of `hello` end once all run."""
    pods = "/api/v1/namespaces/default/pods"
    running = {"fieldSelector": "status.phase=Running"}
    until(lambda: len(cluster.api.request("GET", pods, query=running)[1]["items"]) == 2, "not all Pods run")
    for index in range(2):
        kubelet.finish(f"hello-greeter-{index}")
