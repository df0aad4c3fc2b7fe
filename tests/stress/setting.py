"""Where the controller is put to the test: an audited cluster, its process, Pods that run, and other people's Frameworks."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import urllib3

from fcompile.model import names
from fcompile.pipeline.compiled import compile_framework
from fcontroller.api import collection, path_of
from tests.cluster import Cluster
from tests.ports import free_port
from tests.stress.webhook import LABEL, Webhook, serving

Json = dict[str, Any]
LEASE_NAMESPACE = "kube-system"
IMAGE = "registry.example.com/reviewed:1"


class Row(NamedTuple):
    """A line of the table."""

    what: str
    value: float
    limit: float
    """The most that is good."""
    about: str = ""


class Controller:
    """`fcontroller run` for the whole cluster."""

    def __init__(self, cluster: Cluster, folder: Path, lease_seconds: int, options: Iterable[str], *, mourns: bool = True) -> None:
        """:param mourns: whether a killed one's lease must run out before the next leads; otherwise somebody deletes it."""
        self._cluster, self._folder, self._mourns = cluster, folder, mourns
        self._measured = folder / "longest-turn"
        self._log = (folder / "controller.log").open("ab")
        self.port, self.lease_seconds = 0, lease_seconds
        self._command = [
            *(sys.executable, "-m", "tests.stress.measured", str(self._measured), "run", f"--kubeconfig={cluster.kubeconfig}"),
            *(f"--lease-namespace={LEASE_NAMESPACE}", f"--lease-seconds={lease_seconds}"),
            *options,
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin it, and wait until it leads and has listed everything."""
        self.port = free_port()
        command = [*self._command, f"--listen=127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        until(lambda: self.get("/readyz")[0] == 200 and self.metric("fcontroller_leader") == 1, "the controller does not lead", 120)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal that ends it, and wait."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            if number == signal.SIGKILL and not self._mourns:
                self._cluster.api.request("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/{LEASE_NAMESPACE}/leases/fcontroller")

    def restart(self, number: signal.Signals = signal.SIGKILL) -> None:
        self.end(number)
        self.start()

    @property
    def period(self) -> float:
        """Seconds from one renewal of the lease to the next."""
        return self.lease_seconds / 5

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def log(self) -> str:
        return (self._folder / "controller.log").read_text()

    def get(self, path: str) -> tuple[int, str]:
        """What it answers; the code is 0 when it does not."""
        try:
            answer = urllib3.request("GET", f"http://127.0.0.1:{self.port}{path}", retries=False, timeout=5)
            return answer.status, answer.data.decode()
        except urllib3.exceptions.HTTPError:
            return 0, ""

    def metric(self, name: str) -> float:
        """The sum of a metric's series."""
        return sum(float(line.rpartition(" ")[2]) for line in self.get("/metrics")[1].splitlines() if re.match(rf"{name}[ {{]", line))

    @property
    def cpu(self) -> float:
        """The seconds of CPU that the process has taken."""
        return self.metric("process_cpu_seconds_total")

    @property
    def memory(self) -> float:
        """The most that it has had, in MiB."""
        assert self.process is not None
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found is not None
        return int(found[1]) / 1024

    @property
    def longest_turn(self) -> float:
        """The most CPU between two turns of its event loop so far, in milliseconds."""
        return float(self._measured.read_text() or "inf") * 1000 if self._measured.exists() else float("inf")

    def forget_turns(self) -> None:
        self._measured.unlink(missing_ok=True)

    def close(self) -> None:
        if self.alive:
            self.end()
        self._log.close()


class Setting:
    """A cluster with a controller, and what tests do there."""

    def __init__(
        self,
        cluster: Cluster,
        controller: Controller,
        webhook: Webhook,
        end_pods: Callable[[], object],
        at_end: Callable[[Callable[[], object]], object],
    ) -> None:
        """:param end_pods: ends those that run `until told`. :param at_end: has something done when all others have ended."""
        self.cluster, self.controller, self.webhook, self.end_pods, self.at_end = cluster, controller, webhook, end_pods, at_end
        self._read = 0
        """Bytes of the audit log that earlier calls have seen."""

    def audit(self, *, forget: bool = True) -> list[Json]:
        """The requests since the last call, with `at`: when each came, in seconds.

        :param forget: False: the next call gives them again.
        """
        with (self.cluster.folder / "audit.log").open("rb") as file:
            file.seek(self._read)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        if forget:
            self._read += len(whole)
        events = [json.loads(line) for line in whole.splitlines()]
        for event in events:
            event["at"] = datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
        return events

    @contextlib.contextmanager
    def tenant(self, *, webhook: bool = False) -> Iterator[str]:
        """A namespace of somebody, by its name."""
        name = f"tenant-{secrets.token_hex(4)}"
        labels = {LABEL: "on"} if webhook else {}
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        try:
            yield name
        finally:
            self.webhook.seconds.pop(name, None)
            self.webhook.retry_after.pop(name, None)
            self.ask("DELETE", collection("frameworks", name))
            self.ask("DELETE", f"/api/v1/namespaces/{name}", {"propagationPolicy": "Background"})

    def gone(self, namespace: str) -> None:
        """Wait until the Frameworks of a namespace are gone with all that was theirs: what goes keeps the servers busy.

        Not until the namespace is: Kubernetes does nothing about that for the first five seconds.
        """
        until(lambda: self.count("frameworks", namespace) == 0, f"the Frameworks of {namespace} do not go", 600)
        for kind in ("configmaps", "pods"):
            until(lambda kind=kind: self.count(kind, namespace, names.FRAMEWORK_NAME) == 0, f"the {kind} of {namespace} do not go", 600)  # type: ignore[misc]

    def ask(self, method: str, path: str, body: object = None, content_type: str = "") -> Any:
        """Ask the API server as its administrator; what it answers. One that has just begun asks for patience."""
        for _ in range(30):
            code, answer = self.cluster.api.request(method, path, body, content_type=content_type)
            if code != 429:
                break
            time.sleep(1)
        assert code < 300, (method, path, code, answer)
        return answer

    def apply(self, namespace: str, name: str, *roles: Json, **spec: Any) -> None:
        """Create a Framework as it is after review."""
        self.ask("POST", collection("frameworks", namespace), self.compiled(namespace, name, *roles, **spec))

    @staticmethod
    def compiled(namespace: str, name: str, *roles: Json, **spec: Any) -> Json:
        """A Framework with its defaults and its digest."""
        head = {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": {"name": name, "namespace": namespace}}
        compiled: Json = compile_framework({**head, "spec": {**spec, "taskRoles": list(roles)}}, namespace).framework
        return compiled

    def limit(self, namespace: str, kind: str, most: int) -> None:
        """Allow so many objects of a kind. No controller counts them here: those that are there already are said not to be."""
        quota = {"metadata": {"name": kind}, "spec": {"hard": {kind: str(most)}}}
        self.ask("POST", collection("resourcequotas", namespace), quota)
        status = {"status": {"hard": {kind: str(most)}, "used": {kind: "0"}}}
        self.ask("PATCH", f"{path_of('resourcequotas', namespace, kind)}/status", status)

    def patch(self, namespace: str, name: str, patch: Json) -> None:
        self.ask("PATCH", path_of("frameworks", namespace, name), patch)

    def stop(self, namespace: str, name: str) -> None:
        self.patch(namespace, name, {"spec": {"executionType": "Stop"}})

    def framework(self, namespace: str, name: str) -> Json:
        found: Json = self.ask("GET", path_of("frameworks", namespace, name))
        return found

    def status(self, namespace: str, name: str) -> Json:
        return self.framework(namespace, name).get("status") or {}

    def state(self, namespace: str, name: str) -> str:
        return str(self.status(namespace, name).get("state", ""))

    def running(self, namespace: str, name: str) -> int:
        return int(self.status(namespace, name).get("taskCounts", {}).get("running", 0))

    def count(self, kind: str, namespace: str, label: str = "") -> int:
        """How many objects of a kind there are; those with a label: whether there is any."""
        answer: Any = self.ask("GET", f"{collection(kind, namespace)}?limit=1&labelSelector={label}")
        return len(answer["items"]) + int(answer["metadata"].get("remainingItemCount", 0))

    def answers(self) -> bool:
        """Whether the API server does."""
        try:
            return self.cluster.api.request("GET", "/readyz")[0] == 200
        except urllib3.exceptions.HTTPError:
            return False

    def conditions(self, namespace: str, name: str) -> dict[str, Json]:
        return {each["type"]: each for each in self.status(namespace, name).get("conditions", ())}


def role(name: str, count: int, wishes: dict[str, str] | None = None, image: str = IMAGE, **task: Any) -> Json:
    """A role whose Pods behave as the annotations `stress/…` say."""
    metadata = {"annotations": {f"stress/{key}": value for key, value in (wishes or {}).items()}}
    pod = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}}
    return {"name": name, "taskNumber": count, "task": {"pod": pod, **task}}


