"""`fcontroller run` as a process, on a real API server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.decide.world import role_spec

RUN = [sys.executable, "-c", "from fcontroller.cli import entry_point; entry_point()", "run"]


@contextmanager
def controller(cluster: Cluster, namespace: str, port: int = 0) -> Iterator[subprocess.Popen[str]]:
    options = ["--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace, "--lease-namespace", namespace, "--lease-seconds", "6"]
    options += ["--listen", f"127.0.0.1:{port}"]
    with subprocess.Popen([*RUN, *options], stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def two_controllers(cluster: Cluster, namespace: str) -> Iterator[tuple[subprocess.Popen[str], subprocess.Popen[str]]]:
    """The first leads, the second waits; Pods run."""
    with Kubelet(cluster.api, namespace), controller(cluster, namespace) as first:
        says(first, "leads")
        with controller(cluster, namespace) as second:
            says(second, "waits for the lease")
            yield first, second


def says(process: subprocess.Popen[str], message: str) -> None:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("{") and json.loads(line)["message"] == message:
            return
    raise AssertionError(f"it never said {message!r}, but: {''.join(said)}")


def apply(cluster: Cluster, namespace: str, name: str, *roles: Any) -> None:
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": name}}
    cluster.kubectl("-n", namespace, "apply", "-f", "-", input=json.dumps({**head, "spec": {"taskRoles": list(roles)}}))


def state(cluster: Cluster, namespace: str, name: str) -> Any:
    path = f"/apis/frameworkcontroller.microsoft.com/v1/namespaces/{namespace}/frameworks/{name}"
    return cluster.api.request("GET", path)[1].get("status", {}).get("state")


def until(cluster: Cluster, namespace: str, name: str, wanted: str) -> None:
    end = time.monotonic() + 120
    while (found := state(cluster, namespace, name)) != wanted:
        assert time.monotonic() < end, f"{name} is {found}, not {wanted}"
        time.sleep(0.1)


def test_the_second_of_two_goes_on_when_the_first_is_killed(cluster: Cluster, namespace: str) -> None:
    with two_controllers(cluster, namespace) as (first, second):
        apply(cluster, namespace, "one", role_spec("a", 2))
        until(cluster, namespace, "one", "AttemptRunning")
        uids = pods(cluster, namespace)
        first.send_signal(signal.SIGKILL)
        says(second, "leads")
        apply(cluster, namespace, "two", role_spec("a", 1))
        until(cluster, namespace, "two", "AttemptRunning")
        assert uids.items() <= pods(cluster, namespace).items(), "a Pod was made anew"
        cluster.kubectl("-n", namespace, "patch", "fw", "one", "two", "--type=merge", "-p", '{"spec":{"executionType":"Stop"}}')
        until(cluster, namespace, "one", "Completed")
        until(cluster, namespace, "two", "Completed")
        assert pods(cluster, namespace) == {}
        second.send_signal(signal.SIGTERM)
        assert second.wait(60) == 0


def test_one_that_slept_through_its_lease_does_nothing_any_more(cluster: Cluster, namespace: str) -> None:
    with two_controllers(cluster, namespace) as (first, second):
        before = stopped_in_the_middle(cluster, namespace, first)
        says(second, "leads")
        cluster.kubectl("-n", namespace, "wait", "fw", "--all", "--for=jsonpath={.status.taskCounts.running}=400", "--timeout=180s")
        uids = pods(cluster, namespace)
        assert before.items() <= uids.items(), "a Pod was made anew"
        first.send_signal(signal.SIGCONT)
        assert first.wait(60) == 1
        says(first, "has lost the lease")
        time.sleep(1)
        assert pods(cluster, namespace) == uids


def stopped_in_the_middle(cluster: Cluster, namespace: str, process: subprocess.Popen[str]) -> dict[str, str]:
    """Stop the controller while it makes Pods, with requests under way; returns the Pods that are there."""
    for number in range(1, 6):
        apply(cluster, namespace, f"number{number}", role_spec("a", 400))
        while len(pods(cluster, namespace)) < 400 * (number - 1) + 50:
            time.sleep(0.02)
        process.send_signal(signal.SIGSTOP)
        before = pods(cluster, namespace)
        if len(before) < 400 * number:
            return before
        process.send_signal(signal.SIGCONT)  # It was faster than this process. Once more.
    raise AssertionError("its Pods are made before it can be stopped")


def pods(cluster: Cluster, namespace: str) -> dict[str, str]:
    items = cluster.api.request("GET", f"/api/v1/namespaces/{namespace}/pods")[1]["items"]
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in items}
