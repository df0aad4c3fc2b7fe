"""What runs against what was reviewed: what only the cluster knows is no difference, everything else is."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.commands.live import as_applied, full_status
from fcompile.default import LAST_APPLIED
from fcompile.diff.compare import ABSENT
from fcompile.diff.frameworks import compare
from fcompile.diff.live import Live, braces, look, pod_differences
from fcompile.emit import yaml
from fcompile.expand import pod, service
from fcompile.lower.environment import ClusterValues
from fcompile.model.names import PAUSE_ANNOTATION
from fcompile.pipeline.compiled import compile_framework
from tests.diff.frameworks import Json, framework, role, side, spec

VALUES = ClusterValues("f", 0, "c", "r", "t", 0)
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "train-attempt", "uid": "c", "controller": True, "blockOwnerDeletion": True}
USUAL = [
    {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]
SOURCES: list[Json] = [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
    {"downwardAPI": {"items": [{"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}]}},
]
TOKEN = {"name": "kube-api-access-x7f2k", "projected": {"defaultMode": 420, "sources": SOURCES}}
MOUNT = {"name": "kube-api-access-x7f2k", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}
ENV = [{"name": "A", "value": "1"}, {"name": "FC_TASK_UID", "value": "mine"}]


def compiled(count: int = 3, **container: Any) -> Any:
    pod_spec = {
        "containers": [{"name": "main", "image": "a:1", "env": ENV, **container}],
        "tolerations": [{"key": "k", "operator": "Exists"}],
    }
    return compile_framework(framework(spec(role(count=count, pod=pod_spec))), "default")


def stored(index: int = 0, number: int = 3) -> Json:
    """The Pod of a task as an API server has it."""
    made = copy.deepcopy(pod(compiled(number).intent.roles[0], "default", index, VALUES))
    made["metadata"] |= {"uid": "u", "resourceVersion": "5", "creationTimestamp": "x", "ownerReferences": [OWNER], "managedFields": []}
    made["spec"] |= {
        "nodeName": "n",
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "volumes": [TOKEN],
        "tolerations": [*made["spec"]["tolerations"], *USUAL],
    }
    made["spec"]["containers"][0] |= {
        "volumeMounts": [MOUNT],
        "resources": {},
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
    }
    return {**made, "status": {"phase": "Running"}}


def found(change: Any) -> list[tuple[str, Any, Any]]:
    """What differs once a Pod has been changed."""
    live = stored()
    change(live["spec"], live["metadata"])
    return [(one.field, one.before, one.after) for one in pod_differences(live, pod(compiled().intent.roles[0], "default", 0))]


def fields(change: Any) -> list[str]:
    return [field for field, _, _ in found(change)]


def test_only_the_token_is_hidden_under_the_name_of_its_volume() -> None:
    """Under that name, another one was hidden that somebody had put over a program."""

    def over_a_program(spec: Any, _: Any) -> None:
        spec["containers"][0]["volumeMounts"] += [{**MOUNT, "mountPath": "/bin"}]

    def of_another_kind(spec: Any, _: Any) -> None:
        spec["volumes"] = [{"name": TOKEN["name"], "configMap": {"name": "c"}}]

    assert fields(over_a_program) == ["spec.containers[main].volumeMounts[/bin]"]
    mount, volume = f"spec.containers[main].volumeMounts[{MOUNT['mountPath']}]", f"spec.volumes[{TOKEN['name']}]"
    assert fields(of_another_kind) == [mount, volume]


@pytest.mark.parametrize(
    ("sources", "is_token"),
    [
        (SOURCES, True),
        # As OpenShift has it.
        (
            [*SOURCES, {"configMap": {"items": [{"key": "service-ca.crt", "path": "service-ca.crt"}], "name": "openshift-service-ca.crt"}}],
            True,
        ),
        ([*SOURCES[:1], {"configMap": {"name": "theirs", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}, *SOURCES[2:]], False),
        ([{"serviceAccountToken": {"path": "token", "audience": "theirs"}}, *SOURCES[1:]], False),
        ([*SOURCES, {"secret": {"name": "theirs"}}], False),
        ([{"configMap": {"name": "theirs"}}], False),
        ([], False),
    ],
)
def test_only_the_token_is_hidden_in_its_place(sources: list[Json], is_token: bool) -> None:
    """A token and a certificate of somebody's own were hidden there."""
    changed = fields(lambda spec, _: spec.update(volumes=[{**TOKEN, "projected": {"defaultMode": 420, "sources": sources}}]))
    assert (changed == []) is is_token


