"""The controller on a real API server: `python -m benchmarks.controller [--quick]`.

What it costs, beside plain requests for the same Pods and Kubernetes' own Job controller. `--quick` takes a tenth of everything, for
which the limits are not meant. Nothing else should run on the machine meanwhile: API server, kubelet and controller share it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pods import framework
from tests.cluster import Cluster, start

FCONTROLLER = str(Path(sys.executable).parent / "fcontroller")
FRAMEWORKS = "/apis/frameworkcontroller.microsoft.com/v1/namespaces/{}/frameworks"
IDLE_SECONDS = 30
_TURNS = 2
"""How often each of two is measured that are compared."""


class Row(NamedTuple):
    what: str
    value: float
    limit: float | None
    about: str = ""


class Controller(NamedTuple):
    """`fcontroller run` for one namespace."""

    process: subprocess.Popen[bytes]

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far."""
        return _cpu(self.process.pid)

    @property
    def memory(self) -> float:
        """The most that it had so far, in MiB."""
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found
        return int(found[1]) / 1024


def main() -> int:
    """Print the table; returns 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.controller", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a tenth of everything; the limits are not meant for that")
    quick, missed = parser.parse_args().quick, False
    with start(say=print) as cluster:
        for row in rows(cluster, 10 if quick else 1):
            verdict = "  MISSED" if not quick and row.limit is not None and row.value > row.limit else ""
            missed |= bool(verdict)
            limit = "" if row.limit is None else f"{row.limit:9.2f}"
            print(f"{row.what:<70} {row.value:9.2f} {limit:>9}  {row.about}{verdict}", flush=True)
    return int(missed)


def rows(cluster: Cluster, scale: int) -> Iterator[Row]:
    """Yield every measurement, at so many times less than the full numbers."""
    yield from creation(cluster, 10_000 // scale)
    yield from loss(cluster, 10_000 // scale)
    for count in (1_000 // scale, 10_000 // scale):
        yield from whole_life(count)
    yield from many(cluster, 200 // scale, 10)
    yield from idle(cluster, 1_000 // scale)


def creation(cluster: Cluster, count: int) -> Iterator[Row]:
    """How long it takes until all Pods of a Framework are there. Nobody runs them."""
    slower = _floor(cluster, count, "aiohttp")
    before = _floor(cluster, count)
    with _namespace(cluster) as namespace, controller(cluster, namespace) as ours:
        cpu, began = ours.cpu, time.perf_counter()
        _post(cluster, namespace, framework("train", namespace, count))
        _until(lambda: _count(cluster, namespace, "pods") >= count)
        took, cpu = time.perf_counter() - began, ours.cpu - cpu
    # Servers become slower with time, and machines as they please: what lies on both sides is what to compare with.
    floor, floor_cpu = (sum(each) / 2 for each in zip(before, _floor(cluster, count), strict=True))
    rates = f"{count / took:.0f}/s and {cpu / count * 1000:.2f} ms of CPU each"
    about = f"{rates}; floor {count / floor:.0f}/s, {floor_cpu / count * 1000:.2f} ms"
    yield Row(f"{count} Pods created / plain concurrent requests for them", took / floor, 1.3, about)
    about = f"{count / slower[0]:.0f}/s, {slower[1] / count * 1000:.2f} ms"
    yield Row("… CPU of a plain request / that of one by aiohttp", floor_cpu / slower[1], 0.75, about)


def loss(cluster: Cluster, count: int) -> Iterator[Row]:
    """How long it takes until all Pods of an attempt that was lost are there again, from when the new attempt begins."""
    before = _floor(cluster, count)[0]
    with _namespace(cluster) as namespace, controller(cluster, namespace) as ours:
        _post(cluster, namespace, framework("train", namespace, count, retried=True))
        _until(lambda: _count(cluster, namespace, "pods") >= count)
        attempt = f"/api/v1/namespaces/{namespace}/configmaps/train-attempt"
        uid, cpu, lost = cluster.api.request("GET", attempt)[1]["metadata"]["uid"], ours.cpu, time.perf_counter()
        cluster.api.request("DELETE", attempt, {"propagationPolicy": "Foreground"})
        _until(lambda: cluster.api.request("GET", attempt)[1].get("metadata", {}).get("uid", uid) != uid)
        began = time.perf_counter()
        _until(lambda: _count(cluster, namespace, "pods") >= count)
        took, cpu = time.perf_counter() - began, ours.cpu - cpu
    floor = (before + _floor(cluster, count)[0]) / 2
    about = (
        f"{count / took:.0f}/s, {began - lost:.0f} s after the loss; {cpu / count * 1000:.2f} ms of CPU each; floor {count / floor:.0f}/s"
    )
    yield Row(f"{count} Pods of a lost attempt made again / plain concurrent requests for them", took / floor, None, about)


def _floor(cluster: Cluster, count: int, how: str = "post") -> tuple[float, float]:
    """Seconds, of the clock and of CPU, that plain requests for the Pods take."""
    with _namespace(cluster) as namespace:
        return _plain(cluster, how, namespace, count)


def _plain(cluster: Cluster, how: str, namespace: str, count: int) -> tuple[float, float]:
    seconds, cpu = map(float, subprocess.check_output(_pods(cluster, how, namespace, count), text=True).split())
    return seconds, cpu


def whole_life(count: int) -> Iterator[Row]:
    """What a task costs from created to completed, beside what a Pod of a Job does.

    They take turns, each time with a new API server: on one machine the same work took between 1.1 and 1.5 ms.
    """
    jobs, lives = [], []
    for _ in range(_TURNS):
        with start() as cluster:
            jobs.append(_job(cluster, count) / count * 1000)
        with start() as cluster:
            lives.append(_life(cluster, count))
    ours, theirs = sum(cpu for cpu, _ in lives), sum(jobs)
    about = f"{' '.join(f'{cpu:.2f}' for cpu, _ in lives)} ms; the Job's: {' '.join(f'{cpu:.2f}' for cpu in jobs)} ms"
    yield Row(f"{count} tasks, to Completed: CPU a task / that of Kubernetes' Job controller", ours / theirs, 1, about)
    yield Row("… MiB", max(memory for _, memory in lives), 350)


def _life(cluster: Cluster, count: int) -> tuple[float, float]:
    """Milliseconds of CPU that each task of a Framework takes to its end, and the most MiB that the controller had."""
    with _namespace(cluster) as namespace, controller(cluster, namespace) as ours, kubelet(cluster, namespace):
        cpu = ours.cpu
        _post(cluster, namespace, framework("train", namespace, count))
        _until(lambda: _completed(cluster, namespace) == 1)
        return (ours.cpu - cpu) / count * 1000, ours.memory


def _job(cluster: Cluster, count: int) -> float:
    """Seconds of CPU that Kubernetes' own controller takes for an indexed Job of the same Pods, to its end."""
    spec = framework("train", "any", count)["spec"]["taskRoles"][0]["task"]["pod"]["spec"]
    job = {"completionMode": "Indexed", "completions": count, "parallelism": count, "template": {"spec": spec}}
    with _namespace(cluster) as namespace, _job_controller(cluster) as pid, kubelet(cluster, namespace):
        jobs, before = f"/apis/batch/v1/namespaces/{namespace}/jobs", _cpu(pid)
        code, answer = cluster.api.request(
            "POST", jobs, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": job}
        )
        assert code == 201, answer

        def completed() -> bool:
            found: Any = cluster.api.request("GET", f"{jobs}/train")[1]
            return "completionTime" in found.get("status", {})

        _until(completed)
        return _cpu(pid) - before


