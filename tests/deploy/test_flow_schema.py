"""The API server queues the controller's Lease with the leaders of Kubernetes, and all else of it by namespace."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from fcontroller.api import collection
from tests.cluster import Cluster
from tests.cluster.test_kubelet import until
from tests.deploy.test_manifests import deployment
from tests.deploy.test_rights import COMMAND, account, controller

HOME = "fcontroller"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases"
OURS = {"fcontroller-lease": "leader-election", "fcontroller": "workload-high"}
"""The priority level of each FlowSchema."""
DISPATCHED = re.compile(r'apiserver_flowcontrol_dispatched_requests_total\{flow_schema="([^"]+)",priority_level="([^"]+)"\} (\S+)')


@pytest.fixture(scope="module")
def applied(audited_cluster: Cluster, repository: Path) -> Cluster:
    audited_cluster.kubectl("apply", "--server-side", "-k", str(repository / "deploy"))
    return audited_cluster


def uids(cluster: Cluster, collection: str, names: list[str]) -> list[str]:
    return [cluster.api.request("GET", f"{FLOW_CONTROL}/{collection}/{name}")[1]["metadata"]["uid"] for name in names]


@pytest.mark.parametrize(
    ("method", "path", "body", "schema"),
    [
        ("GET", f"{LEASES}/fcontroller", None, "fcontroller-lease"),
        ("PUT", f"{LEASES}/fcontroller", {}, "fcontroller-lease"),
        ("POST", LEASES, {}, "fcontroller-lease"),
        ("GET", "/api/v1/pods", None, "fcontroller"),
        ("POST", collection("pods", "default"), {}, "fcontroller"),
        ("PUT", collection("frameworks", "default") + "/a/status", {}, "fcontroller"),
        ("POST", collection("events", "default"), {}, "fcontroller"),
    ],
)
def test_each_request_has_its_queue(applied: Cluster, method: str, path: str, body: object, schema: str) -> None:
    (flow,) = uids(applied, "flowschemas", [schema])
    (level,) = uids(applied, "prioritylevelconfigurations", [OURS[schema]])
    user = applied.api.impersonate(f"system:serviceaccount:{HOME}:fcontroller")

    def queued() -> bool:
        headers = user.send(method, path, body).headers
        return (headers["X-Kubernetes-PF-FlowSchema-UID"], headers["X-Kubernetes-PF-PriorityLevel-UID"]) == (flow, level)

    until(queued, seconds=10)  # The server takes a moment to go by new schemas.


def test_the_controllers_requests_are_queued_so(applied: Cluster, tmp_path: Path) -> None:
    def dispatched() -> Counter[tuple[str, str]]:
        found = DISPATCHED.findall(applied.api.request("GET", "/metrics")[1])
        return Counter({(flow, level): int(float(number)) for flow, level, number in found})

    before = dispatched()
    with controller([*COMMAND, "run", f"--kubeconfig={account(applied, HOME, tmp_path)}", f"--lease-namespace={HOME}"], ["/readyz"]):
        pass
    since = dispatched() - before
    assert OURS.items() <= since.keys()
    # That of all accounts which have none of their own.
    assert "service-accounts" not in {flow for flow, _ in since}


@pytest.mark.parametrize("namespace", [HOME, "other"])
def test_they_are_for_the_account_of_the_deployment(audited_cluster: Cluster, repository: Path, tmp_path: Path, namespace: str) -> None:
    """Also when somebody puts another namespace into the kustomization."""
    for folder in ("deploy", "schemas"):
        shutil.copytree(repository / folder, tmp_path / folder)
    kustomization = tmp_path / "deploy" / "kustomization.yaml"
    kustomization.write_text(re.sub("(?m)^namespace: .*", f"namespace: {namespace}", kustomization.read_text()))
    documents = list(yaml.safe_load_all(audited_cluster.kubectl("kustomize", str(tmp_path / "deploy")).stdout))
    schemas = [document for document in documents if document["kind"] == "FlowSchema"]
    assert {schema["metadata"]["name"]: schema["spec"]["priorityLevelConfiguration"]["name"] for schema in schemas} == OURS
    made = deployment(documents)
    account = {"name": made["spec"]["template"]["spec"]["serviceAccountName"], "namespace": made["metadata"]["namespace"]}
    assert account["namespace"] == namespace
    assert [subject["serviceAccount"] for schema in schemas for rule in schema["spec"]["rules"] for subject in rule["subjects"]] == [
        account
    ] * 2