def test_a_mount_of_the_token_that_the_api_server_does_not_make() -> None:
    assert fields(lambda spec, _: spec["containers"][0].update(volumeMounts=[{**MOUNT, "subPath": "token"}])) != []


def test_a_token_of_ones_own_is_compared() -> None:
    """Under the name that the API server gives to its own, it was taken for that, and missing in the Pod that has it."""
    expected = pod(compiled(volumeMounts=[MOUNT]).intent.roles[0], "default", 0)
    expected["spec"] = {**expected["spec"], "volumes": [{**TOKEN, "projected": {"sources": []}}]}
    live = stored()
    live["spec"]["volumes"] = [{**TOKEN, "projected": {"defaultMode": 420, "sources": []}}]
    assert list(pod_differences(live, expected)) == []
    live["spec"]["volumes"][0] = {**TOKEN, "projected": {"sources": [{"secret": {"name": "theirs"}}]}}
    live["spec"]["containers"][0]["volumeMounts"] = []
    assert [one.field for one in pod_differences(live, expected)] == [
        f"spec.containers[main].volumeMounts[{MOUNT['mountPath']}]",
        f"spec.volumes[{TOKEN['name']}].projected.sources",
    ]


def test_an_owner_that_was_reviewed() -> None:
    """Of the kind that attempts are, it was taken for the attempt, and missing in the Pod that has it."""
    own = {"apiVersion": "v1", "kind": "ConfigMap", "name": "mine", "uid": "m"}
    expected = pod(compiled().intent.roles[0], "default", 0)
    expected["metadata"] = {**expected["metadata"], "ownerReferences": [own]}
    live = stored()
    assert [one.field for one in pod_differences(live, expected)] == ["metadata.ownerReferences[m]"]
    live["metadata"]["ownerReferences"] = [own, OWNER]
    assert list(pod_differences(live, expected)) == []


def test_what_only_the_cluster_knows() -> None:
    assert found(lambda spec, metadata: None) == []


def test_an_empty_text_is_what_the_api_server_fills_in() -> None:
    expected = pod(compiled(imagePullPolicy="", terminationMessagePath="").intent.roles[0], "default", 0)
    expected["spec"] = {**expected["spec"], "dnsPolicy": "", "nodeName": "", "serviceAccountName": ""}
    assert list(pod_differences(stored(), expected)) == []


def test_the_overhead_of_a_runtime_class() -> None:
    """The API server copies it from the class that the Pod names."""
    live = stored()
    live["spec"] |= {"runtimeClassName": "kata", "overhead": {"cpu": "100m"}}
    expected = pod(compiled().intent.roles[0], "default", 0)
    expected["spec"] = {**expected["spec"], "runtimeClassName": "kata"}
    assert list(pod_differences(live, expected)) == []
    expected["spec"]["overhead"] = {}
    assert list(pod_differences(live, expected)) == []
    expected["spec"]["overhead"] = {"cpu": "50m"}
    assert [one.field for one in pod_differences(live, expected)] == ["spec.overhead.cpu"]
    assert fields(lambda spec, metadata: spec.update(overhead={"cpu": "100m"})) == ["spec.overhead"]


