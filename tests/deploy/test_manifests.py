"""The manifests in deploy/: the API server takes them, and they fit the command that they run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fcompile import __version__
from fcontroller.config.settings import Config
from tests.cluster import Cluster

VARIANTS = {"": "fcontroller", "namespaced": "team-a"}
"""The folders below deploy/, and the namespaces that they are for."""


@pytest.fixture(scope="module")
def applied(audited_cluster: Cluster, repository: Path) -> list[Any]:
    """What `kubectl apply -k deploy` makes, once it is made. Nothing starts in this cluster."""
    folder = str(repository / "deploy")
    audited_cluster.kubectl("apply", "--server-side", "-k", folder)
    return list(yaml.safe_load_all(audited_cluster.kubectl("kustomize", folder).stdout))


def deployment(documents: list[Any]) -> Any:
    return next(document for document in documents if document["kind"] == "Deployment")


def test_what_is_applied_stays_as_it_was_applied(audited_cluster: Cluster, applied: list[Any], repository: Path) -> None:
    kinds = [document["kind"] for document in applied]
    assert kinds == [
        *("Namespace", "ResourceQuota", "CustomResourceDefinition", "ServiceAccount", "Role", "ClusterRole", "ClusterRole", "RoleBinding"),
        *("ClusterRoleBinding", "Deployment", "PodDisruptionBudget", "FlowSchema", "FlowSchema", "NetworkPolicy"),
    ]
    assert audited_cluster.kubectl("diff", "--server-side", "-k", str(repository / "deploy")).stdout == ""


def test_the_namespace_takes_the_deployments_pods_and_no_others(audited_cluster: Cluster, applied: list[Any]) -> None:
    pods = "/api/v1/namespaces/fcontroller/pods"
    template = deployment(applied)["spec"]["template"]
    (quota,) = (document for document in applied if document["kind"] == "ResourceQuota")
    counted = {"status": {"hard": quota["spec"]["hard"], "used": {"pods": "0"}}}  # No controller counts here.
    code, answer = audited_cluster.api.request("PATCH", "/api/v1/namespaces/fcontroller/resourcequotas/critical-pods/status", counted)
    assert code == 200, answer
    pod = {"metadata": {**template["metadata"], "name": "one"}, "spec": template["spec"]}
    code, answer = audited_cluster.api.request("POST", pods, pod, {"dryRun": "All", "fieldValidation": "Strict"})
    assert code == 201, answer
    code, answer = audited_cluster.api.request("POST", pods, {**pod, "spec": {**pod["spec"], "securityContext": {}}}, {"dryRun": "All"})
    assert (code, "PodSecurity" in answer["message"]) == (403, True)


def test_pods_of_frameworks_do_not_push_the_controller_out(audited_cluster: Cluster, applied: list[Any]) -> None:
    """By default a Pod has the lowest priority: a full cluster takes the controller away for a training, and nothing goes on."""
    template = deployment(applied)["spec"]["template"]
    (quota,) = (document for document in applied if document["kind"] == "ResourceQuota")
    (scope,) = quota["spec"]["scopeSelector"]["matchExpressions"]
    name = template["spec"]["priorityClassName"]
    assert scope == {"scopeName": "PriorityClass", "operator": "In", "values": [name]}
    assert int(quota["spec"]["hard"]["pods"]) > 2 * deployment(applied)["spec"]["replicas"], "a rolling update has more of them"
    code, found = audited_cluster.api.request("GET", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}")
    assert (code, found["value"] > 1_000_000_000) == (200, True), "above all that users may define"


def arguments_of(documents: list[Any], namespace: str) -> list[str]:
    """The arguments of the Deployment's container."""
    (container,) = deployment(documents)["spec"]["template"]["spec"]["containers"]
    return [argument.replace("$(POD_NAMESPACE)", namespace) for argument in container["args"]]


@pytest.mark.parametrize(("variant", "namespace"), VARIANTS.items())
def test_the_container_fits_this_version(audited_cluster: Cluster, repository: Path, variant: str, namespace: str) -> None:
    documents = list(yaml.safe_load_all(audited_cluster.kubectl("kustomize", str(repository / "deploy" / variant)).stdout))
    (container,) = deployment(documents)["spec"]["template"]["spec"]["containers"]
    # Otherwise the kubelet takes a Service called `kubernetes` there for the API server's, and tells the container so.
    assert deployment(documents)["spec"]["template"]["spec"]["enableServiceLinks"] is False
    assert container["image"].endswith(f"/fcontroller:{__version__}")
    assert [f":{port['containerPort']}" for port in container["ports"]] == [Config().listen]
    assert arguments_of(documents, namespace) == [
        "run",
        f"--lease-namespace={namespace}",
        *([f"--namespace={namespace}"] if variant else []),
    ]


def test_the_namespaced_variant_is_of_its_namespace_alone(audited_cluster: Cluster, repository: Path) -> None:
    audited_cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}))
    printed = audited_cluster.kubectl("apply", "--server-side", "-k", str(repository / "deploy" / "namespaced"), "-o", "json").stdout
    made = json.loads(printed)["items"]
    assert {(one["metadata"]["namespace"], re.sub("^Cluster", "!", one["kind"])) for one in made} == {
        ("team-a", kind) for kind in ("ServiceAccount", "Role", "RoleBinding", "Deployment", "PodDisruptionBudget", "NetworkPolicy")
    }


def test_the_barriers_role_is_the_examples(repository: Path) -> None:
    """With that one a barrier runs in `tests/controller/test_barrier.py`."""
    example = list(yaml.safe_load_all((repository / "examples" / "barrier.yaml").read_text("utf-8")))[1]
    assert yaml.safe_load((repository / "deploy" / "base" / "barrier-role.yaml").read_text("utf-8"))["rules"] == example["rules"]
