"""`fcontroller run` as a process: what it serves, and how it ends. No API server is needed for most of it, only one that hangs."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from fcontroller import process
from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.controller.test_run import apply, until
from tests.decide.world import role_spec
from tests.ports import free_port

RUN = [sys.executable, "-c", "from fcontroller.cli import entry_point; entry_point()", "run"]


class Stub(BaseHTTPRequestHandler):
    """An API server that has nothing, gives the lease to whoever asks first, and never says anything about it again."""

    given = threading.Event()
    over = threading.Event()
    lists = 200
    frameworks: tuple[int, bytes] | None = None

    def do_GET(self) -> None:
        if "watch=1" in self.path or (self.given.is_set() and "/leases/" in self.path):
            self.over.wait(60)
        elif "/leases/" in self.path:
            self.answer(404, {"kind": "Status", "code": 404})
        elif self.frameworks and "/frameworks" in self.path:
            self.send(*self.frameworks)
        else:
            self.answer(self.lists, {"items": [], "metadata": {"resourceVersion": "1"}})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.given.set()
        self.answer(201, {})

    def answer(self, code: int, body: Any) -> None:
        self.send(code, json.dumps(body).encode())

    def send(self, code: int, text: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def stub(**changes: Any) -> Iterator[str]:
    """Its address."""
    handler: Any = type("Handler", (Stub,), {"over": threading.Event(), "given": threading.Event(), **changes})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            handler.over.set()
            server.shutdown()


class Running:
    """A controller's process, and what it has said."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port
        self.lines: list[Any] = []

    def says(self, message: str) -> Any:
        """Wait until it says something with these words; returns the line."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(json.loads(line) if line.startswith("{") else line)
            if isinstance(self.lines[-1], dict) and message in self.lines[-1]["message"]:
                return self.lines[-1]
        raise AssertionError(f"it never said {message!r}, but: {self.lines}")

    def get(self, path: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def until(self, path: str, code: int, text: str | None = None) -> str:
        """What is answered, once it is with this code, and (where given) with this text."""
        end = time.monotonic() + 120
        while (found := self.get(path)) != (code, found[1] if text is None else text):
            assert time.monotonic() < end, found
            time.sleep(0.05)
        return found[1]

    def metric(self, name: str, **labels: str) -> float:
        """The value of a metric now."""
        (found,) = [number for what, number in self.metrics() if what == (name, labels)]
        return found

    def metrics(self) -> list[tuple[tuple[str, dict[str, str]], float]]:
        """All metrics of one moment, by name and labels."""
        families = text_string_to_metric_families(self.get("/metrics")[1])
        return [((one.name, one.labels), one.value) for family in families for one in family.samples]


@contextmanager
def running(*options: str) -> Iterator[Running]:
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "HOME")}
    command = [*RUN, "--listen", f"127.0.0.1:{port}", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, env=environment) as process:
        try:
            yield Running(process, port)
        finally:
            process.kill()


def test_the_second_signal_kills() -> None:
    with stub() as address, running("--kube-api-server-address", address) as controller:
        controller.says("leads")
        assert controller.until("/readyz", 200) == "ok\n"
        assert controller.get("/healthz") == (200, "ok\n")
        controller.process.send_signal(signal.SIGTERM)
        assert controller.says("stops")["signal"] == "SIGTERM"
        # Now it waits until it can give the lease back.
        controller.process.send_signal(signal.SIGTERM)
        assert controller.process.wait(60) == -signal.SIGTERM


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="no /proc")
def test_it_has_all_descriptors_that_it_may_have() -> None:
    """Container engines give 1,024 at first: a webhook that hung in hundreds of namespaces used them up, and no probe was answered."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, soft), hard))
    try:
        with running("--kube-api-server-address", "http://127.0.0.1:1") as controller:
            controller.says("waits for the lease")
            limits = Path(f"/proc/{controller.process.pid}/limits").read_text()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert re.search(rf"^Max open files +{hard} +{hard} ", limits, re.MULTILINE)


def test_it_is_not_ready_before_it_has_seen_everything() -> None:
    with stub(lists=500) as address, running("--kube-api-server-address", address) as controller:
        controller.says("leads")
        assert controller.until("/readyz", 503) == "not everything has been listed yet\n"
        assert controller.get("/healthz")[0] == 200
        assert controller.metric("fcontroller_leader") == 1
        assert 0 < controller.metric("fcontroller_lease_seconds_left") <= 10
        end = time.monotonic() + 60
        while not controller.metric("fcontroller_event_loop_lag_seconds_count"):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_one_that_waits_for_an_api_server_is_not_ready() -> None:
    with running("--kube-api-server-address", "http://127.0.0.1:1") as controller:
        controller.says("waits for the lease")
        assert controller.get("/readyz") == (503, "the API server does not answer about the lease\n")
        assert controller.get("/healthz") == (200, "ok\n")
        assert controller.metric("fcontroller_leader") == 0
        assert "\nfcontroller_lease_seconds_left" not in controller.get("/metrics")[1]


