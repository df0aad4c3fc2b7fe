"""The test cluster itself: what it offers, and that nothing of it outlives the test run."""

from __future__ import annotations

from tests.cluster import Cluster


def test_kubectl_and_the_client_talk_to_the_same_server(cluster: Cluster, namespace: str) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"key": "value"}}
    status, made = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", manifest)
    assert status == 201
    assert cluster.kubectl("-n", namespace, "get", "configmap", "one", "-o", "jsonpath={.metadata.uid}").stdout == made["metadata"]["uid"]
