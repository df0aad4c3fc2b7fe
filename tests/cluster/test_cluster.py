"""What the test cluster offers."""

from __future__ import annotations

import json
import subprocess
import threading

import pytest

from tests.cluster import Cluster
from tests.cluster.test_kubelet import until


def test_kubectl_and_the_client_talk_to_the_same_server(cluster: Cluster, namespace: str) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"key": "value"}}
    status, made = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", manifest)
    assert status == 201
    assert cluster.kubectl("-n", namespace, "get", "configmap", "one", "-o", "jsonpath={.metadata.uid}").stdout == made["metadata"]["uid"]


def test_server_and_kubectl_are_of_the_version_that_is_asked_for(cluster: Cluster) -> None:
    versions = json.loads(cluster.kubectl("version", "-o", "json").stdout)
    assert versions["serverVersion"]["gitVersion"] == versions["clientVersion"]["gitVersion"] == f"v{cluster.version}"
    shell = subprocess.run(
        ["kubectl", "get", "namespaces", "-o", "name"], env=cluster.environment, capture_output=True, text=True, check=True
    )
    assert "namespace/default" in shell.stdout.splitlines()


def test_a_kubectl_that_fails_shows_why(cluster: Cluster, namespace: str) -> None:
    with pytest.raises(AssertionError, match='"missing" not found'):
        cluster.kubectl("-n", namespace, "get", "configmap", "missing")
    assert cluster.kubectl("-n", namespace, "get", "configmap", "missing", check=False).returncode == 1


def test_privileged_containers_are_let_in(cluster: Cluster, namespace: str) -> None:
    container = {"name": "main", "image": "image", "securityContext": {"privileged": True}}
    pod = {"metadata": {"name": "privileged"}, "spec": {"containers": [container]}}
    status, answer = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod)
    assert status == 201, answer


def test_the_garbage_collector_works(cluster: Cluster, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    _, owner = cluster.api.request("POST", path, {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
    cluster.api.request("POST", path, {"metadata": {"name": "owned", "ownerReferences": [reference]}})
    cluster.api.request("DELETE", f"{path}/owner", {"propagationPolicy": "Foreground"})
    until(lambda: cluster.api.request("GET", f"{path}/owner")[0] == 404)
    assert cluster.api.request("GET", f"{path}/owned")[0] == 404


def test_a_namespace_ends(cluster: Cluster) -> None:
    with cluster.namespace() as name:
        cluster.api.request(
            "POST", f"/api/v1/namespaces/{name}/pods", {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
        )
    until(lambda: cluster.api.request("GET", f"/api/v1/namespaces/{name}")[0] == 404)


def test_a_watch_tells_what_happens_and_can_be_stopped(cluster: Cluster, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    _, before = cluster.api.request("GET", path)
    watch = cluster.api.watch(path, {"resourceVersion": before["metadata"]["resourceVersion"]})
    events: list[tuple[str, str]] = []
    thread = threading.Thread(target=lambda: events.extend((event["type"], event["object"]["metadata"]["name"]) for event in watch))
    thread.start()
    cluster.api.request("POST", path, {"metadata": {"name": "one"}})
    cluster.api.request("DELETE", f"{path}/one")
    until(lambda: len(events) == 2)
    watch.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert events == [("ADDED", "one"), ("DELETED", "one")]


def test_a_watch_that_is_refused_says_so(cluster: Cluster, namespace: str) -> None:
    (event,) = cluster.api.watch(f"/api/v1/namespaces/{namespace}/configmaps", {"resourceVersion": "nonsense"})
    assert event["type"] == "ERROR"


def test_the_audit_log_has_who_sent_what(audited_cluster: Cluster) -> None:
    config_map = {"metadata": {"name": "a"}, "data": {"key": "value"}}
    with audited_cluster.namespace() as name:
        audited_cluster.api.request("POST", f"/api/v1/namespaces/{name}/configmaps", config_map)
        until(lambda: _created(audited_cluster, name) == [("admin", {"kind": "ConfigMap", "apiVersion": "v1", **config_map})])


def test_controllers_of_the_audited_cluster_have_accounts_of_their_own(audited_cluster: Cluster) -> None:
    collector = "system:serviceaccount:kube-system:generic-garbage-collector"
    with audited_cluster.namespace() as name:
        path = f"/api/v1/namespaces/{name}/configmaps"
        audited_cluster.api.request("POST", path, {"metadata": {"name": "a"}})
        audited_cluster.api.request("DELETE", f"{path}/a", {"propagationPolicy": "Foreground"})
        until(lambda: audited_cluster.api.request("GET", f"{path}/a")[0] == 404)
        until(lambda: ("patch", collector) in _asked(audited_cluster, name, "a"))


def _asked(cluster: Cluster, namespace: str, name: str) -> set[tuple[str, str]]:
    """The verbs of requests about an object, and who sent them."""
    events = [event for event in cluster.audit_log() if event["objectRef"].get("namespace") == namespace]
    return {(event["verb"], event["user"]["username"]) for event in events if event["objectRef"].get("name") == name}


def test_requests_can_be_those_of_somebody_else(cluster: Cluster, namespace: str) -> None:
    status, answer = cluster.api.impersonate("nobody").request("GET", f"/api/v1/namespaces/{namespace}/configmaps")
    assert (status, 'User "nobody" cannot list' in answer["message"]) == (403, True)
    assert cluster.api.request("GET", f"/api/v1/namespaces/{namespace}/configmaps")[0] == 200


def _created(cluster: Cluster, namespace: str) -> list[tuple[str, object]]:
    events = [event for event in cluster.audit_log() if event["objectRef"].get("namespace") == namespace]
    return [(event["user"]["username"], event["requestObject"]) for event in events if event["objectRef"]["resource"] == "configmaps"]