WRITES = {"verb": "update", "resource": "frameworks/status", "code": "200"}
NOT_GIVEN = "the API server does not give what is needed"


def test_it_says_why_it_waits() -> None:
    for options in ([], ["--dry-run"]):
        with running("--kube-api-server-address", "http://127.0.0.1:1", *options) as controller:
            line = controller.says(NOT_GIVEN)
            assert line["level"] == "warning"
            assert re.fullmatch(r"GET /api.*: 127\.0\.0\.1:1: .*(Connection refused|Connect call failed).*", line["error"])


def test_it_says_what_it_may_not_have(cluster: Cluster, tmp_path: Path) -> None:
    nobody = json.loads(cluster.kubeconfig.read_text())
    nobody["users"][0]["user"] = {}
    (tmp_path / "nobody").write_text(json.dumps(nobody))
    with running("--kubeconfig", str(tmp_path / "nobody"), "--lease-namespace", "default") as controller:
        assert 'leases.coordination.k8s.io "fcontroller" is forbidden' in controller.says(NOT_GIVEN)["error"]
    with running("--kubeconfig", str(tmp_path / "nobody"), "--dry-run") as controller:
        assert "/api/v1/pods: pods is forbidden" in controller.says(NOT_GIVEN)["error"]


def test_it_says_when_there_are_no_frameworks_in_the_cluster() -> None:
    with stub(frameworks=(404, b"404 page not found\n")) as address, running("--kube-api-server-address", address) as controller:
        path = "/apis/frameworkcontroller.microsoft.com/v1/frameworks"
        advice = "the definition of Framework is missing: `fcompile crd` prints it"
        assert controller.says(NOT_GIVEN)["error"] == f"GET {path}: 404 page not found: {advice}"


def test_it_ends_when_the_lease_is_lost() -> None:
    with stub() as address, running("--kube-api-server-address", address, "--lease-seconds", "2") as controller:
        controller.says("leads")
        controller.says("has lost the lease")
        assert controller.process.wait(120) == 1


PLUGIN = """
import json, pathlib, sys, time
calls = pathlib.Path(sys.argv[1])
with calls.open("a") as file:
    file.write(".")
if calls.stat().st_size > 2:  # Of both clients, as they begin.
    %s
status = {"token": "t", "expirationTimestamp": "2020-01-01T00:00:00Z"}
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
"""
"""An exec plugin of a kubeconfig, whose token has expired each time it is asked, and what becomes of it."""


@contextmanager
def with_plugin(folder: Path, then: str) -> Iterator[Running]:
    """A controller whose credentials come from the plugin."""
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "interactiveMode": "Never"}
    user = {"exec": {**plugin, "args": ["-c", PLUGIN % then, str(folder / "calls")]}}
    with stub() as address:
        named: Any = {"clusters": {"server": address}, "users": user, "contexts": {"cluster": "a", "user": "a"}}
        config = {kind: [{"name": "a", kind[:-1]: value}] for kind, value in named.items()}
        (folder / "config").write_text(json.dumps({"current-context": "a", **config}))
        with running("--kubeconfig", str(folder / "config")) as controller:
            yield controller


def test_a_plugin_that_hangs_keeps_nothing_from_ending(tmp_path: Path) -> None:
    with with_plugin(tmp_path, "time.sleep(600)") as controller:
        controller.says("waits for the lease")
        controller.process.send_signal(signal.SIGTERM)
        assert controller.process.wait(60) == 0


def test_what_libraries_log_is_logged_as_all_else(tmp_path: Path) -> None:
    with with_plugin(tmp_path, "sys.exit('\\x1b[31mno')") as controller:
        assert controller.says("exec: process returned 1. \x1b[31mno")["level"] == "error"
        assert all(isinstance(line, dict) for line in controller.lines)


def test_an_address_that_is_taken() -> None:
    with stub() as address:
        port = address.rpartition(":")[2]
        command = [*RUN, "--listen", f"127.0.0.1:{port}", "--kube-api-server-address", address]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 2
        assert f"fcontroller: --listen 127.0.0.1:{port}: " in ended.stderr


def test_an_address_that_is_taken_is_told_by_where_it_comes_from() -> None:
    with stub() as address:
        port = address.rpartition(":")[2]
        environment = {**os.environ, "FCONTROLLER_LISTEN": f"127.0.0.1:{port}"}
        command = [*RUN, "--kube-api-server-address", address]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
        assert ended.returncode == 2
        assert f"fcontroller: FCONTROLLER_LISTEN 127.0.0.1:{port}: " in ended.stderr


