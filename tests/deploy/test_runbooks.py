"""What docs/runbooks.md says to type works when things are as its alerts say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fcontroller.api import Json
from tests.cluster import Cluster
from tests.deploy.test_readme import type_in
from tests.deploy.test_rights import COMMAND, account, controller, until
from tests.docs import blocks
from tests.drift import upstream


def section(repository: Path, name: str) -> list[str]:
    """The lines of the first block of commands below a heading."""
    block = next(block for block in blocks.blocks(repository / "docs" / "runbooks.md") if block.section == name and block.language == "sh")
    return block.text.splitlines()


@pytest.mark.parametrize("what", ["schemas", "deploy"])
def test_what_others_have_changed_is_taken_back(own_cluster: Cluster, repository: Path, what: str) -> None:
    """Without the flag the API server refuses it, as a conflict with whoever has changed it."""
    own_cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(repository / "deploy"))
    others = ("--server-side", "--force-conflicts", "--field-manager=others")
    own_cluster.kubectl("apply", *others, "-f", "-", input=upstream.CRD)
    less = json.dumps([{"op": "remove", "path": "/rules/0"}])
    own_cluster.kubectl("patch", "clusterrole", "fcontroller", "--type=json", "-p", less)
    assert "conflict" in own_cluster.kubectl("apply", "--server-side", "-k", str(repository / what), check=False).stderr
    (command,) = [line for line in section(repository, "Runbooks") if f"-k {what} " in line]
    type_in(own_cluster, command, repository)
    assert own_cluster.kubectl("diff", "--server-side", "-k", str(repository / what)).stdout == ""


BROKEN: Json = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "broken.example.com"},
    "webhooks": [
        {
            "name": "broken.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pods"]}],
        }
    ],
}


def test_a_webhook_that_does_not_answer_is_found(own_cluster: Cluster, repository: Path, tmp_path: Path) -> None:
    """By the commands of both alerts about Pods. No Event says it: the trouble is not the Framework's."""
    type_in(own_cluster, "kubectl apply --server-side --force-conflicts -k deploy", repository)
    options = [f"--kubeconfig={account(own_cluster, 'fcontroller', tmp_path)}", "--lease-namespace=fcontroller"]
    own_cluster.kubectl("apply", "-f", "-", input=json.dumps(BROKEN))
    with controller([*COMMAND, "run", *options], ["/readyz"]):
        type_in(own_cluster, "fcompile build examples/hello.yaml | kubectl apply -f -", repository)
        for alert in ("FcontrollerNoPodsCreated", "FcontrollerPodsRefused"):
            lines = section(repository, alert)
            until(lambda lines=lines: "failed calling webhook" in "".join(type_in(own_cluster, line, repository) for line in lines), alert)  # type: ignore[misc]
    assert type_in(own_cluster, "kubectl get events -A --field-selector reason=Refused -o name", repository) == ""