def test_what_admission_adds() -> None:
    assert fields(lambda spec, metadata: spec["tolerations"].append({"key": "x", "operator": "Exists"})) == ["spec.tolerations[]"]
    assert fields(lambda spec, metadata: spec["containers"][0]["env"].append({"name": "PROXY", "value": "x"})) == [
        "spec.containers[main].env[PROXY]"
    ]
    assert fields(lambda spec, metadata: spec["containers"].append({"name": "mesh", "image": "m"})) == ["spec.containers[mesh]"]
    assert fields(lambda spec, metadata: spec["volumes"].append({"name": "v", "emptyDir": {}})) == ["spec.volumes[v]"]
    assert fields(lambda spec, metadata: metadata["labels"].update(x="y")) == ["metadata.labels.x"]
    assert fields(lambda spec, metadata: metadata["annotations"].update({"a.b/c": "y"})) == ['metadata.annotations["a.b/c"]']
    assert fields(lambda spec, metadata: spec.update(priorityClassName="high", runtimeClassName="gvisor")) == [
        "spec.priorityClassName",
        "spec.runtimeClassName",
    ]
    assert fields(lambda spec, metadata: spec.update(serviceAccountName="other")) == ["spec.serviceAccountName"]
    assert fields(lambda spec, metadata: metadata["ownerReferences"].append({**OWNER, "kind": "Job"})) == ["metadata.ownerReferences[c]"]


