"""Values field by field: what differs, under which name, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.diff.compare import ABSENT, differences
from fcompile.diff.frameworks import compare
from fcompile.model.fields import Field
from tests.diff.frameworks import Json, diff, framework, role, side, spec


def pods(before: Json, after: Json) -> list[tuple[str, Any, Any]]:
    """What differs between two Pod specs, as differences of a Framework."""
    found = diff(spec(role(pod=before)), spec(role(pod=after)))
    return [(change.field, change.before, change.after) for change in found.changes] if found else []


def container(**fields: Any) -> Json:
    return {"containers": [{"name": "main", "image": "a:1", **fields}]}


MAIN = "spec.containers[main]"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (container(), container(image="b:1"), [(f"{MAIN}.image", "a:1", "b:1")]),
        (container(), container(tty=True), [(f"{MAIN}.tty", ABSENT, True)]),
        (container(env=[{"name": "A", "value": "1"}]), container(), [(f"{MAIN}.env[A]", {"name": "A", "value": "1"}, ABSENT)]),
        (
            container(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
            container(env=[{"name": "B", "value": "3"}, {"name": "A", "value": "1"}]),
            [
                (f"{MAIN}.env[B].value", "2", "3"),
                (f"{MAIN}.env (order)", "A, B", "B, A"),
            ],
        ),
        (
            {**container(), "hostAliases": [{"ip": "1.1.1.1", "hostnames": ["a"]}, {"ip": "2.2.2.2", "hostnames": ["a"]}]},
            {**container(), "hostAliases": [{"ip": "2.2.2.2", "hostnames": ["a"]}, {"ip": "1.1.1.1", "hostnames": ["a"]}]},
            [("spec.hostAliases (order)", "1.1.1.1, 2.2.2.2", "2.2.2.2, 1.1.1.1")],
        ),
        (
            container(volumeMounts=[{"name": "a", "mountPath": "/data"}, {"name": "b", "mountPath": "/data/"}]),
            container(volumeMounts=[{"name": "b", "mountPath": "/data/"}, {"name": "a", "mountPath": "/data"}]),
            [(f"{MAIN}.volumeMounts (order)", "/data, /data/", "/data/, /data")],
        ),
        (
            container(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]),
            container(ports=[{"containerPort": 80, "protocol": "UDP", "name": "x"}, {"containerPort": 80}]),
            [(f"{MAIN}.ports[80/UDP].name", ABSENT, "x")],
        ),
        (
            {"volumes": [{"name": "a", "emptyDir": {}}]},
            {"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}]},
            [("spec.volumes[a].emptyDir.medium", ABSENT, "Memory")],
        ),
        (
            {"volumes": [{"name": "a", "emptyDir": {}}]},
            {"volumes": [{"name": "a", "hostPath": {"path": "/x"}}]},
            [("spec.volumes[a].emptyDir", {}, ABSENT), ("spec.volumes[a].hostPath", ABSENT, {"path": "/x"})],
        ),
        (container(args=["a", "b", "c"]), container(args=["a", "x", "c"]), [(f"{MAIN}.args[1]", "b", "x")]),
        (container(args=["a", "b"]), container(args=["a", "n", "b"]), [(f"{MAIN}.args[1]", ABSENT, "n")]),
        (container(args=["a", "b"]), container(args=["b"]), [(f"{MAIN}.args[0]", "a", ABSENT)]),
        (
            {"tolerations": [{"key": "a", "operator": "Exists"}]},
            {"tolerations": [{"key": "b", "operator": "Exists"}]},
            [("spec.tolerations[].key", "a", "b")],
        ),
        ({"nodeSelector": {"a.b/c": "x"}}, {"nodeSelector": {"a.b/c": "y"}}, [('spec.nodeSelector["a.b/c"]', "x", "y")]),
        ({"hostUsers": False}, {}, [("spec.hostUsers", False, ABSENT)]),
        # What is filled in, whether it is written or not.
        ({"terminationGracePeriodSeconds": 30}, {"terminationGracePeriodSeconds": 60}, [("spec.terminationGracePeriodSeconds", 30, 60)]),
        ({"dnsPolicy": "Default"}, {}, [("spec.dnsPolicy", "Default", "ClusterFirst")]),
        ({}, {"securityContext": {"runAsUser": 1}}, [("spec.securityContext", ABSENT, {"runAsUser": 1})]),
        (
            container(livenessProbe={"tcpSocket": {"port": 1}}),
            container(livenessProbe={"tcpSocket": {"port": 1}, "periodSeconds": 20}),
            [(f"{MAIN}.livenessProbe.periodSeconds", 10, 20)],
        ),
    ],
)
def test_fields(before: Json, after: Json, expected: list[tuple[str, Any, Any]]) -> None:
    assert pods(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (container(resources={"requests": {"cpu": "0.5"}}), container(resources={"requests": {"cpu": "500m"}})),
        (container(resources={"requests": {"memory": "1024Mi"}}), container(resources={"requests": {"memory": "1Gi"}})),
        (container(resources={"limits": {"cpu": 1}}), container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": 1}})),
        (container(), container(imagePullPolicy="IfNotPresent")),
        (container(image="a"), container(image="a", imagePullPolicy="Always")),
        (container(image="h:5000/a@sha256:" + "0" * 64), container(image="h:5000/a@sha256:" + "0" * 64, imagePullPolicy="IfNotPresent")),
        (container(), container(terminationMessagePath="/dev/termination-log", tty=False, command=[])),
        (container(), container(terminationMessagePolicy="FallbackToLogsOnError")),
        (container(ports=[{"containerPort": 80}]), container(ports=[{"containerPort": 80, "protocol": "TCP"}])),
        (container(ports=[{"containerPort": 80}]), container(ports=[{"containerPort": 80, "protocol": "", "name": "", "hostIP": ""}])),
        (container(), container(imagePullPolicy="", terminationMessagePath="", workingDir="")),
        (container(livenessProbe={"exec": {}}), container(livenessProbe={"exec": {}, "periodSeconds": 0, "failureThreshold": 0})),
        (container(image="a", imagePullPolicy=""), container(image="a", imagePullPolicy="Always")),
        ({}, {"dnsPolicy": "", "hostname": "", "nodeName": "", "schedulerName": "", "serviceAccountName": ""}),
        (container(env=[{"name": "A"}]), container(env=[{"name": "A", "value": ""}])),
        (container(args=["{{FC_POD_NAME}}"]), container(args=["train-worker-{{FC_TASK_INDEX}}"])),
        (container(args=["{{FC_FRAMEWORK_NAMESPACE}}"]), container(args=["default"])),
        (container(args=["{{FC_FRAMEWORK_NAME}}-attempt"]), container(args=["{{FC_CONFIGMAP_NAME}}"])),
        (container(tty=None), container()),
        ({}, {"dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30, "hostNetwork": False, "securityContext": {}}),
        (
            {"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "value": "x"}]},
            {"tolerations": [{"key": "b", "operator": "Equal", "value": "x"}, {"key": "a", "operator": "Exists"}]},
        ),
        (
            {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "secret": {"secretName": "s"}}]},
            {"volumes": [{"name": "b", "secret": {"secretName": "s", "defaultMode": 420}}, {"name": "a", "emptyDir": {}}]},
        ),
    ],
)
def test_spelling_makes_no_difference(before: Json, after: Json) -> None:
    assert pods(before, after) == []
    assert pods(after, before) == []


def test_the_only_task_has_index_0() -> None:
    symbolic, literal = container(args=["{{FC_TASK_INDEX}}"]), container(args=["0"])
    assert diff(spec(role(count=1, pod=symbolic)), spec(role(count=1, pod=literal))) is None
    assert diff(spec(role(count=2, pod=symbolic)), spec(role(count=2, pod=literal))) is not None


def test_a_variable_given_twice_is_two() -> None:
    before = container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])
    after = container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "3"}])
    assert pods(before, after) == [(f"{MAIN}.env[A #2].value", "2", "3")]


def test_a_name_like_a_number_hides_nothing() -> None:
    """`A #2` is a name of a variable, too, and took the place of the second `A`."""
    literal = {"name": "A #2", "value": "x"}
    before = container(env=[{"name": "A", "value": "1"}, literal])
    after = container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, literal])
    assert pods(before, after) == [(f"{MAIN}.env[A #2]", ABSENT, {"name": "A", "value": "2"})]
    assert pods(after, before) == [(f"{MAIN}.env[A #2]", {"name": "A", "value": "2"}, ABSENT)]


def test_order_counts_in_objects_of_others() -> None:
    """Nobody here knows what it means there: in steps of a pipeline it is all."""
    steps = [{"name": "test"}, {"name": "deploy"}]
    found = list(differences({"steps": steps}, {"steps": steps[::-1]}))
    assert found == [("steps (order)", "test, deploy", "deploy, test")]


def test_true_is_not_1() -> None:
    assert [one.field for one in differences({"a": 1}, {"a": True})] == ["a"]


def test_lists_of_what_is_nothing_in_particular() -> None:
    assert [tuple(one) for one in differences([1, {"x": 1}], [1, {"x": 2}], path="a")] == [("a[1].x", 1, 2)]
    assert [tuple(one) for one in differences([], [1], path="a")] == [("a[0]", ABSENT, 1)]
    assert [tuple(one) for one in differences({"a": [1]}, {"a": {"b": 1}})] == [("a", [1], {"b": 1})]


def test_items_without_their_key_go_by_place() -> None:
    field = Field("object", ref="PodSpec")
    found = list(differences({"volumes": [{"emptyDir": {}}]}, {"volumes": [{"emptyDir": {}}, {"name": "a"}]}, field))
    assert [one.field for one in found] == ["volumes[1]"]


def test_a_role_with_a_new_name_is_shown_as_a_whole() -> None:
    """With the name, an image and a command could be changed, and only the name was shown."""
    pod = {"containers": [{"name": "main", "image": "evil:1"}]}
    new = role("b", pod=pod)
    new["task"]["pod"]["metadata"] = {"labels": {"x": "y"}}
    found = diff(spec(role("a")), spec(new))
    assert found is not None
    shown = {(change.role, change.part, change.field): change.after for change in found.changes}
    assert shown["b", "pod", "spec"] == {"containers": [{"name": "main", "image": "evil:1"}], "restartPolicy": "Never"}
    assert shown["b", "pod", "metadata"] == {"labels": {"x": "y"}}
    assert shown["a", "pod", "spec"] is ABSENT
    new["task"]["pod"]["metadata"] = {"labels": {"FC_X": "y"}, "annotations": {"FC_TASK": "z"}, "finalizers": ["example.com/x"]}
    new["task"] |= {"retryPolicy": {"maxRetryCount": -2}, "podGracefulDeletionTimeoutSec": 1}
    new["frameworkAttemptCompletionPolicy"] = {"minFailedTaskCount": -1}
    found = diff(spec(role("a")), spec(new))
    assert found is not None
    shown = {(change.role, change.part, change.field): change.after for change in found.changes}
    assert shown["b", "pod", "metadata"] == new["task"]["pod"]["metadata"]
    assert shown["b", "role", "task.retryPolicy"] == {"maxRetryCount": -2, "fancyRetryPolicy": False}
    assert shown["b", "role", "task.podGracefulDeletionTimeoutSec"] == 1
    assert shown["b", "role", "frameworkAttemptCompletionPolicy"] == {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}
    assert ("a", "role", "task.retryPolicy") not in shown, "a default"


def test_a_framework_with_a_new_name_is_shown_as_a_whole() -> None:
    """With the name, an image and a command could be changed, and only the numbers of tasks and what they ask for were shown."""
    own = {"executionType": "Create", "retryPolicy": {"maxRetryCount": 3}, "ttlSecondsAfterFinished": 0, "managedBy": "example.com/x"}
    metadata: Json = {"labels": {"team": "a"}, "annotations": {"example.com/x": "y"}, "finalizers": ["example.com/f"]}
    roles = [role("w", 3, pod={"containers": [{"name": "main", "image": "evil:1"}]}), role("empty", 0, service={"ports": [{"port": 80}]})]
    found = compare(None, side(framework({**spec(*roles, **own)}, **metadata)))
    assert found is not None
    assert {(change.role, change.field): change.after for change in found.changes if change.before is ABSENT} == {
        ("", "metadata.annotations"): {"example.com/x": "y"},
        ("", "metadata.finalizers"): ["example.com/f"],
        ("", "metadata.labels"): {"team": "a"},
        ("", "spec.executionType"): "Create",
        ("", "spec.managedBy"): "example.com/x",
        ("", "spec.retryPolicy"): {"maxRetryCount": 3, "fancyRetryPolicy": False},
        ("", "spec.ttlSecondsAfterFinished"): 0,
        ("empty", "service"): "train-empty (80/TCP)",
        ("empty", "spec"): {
            "containers": [{"name": "main", "image": "a:1"}],
            "hostname": "empty-0",
            "restartPolicy": "Never",
            "subdomain": "train-empty",
        },
        ("w", "spec"): {"containers": [{"name": "main", "image": "evil:1"}], "restartPolicy": "Never"},
    }
    assert (found.kind, found.ends_pods, {change.effect.value for change in found.changes}) == ("added", False, {"on-the-fly"})
    other = compare(None, side(framework(spec(role("w"), description="Start"))))
    assert other is not None
    assert [change.field for change in other.changes if not change.role] == ["spec.description"], "another field's default"
    plain = compare(None, side(framework(spec(role("w")))))
    assert plain is not None
    assert [(change.role, change.field) for change in plain.changes] == [("w", "spec")], "a default"
    gone = compare(side(framework(spec(role("w")))), None)
    assert gone is not None
    assert gone.changes == ()
