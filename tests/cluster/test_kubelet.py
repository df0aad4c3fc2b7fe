"""What the kubelet stand-in does to Pods, on a real API server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet


class Pods:
    """The Pods of one namespace."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.api = cluster.api
        self.path = f"/api/v1/namespaces/{namespace}/pods"

    def create(
        self,
        name: str,
        spec: Mapping[str, object] | None = None,
        *,
        finalizers: tuple[str, ...] = (),
        containers: tuple[str, ...] = ("main",),
        **wishes: str,
    ) -> None:
        """:param wishes: annotations for the stand-in, with underscores."""
        annotations = {f"kubelet.test/{name.replace('_', '-')}": value for name, value in wishes.items()}
        metadata = {"name": name, "annotations": annotations, "finalizers": list(finalizers)}
        made = [{"name": container, "image": "image"} for container in containers]
        pod = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": made, **(spec or {})}}
        status, answer = self.api.request("POST", self.path, pod)
        assert status == 201, answer

    def read(self, name: str) -> dict[str, Any] | None:
        status, answer = self.api.request("GET", f"{self.path}/{name}")
        return answer if status == 200 else None

    def phase(self, name: str) -> str:
        pod = self.read(name)
        return pod["status"]["phase"] if pod else "gone"

    def delete(self, name: str, **options: object) -> Any:
        """Returns the Pod as it was left."""
        status, answer = self.api.request("DELETE", f"{self.path}/{name}", options or None)
        assert status == 200, answer
        return answer

    def exits(self, name: str) -> dict[str, int]:
        pod = self.read(name)
        assert pod
        return {container["name"]: container["state"]["terminated"]["exitCode"] for container in pod["status"]["containerStatuses"]}

    def waiting(self, name: str) -> str:
        """Why the first container waits."""
        pod = self.read(name)
        statuses: list[Any] = (pod or {"status": {}})["status"].get("containerStatuses") or [{"state": {}}]
        reason: str = statuses[0]["state"].get("waiting", {}).get("reason", "")
        return reason


@pytest.fixture
def pods(cluster: Cluster, namespace: str) -> Pods:
    return Pods(cluster, namespace)


@pytest.fixture
def kubelet(cluster: Cluster, namespace: str) -> Iterator[Kubelet]:
    with Kubelet(cluster.api, namespace, nodes=2) as kubelet:
        yield kubelet


