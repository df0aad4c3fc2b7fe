"""`diff` against a real API server: what it refuses and fills in, `--live`, and `kubectl diff`."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.diff.defaults import EMPTY, FILLED_IN
from fcompile.emit import yaml
from fcompile.pipeline.compiled import compile_framework
from fcontroller.api import path_of
from tests.cluster import Cluster
from tests.controller.lab import Lab, lab, run
from tests.diff.frameworks import Json, diff, framework, role, spec

Capture = pytest.CaptureFixture[str]
EDITS: list[tuple[Json, Json]] = [
    ({"executionType": "Create"}, {"executionType": "Start"}),
    ({"executionType": "Create"}, {"executionType": "Stop"}),
    ({"executionType": "Start"}, {"executionType": "Stop"}),
    ({"executionType": "Start"}, {"executionType": "Create"}),
    ({"executionType": "Stop"}, {"executionType": "Start"}),
    ({"executionType": "Stop"}, {}),
    ({"executionType": "Stop"}, {"executionType": "Create"}),
    ({}, {"managedBy": "kueue.x-k8s.io/multikueue"}),
    ({"managedBy": "kueue.x-k8s.io/multikueue"}, {}),
    ({"managedBy": "kueue.x-k8s.io/multikueue"}, {"managedBy": "frameworkcontroller.microsoft.com/frameworkcontroller"}),
    ({}, {"taskRoles": [role("another", 3)], "description": "x", "retryPolicy": {"maxRetryCount": -2}}),
]


def test_what_is_refused(cluster: Cluster, namespace: str) -> None:
    path = f"/apis/frameworkcontroller.microsoft.com/v1/namespaces/{namespace}/frameworks"
    for number, (before, after) in enumerate(EDITS):
        old, new = ({**spec(), **changes} for changes in (before, after))
        name = f"train{number}"
        compiled = compile_framework(framework(old, name), namespace).framework
        assert cluster.api.request("POST", path, compiled)[0] == 201
        edited = compile_framework(framework(new, name), namespace).framework
        status, stored = cluster.api.request("GET", f"{path}/{name}")
        edited["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
        status, answer = cluster.api.request("PUT", f"{path}/{name}", edited, {"dryRun": "All"})
        found = diff(old, new)
        assert found is not None
        assert (status == 422) == (found.effect == "refused"), (before, after, answer)


def test_what_is_filled_in(cluster: Cluster, namespace: str) -> None:
    """A Pod that leaves out everything of the table: the server fills in just that."""
    downward = [
        {"path": "a", "fieldRef": {"fieldPath": "metadata.name"}},
        {"path": "b", "resourceFieldRef": {"containerName": "m", "resource": "limits.cpu"}},
    ]
    volumes: list[Json] = [
        {"name": "a", "configMap": {"name": "x"}},
        {"name": "b", "secret": {"secretName": "x"}},
        {"name": "c", "downwardAPI": {"items": downward}},
        {"name": "d", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"name": "e", "hostPath": {"path": "/x"}},
    ]
    container = {"name": "m", "image": "a:1", "ports": [{"containerPort": 80}], "readinessProbe": {"httpGet": {"port": 80}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"serviceAccountName": "default", "containers": [container], "volumes": volumes},
    }
    status, made = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod, {"dryRun": "All"})
    assert status == 201, made["message"]
    main_container, by_name = made["spec"]["containers"][0], {one["name"]: one for one in made["spec"]["volumes"]}
    found = {
        "ConfigMapVolumeSource": by_name["a"]["configMap"],
        "Container": main_container,
        "ContainerPort": main_container["ports"][0],
        "DownwardAPIVolumeSource": by_name["c"]["downwardAPI"],
        "HTTPGetAction": main_container["readinessProbe"]["httpGet"],
        "HostPathVolumeSource": by_name["e"]["hostPath"],
        "ObjectFieldSelector": by_name["c"]["downwardAPI"]["items"][0]["fieldRef"],
        "PodSpec": made["spec"],
        "Probe": main_container["readinessProbe"],
        "ProjectedVolumeSource": by_name["d"]["projected"],
        "ResourceFieldSelector": by_name["c"]["downwardAPI"]["items"][1]["resourceFieldRef"],
        "SecretVolumeSource": by_name["b"]["secret"],
        "ServiceAccountTokenProjection": by_name["d"]["projected"]["sources"][0]["serviceAccountToken"],
    }
    assert {name: {field: value.get(field) for field in FILLED_IN[name]} for name, value in found.items()} == FILLED_IN


def test_what_is_filled_in_for_an_empty_text_or_zero(cluster: Cluster, namespace: str) -> None:
    """The server stores the same Pod as for one that leaves all of these fields out."""

    def stored(empty: bool) -> Json:
        def lacking(kind: str) -> Json:
            return dict.fromkeys(EMPTY[kind], 0 if kind == "Probe" else "") if empty else {}

        probes = [{"httpGet": {"port": 80, **lacking("HTTPGetAction")}}, {"tcpSocket": {"port": 80, **lacking("TCPSocketAction")}}]
        container = {
            "name": "m",
            "image": "a:1",
            "ports": [{"containerPort": 80, **lacking("ContainerPort")}],
            "volumeMounts": [{"name": "v", "mountPath": "/v", **lacking("VolumeMount")}],
            **lacking("Container"),
            **{name: {**probe, **lacking("Probe")} for name, probe in zip(("livenessProbe", "readinessProbe"), probes, strict=True)},
        }
        spec = {"containers": [container], "volumes": [{"name": "v", "emptyDir": {}}], **lacking("PodSpec")}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        status, made = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod, {"dryRun": "All"})
        assert status == 201, made["message"]
        found: Json = made["spec"]
        return found

    assert stored(empty=True) == stored(empty=False)


DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.parametrize("image", ["a", "a:1", "a:latest", "h:5000/a", "h:5000/a:1", f"a@{DIGEST}", f"a:latest@{DIGEST}", f"a:1@{DIGEST}"])
def test_when_images_are_pulled(cluster: Cluster, namespace: str, image: str) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "m", "image": image}]}}
    made = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod, {"dryRun": "All"})[1]
    policy = made["spec"]["containers"][0]["imagePullPolicy"]
    plain, written = ({"containers": [{"name": "m", "image": image, **more}]} for more in ({}, {"imagePullPolicy": policy}))
    assert diff(spec(role(pod=plain)), spec(role(pod=written))) is None


def live(capsys: Capture, path: str) -> tuple[int, Json]:
    capsys.readouterr()
    code = main(["diff", "--live", "--format", "json", path])
    captured = capsys.readouterr()
    assert code < 2, captured.err
    document: Json = json.loads(captured.out)
    return code, document


def standing(document: Json) -> list[tuple[str, str, str, list[str]]]:
    (one,) = document["live"]
    return [(pods["kind"], pods["names"], pods["note"], [change["field"] for change in pods["changes"]]) for pods in one["pods"]]


def test_live(cluster: Cluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    for name in ("KUBECONFIG", "PATH", "KUBECACHEDIR"):
        monkeypatch.setenv(name, cluster.environment[name])
    pytest.importorskip("aiohttp")
    from fcontroller.act.client import from_kubeconfig

    annotations = {"annotations": {"sim/run": "forever"}}
    one = role("worker", 4, service={"ports": [{"port": 80}]}, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})
    one["task"]["pod"]["metadata"] = annotations
    value = framework(spec(one), namespace=namespace)
    path = tmp_path / "train.yaml"

    def put(changed: Json) -> str:
        path.write_text(yaml.dump(changed), encoding="utf-8")
        return str(path)

    async def work() -> None:
        api = from_kubeconfig(str(cluster.kubeconfig))
        try:
            async with lab(api, namespace) as made:
                assert (await asyncio.to_thread(live, capsys, put(value)))[1]["frameworks"][0]["kind"] == "added"
                await made.make("train", value["spec"])
                await made.until("train", lambda status: _running(status) == 4)
                code, document = await asyncio.to_thread(live, capsys, put(value))
                assert (code, standing(document)) == (0, [("as-expected", "train-worker-{0..3}", "", [])])
                await _disturb(made)
                code, document = await asyncio.to_thread(live, capsys, put(value))
                assert (code, standing(document)) == (
                    1,
                    [
                        ("differ", "train-worker-0", "", ["spec.containers[main].image"]),
                        ("as-expected", "train-worker-{1,3}", "", []),
                        ("finished", "train-worker-2", "PodExternalDeleted, code -101", []),
                    ],
                )
                assert document["live"][0]["services"] == [], "the controller keeps them"
                edited = copy.deepcopy(value)
                edited["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["image"] = "a:3"
                code, document = await asyncio.to_thread(live, capsys, put(edited))
                assert [change["effect"] for change in document["frameworks"][0]["changes"]] == ["new-attempt"]
                assert [names for kind, names, _, _ in standing(document) if kind == "differ"] == ["train-worker-0", "train-worker-{1,3}"]
        finally:
            await api.close()

    run(work())


def _running(status: Json) -> int:
    return sum(task["state"] == "AttemptRunning" for one in status["attemptStatus"]["taskRoleStatuses"] for task in one["taskStatuses"])


async def _disturb(made: Lab) -> None:
    """Somebody changes an image, and deletes a Pod."""
    patch: list[Any] = [{"op": "replace", "path": "/spec/containers/0/image", "value": "a:2"}]
    assert (await made.api.request("PATCH", path_of("pods", made.namespace, "train-worker-0"), patch)).ok
    gone = {"apiVersion": "v1", "kind": "DeleteOptions"}
    assert (await made.api.request("DELETE", path_of("pods", made.namespace, "train-worker-2"), gone)).ok
    await made.until("train", lambda status: status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][2]["state"] == "Completed")


def test_kubectl_diff(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """As `KUBECTL_EXTERNAL_DIFF`, over Frameworks and whatever else is compared."""
    path = tmp_path / "all.yaml"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": namespace}, "data": {"a": "1"}}
    value = framework(spec(role(retry=1)), namespace=namespace)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{cluster.environment['PATH']}"
    environment = {**cluster.environment, "PATH": programs, "KUBECTL_EXTERNAL_DIFF": "fcompile diff --color=never"}

    def kubectl(*arguments: str) -> tuple[int, str, str]:
        path.write_text("".join(map(yaml.document, [value, config])), encoding="utf-8")
        done = subprocess.run(["kubectl", *arguments, "-f", str(path)], env=environment, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    code, out, err = kubectl("diff")
    assert (code, f"{namespace}/train  new: it is created" in out) == (1, True), err
    assert kubectl("apply")[0] == 0
    assert kubectl("diff")[0] == 0
    value["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["image"] = "b:1"
    config["data"] = {"a": "2"}
    code, out, err = kubectl("diff")
    assert (code, err) == (1, "exit status 1\n") or (code, err) == (1, "")
    assert "worker: spec.containers[main].image: a:1 → b:1" in out
    assert f"ConfigMap {namespace}/c  changed" in out
