"""`diff` against a real API server: what it refuses and fills in, `--live`, and `kubectl diff`."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.diff.live import pod_differences
from fcompile.emit import yaml
from fcompile.expand import pod
from fcompile.pipeline.compiled import compile_framework
from fcompile.schema.filled_in import EMPTY_COUNTS, FILLED_IN
from fcontroller.api import path_of
from tests.agreement.run import run as agreement
from tests.agreement.verdicts import Judge
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


def stored(cluster: Cluster, namespace: str, pod_spec: Json, **metadata: Any) -> Json:
    """A Pod as the API server would store it."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", **metadata}, "spec": pod_spec}
    status, made = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod, {"dryRun": "All"})
    assert status == 201, made["message"]
    found: Json = made
    return found


def test_what_is_filled_in(cluster: Cluster, namespace: str) -> None:
    """A Pod that leaves out everything of the table: the server fills in just that."""
    downward = [
        {"path": "a", "fieldRef": {"fieldPath": "metadata.name"}},
        {"path": "b", "resourceFieldRef": {"containerName": "m", "resource": "limits.cpu"}},
    ]
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    sources: dict[str, Json] = {
        "ConfigMapVolumeSource": {"configMap": {"name": "x"}},
        "SecretVolumeSource": {"secret": {"secretName": "x"}},
        "DownwardAPIVolumeSource": {"downwardAPI": {"items": downward}},
        "ProjectedVolumeSource": {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        "AzureDiskVolumeSource": {"azureDisk": {"diskName": "x", "diskURI": "https://a/b.vhd"}},
        "ISCSIVolumeSource": {"iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2015-02.example.com:test", "lun": 0}},
        "RBDVolumeSource": {"rbd": {"monitors": ["1.2.3.4"], "image": "x"}},
        "ScaleIOVolumeSource": {"scaleIO": {"gateway": "x", "system": "x", "volumeName": "x", "secretRef": {"name": "x"}}},
        "PersistentVolumeClaimTemplate": {"ephemeral": {"volumeClaimTemplate": claim}},
    }
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}
    made = stored(
        cluster,
        namespace,
        {
            "serviceAccountName": "default",
            "containers": [{"name": "m", "image": "a:1", "ports": [{"containerPort": 80}], "readinessProbe": {"httpGet": {"port": 80}}}],
            "volumes": [{"name": f"v{number}", **source} for number, source in enumerate(sources.values())],
            "affinity": {"nodeAffinity": preferred},
        },
    )["spec"]
    container = made["containers"][0]
    of_volumes = {name: volume[next(iter(sources[name]))] for name, volume in zip(sources, made["volumes"], strict=True)}
    template = of_volumes["PersistentVolumeClaimTemplate"]["volumeClaimTemplate"]
    items = of_volumes["DownwardAPIVolumeSource"]["items"]
    found = {
        **of_volumes,
        "Container": container,
        "ContainerPort": container["ports"][0],
        "HTTPGetAction": container["readinessProbe"]["httpGet"],
        "ObjectFieldSelector": items[0]["fieldRef"],
        "PersistentVolumeClaimSpec": {"resources": {}, **template["spec"]} | {"resources": {}},
        "PersistentVolumeClaimTemplate": template,
        "PodSpec": made,
        "PreferredSchedulingTerm": made["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0],
        "Probe": container["readinessProbe"],
        "ResourceFieldSelector": items[1]["resourceFieldRef"],
        "ServiceAccountTokenProjection": of_volumes["ProjectedVolumeSource"]["sources"][0]["serviceAccountToken"],
    }
    assert {name: {field: value.get(field) for field in FILLED_IN[name]} for name, value in found.items()} == FILLED_IN


PORTS = {"ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]}
ONE = {"name": "m", "image": "a:1", "terminationMessagePolicy": "File"}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "matchLabelKeys": ["a"],
    "labelSelector": {"matchLabels": {"b": "2"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]},
}
TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"b": "2"}}, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["c"]}
APP_ARMOR = {"container.apparmor.security.beta.kubernetes.io/m": "runtime/default"}
ZERO_PROBE: Json = {"httpGet": {"port": 80, "host": "", "path": "", "scheme": ""}, "periodSeconds": 0, "initialDelaySeconds": 0}
EMPTY_CONTAINER: Json = {
    **{"workingDir": "", "imagePullPolicy": "", "terminationMessagePath": "", "stdin": False, "tty": False, "command": [], "env": None},
    "ports": [{"containerPort": 80, "name": "", "hostIP": "", "hostPort": 0, "protocol": ""}],
    "resources": {"limits": {}, "requests": {}},
    "securityContext": {"capabilities": {"add": []}},
    "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "", "readOnly": False}],
    "livenessProbe": ZERO_PROBE,
    "readinessProbe": {"grpc": {"port": 80}},
    "lifecycle": {"preStop": {"sleep": {}}},
    "args": ["a", None],
}
EMPTY_POD: Json = {"hostNetwork": False, "hostname": "", "nodeName": "", "nodeSelector": {}, "restartPolicy": "", "tolerations": []}
DERIVED: list[tuple[Json, Json]] = [
    ({"hostNetwork": True, "containers": [{**ONE, **PORTS}], "initContainers": [{**ONE, "name": "i", **PORTS}]}, {}),
    ({"containers": [ONE], "topologySpreadConstraints": [SPREAD]}, {"labels": {"a": "1", "b": "2"}}),
    (
        {"containers": [ONE], "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}},
        {"labels": {"a": "1", "b": "2", "c": "3"}},
    ),
    ({"containers": [ONE], "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}, {}),
    (
        {
            "containers": [
                {**ONE, "resources": {"requests": {"cpu": "500m"}}},
                {**ONE, "name": "n", "resources": {"limits": {"cpu": "1"}}},
            ],
            "initContainers": [{**ONE, "name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}],
            "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
        },
        {},
    ),
    (
        {
            "containers": [{**ONE, "resources": {"limits": {"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "4Mi"}}}],
            "resources": {"requests": {"cpu": "2"}},
        },
        {},
    ),
    ({"containers": [{**ONE, "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"memory": "1Gi"}}}]}, {}),
    ({"containers": [{**ONE, "securityContext": {"runAsUser": 0}}, {**ONE, "name": "n"}]}, {"annotations": APP_ARMOR}),
    ({"containers": [ONE], "serviceAccount": "x"}, {}),
    ({"containers": [ONE], "terminationGracePeriodSeconds": -5}, {}),
    ({"containers": [ONE], "serviceAccountName": "default", "serviceAccount": ""}, {}),
    ({"containers": [ONE], "volumes": [{"name": "v"}, {"name": "w", "image": {"reference": "a"}}]}, {}),
    ({"containers": [{**ONE, **EMPTY_CONTAINER}], "volumes": [{"name": "v", "emptyDir": {"medium": ""}}], **EMPTY_POD}, {"finalizers": []}),
]


@pytest.mark.parametrize(("pod_spec", "metadata"), DERIVED)
def test_what_is_derived_or_dropped_is_no_difference(cluster: Cluster, namespace: str, pod_spec: Json, metadata: Json) -> None:
    made = stored(cluster, namespace, pod_spec, **metadata)
    assert list(pod_differences(made, {"metadata": {"name": "p", "namespace": namespace, **metadata}, "spec": pod_spec})) == []


def test_empty_values_that_count(cluster: Cluster, namespace: str) -> None:
    """The server stores each as it is written, and a Pod without it differs."""
    user = {"runAsGroup": 0, "runAsNonRoot": False, "runAsUser": 0}
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""}}
    volumes = [
        {"name": "a", "configMap": {"name": "x", "defaultMode": 0, "items": [{"key": "k", "path": "p", "mode": 0}]}},
        {"name": "b", "ephemeral": {"volumeClaimTemplate": claim}},
    ]
    pod_spec = {
        **{"automountServiceAccountToken": False, "enableServiceLinks": False, "hostUsers": False, "terminationGracePeriodSeconds": 0},
        "containers": [{**ONE, "securityContext": {"allowPrivilegeEscalation": False, **user}}],
        "securityContext": {"fsGroup": 0},
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
        "volumes": volumes,
    }
    without = json.loads(
        json.dumps(pod_spec), object_pairs_hook=lambda pairs: {key: item for key, item in pairs if key not in EMPTY_COUNTS}
    )
    made = stored(cluster, namespace, pod_spec)
    bare: Json = {"name": "p", "namespace": namespace}
    assert list(pod_differences(made, {"metadata": bare, "spec": pod_spec})) == []
    differ = {one.field.rpartition(".")[2] for one in pod_differences(made, {"metadata": bare, "spec": without})}
    of_windows_and_gates = {"activeDeadlineSeconds", "hostProcess", "hostnameOverride", "priority", "volumeAttributesClassName"}
    assert differ - {"securityContext"} == EMPTY_COUNTS - of_windows_and_gates - {"fsGroup"}


GATED = re.compile(r"clusterTrustBundle|podCertificate|schedulingGroup|stopSignal")
"""What the server drops, since a feature is off in it: a difference indeed."""


def test_changed_frameworks_run_as_reviewed(cluster: Cluster, namespace: str) -> None:
    """What the API server makes of hundreds of Pods, most of which nobody would write, is no difference."""
    judge = Judge(cluster.api, int(cluster.version.split(".")[1]), namespace)
    found, compared = [], 0
    for mutant, verdict in agreement(judge, 600, seed=11, every=3).judged:
        if not verdict.is_made or verdict.server or verdict.crd or verdict.errors or mutant.framework["metadata"].get("namespace"):
            continue
        for one in compile_framework(mutant.framework, namespace).intent.roles:
            expected = pod(one, namespace, 0)
            status, made = cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", expected, {"dryRun": "All"})
            if status == 201:
                compared += 1
                found += [
                    (mutant.place, *difference) for difference in pod_differences(made, expected) if not GATED.search(difference.field)
                ]
    assert found == []
    assert compared > 200


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
