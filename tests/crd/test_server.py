"""The definition on a real API server: what it refuses, fills in, keeps and shows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fcompile.model.names import API_VERSION, DIGEST_ANNOTATION
from fcompile.pipeline.compiled import compile_framework
from fcompile.schema.crd import crd
from fcompile.schema.pod_schemas import versions_with
from tests.cluster import Cluster
from tests.cluster.cluster import apply_crd

Framework = dict[str, Any]
Edit = Callable[[Framework], object]


def framework(**spec: Any) -> Framework:
    pod = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a"}], "initContainers": [{"name": "i", "image": "a"}]}
    }
    role = {"name": "worker", "taskNumber": 2, "task": {"pod": pod}}
    return {
        "apiVersion": API_VERSION,
        "kind": "Framework",
        "metadata": {"name": "train"},
        "spec": {"taskRoles": [role], **spec},
    }


def role(value: Framework) -> Any:
    return value["spec"]["taskRoles"][0]


def pod(value: Framework) -> Any:
    return role(value)["task"]["pod"]["spec"]


def container(value: Framework) -> Any:
    return pod(value)["containers"][0]


def collection(namespace: str) -> str:
    return f"/apis/{API_VERSION}/namespaces/{namespace}/frameworks"


def create(cluster: Cluster, namespace: str, value: Framework, dry: bool = True) -> tuple[int, Any]:
    query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry else {})}
    return cluster.api.request("POST", collection(namespace), value, query)


def minor(cluster: Cluster) -> int:
    return int(cluster.version.split(".")[1])


def rules_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for rule in node.get("x-kubernetes-validations", ()):
            yield rule["message"]
        for item in node.values():
            yield from rules_in(item)
    elif isinstance(node, list):
        for item in node:
            yield from rules_in(item)


SERVICE = {"ports": [{"name": "a", "port": 80}]}

REFUSED: dict[str, Edit] = {
    "all roles together have at most 10000 tasks": lambda f: f["spec"].update(
        taskRoles=[{**role(f), "name": name, "taskNumber": count} for name, count in (("a", 10_000), ("b", 1))]
    ),
    "has at most 63 characters: shorten the Framework's": lambda f: (
        f["metadata"].update(name="a" * 40),
        role(f).update(name="b" * 30, service=SERVICE),
    ),
    "begins with a letter": lambda f: (f["metadata"].update(name="1a"), role(f).update(service=SERVICE)),
    "host name {role}-{index}": lambda f: (f["metadata"].update(name="a"), role(f).update(name="b" * 60, taskNumber=1001, service=SERVICE)),
    "needs a name for each": lambda f: role(f).update(service={"ports": [{"name": "a", "port": 1}, {"port": 2}]}),
    "have the same name": lambda f: role(f).update(service={"ports": [{"name": "a", "port": 1}, {"name": "a", "port": 2}]}),
    "no probes and no lifecycle hooks": lambda f: pod(f)["initContainers"][0].update(readinessProbe={"exec": {"command": ["a"]}}),
    "does not go with hostPID": lambda f: pod(f).update(hostPID=True, shareProcessNamespace=True),
    "hostUsers: false does not go": lambda f: pod(f).update(hostUsers=False, hostIPC=True),
    "hostnameOverride does not go": lambda f: pod(f).update(hostnameOverride="a", setHostnameAsFQDN=True),
    "at least one nameserver": lambda f: pod(f).update(dnsPolicy="None"),
    "while there are schedulingGates": lambda f: pod(f).update(nodeName="a", schedulingGates=[{"name": "a/b"}]),
    "of a livenessProbe must be 1": lambda f: container(f).update(livenessProbe={"exec": {"command": ["a"]}, "successThreshold": 2}),
    "of a startupProbe must be 1": lambda f: container(f).update(startupProbe={"exec": {"command": ["a"]}, "successThreshold": 2}),
    "not for a readinessProbe": lambda f: container(f).update(
        readinessProbe={"exec": {"command": ["a"]}, "terminationGracePeriodSeconds": 2}
    ),
    "need the container's own restartPolicy": lambda f: container(f).update(
        restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}]
    ),
    "does not go with privileged: true": lambda f: container(f).update(
        securityContext={"privileged": True, "allowPrivilegeEscalation": False}
    ),
    "goes with type Localhost": lambda f: pod(f).update(securityContext={"seccompProfile": {"type": "Localhost"}}),
    "Exists takes no value": lambda f: pod(f).update(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
    "needs operator Exists": lambda f: pod(f).update(tolerations=[{"value": "b"}]),
    "needs the effect NoExecute": lambda f: pod(f).update(tolerations=[{"key": "a", "tolerationSeconds": 3}]),
    "a volume has one source": lambda f: pod(f).update(volumes=[{"name": "a", "emptyDir": {}, "hostPath": {"path": "/"}}]),
    "a probe does one thing": lambda f: container(f).update(livenessProbe={"periodSeconds": 3}),
    "a lifecycle hook does one thing": lambda f: container(f).update(
        lifecycle={"preStop": {"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}}
    ),
    # Without CEL.
    "taskRoles[1]: Duplicate value": lambda f: f["spec"]["taskRoles"].append(copy.deepcopy(role(f))),
    "containers[1]: Duplicate value": lambda f: pod(f)["containers"].append(container(f)),
    "taskNumber in body should be less than or equal to 10000": lambda f: role(f).update(taskNumber=10_001),
    "maxRetryCount in body should be greater than or equal to -2": lambda f: f["spec"].update(retryPolicy={"maxRetryCount": -3}),
    'executionType: Unsupported value: "Run"': lambda f: f["spec"].update(executionType="Run"),
    "activeDeadlineSeconds in body should be greater than or equal to 1": lambda f: f["spec"].update(activeDeadlineSeconds=0),
    "activeDeadlineSeconds in body should be less than or equal to 2147483647": lambda f: f["spec"].update(activeDeadlineSeconds=2**31),
    'activeDeadlineSeconds: Invalid value: "string"': lambda f: f["spec"].update(activeDeadlineSeconds="1h"),
    'cleanPodPolicy: Unsupported value: "all"': lambda f: f["spec"].update(cleanPodPolicy="all"),
    "ttlSecondsAfterFinished in body should be greater than or equal to 0": lambda f: f["spec"].update(ttlSecondsAfterFinished=-1),
    "ttlSecondsAfterFinished in body should be less than or equal to 2147483647": lambda f: f["spec"].update(ttlSecondsAfterFinished=2**31),
    'managedBy: Unsupported value: ""': lambda f: f["spec"].update(managedBy=""),
    'managedBy: Unsupported value: "me"': lambda f: f["spec"].update(managedBy="me"),
    "metadata.name in body should match": lambda f: f["metadata"].update(name="my-train"),
    "taskRoles[0].name in body should match": lambda f: role(f).update(name="my-worker"),
    'env[0]" must not validate': lambda f: container(f).update(
        env=[{"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    ),
    "valueFrom in body should have at least 1 properties": lambda f: container(f).update(env=[{"name": "A", "valueFrom": {}}]),
    'envFrom[0]" must validate one and only one': lambda f: container(f).update(
        envFrom=[{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}]
    ),
    'volumeMounts[0]" must not validate': lambda f: container(f).update(
        volumeMounts=[{"name": "a", "mountPath": "/a", "subPath": "b", "subPathExpr": "c"}]
    ),
    "limits.cpu: Invalid value": lambda f: container(f).update(resources={"limits": {"cpu": "1 core"}}),
    'unknown field "spec.taskRoles[0].task.pod.spec.containers[0].imagePullPolice"': lambda f: container(f).update(
        imagePullPolice="Always"
    ),
}
"""What is refused, by a part of the message."""
NEEDS = {
    "all roles together have at most 10000 tasks": 30,
    "hostUsers: false does not go": 33,
    "hostnameOverride does not go": 35,
    "need the container's own restartPolicy": 35,
    "no probes and no lifecycle hooks": 29,
    "while there are schedulingGates": 27,
}
"""The first Kubernetes minor version that has a rule."""
ENDS = {"begins with a letter": 36}
"""The first that has it no longer."""

ACCEPTED: dict[str, Edit] = {
    "as it is": lambda f: None,
    "nothing but names": lambda f: f["spec"].pop("taskRoles"),
    "placeholders wherever a form is asked for": lambda f: (
        container(f).update(name="c{{FC_TASK_INDEX}}", ports=[{"containerPort": 80, "name": "p-{{FC_TASK_INDEX}}"}]),
        pod(f).update(hostname="h-{{FC_TASK_INDEX}}", nodeSelector={"rack": "r{{FC_TASK_INDEX}}"}),
    ),
    "a sum below zero, which a waiver may allow": lambda f: (
        container(f).update(name="c{{FC_TASK_INDEX-1}}", args=["--left={{FC_TASK_INDEX-1}}"]),
        pod(f).update(nodeSelector={"rack-{{FC_TASK_INDEX-1}}": "r{{FC_TASK_INDEX-1}}"}),
    ),
    "a number of CPUs": lambda f: container(f).update(resources={"requests": {"cpu": 0.5, "memory": 1024}}),
    "nulls": lambda f: (f["spec"].update(description=None, executionType=None), role(f)["task"].update(podGracefulDeletionTimeoutSec=None)),
    "a lifetime at its bounds": lambda f: f["spec"].update(
        activeDeadlineSeconds=2**31 - 1, cleanPodPolicy="None", ttlSecondsAfterFinished=0
    ),
    "nulls for a lifetime": lambda f: f["spec"].update(activeDeadlineSeconds=None, cleanPodPolicy=None, ttlSecondsAfterFinished=None),
    "empty strings where nothing is needed": lambda f: (
        f["spec"].update(description="", executionType="", cleanPodPolicy=""),
        pod(f).update(hostname=""),
    ),
    "a variable given twice": lambda f: container(f).update(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
    "an empty value beside its source": lambda f: container(f).update(
        env=[{"name": "A", "value": "", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    ),
    "a port listed twice": lambda f: container(f).update(ports=[{"containerPort": 80}, {"containerPort": 80}]),
    "a sidecar with a probe": lambda f: pod(f)["initContainers"][0].update(
        restartPolicy="Always", startupProbe={"exec": {"command": ["a"]}}
    ),
    "a service whose name begins with a digit": lambda f: (f["metadata"].update(name="1a"), role(f).update(service=SERVICE)),
    "a service of several ports": lambda f: role(f).update(
        service={
            "ports": [
                {"name": "a", "port": 53},
                {"name": "b", "port": 53, "protocol": "UDP"},
                {"name": "c", "port": 80, "targetPort": "web"},
            ]
        }
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message: str, cluster: Cluster, namespace: str) -> None:
    if minor(cluster) < NEEDS.get(message, 0):
        pytest.skip(f"a rule for 1.{NEEDS[message]} and newer")
    if minor(cluster) >= ENDS.get(message, 1000):
        pytest.skip(f"a rule for what is older than 1.{ENDS[message]}")
    value = framework()
    REFUSED[message](value)
    status, answer = create(cluster, namespace, value)
    assert (status in (400, 422), message in answer["message"]) == (True, True), answer["message"]


def test_every_rule_is_tried(cluster: Cluster) -> None:
    tried = [*REFUSED, "executionType goes", "executionType stays", "managedBy cannot"]
    rules = set(rules_in(crd(minor(cluster))))
    assert {rule for rule in rules if not any(part in rule for part in tried)} == set()


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, cluster: Cluster, namespace: str) -> None:
    if "sidecar" in name and minor(cluster) < 29:
        pytest.skip("sidecars came with 1.29")
    if "a digit" in name and minor(cluster) < 36:
        pytest.skip("so can names of Services since 1.36")
    value = framework()
    ACCEPTED[name](value)
    status, answer = create(cluster, namespace, value)
    assert status == 201, answer["message"]


class TestTransitions:
    @pytest.mark.parametrize(
        ("old", "new", "allowed"),
        [(old, new, new in ways) for old, ways in {
            "Create": ("Create", "Start", "Stop", None),
            "Start": ("Start", "Stop", None),
            "Stop": ("Stop",),
            None: ("Start", "Stop", None),
        }.items() for new in ("Create", "Start", "Stop", None)],
    )  # fmt: skip
    def test_of_the_execution_type(self, old: str | None, new: str | None, allowed: bool, cluster: Cluster, namespace: str) -> None:
        status, stored = create(cluster, namespace, framework(**({"executionType": old} if old else {})), dry=False)
        assert status == 201
        stored["spec"].pop("executionType")
        if new:
            stored["spec"]["executionType"] = new
        status, answer = cluster.api.request("PUT", f"{collection(namespace)}/train", stored)
        assert status == (200 if allowed else 422), answer

    @pytest.mark.parametrize("old", ["frameworkcontroller.microsoft.com/frameworkcontroller", "kueue.x-k8s.io/multikueue", None])
    @pytest.mark.parametrize("new", ["frameworkcontroller.microsoft.com/frameworkcontroller", "kueue.x-k8s.io/multikueue", None])
    def test_managed_by_stays(self, old: str | None, new: str | None, cluster: Cluster, namespace: str) -> None:
        assert create(cluster, namespace, framework(**({"managedBy": old} if old else {})), dry=False)[0] == 201
        status, answer = cluster.api.request("PATCH", f"{collection(namespace)}/train", {"spec": {"managedBy": new}})
        assert (status, "managedBy cannot be changed" in answer.get("message", "")) == ((200, False) if old == new else (422, True))


def test_kubectl_shows_the_state(cluster: Cluster, namespace: str) -> None:
    assert create(cluster, namespace, framework(), dry=False)[0] == 201
    status = {
        "state": "AttemptRunning",
        "retryPolicyStatus": {"totalRetriedCount": 3},
        "taskCounts": {"running": 1, "completed": 4, "total": 5},
        "attemptStatus": {"completionStatus": {"code": 137, "phrase": "Killed", "type": {"name": "Failed"}}},
    }
    assert cluster.api.request("PATCH", f"{collection(namespace)}/train/status", {"status": status})[0] == 200
    heads, row = (line.split() for line in cluster.kubectl("-n", namespace, "get", "fw").stdout.splitlines())
    assert heads == ["NAME", "STATE", "ATTEMPT", "RUNNING", "COMPLETED", "TASKS", "CODE", "PHRASE", "AGE"]
    assert row[:-1] == ["train", "AttemptRunning", "3", "1", "4", "5", "137", "Killed"]
    assert "framework.frameworkcontroller.microsoft.com/train" in cluster.kubectl("-n", namespace, "get", "all", "-o", "name").stdout


def test_the_status_is_kept_as_it_is_and_written_apart_from_the_spec(cluster: Cluster, namespace: str) -> None:
    assert create(cluster, namespace, framework(), dry=False)[0] == 201
    status = {"state": None, "anything": {"at": ["all", None, {"a": 1.5}]}}
    _, stored = cluster.api.request("GET", f"{collection(namespace)}/train")
    changed = {**stored, "status": status, "spec": {**stored["spec"], "description": "changed"}}
    _, answer = cluster.api.request("PUT", f"{collection(namespace)}/train/status", changed)
    assert (answer["status"], "description" in answer["spec"]) == (status, False)
    _, answer = cluster.api.request("PUT", f"{collection(namespace)}/train", {**answer, "status": {}})
    assert answer["status"] == status


class TestAPodFieldThatIsNewerThanTheDefinition:
    """`docs/adr/0004-the-crd-holds-one-versions-pod-fields.md`."""

    FIELD = "hostnameOverride"

    @pytest.fixture
    def old(self, own_cluster: Cluster) -> Cluster:
        first, _ = versions_with("PodSpec", self.FIELD) or (0, 0)
        apply_crd(own_cluster, first - 1)
        return own_cluster

    @pytest.fixture
    def reviewed(self) -> Framework:
        value = framework()
        pod(value)[self.FIELD] = "one"
        compiled = compile_framework(value, "default")
        assert DIGEST_ANNOTATION in compiled.framework["metadata"]["annotations"]
        return compiled.framework

    def test_kubectl_refuses_it_by_name(self, old: Cluster, reviewed: Framework) -> None:
        done = old.kubectl("apply", "-f", "-", input=json.dumps(reviewed), check=False)
        assert (done.returncode, f'unknown field "spec.taskRoles[0].task.pod.spec.{self.FIELD}"' in done.stderr) == (1, True), done.stderr

    def test_a_client_that_is_not_strict_loses_it_and_the_digest_tells(self, old: Cluster, reviewed: Framework) -> None:
        status, stored = old.api.request("POST", collection("default"), reviewed, {"fieldValidation": "Warn"})
        assert (status, self.FIELD in pod(stored)) == (201, False)
        now = compile_framework(stored, "default").framework["metadata"]["annotations"][DIGEST_ANNOTATION]
        assert now != stored["metadata"]["annotations"][DIGEST_ANNOTATION] == reviewed["metadata"]["annotations"][DIGEST_ANNOTATION]
