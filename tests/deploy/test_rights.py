"""The Deployment's command works with the rights that deploy/ gives it, and uses every one of them."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml

from fcompile.model import names
from fcontroller.api import collection, path_of
from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.deploy.test_manifests import VARIANTS, arguments_of, deployment

Right = tuple[str, str, str]
"""A group, a resource and a verb."""
ASKED_OF_THE_AUTHORIZER_ALONE = {
    ("frameworkcontroller.microsoft.com", "frameworks/finalizers", "update"),
    ("", "configmaps/finalizers", "update"),
}
"""The admission plugin OwnerReferencesPermissionEnforcement asks whether the user has them; no request uses them."""
COMMAND = [sys.executable, "-c", "from fcontroller.cli import entry_point; entry_point()"]


@pytest.mark.parametrize(("variant", "home"), VARIANTS.items())
def test_granted_is_used(audited_cluster: Cluster, repository: Path, tmp_path: Path, variant: str, home: str) -> None:
    cluster, folder = audited_cluster, str(repository / "deploy" / variant)
    cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": home}}))
    cluster.kubectl("apply", "--server-side", "-k", folder)
    manifests = list(yaml.safe_load_all(cluster.kubectl("kustomize", folder).stdout))
    options = [f"--kubeconfig={account(cluster, home, tmp_path)}", "--framework-completed-retain-sec=1"]
    with cluster.namespace() as other, Kubelet(cluster.api, home if variant else other):
        (container,) = deployment(manifests)["spec"]["template"]["spec"]["containers"]
        probes = [container[kind]["httpGet"]["path"] for kind in ("livenessProbe", "readinessProbe")]
        command = [*COMMAND, *arguments_of(manifests, home), *options]
        everything(cluster, lambda: controller(command, probes), home if variant else other, lambda: set(requests(cluster, home)))
    granted, used = set(rights(manifests)), set(requests(cluster, home))
    assert granted - used == ASKED_OF_THE_AUTHORIZER_ALONE
    assert used - granted == set()


def account(cluster: Cluster, namespace: str, folder: Path) -> Path:
    """A kubeconfig of the controller's service account."""
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"][0]["user"]["token"] = cluster.kubectl("-n", namespace, "create", "token", "fcontroller").stdout
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


def rights(manifests: Iterable[Any]) -> Iterator[Right]:
    """What the manifests allow the controller."""
    for manifest in manifests:
        if manifest["metadata"]["name"] in ("fcontroller", "fcontroller-lease"):
            for rule in manifest.get("rules", ()):
                yield from ((group, what, verb) for group in rule["apiGroups"] for what in rule["resources"] for verb in rule["verbs"])


def requests(cluster: Cluster, namespace: str) -> Iterator[Right]:
    """What the controller has asked the server for."""
    for event in cluster.audit_log():
        if event["user"]["username"] == f"system:serviceaccount:{namespace}:fcontroller":
            about = event["objectRef"]
            what = f"{about['resource']}/{about['subresource']}" if "subresource" in about else about["resource"]
            yield about.get("apiGroup", ""), what, event["verb"]