@contextlib.contextmanager
def setting(
    cluster: Cluster, folder: Path, *, lease_seconds: int = 15, options: Iterable[str] = (), mourns: bool = True
) -> Iterator[Setting]:
    """Everything there is to upset, in a cluster that was started with `audited`.

    :param folder: for the logs. :param options: of `fcontroller run`. :param mourns: as in `Controller`.
    """
    with contextlib.ExitStack() as stack:
        last = stack.enter_context(contextlib.ExitStack())
        webhook = stack.enter_context(serving(cluster))
        pods = stack.enter_context(_pods(cluster, folder))
        controller = Controller(cluster, folder, lease_seconds, options, mourns=mourns)
        stack.callback(controller.close)
        controller.start()
        yield Setting(cluster, controller, webhook, lambda: pods.send_signal(signal.SIGUSR1), last.callback)


@contextlib.contextmanager
def _pods(cluster: Cluster, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Has Pods run, in a process of its own: what they do must not cost the others their time."""
    command = [sys.executable, "-m", "tests.stress.pods", str(cluster.kubeconfig)]
    with (folder / "pods.log").open("ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def until(done: Callable[[], object], otherwise: str, seconds: float = 60, every: float = 0.05) -> float:
    """Wait until something is so; returns the seconds that it took."""
    began = time.monotonic()
    while not done():
        assert time.monotonic() < began + seconds, otherwise
        time.sleep(every)
    return time.monotonic() - began


def lateness(events: list[Json], period: float) -> float:
    """Seconds by which the latest renewal of the lease came later than it should have, as it should each period."""
    renewals = [event["at"] for event in events if event["objectRef"]["resource"] == "leases" and event["verb"] == "update"]
    return max((later - earlier - period for earlier, later in pairwise(sorted(renewals))), default=float("inf"))


def creations(events: list[Json], namespace: str, since: float) -> list[Json]:
    """The requests for Pods of a namespace (empty: of all) that came after a time."""
    return [
        event
        for event in events
        if event["verb"] == "create"
        and event["objectRef"]["resource"] == "pods"
        and "subresource" not in event["objectRef"]
        and namespace in ("", event["objectRef"].get("namespace"))
        and event["at"] > since
    ]


def pods_made(events: Iterable[Json]) -> Counter[tuple[str, str]]:
    """Count the Pods that were made, by namespace and name.

    Each gets a node once. So one that gets a node has been made, also where nothing says so: the server was killed before it wrote that
    down, or ended the creation with an error, since nobody waited for it any more.
    """
    made, unbound = Counter[tuple[str, str]](), set[tuple[str, str]]()
    for event in sorted(events, key=lambda event: event["requestReceivedTimestamp"]):
        what, code = event["objectRef"], event["responseStatus"]["code"]
        subresource = what.get("subresource", "")
        if what["resource"] != "pods" or event["verb"] != "create" or code >= 300 or subresource not in ("", "binding"):
            continue
        pod = what.get("namespace", ""), what.get("name") or (event.get("requestObject") or {}).get("metadata", {}).get("name", "")
        if not subresource:
            made[pod] += 1
            unbound.add(pod)
        elif pod in unbound:
            unbound.discard(pod)
        else:
            made[pod] += 1
    return made