def test_what_is_under_way_is_stored_before_the_lease_is_given_up(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("logObjectSnapshot: {pod: {onPodDeletion: true}}\n")
    options = ["--config", str(config), "--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace, "--lease-namespace", namespace]
    with Kubelet(cluster.api, namespace), running(*options) as controller:
        controller.says("leads")
        controller.until("/readyz", 200)
        apply(cluster, namespace, "one", role_spec("a", 1))
        until(cluster, namespace, "one", "AttemptRunning")
        with running(*options) as waiting:
            waiting.says("waits for the lease")
            waiting.until("/readyz", 200)
            assert waiting.metric("fcontroller_leader") == 0
        metric = controller.metric
        assert metric("fcontroller_leader") == 1
        assert metric("fcontroller_frameworks", state="AttemptRunning") == 1
        assert metric("fcontroller_tasks", state="running") == 1
        assert metric("fcontroller_transitions_total", level="framework", state="AttemptRunning") == 1
        assert metric("fcontroller_api_requests_total", verb="create", resource="pods", code="201") == 1
        at_once = controller.metrics()
        (written,) = [number for what, number in at_once if what == ("fcontroller_api_requests_total", WRITES)]
        assert ("fcontroller_status_writes_total", {"result": "stored"}) in [what for what, number in at_once if number == written]
        assert metric("fcontroller_sync_seconds_count") > 0
        cluster.kubectl("-n", namespace, "patch", "fw", "one", "--type=merge", "-p", '{"spec":{"executionType":"Stop"}}')
        snapshot = controller.says("Pod " + namespace + "/one-a-0: OnPodDeletion: ObjectSnapshot: ")["message"].partition("Snapshot: ")[2]
        assert json.loads(snapshot)["spec"]["containers"][0]["name"] == "main"
        cluster.kubectl("-n", namespace, "wait", "--for=condition=Completed", "fw/one", "--timeout=180s")
        apply(cluster, namespace, "many", role_spec("a", 60))
        while not (pods := pod_uids(cluster, namespace, "many")):
            time.sleep(0.01)
        controller.process.send_signal(signal.SIGTERM)
        controller.says("has ended")
        assert controller.process.wait(120) == 0
        pods = pod_uids(cluster, namespace, "many")
        assert pods <= status_uids(cluster, namespace, "many"), f"{len(pods)} Pods"
        lease = cluster.api.request("GET", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/fcontroller")[1]
        assert not lease["spec"].get("holderIdentity")


def test_what_is_old_and_not_needed_is_collected_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cycle:
        itself: Cycle

    async def work() -> None:
        one = Cycle()
        one.itself = one
        seen = weakref.ref(one)
        gc.collect()
        del one
        gc.collect(1)
        assert seen() is not None
        collecting = asyncio.create_task(process._collect_garbage())
        while seen() is not None:
            await asyncio.sleep(0.01)
        collecting.cancel()

    monkeypatch.setattr(process, "_COLLECTION", 0.01)
    monkeypatch.setattr(process, "_FULL", 5)
    asyncio.run(work())


def test_young_objects_do_not_become_many_where_each_takes_the_place_of_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python counts how many there are more than before. With 100,000 Pods one collection took a quarter of a second."""
    thresholds = gc.get_threshold()

    def young() -> int:
        return len(gc.get_objects(0)) + len(gc.get_objects(1))

    async def work() -> None:
        kept = [[number] for number in range(50_000)]
        gc.collect()
        for place in range(50_000):
            kept[place] = [place]
        assert young() > 40_000
        collecting = asyncio.create_task(process._collect_garbage())
        async with asyncio.timeout(10):
            while young() > 10_000:
                await asyncio.sleep(0.01)
        collecting.cancel()

    monkeypatch.setattr(process, "_COLLECTION", 0.01)
    gc.enable()
    gc.set_threshold(*process._GC_THRESHOLDS)
    try:
        asyncio.run(work())
    finally:
        gc.set_threshold(*thresholds)


def pod_uids(cluster: Cluster, namespace: str, framework: str) -> set[str]:
    items = cluster.api.request("GET", f"/api/v1/namespaces/{namespace}/pods")[1]["items"]
    return {pod["metadata"]["uid"] for pod in items if pod["metadata"]["name"].startswith(f"{framework}-")}


def status_uids(cluster: Cluster, namespace: str, framework: str) -> set[str]:
    path = f"/apis/frameworkcontroller.microsoft.com/v1/namespaces/{namespace}/frameworks/{framework}"
    status = cluster.api.request("GET", path)[1]["status"]
    return {task["attemptStatus"]["podUID"] for role in status["attemptStatus"]["taskRoleStatuses"] for task in role["taskStatuses"]}


def test_a_namespace_that_is_not_there_is_told_of(cluster: Cluster) -> None:
    """Its lists are empty: a mistyped name looked as a namespace without Frameworks, ready and without a word."""
    name = f"mistyped-{os.getpid()}"
    lease = ("--lease-name", name, "--namespace", name)
    with running("--kubeconfig", str(cluster.kubeconfig), *lease) as controller:
        assert controller.says("leads")["runs"] == f"namespace {name}"
        said = controller.says("the API server does not give what is needed")["error"]
        assert said == f"there is no namespace {name}, so that no Framework is run"
        controller.until("/readyz", 503, f"there is no namespace {name}\n")  # At first not everything has been listed.
        cluster.kubectl("create", "namespace", name)
        controller.until("/readyz", 200)
        assert "No resources found" in cluster.kubectl("get", "events", "-n", name).stderr