def until(done: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end, otherwise
        time.sleep(0.1)


@contextlib.contextmanager
def controller(command: list[str], probes: Iterable[str] = ()) -> Iterator[None]:
    """The controller's process, once it answers the paths of its probes. It ends as it is told to by the kubelet."""
    port = free_port()
    process = subprocess.Popen([*command, f"--listen=127.0.0.1:{port}"], stdin=subprocess.DEVNULL)
    try:
        until(lambda: {answer(port, path) for path in probes} <= {200}, "its probes fail")
        yield
        process.terminate()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def answer(port: int, path: str) -> int:
    """The status code of a GET, 0 when there is no answer."""
    try:
        return urllib3.request("GET", f"http://127.0.0.1:{port}{path}", retries=False, timeout=5).status
    except urllib3.exceptions.HTTPError:
        return 0


def everything(
    cluster: Cluster,
    controller: Callable[[], contextlib.AbstractContextManager[None]],
    namespace: str,
    used: Callable[[], set[Right]],
) -> None:
    """Two lives of a controller in which all happens that it has rights for."""
    retry = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 1}}
    unmounted = role("a", 1)
    unmounted["task"]["pod"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "nowhere", "mountPath": "/a"}]
    made = {
        "retried": [role("a", 2, {"run-seconds": "0.2", "exit-code": "1"}, task=retry)],
        "unreviewed": [role("a", 1, {"run-seconds": "0.2"})],
        "rescaled": [role("a", 2)],
        "refused": [unmounted],
        "served": [role(name, 1, service={}) for name in "ab"],
    }
    theirs, ours = (path_of("services", namespace, f"served-{name}") for name in "ab")
    ask(cluster, "POST", collection("services", namespace), {"metadata": {"name": "served-a"}, "spec": {"clusterIP": "None"}})
    for name, roles in made.items():
        annotations = {names.DIGEST_ANNOTATION: "v1:sha256:0"} if name == "unreviewed" else {}
        head = {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": {"name": name, "annotations": annotations}}
        ask(cluster, "POST", collection("frameworks", namespace), {**head, "spec": {"taskRoles": roles, "cleanPodPolicy": "Running"}})
    rescaled, served = (path_of("frameworks", namespace, name) for name in ("rescaled", "served"))
    with controller():
        until(lambda: [counts(cluster, path) for path in (rescaled, served)] == [(2, 2)] * 2, "not all Pods run")
        edit(cluster, rescaled, "replace", "/spec/taskRoles/0/taskNumber", 1)
        until(lambda: counts(cluster, rescaled) == (1, 1), "it was not scaled down")
        edit(cluster, ours, "replace", "/spec/selector/FC_TASKROLE_NAME", "a")
        until(lambda: ask(cluster, "GET", ours)["spec"]["selector"]["FC_TASKROLE_NAME"] == "b", "the Service was not repaired")
        edit(cluster, served, "remove", "/spec/taskRoles/1/service")
        until(lambda: is_gone(cluster, ours), "the Service was not removed")
        until(lambda: ("", "events", "patch") in used(), "that tasks of `retried` failed once more was not told")
    with controller():
        for path in (rescaled, served, path_of("frameworks", namespace, "unreviewed")):
            edit(cluster, path, "add", "/spec/executionType", "Stop")
        # They complete, and are deleted when their time is up.
        until(lambda: all(is_gone(cluster, path_of("frameworks", namespace, name)) for name in made), "not all are gone")
    ask(cluster, "DELETE", theirs)


def role(name: str, count: int, wishes: dict[str, str] | None = None, task: Any = None, **changes: Any) -> Any:
    """A role whose Pods behave as the wishes say (`tests.cluster.kubelet`)."""
    metadata = {"annotations": {f"kubelet.test/{key}": value for key, value in (wishes or {}).items()}}
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a"}]}
    return {"name": name, "taskNumber": count, "task": {"pod": {"metadata": metadata, "spec": spec}, **(task or {})}, **changes}


def ask(cluster: Cluster, method: str, path: str, body: Any = None, content_type: str = "") -> Any:
    code, answer = cluster.api.request(method, path, body, content_type=content_type)
    assert code < 300, answer
    return answer


def edit(cluster: Cluster, path: str, operation: str, field: str, value: Any = None) -> None:
    ask(cluster, "PATCH", path, [{"op": operation, "path": field, "value": value}], "application/json-patch+json")


def is_gone(cluster: Cluster, path: str) -> bool:
    return cluster.api.request("GET", path)[0] == 404


def counts(cluster: Cluster, framework: str) -> tuple[int, int]:
    """How many tasks of a Framework run, and how many there are."""
    tasks = ask(cluster, "GET", framework).get("status", {}).get("taskCounts", {})
    return tasks.get("running", 0), tasks.get("total", 0)
