"""What the README says to type on a cluster."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from fcontroller.api import collection
from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.deploy.test_rights import COMMAND, account, controller, until


def commands(repository: Path) -> list[str]:
    """The lines of the section's first block."""
    section = (repository / "README.md").read_text("utf-8").split("\n## On a cluster\n")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return block[1].splitlines()


def test_on_a_cluster(own_cluster: Cluster, repository: Path, tmp_path: Path) -> None:
    install, *others = commands(repository)
    type_in(own_cluster, install, repository)  # Nothing starts a Deployment's Pods here, so the controller is started by hand.
    until(lambda: own_cluster.api.request("GET", collection("frameworks"))[0] == 200, "the definition is not in force")
    config = account(own_cluster, "fcontroller", tmp_path)
    options = ["run", f"--kubeconfig={config}", "--lease-namespace=fcontroller"]
    printed = ""
    with controller([*COMMAND, *options]), Kubelet(own_cluster.api, "default") as kubelet:
        for line in others:
            if "rollout status" not in line:
                printed += type_in(own_cluster, line, repository)
            if "build" in line:
                end_them(own_cluster, kubelet)
    assert re.search(r"^hello +Completed +0 +0 +2 +2 +0 +Succeeded ", printed, re.MULTILINE), printed


def type_in(cluster: Cluster, line: str, repository: Path) -> str:
    """What a line prints, in the repository, with this environment's commands."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{cluster.environment['PATH']}"
    environment = {**cluster.environment, "PATH": path}
    done = subprocess.run(["sh", "-c", line], cwd=repository, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def end_them(cluster: Cluster, kubelet: Kubelet) -> None:
    """Have the containers of `hello` end once all run."""
    pods = "/api/v1/namespaces/default/pods"
    until(lambda: len(cluster.api.request("GET", pods, query={"fieldSelector": "status.phase=Running"})[1]["items"]) == 2, "not all run")
    for index in range(2):
        kubelet.finish(f"hello-greeter-{index}")