def until(so: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, "not so in time"
        time.sleep(0.02)


@pytest.mark.usefixtures("kubelet")
def test_a_pod_runs_for_as_long_and_exits_as_it_says(pods: Pods) -> None:
    pods.create("fine", run_seconds="0")
    pods.create("two", containers=("main", "side"), run_seconds="0.1", exit_code="main=137", termination_message="out of memory")
    pods.create("all", containers=("main", "side"), run_seconds="0", exit_code="3")
    until(lambda: (pods.phase("fine"), pods.phase("two"), pods.phase("all")) == ("Succeeded", "Failed", "Failed"))
    assert pods.exits("fine") == {"main": 0}
    assert pods.exits("two") == {"main": 137, "side": 0}
    assert pods.exits("all") == {"main": 3, "side": 3}
    two = pods.read("two")
    assert two
    assert two["status"]["containerStatuses"][0]["state"]["terminated"]["message"] == "out of memory"
    conditions = {condition["type"]: condition["status"] for condition in two["status"]["conditions"]}
    assert conditions == {"PodScheduled": "True", "Initialized": "True", "Ready": "False", "ContainersReady": "False"}


def test_pods_without_a_node_are_spread_and_run_until_they_are_told(kubelet: Kubelet, pods: Pods) -> None:
    for name in ("a", "b"):
        pods.create(name)
    until(lambda: pods.phase("a") == pods.phase("b") == "Running")
    both = [pods.read(name) for name in ("a", "b")]
    assert {pod["spec"]["nodeName"] for pod in both if pod} == set(kubelet.nodes)
    assert len({pod["status"]["podIP"] for pod in both if pod}) == 2
    kubelet.finish("a", exit_code=2)
    until(lambda: pods.phase("a") == "Failed")
    assert pods.exits("a") == {"main": 2}
    assert pods.phase("b") == "Running"


def test_a_running_pod_is_deleted_gracefully(kubelet: Kubelet, pods: Pods) -> None:
    pods.create("quick", {"nodeName": kubelet.nodes[0]}, finalizers=("test.example/hold",))
    pods.create("slow", {"nodeName": kubelet.nodes[0]}, stop_seconds="0.5")
    until(lambda: pods.phase("quick") == pods.phase("slow") == "Running")
    terminating = pods.delete("slow", gracePeriodSeconds=30)
    assert terminating["metadata"]["deletionTimestamp"]
    assert terminating["status"]["phase"] == "Running"
    until(lambda: pods.phase("slow") == "gone")
    pods.delete("quick", gracePeriodSeconds=30)
    until(lambda: pods.phase("quick") == "Failed")
    assert pods.exits("quick") == {"main": 143}


def test_containers_that_do_not_stop_in_time_are_killed(kubelet: Kubelet, pods: Pods) -> None:
    pods.create("stubborn", {"nodeName": kubelet.nodes[0]}, stop_seconds="60", finalizers=("test.example/hold",))
    until(lambda: pods.phase("stubborn") == "Running")
    pods.delete("stubborn", gracePeriodSeconds=1)
    until(lambda: pods.phase("stubborn") == "Failed")
    assert pods.exits("stubborn") == {"main": 137}


def test_a_new_pod_of_the_same_name_is_another_pod(kubelet: Kubelet, pods: Pods) -> None:
    pods.create("again", run_seconds="0.7", exit_code="1")
    until(lambda: pods.phase("again") in ("Running", "Failed"))  # Failed already where the machine is busy.
    pods.delete("again", gracePeriodSeconds=0)
    pods.create("again")
    until(lambda: pods.phase("again") == "Running")
    time.sleep(1)
    assert pods.phase("again") == "Running"
    assert not kubelet.failures


def test_a_lost_node_does_nothing_until_it_is_back(kubelet: Kubelet, cluster: Cluster, pods: Pods) -> None:
    lost, alive = kubelet.nodes
    pods.create("deleted", {"nodeName": lost})
    pods.create("ending", {"nodeName": lost})
    until(lambda: pods.phase("deleted") == pods.phase("ending") == "Running")
    kubelet.lose(lost)
    _, node = cluster.api.request("GET", f"/api/v1/nodes/{lost}")
    assert [condition["status"] for condition in node["status"]["conditions"] if condition["type"] == "Ready"] == ["Unknown"]
    pods.delete("deleted")
    kubelet.finish("ending")
    pods.create("elsewhere", {"nodeName": alive}, run_seconds="0")
    until(lambda: pods.phase("elsewhere") == "Succeeded")
    assert (pods.phase("deleted"), pods.phase("ending")) == ("Running", "Running")
    kubelet.recover(lost)
    until(lambda: (pods.phase("deleted"), pods.phase("ending")) == ("gone", "Succeeded"))


@pytest.mark.usefixtures("kubelet")
def test_an_image_that_never_pulls(pods: Pods) -> None:
    pods.create("stuck", image_pull="never", run_seconds="0")
    until(lambda: pods.waiting("stuck") == "ErrImagePull")
    until(lambda: pods.waiting("stuck") == "ImagePullBackOff")
    assert pods.phase("stuck") == "Pending"
    pods.delete("stuck")
    until(lambda: pods.phase("stuck") == "gone")


@pytest.mark.usefixtures("kubelet")
def test_containers_start_again_where_the_pod_wants_it(pods: Pods) -> None:
    pods.create("crashing", {"restartPolicy": "OnFailure"}, run_seconds="0", exit_code="1")
    pods.create("done", {"restartPolicy": "OnFailure"}, run_seconds="0")
    until(lambda: pods.waiting("crashing") == "CrashLoopBackOff")
    until(lambda: pods.phase("done") == "Succeeded")
    pod = pods.read("crashing")
    assert pod
    assert pod["status"]["containerStatuses"][0]["restartCount"] >= 1


@pytest.mark.usefixtures("kubelet")
def test_a_pod_that_fails_as_a_whole(pods: Pods) -> None:
    pods.create("evicted", run_seconds="0", failure_reason="Evicted")
    pods.create("late", {"activeDeadlineSeconds": 1}, run_seconds="60")
    until(lambda: pods.phase("evicted") == pods.phase("late") == "Failed")
    reasons = {name: (pods.read(name) or {})["status"]["reason"] for name in ("evicted", "late")}
    assert reasons == {"evicted": "Evicted", "late": "DeadlineExceeded"}


@pytest.mark.usefixtures("kubelet")
def test_init_containers_have_run_before(pods: Pods) -> None:
    pods.create("with-init", {"initContainers": [{"name": "first", "image": "image"}]})
    until(lambda: pods.phase("with-init") == "Running")
    pod = pods.read("with-init")
    assert pod
    (first,) = pod["status"]["initContainerStatuses"]
    assert first["state"]["terminated"]["exitCode"] == 0


def test_a_few_hundred_pods(kubelet: Kubelet, pods: Pods) -> None:
    names = [f"pod-{number}" for number in range(400)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: pods.create(name, run_seconds="0", exit_code=str(int(name.endswith("7")))), names))

    def phases() -> dict[str, str]:
        _, answer = pods.api.request("GET", pods.path)
        return {pod["metadata"]["name"]: pod["status"]["phase"] for pod in answer["items"]}

    until(lambda: set(phases().values()) <= {"Succeeded", "Failed"}, seconds=120)
    assert phases() == {name: "Failed" if name.endswith("7") else "Succeeded" for name in names}
    assert not kubelet.failures
