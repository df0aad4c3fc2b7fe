"""A stand-in for the scheduler and the kubelets: Pods of a namespace get a node, run for as long as they say, and end as they say.

What a Pod does is told by annotations on it; without any, it runs until it is deleted or `finish` is called:

- `run-seconds`: it ends after so long.
- `exit-code`: of its containers when they end: one number for all, or `main=137 sidecar=0` (0 for those not named).
- `termination-message`: of its containers when they end.
- `failure-reason`: it fails as a whole for this reason, as an evicted Pod (`Evicted`) does.
- `stop-seconds`: how long its containers take to end when it is deleted, at most its grace period (then they are killed).
- `image-pull: never`: its image cannot be pulled; it stays Pending.

All begin with `kubelet.test/`.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.cluster.api import Api, Watch
from tests.cluster.timers import Timers

PREFIX = "kubelet.test/"
WRITERS = 8
BACK_OFF = 1.0  # seconds before a container is started again, or a pull is tried again; real ones begin with ten
KILLED = 137
TERMINATED = 143


class Run:
    """What the stand-in knows of one Pod (of one uid)."""

    def __init__(self, pod: dict[str, Any], address: str) -> None:
        self.name: str = pod["metadata"]["name"]
        self.uid: str = pod["metadata"]["uid"]
        self.spec: dict[str, Any] = pod["spec"]
        self.annotations: dict[str, str] = pod["metadata"].get("annotations") or {}
        self.address = address
        self.node = ""
        self.started_at = ""
        self.restarts = 0
        #: Its status does not change any more.
        self.ended = False
        self.writing = threading.Lock()
        #: It is being deleted.
        self.stopping = False

    def wish(self, name: str, default: str = "") -> str:
        return self.annotations.get(PREFIX + name, default)

    def exit_codes(self) -> dict[str, int]:
        """By container."""
        text = self.wish("exit-code", "0")
        names = [container["name"] for container in self.spec["containers"]]
        if "=" not in text:
            return dict.fromkeys(names, int(text))
        given = dict(part.split("=") for part in text.split())
        return {name: int(given.get(name, 0)) for name in names}

    def restarted(self, codes: dict[str, int]) -> bool:
        """Whether the kubelet starts its containers again after they have ended so."""
        policy = self.spec.get("restartPolicy", "Always")
        return policy == "Always" or (policy == "OnFailure" and any(codes.values()))


class Kubelet:
    """Runs the Pods of one namespace, on nodes of its own. A context manager; in the end the nodes and what is left of the Pods go."""

    def __init__(self, api: Api, namespace: str, nodes: int = 1) -> None:
        self.api = api
        self.namespace = namespace
        #: The names of the Node objects. Pods without a node get one after the other.
        self.nodes = [f"{namespace}-node-{number}" for number in range(nodes)]
        self._pods = f"/api/v1/namespaces/{namespace}/pods"
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._lost: dict[str, list[Callable[[], None]]] = {}  # by node, what is put off until it is back
        self._next_node = itertools.cycle(self.nodes)
        self._next_address = itertools.count(1)
        self._stopped = threading.Event()
        self._watch: Watch | None = None

    def __enter__(self) -> Kubelet:
        for node in self.nodes:
            self._write("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": {"kubernetes.io/hostname": node}}})
            self._report(node, ready="True")
        self._timers = Timers(WRITERS)
        self._watcher = threading.Thread(target=self._follow, name="kubelet-watch", daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._watch:
            self._watch.stop()
        self._watcher.join()
        self._timers.stop()
        self._write("DELETE", self._pods, {"gracePeriodSeconds": 0})
        for node in self.nodes:
            self._write("DELETE", f"/api/v1/nodes/{node}")
        if self.failures:
            raise ExceptionGroup("the kubelet stand-in failed", self.failures)

    # What tests ask for

    @property
    def failures(self) -> list[Exception]:
        """What went wrong here so far; leaving the context raises them."""
        return self._timers.failures

    def finish(self, pod: str, exit_code: int = 0) -> None:
        """Ends a Pod that runs; all its containers exit with the same code. KeyError when there is no such Pod."""
        with self._lock:
            run = next((run for run in self._runs.values() if run.name == pod and not run.ended), None)
        if run is None:
            raise KeyError(pod)
        self._later(0, run, lambda: self._end(run, dict.fromkeys(run.exit_codes(), exit_code)))

    def lose(self, node: str) -> None:
        """Nothing is heard of a node any more: its Pods stay as they are, those that are deleted too, and it is marked as unreachable."""
        with self._lock:
            self._lost.setdefault(node, [])
        self._report(node, ready="Unknown")

    def recover(self, node: str) -> None:
        """A lost node is back; what its Pods have missed happens now."""
        self._report(node, ready="True")
        with self._lock:
            missed = self._lost.pop(node, [])
        for action in missed:
            self._timers.after(0, action)

    # Following the Pods

    def _follow(self) -> None:
        try:
            self._look_and_watch()
        except Exception as problem:
            self._timers.failures.append(problem)

    def _look_and_watch(self) -> None:
        while not self._stopped.is_set():
            status, answer = self.api.request("GET", self._pods)
            assert status == 200, answer
            for pod in answer["items"]:
                self._see(pod)
            there = {pod["metadata"]["uid"] for pod in answer["items"]}
            with self._lock:
                self._runs = {uid: run for uid, run in self._runs.items() if uid in there}
            self._watch = self.api.watch(self._pods, {"resourceVersion": answer["metadata"]["resourceVersion"]})
            if self._stopped.is_set():
                self._watch.stop()
            for event in self._watch:
                if event["type"] == "ERROR":
                    break  # too old to go on from; look at all again
                if event["type"] == "DELETED":
                    with self._lock:
                        self._runs.pop(event["object"]["metadata"]["uid"], None)
                else:
                    self._see(event["object"])

    def _see(self, pod: dict[str, Any]) -> None:
        """Decides what to do about a Pod that is new or has changed."""
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName", "")
        deleted = "deletionTimestamp" in pod["metadata"]
        if (node and node not in self.nodes) or (not node and (deleted or pod["spec"].get("schedulingGates"))):
            return
        with self._lock:
            run = self._runs.get(uid)
            new = run is None
            if run is None:
                run = self._runs[uid] = Run(pod, self._new_address())
                run.node = node or next(self._next_node)
                run.ended = pod["status"].get("phase") in ("Succeeded", "Failed")
            stop = deleted and not run.stopping
            run.stopping |= deleted
        if stop:
            grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
            if not grace:  # Nobody waits for the kubelet: the server itself removes the Pod.
                return
            self._later(min(float(run.wish("stop-seconds", "0")), grace), run, lambda: self._remove(run, grace))
        elif new and not run.ended:
            self._later(0, run, lambda: self._begin(run, bound=bool(node)))

    def _new_address(self) -> str:
        number = next(self._next_address)
        return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    def _later(self, seconds: float, run: Run, action: Callable[[], None]) -> None:
        """Does something after a while; when the node is lost by then, as soon as it is back."""

        def act() -> None:
            with self._lock:
                put_off = self._lost.get(run.node)
                if put_off is not None:
                    put_off.append(act)
                    return
            action()

        self._timers.after(seconds, act)

    # What happens to a Pod

    def _begin(self, run: Run, bound: bool) -> None:
        if not bound:
            target = {"apiVersion": "v1", "kind": "Node", "name": run.node}
            body = {"metadata": {"name": run.name, "uid": run.uid}, "target": target}
            if not self._write("POST", f"{self._pods}/{run.name}/binding", body):
                return
        if run.stopping:
            return
        if run.wish("image-pull") == "never":
            self._wait_for_image(run, "ErrImagePull")
        else:
            self._start(run)

    def _start(self, run: Run) -> None:
        run.started_at = run.started_at or _now()
        self._set_status(run, "Running", _containers(run, _all(run, {"running": {"startedAt": _now()}})))
        wish, deadline = run.wish("run-seconds"), run.spec.get("activeDeadlineSeconds")
        start = run.restarts
        if deadline is not None and (not wish or deadline < float(wish)):
            self._later(deadline, run, lambda: self._fail(run, "DeadlineExceeded"))
        elif wish and run.wish("failure-reason"):
            self._later(float(wish), run, lambda: self._fail(run, run.wish("failure-reason")))
        elif wish:
            self._later(float(wish), run, lambda: self._end(run, run.exit_codes()) if run.restarts == start else None)

    def _wait_for_image(self, run: Run, reason: str) -> None:
        waiting = _all(run, {"waiting": {"reason": reason, "message": "the image cannot be pulled"}})
        if self._set_status(run, "Pending", _containers(run, waiting)) and reason == "ErrImagePull":
            self._later(BACK_OFF, run, lambda: self._wait_for_image(run, "ImagePullBackOff"))

    def _end(self, run: Run, codes: dict[str, int]) -> None:
        """All containers have exited."""
        if run.stopping or not run.restarted(codes):
            self._finish(run, "Failed" if any(codes.values()) else "Succeeded", codes)
            return
        run.restarts += 1
        waiting = _all(run, {"waiting": {"reason": "CrashLoopBackOff"}})
        if self._set_status(run, "Running", _containers(run, waiting, before=_terminated(run, codes))):
            self._later(BACK_OFF, run, lambda: self._start(run))

    def _fail(self, run: Run, reason: str) -> None:
        self._finish(run, "Failed", dict.fromkeys(run.exit_codes(), KILLED), reason)

    def _finish(self, run: Run, phase: str, codes: dict[str, int], reason: str = "") -> None:
        self._set_status(run, phase, _containers(run, _terminated(run, codes)), reason, last=True)

    def _remove(self, run: Run, grace: float) -> None:
        """The containers of a deleted Pod end, and nobody holds the object any more."""
        if not run.ended:
            killed = float(run.wish("stop-seconds", "0")) > grace
            self._finish(run, "Failed", dict.fromkeys(run.exit_codes(), KILLED if killed else TERMINATED))
        self._write("DELETE", f"{self._pods}/{run.name}", {"gracePeriodSeconds": 0, "preconditions": {"uid": run.uid}})

    # Writing

    def _set_status(self, run: Run, phase: str, containers: list[dict[str, Any]], reason: str = "", *, last: bool = False) -> bool:
        """Whether it was written: not after the last status, and not when the Pod has gone."""
        ready = "True" if phase == "Running" and all(container["ready"] for container in containers) else "False"
        status: dict[str, Any] = {
            "phase": phase,
            "hostIP": _HOST,
            "podIP": run.address,
            "podIPs": [{"ip": run.address}],
            "conditions": [{"type": kind, "status": ready} for kind in ("Ready", "ContainersReady")]
            + [{"type": "Initialized", "status": "True"}],
            "containerStatuses": containers,
            "initContainerStatuses": _init_containers(run, phase),
        }
        if run.started_at:
            status["startTime"] = run.started_at
        if reason:
            status |= {"reason": reason, "message": f"the test wants it to fail: {reason}"}
        with run.writing:
            if run.ended:
                return False
            run.ended = last
            # The uid keeps this from a new Pod of the same name.
            return self._write("PATCH", f"{self._pods}/{run.name}/status", {"metadata": {"uid": run.uid}, "status": status}, _STRATEGIC)

    def _report(self, node: str, ready: str) -> None:
        """A node's condition, and the taints that follow from it."""
        taints = [{"key": "node.kubernetes.io/unreachable", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
        self._write("PATCH", f"/api/v1/nodes/{node}", {"spec": {"taints": taints if ready == "Unknown" else None}})
        size = {"cpu": "1000", "memory": "10Ti", "pods": "100000"}
        condition = {"type": "Ready", "status": ready, "reason": "Told", "message": "by the test", "lastHeartbeatTime": _now()}
        status = {"conditions": [condition], "capacity": size, "allocatable": size, "addresses": [{"type": "InternalIP", "address": _HOST}]}
        self._write("PATCH", f"/api/v1/nodes/{node}/status", {"status": status})

    def _write(self, method: str, path: str, body: object = None, content_type: str = "") -> bool:
        """False when what is written to has gone or is another by now; raises on any other refusal."""
        status, answer = self.api.request(method, path, body, content_type=content_type)
        if status == 409 and "has been modified" in answer["message"]:  # others write so often that the server gave up
            return self._write(method, path, body, content_type)
        if status < 300:
            return True
        if status in (404, 409) or (status == 422 and "metadata.uid" in answer["message"]):
            return False
        raise RuntimeError(f"{method} {path} was answered with {status}: {answer}")


_HOST = "192.168.0.1"
_STRATEGIC = "application/strategic-merge-patch+json"


def _all(run: Run, state: dict[str, Any]) -> dict[str, Any]:
    """By container, the same state."""
    return {container["name"]: state for container in run.spec["containers"]}


def _containers(run: Run, states: dict[str, Any], before: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The containerStatuses.

    :param states: by container; `before` those of the last time that the container ran.
    """
    return [
        {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "ready": "running" in states[container["name"]],
            "started": "running" in states[container["name"]],
            "restartCount": run.restarts,
            "state": states[container["name"]],
            "lastState": (before or {}).get(container["name"], {}),
        }
        for container in run.spec["containers"]
    ]


def _init_containers(run: Run, phase: str) -> list[dict[str, Any]]:
    """The initContainerStatuses: those that run first have done so, sidecars run as long as the Pod does."""
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": run.started_at, "finishedAt": run.started_at}}
    running = {"running": {"startedAt": run.started_at}}
    result = []
    for container in run.spec.get("initContainers") or () if run.started_at else ():
        sidecar = container.get("restartPolicy") == "Always" and phase == "Running"
        about = {"name": container["name"], "image": container.get("image", ""), "imageID": "", "restartCount": 0}
        result.append({**about, "ready": True, "state": running if sidecar else done})
    return result


def _terminated(run: Run, codes: dict[str, int]) -> dict[str, Any]:
    """By container, its state after it has exited."""
    reasons = {0: "Completed"}
    times = {"startedAt": run.started_at or _now(), "finishedAt": _now()}
    message = run.wish("termination-message")
    return {
        name: {"terminated": {"exitCode": code, "reason": reasons.get(code, "Error"), **({"message": message} if message else {}), **times}}
        for name, code in codes.items()
    }


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