def test_a_finished_pod_that_the_framework_has_kept() -> None:
    """By `cleanPodPolicy`: then the Framework is its owner, and no attempt any more."""
    owner = {**OWNER, "apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "name": "train"}
    assert fields(lambda spec, metadata: metadata.update(ownerReferences=[owner])) == []


def test_what_was_changed() -> None:
    def image(spec: Json, metadata: Json) -> None:
        spec["containers"][0]["image"] = "a:2"

    assert found(image) == [("spec.containers[main].image", "a:2", "a:1")]
    assert fields(lambda spec, metadata: metadata["labels"].pop("FC_TASK_INDEX")) == ["metadata.labels.FC_TASK_INDEX"]
    assert fields(lambda spec, metadata: spec["tolerations"].pop(0)) == ["spec.tolerations"]


def test_a_variable_under_a_name_of_ours_is_the_users_when_it_comes_a_second_time() -> None:
    """kubectl cannot compare these at all (FC412)."""

    def change(spec: Json, metadata: Json) -> None:
        assert spec["containers"][0]["env"][-1] == {"name": "FC_TASK_UID", "value": "mine"}
        spec["containers"][0]["env"][-1] = {"name": "FC_TASK_UID", "value": "theirs"}

    assert found(change) == [("spec.containers[main].env[FC_TASK_UID].value", "theirs", "mine")]


def test_what_others_put_on_the_framework() -> None:
    """Applying it leaves their annotations, labels and finalizers as they are."""
    mine = framework(spec(), annotations={"a": "new"}, labels={"l": "x"})
    theirs = framework(spec(), annotations={"a": "old", "argocd.argoproj.io/tracking-id": "x"}, finalizers=["a.b/c"])
    before, after = side(theirs), side(mine)
    found = compare(as_applied(before, after), after)
    assert found is not None
    assert [change.field for change in found.changes] == ["metadata.annotations.a", "metadata.labels.l"]


def cluster_of(live: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have kubectl find one Framework, and no Pods."""
    (tmp_path / "live.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [live]}), encoding="utf-8")
    (tmp_path / "none.json").write_text('{"items": []}', encoding="utf-8")
    (tmp_path / "kubectl").write_text(f'#!/bin/sh\ncase "$*" in *pods*) cat {tmp_path}/none.json;; *) cat {tmp_path}/live.json;; esac\n')
    os.chmod(tmp_path / "kubectl", 0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def test_a_pause_that_an_apply_leaves_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody has annotated it in the cluster. It was said that Pods end at once, and they do when the pause is over."""
    cluster_of(framework(spec(role(count=3)), namespace="default", annotations={PAUSE_ANNOTATION: "true"}), tmp_path, monkeypatch)
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(framework(spec(role(count=2)))), encoding="utf-8")
    assert main(["diff", "--live", "--fail-on", "ends-pods", str(path)]) == 1
    said = capsys.readouterr().out
    assert "tasks that are removed are ended once the pause is over" in said
    assert PAUSE_ANNOTATION not in said


def test_what_an_apply_takes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """kubectl removes what was applied and is not in the file any more: what was paused in Git went on, and nothing was said."""
    said = {"annotations": {PAUSE_ANNOTATION: "true"}, "labels": {"l": "x"}}
    live = framework(spec(), uid="1", namespace="default", labels=said["labels"], finalizers=["a.b/c"])
    live["metadata"]["annotations"] = {**said["annotations"], "their.own/a": "x", LAST_APPLIED: json.dumps({"metadata": said})}
    cluster_of(live, tmp_path, monkeypatch)
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(framework(spec())), encoding="utf-8")
    assert main(["diff", "--live", "--format", "json", str(path)]) == 1
    changes = json.loads(capsys.readouterr().out)["frameworks"][0]["changes"]
    assert sorted((one["field"], "after" in one) for one in changes) == [
        (f'metadata.annotations["{PAUSE_ANNOTATION}"]', False),
        ("metadata.labels.l", False),
    ]
    live["metadata"]["annotations"][LAST_APPLIED] = "{no json"
    (tmp_path / "live.json").write_text(json.dumps(live), encoding="utf-8")
    assert main(["diff", "--live", str(path)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("setters", "goes"),
    [
        ([("kubectl", "Apply")], True),
        ([("kubectl", "Apply"), ("kubectl-annotate", "Update")], False),
        ([("kubectl-client-side-apply", "Update")], False),
        ([("argocd-controller", "Apply")], False),
    ],
)
def test_what_an_apply_on_the_server_takes_back(
    setters: list[tuple[str, str]], goes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It leaves no annotation with what was applied: the end of a pause, and of Pods with it, was not seen."""
    fields: Json = {"f:metadata": {"f:annotations": {".": {}, f"f:{PAUSE_ANNOTATION}": {}}, "f:labels": {"f:l": {}}}}
    there = framework(spec(), namespace="default", labels={"l": "x"}, annotations={PAUSE_ANNOTATION: "true"})
    there["metadata"]["managedFields"] = [{"manager": who, "operation": how, "fieldsV1": fields} for who, how in setters]
    cluster_of(there, tmp_path, monkeypatch)
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(framework(spec())), encoding="utf-8")
    assert main(["diff", "--live", "--format", "json", str(path)]) == int(goes)
    changed = [one["field"] for some in json.loads(capsys.readouterr().out)["frameworks"] for one in some["changes"]]
    assert sorted(changed) == [f'metadata.annotations["{PAUSE_ANNOTATION}"]', "metadata.labels.l"] * goes


@pytest.mark.parametrize("applied", ["", "client", "server"])
def test_a_field_that_only_the_cluster_has(
    applied: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where kubectl has not set it, it stays. The edit was said to be refused, so that the gate let the end of Pods pass."""
    fields: Json = {"managedBy": "frameworkcontroller.microsoft.com/frameworkcontroller", "activeDeadlineSeconds": 60}
    there = framework(spec(role(count=3), **fields), namespace="default")
    if applied == "client":
        there["metadata"]["annotations"] = {LAST_APPLIED: json.dumps({"spec": fields})}
    if applied == "server":
        set_fields: Json = {"f:spec": {f"f:{name}": {} for name in fields}}
        there["metadata"]["managedFields"] = [{"manager": "kubectl", "operation": "Apply", "fieldsV1": set_fields}]
    cluster_of(there, tmp_path, monkeypatch)
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(framework(spec(role(count=2)))), encoding="utf-8")
    assert main(["diff", "--live", "--fail-on", "ends-pods", "--format", "json", str(path)]) == int(not applied)
    effects = {one["field"]: one["effect"] for one in json.loads(capsys.readouterr().out)["frameworks"][0]["changes"]}
    of_fields = ("refused", "on-the-fly") if applied else ("nothing", "nothing")
    assert (effects["spec.managedBy"], effects["spec.activeDeadlineSeconds"]) == of_fields


def live(objects: list[Json], status: Any = None, count: int = 3) -> Live:
    return look(compiled(count), status, objects)


def summary(found: Live) -> list[tuple[str, str, str]]:
    return [(one.kind, one.names, one.note) for one in found.pods]


def test_equal_pods_are_one_line() -> None:
    some = [stored(index, 200) for index in range(200)]
    for index in (5, 6, 7, 120):
        some[index]["spec"]["containers"][0]["image"] = "a:2"
        some[index]["metadata"]["labels"]["mine"] = f"x-{index}"
    found = live(some, count=200)
    assert summary(found) == [
        ("as-expected", "train-worker-{{0..4},{8..119},{121..199}}", ""),
        ("differ", "train-worker-{{5..7},120}", ""),
    ]
    assert found.differs


def test_pods_that_are_not_there() -> None:
    ended = {"completionStatus": {"code": 0, "phrase": "Succeeded"}}
    tasks = [{"state": "Completed", "attemptStatus": ended}, {"state": "AttemptCreationPending"}]
    status = {"state": "AttemptRunning", "attemptStatus": {"id": 2, "taskRoleStatuses": [{"name": "worker", "taskStatuses": tasks}]}}
    found = live([], status)
    assert summary(found) == [
        ("finished", "train-worker-0", "Succeeded, code 0"),
        ("missing", "train-worker-1", "AttemptCreationPending"),
        ("missing", "train-worker-2", "the controller has not seen the task yet"),
    ]
    assert (found.state, found.attempt, found.differs) == ("AttemptRunning", 2, False)


def test_pods_that_are_not_expected() -> None:
    extra = stored(0)
    extra["metadata"]["name"] = "train-worker-7"
    other = stored(0)
    other["metadata"] |= {"name": "other-worker-0", "labels": {"FC_FRAMEWORK_NAME": "other"}}
    found = live([extra, other, *map(stored, range(3))])
    assert summary(found)[1:] == [("unexpected", "train-worker-7", "")]
    assert found.differs


def test_services() -> None:
    served = compile_framework(framework(spec(role(service={"ports": [{"port": 80, "name": "a"}]}))), "default")
    made = service(served.intent.roles[0], "default")
    assert made is not None

    def stands(*objects: Json) -> list[tuple[str, list[tuple[str, Any, Any]]]]:
        status = {"state": "AttemptRunning"}
        return [(name, [tuple(one) for one in found]) for name, found in look(served, status, objects).services]

    port = {"name": "a", "port": 80, "protocol": "TCP", "targetPort": 80}
    there = {**made, "spec": {**made["spec"], "ports": [port], "clusterIPs": ["None"], "type": "ClusterIP", "sessionAffinity": "None"}}
    assert stands(there) == []
    assert stands() == [("train-worker", [("service", ABSENT, "expected")])]
    other = {**there, "spec": {**there["spec"], "ports": [{**port, "port": 81}], "publishNotReadyAddresses": False}}
    assert stands(other) == [("train-worker", [("spec.publishNotReadyAddresses", False, True), ("spec.ports[a].port", 81, 80)])]
    more = {**there, "spec": {**there["spec"], "ports": [port, {**port, "name": "b", "port": 90}]}}
    assert [field for field, _, _ in stands(more)[0][1]] == ["spec.ports[b]"]
    # In the order of the reviewed Service, whatever the hash seed is.
    moved = {**there, "spec": {"ports": [port], "selector": {}, "clusterIP": "10.0.0.1", "publishNotReadyAddresses": False}}
    fields = [field.split(".")[1] for field, _, _ in stands(moved)[0][1]]
    assert list(dict.fromkeys(fields)) == ["publishNotReadyAddresses", *(key for key in made["spec"] if key in ("clusterIP", "selector"))]


@pytest.mark.parametrize("state", [None, "AttemptCreationPending", "AttemptDeleting", "Completed"])
def test_without_an_attempt_there_is_no_service(state: str | None) -> None:
    served = compile_framework(framework(spec(role(service={"ports": [{"port": 80}]}), executionType="Create")), "default")
    assert not look(served, state and {"state": state}, []).differs


@pytest.mark.parametrize("written", [{"name": ""}, {"targetPort": ""}, {"name": "", "targetPort": "", "protocol": ""}])
def test_what_is_empty_in_a_service_is_as_the_api_server_reads_it(written: Json) -> None:
    service_spec = {"ports": [{"port": 80, **written}], "publishNotReadyAddresses": False}
    served = compile_framework(framework(spec(role(service=service_spec))), "default")
    made = service(served.intent.roles[0], "default")
    assert made is not None
    stored = {key: item for key, item in made["spec"].items() if key != "publishNotReadyAddresses"}
    there = {**made, "spec": {**stored, "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]}}
    assert look(served, None, [there]).services == ()
    shown = {**there, "spec": {**there["spec"], "publishNotReadyAddresses": True}}
    assert [found.field for found in look(served, None, [shown]).services[0][1]] == ["spec.publishNotReadyAddresses"]


def test_phases() -> None:
    some = [stored(index) for index in range(3)]
    some[0]["status"]["phase"] = "Failed"
    some[1]["metadata"]["deletionTimestamp"] = "x"
    assert summary(live(some)) == [
        ("as-expected", "train-worker-0", "Failed"),
        ("as-expected", "train-worker-1", "being deleted"),
        ("as-expected", "train-worker-2", ""),
    ]


@pytest.mark.parametrize(
    "status", [None, {}, "x", {"attemptStatus": 5}, {"attemptStatus": {"taskRoleStatuses": [{"name": "worker", "taskStatuses": [1]}]}}]
)
def test_a_status_that_is_none(status: Any) -> None:
    assert {one.kind for one in live([], status).pods} == {"missing"}


def test_a_large_status() -> None:
    tasks = [{"name": "worker", "taskStatuses": []}]
    packed = base64.b64encode(gzip.compress(json.dumps(tasks).encode())).decode()
    assert (
        full_status({"attemptStatus": {"taskRoleStatuses": None, "taskRoleStatusesCompressed": packed}})["attemptStatus"][
            "taskRoleStatuses"
        ]
        == tasks
    )
    deep = base64.b64encode(gzip.compress(b"[" * 100_000)).decode()  # two hundred bytes, that whoever may write the status can write
    for broken in ("!", "AAAA", packed[:20], deep, 5):
        status = {"attemptStatus": {"taskRoleStatusesCompressed": broken}}
        assert full_status(status) == status


@pytest.mark.parametrize(
    ("indices", "expected"), [([7], "7"), ([0, 1, 2], "{0..2}"), ([0, 2], "{0,2}"), ([0, 1, 2, 7, 9, 10], "{{0..2},7,{9..10}}")]
)
def test_indices(indices: list[int], expected: str) -> None:
    assert braces(indices) == expected


@pytest.mark.parametrize(
    ("script", "said"),
    [("echo 'error: no server' >&2; exit 1", "error: no server"), (None, "none in the PATH")],
)
def test_no_cluster(
    script: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if script:
        (tmp_path / "kubectl").write_text(f"#!/bin/sh\n{script}\n")
        os.chmod(tmp_path / "kubectl", 0o755)
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(framework(spec())), encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["diff", "--live", str(path)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(not shutil.which("kubectl"), reason="NO PROGRAM kubectl: it is not in the PATH")
def test_where_kubectl_has_no_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It says only that a server on this machine does not answer, and people look for that."""
    with socket.socket() as probe:
        if probe.connect_ex(("localhost", 8080)) == 0:
            pytest.skip("something on this machine listens where kubectl asks then")
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(framework(spec())), encoding="utf-8")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert main(["diff", "--live", str(path)]) == 2
    assert "? (it asks there where it has no kubeconfig: is the one that $KUBECONFIG names" in capsys.readouterr().err


def test_only_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """kubectl logs each time that it tried before it says what is wrong."""
    log = "E1122 15:50:44.47237{n}   31776 memcache.go:265] couldn't get current server API group list"
    lines = [log.format(n=n) for n in range(7)]
    no_kind = "error: the server doesn't have a resource type 'frameworks'"
    path = tmp_path / "a.yaml"
    path.write_text(json.dumps(framework(spec())), encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    for said, expected in (
        ([*lines, "The connection was refused", "The connection was refused"], "The connection was refused"),
        (lines, lines[-1]),
        ([no_kind], f"{no_kind}: the definition of Framework is missing: `fcompile crd` prints it"),
    ):
        echoed = "\n".join(f'echo "{line}" >&2' for line in said)
        (tmp_path / "kubectl").write_text(f"#!/bin/sh\n{echoed}\nexit 1\n")
        os.chmod(tmp_path / "kubectl", 0o755)
        assert main(["diff", "--live", str(path)]) == 2
        assert capsys.readouterr().err == f"fcompile: --live: kubectl says: {expected}\n"


@pytest.mark.parametrize("pods", [False, True])
@pytest.mark.parametrize("answer", ["<html>log in</html>", "Switched to context a.\n{}", "{}\ndone", '{"items": [', "3"])
def test_an_answer_that_is_no_json_is_not_taken_for_an_empty_cluster(
    answer: str, pods: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program around kubectl prints what it likes. What runs counted as new, and the gate for the end of Pods let it pass."""
    (tmp_path / "a.yaml").write_text(json.dumps(framework(spec())), encoding="utf-8")
    (tmp_path / "answer").write_text(answer)
    good, bad = ("a.yaml", "answer") if pods else ("answer", "a.yaml")
    (tmp_path / "kubectl").write_text(f'#!/bin/sh\ncase "$*" in *pods*) /bin/cat {tmp_path}/{bad};; *) /bin/cat {tmp_path}/{good};; esac\n')
    os.chmod(tmp_path / "kubectl", 0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["diff", "--live", "--fail-on", "ends-pods", str(tmp_path / "a.yaml")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("fcompile: --live: kubectl did not print JSON, but `")
    assert answer.split("\n")[0] in said


def test_a_name_is_no_option_of_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever writes the file can waive the error of its name; kubectl runs what a kubeconfig names."""
    (tmp_path / "kubectl").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/asked\n')
    os.chmod(tmp_path / "kubectl", 0o755)
    waiver = "# fcompile: waive FC151 metadata.name: no reason\n# fcompile: waive FC151 metadata.namespace: no reason\n"
    path = tmp_path / "a.yaml"
    value = framework(spec(), "--kubeconfig=evil")
    value["metadata"]["namespace"] = "--server=evil"
    path.write_text("---\n" + waiver + yaml.dump(value), encoding="utf-8")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    main(["diff", "--live", str(path)])
    asked = (tmp_path / "asked").read_text().splitlines() if (tmp_path / "asked").exists() else []
    assert asked, capsys.readouterr().err
    options = asked[: asked.index("--")]
    assert [option for option in options if "evil" in option] == ["--namespace=--server=evil"]
    assert "--request-timeout=60s" in options  # A server that says nothing would be waited for without an end.


def test_files_without_a_framework_are_no_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pj.yaml"
    path.write_text("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a}\n")
    assert main(["diff", "--live", "--context", "there-is-none", "--fail-on", "ends-pods", str(path)]) == 2
    assert capsys.readouterr().err == f"fcompile: no Framework in {path}: nothing was compared with the cluster\n"