@contextmanager
def _job_controller(cluster: Cluster) -> Iterator[int]:
    """Kubernetes' own, without a limit to its rate, by its process id."""
    command = json.loads((cluster.folder / "plan.json").read_text())["binaries"]["kube-controller-manager"]
    rate = ("--kube-api-qps=5000", "--kube-api-burst=5000")
    options = (f"--kubeconfig={cluster.kubeconfig}", "--leader-elect=false", "--secure-port=0", "--controllers=job-controller", *rate)
    with subprocess.Popen([command, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(5)  # Nothing says when it begins to work.
            yield process.pid
        finally:
            process.terminate()


def many(cluster: Cluster, frameworks: int, tasks: int) -> Iterator[Row]:
    """Small Frameworks, all at once, beside the lives of as many Pods."""
    floor = _lives(cluster, frameworks * tasks)
    with _namespace(cluster) as namespace, controller(cluster, namespace) as ours, kubelet(cluster, namespace):
        before, cpu, began = _status_writes(cluster), ours.cpu, time.perf_counter()
        for number in range(frameworks):
            _post(cluster, namespace, framework(f"train{number}", namespace, tasks))
        # To list all of them again and again would keep the API server busy, which is to have nothing else to do.
        for number in range(frameworks):
            _until(partial(_is_completed, cluster, namespace, f"train{number}"))
        took, cost = time.perf_counter() - began, (ours.cpu - cpu) / frameworks / tasks * 1000
        writes = {code: count - before.get(code, 0) for code, count in _status_writes(cluster).items()}
        floor = (floor + _lives(cluster, frameworks * tasks)) / 2
        about = f"{took:.1f} s; floor {floor:.1f} s; {cost:.2f} ms of CPU a task"
        yield Row(f"{frameworks} Frameworks of {tasks} tasks, to Completed / plain requests for their Pods", took / floor, None, about)
        yield Row("… status writes each", writes["200"] / frameworks, 10)
        yield Row("… status writes that met a conflict", writes.get("409", 0), 0)


def _lives(cluster: Cluster, count: int) -> float:
    """Seconds that plain requests for so many Pods take, from their creation to their deletion."""
    with _namespace(cluster) as namespace, kubelet(cluster, namespace):
        return _plain(cluster, "life", namespace, count)[0]


def idle(cluster: Cluster, frameworks: int) -> Iterator[Row]:
    """What is asked of the API server when there is nothing to do."""
    with _namespace(cluster) as namespace, controller(cluster, namespace) as ours:
        for number in range(frameworks):
            value = framework(f"train{number}", namespace, 1)
            _post(cluster, namespace, {**value, "spec": {**value["spec"], "executionType": "Stop"}})
        _until(lambda: _completed(cluster, namespace) == frameworks)
        time.sleep(2)
        before, cpu = _requests(cluster), ours.cpu
        time.sleep(IDLE_SECONDS)
        asked = _requests(cluster) - before
        about = f"{(ours.cpu - cpu) / IDLE_SECONDS * 100:.1f} % of a CPU"
        yield Row(f"{frameworks} completed Frameworks: requests in {IDLE_SECONDS} s but watch and lease", asked, 0, about)


@contextmanager
def _namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace, by its name. It is waited for its end: to take thousands of Pods away keeps the API server busy."""
    with cluster.namespace() as namespace:
        yield namespace
    _until(lambda: cluster.api.request("GET", f"/api/v1/namespaces/{namespace}")[0] == 404)


@contextmanager
def controller(cluster: Cluster, namespace: str) -> Iterator[Controller]:
    """A controller that leads and has seen what there is."""
    options = ["--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace, "--lease-namespace", namespace]
    with subprocess.Popen([FCONTROLLER, "run", *options], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _post(cluster, namespace, framework("warm", namespace, 0) | {"metadata": {"name": "warm", "namespace": namespace}})
            _until(lambda: _state(cluster, namespace, "warm") != "")
            cluster.api.request("DELETE", FRAMEWORKS.format(namespace) + "/warm")
            yield Controller(process)
        finally:
            process.send_signal(signal.SIGTERM)


@contextmanager
def kubelet(cluster: Cluster, namespace: str) -> Iterator[None]:
    with subprocess.Popen(_pods(cluster, "run", namespace, 0), stdin=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _pods(cluster: Cluster, what: str, namespace: str, count: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.pods", what, str(cluster.kubeconfig), namespace, str(count)]


def _post(cluster: Cluster, namespace: str, value: Any) -> None:
    code, answer = cluster.api.request("POST", FRAMEWORKS.format(namespace), value)
    assert code == 201, answer


def _until(done: Callable[[], bool], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)


def _count(cluster: Cluster, namespace: str, kind: str) -> int:
    # One object, and how many more there are: the cheapest way to ask.
    answer: Any = cluster.api.request("GET", f"/api/v1/namespaces/{namespace}/{kind}?limit=1")[1]
    return len(answer["items"]) + int(answer["metadata"].get("remainingItemCount", 0))


def _state(cluster: Cluster, namespace: str, name: str) -> str:
    found: Any = cluster.api.request("GET", f"{FRAMEWORKS.format(namespace)}/{name}")[1]
    return str(found.get("status", {}).get("state", ""))


def _is_completed(cluster: Cluster, namespace: str, name: str) -> bool:
    return _state(cluster, namespace, name) == "Completed"


def _completed(cluster: Cluster, namespace: str) -> int:
    # What `kubectl get` asks for. Whole Frameworks would keep the API server and this process as busy as what is measured.
    query = {"includeObject": "None"}
    answer: Any = cluster.api.request(
        "GET", FRAMEWORKS.format(namespace), query=query, accept="application/json;as=Table;g=meta.k8s.io;v=v1"
    )[1]
    state = [column["name"] for column in answer["columnDefinitions"]].index("State")
    return sum(row["cells"][state] == "Completed" for row in answer["rows"])


def _metric(cluster: Cluster) -> Iterator[tuple[dict[str, str], float]]:
    """The API server's count of requests, by what they were."""
    for line in _metrics(cluster).splitlines():
        if line.startswith("apiserver_request_total{"):
            labels, _, value = line.rpartition(" ")
            yield dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)


def _metrics(cluster: Cluster) -> str:
    return cluster.kubectl("get", "--raw", "/metrics").stdout


def _status_writes(cluster: Cluster) -> dict[str, float]:
    """By code."""
    counts: dict[str, float] = {}
    for labels, value in _metric(cluster):
        if labels["resource"] == "frameworks" and labels["subresource"] == "status":
            counts[labels["code"]] = counts.get(labels["code"], 0) + value
    return counts


def _requests(cluster: Cluster) -> float:
    """All that concern what the controller works with, but watches."""
    ours = ("frameworks", "pods", "configmaps", "services", "events")
    return sum(value for labels, value in _metric(cluster) if labels["resource"] in ours and labels["verb"] != "WATCH")


if __name__ == "__main__":
    sys.exit(main())
