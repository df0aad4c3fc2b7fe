"""The proof that the API server in memory is honest: the same requests to it and to a real kube-apiserver, and the same answers.

Compared are status codes, Status objects, objects, lists, what garbage collection makes of them, and the events of watches.
1,000 sequences: `HYPOTHESIS_PROFILE=thorough python -m pytest tests/memory_api/test_as_the_real_one.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings

from tests.cluster import Cluster
from tests.memory_api.both import Both, compare, wait_for_collector
from tests.memory_api.operations import Operation, sequences

PHASE = {"op": "add", "path": "/status/phase", "value": "Running"}
UNSCHEDULABLE = {"op": "add", "path": "/spec/unschedulable", "value": True}
SEQUENCES = 1000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 100


@pytest.fixture(scope="module")
def place(cluster: Cluster) -> Iterator[str]:
    """A namespace, once the garbage collector follows Frameworks: it looks for new kinds every 30 seconds."""
    with cluster.namespace() as name:
        wait_for_collector(cluster.api, name, "frameworks", seconds=60)
        yield name


@settings(
    max_examples=SEQUENCES, phases=[Phase.explicit, Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck), database=None
)
@given(sequence=sequences)
def test_same_answers(sequence: list[Operation], cluster: Cluster, place: str) -> None:
    tries = compare(cluster.api, place, sequence, generation=int(cluster.version.split(".")[1]) >= 35)
    event(f"{tries} tries")


def test_nodes_and_paths(cluster: Cluster, place: str) -> None:
    """What is not in a namespace, and requests that lead nowhere."""
    both = Both(cluster.api, place, generation=False)
    name, nodes = f"{place}-node", "/api/v1/nodes"
    pods = f"/api/v1/namespaces/{place}/pods"
    requests: list[tuple[str, str, Any]] = [
        ("POST", nodes, {"metadata": {"name": name, "labels": {"x": "1"}}}),
        ("POST", nodes, {"metadata": {"name": name}}),
        ("PATCH", f"{nodes}/{name}/status", [PHASE, UNSCHEDULABLE]),
        ("PATCH", f"{nodes}/{name}", [PHASE, UNSCHEDULABLE]),
        ("GET", f"{nodes}/{name}", None),
        ("DELETE", f"{nodes}/{name}", {"preconditions": {"uid": "other"}}),
        ("DELETE", f"{nodes}/{name}", None),
        ("DELETE", f"{nodes}/{name}", None),
        ("POST", "/api/v1/namespaces", {"metadata": {"name": place}}),
        ("POST", f"/api/v1/namespaces/{place}-none/configmaps", {"metadata": {"name": "a"}}),
        ("GET", f"/api/v1/namespaces/{place}-none/configmaps/a", None),
        ("POST", f"{pods}/a", {}),
        ("PATCH", pods, []),
        ("PUT", pods, {}),
        ("GET", f"{pods}/a/nonsense", None),
        ("DELETE", f"{pods}/a/status", None),
        ("DELETE", "/api/v1/namespaces", None),
    ]
    for method, path, body in requests:
        (there, real), (here, memory) = (side.request(method, path, body, {}) for side in (both.real, both.memory))
        assert there == here, (method, path, real, memory)
        assert not both.same.differences(real, memory), (method, path, real, memory)


def test_history_that_a_server_does_not_have(cluster: Cluster, place: str) -> None:
    """A resourceVersion from before the kind was known is as one that is forgotten: an event, not an HTTP status."""
    both = Both(cluster.api, place, generation=False)
    path = both.real.path("frameworks")
    both.memory_api.compact()
    (real,), (memory,) = list(cluster.api.watch(path, {"resourceVersion": 1})), both.memory_api.watch(path, {"resourceVersion": "1"}).read()
    assert [real["type"], real["object"]["code"], real["object"]["reason"]] == ["ERROR", 410, "Expired"]
    assert not both.same.differences(real, memory), (real, memory)
