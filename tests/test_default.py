"""Defaults: the manual's, once, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fcompile.default import default
from tests.check.frameworks import framework, role

NEVER = {"fancyRetryPolicy": False, "maxRetryCount": 0}


def test_a_bare_framework_gets_the_manuals_defaults() -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}
    value = framework({"name": "worker", "task": {"pod": template}})
    before = copy.deepcopy(value)
    made, filled = default(value)
    assert made["spec"] == {
        "executionType": "Start",
        "retryPolicy": NEVER,
        "taskRoles": [
            {
                "name": "worker",
                "taskNumber": 1,
                "frameworkAttemptCompletionPolicy": {"minFailedTaskCount": 1, "minSucceededTaskCount": -1},
                "task": {"retryPolicy": NEVER, "pod": template},
            }
        ],
    }
    assert value == before
    assert ("spec", "taskRoles", 0, "taskNumber") in filled
    assert ("spec", "taskRoles", 0, "task", "retryPolicy", "maxRetryCount") in filled
    assert ("spec", "taskRoles", 0, "name") not in filled


def test_what_is_there_stays() -> None:
    value = framework(role(count=7, failed=0, succeeded=3, retry=-2), executionType="Create", retryPolicy={"maxRetryCount": -1})
    made, _ = default(value)
    assert made["spec"]["executionType"] == "Create"
    assert made["spec"]["retryPolicy"] == {"fancyRetryPolicy": False, "maxRetryCount": -1}
    assert made["spec"]["taskRoles"][0]["taskNumber"] == 7
    assert made["spec"]["taskRoles"][0]["frameworkAttemptCompletionPolicy"] == {"minFailedTaskCount": 0, "minSucceededTaskCount": 3}


def test_a_service_gets_defaults_only_when_it_is_asked_for() -> None:
    made, _ = default(framework(role(service={"ports": [{"port": 80}]}), role("ps")))
    first, second = made["spec"]["taskRoles"]
    assert first["service"] == {"ports": [{"port": 80, "protocol": "TCP"}], "publishNotReadyAddresses": True}
    assert "service" not in second


def test_what_only_a_server_sets_goes() -> None:
    value = framework(role())
    value["metadata"] |= {
        "uid": "u",
        "resourceVersion": "1",
        "generation": 3,
        "creationTimestamp": None,
        "managedFields": [],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    }
    value["status"] = {"state": "Completed"}
    made, _ = default(value)
    assert made["metadata"] == {"name": "train"}
    assert "status" not in made


def test_empty_metadata_goes() -> None:
    """The API server does not keep it."""
    value = framework(role())
    value["metadata"] |= {"labels": {}, "annotations": {}, "finalizers": []}
    assert default(value).framework["metadata"] == {"name": "train"}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (
            {"containers": [{"resources": {"limits": {"cpu": 0.5, "memory": 1e9, "nvidia.com/gpu": 1}}}]},
            {"cpu": "0.5", "memory": "1000000000", "nvidia.com/gpu": "1"},
        ),
        ({"containers": [{"resources": {"limits": {"cpu": "500m"}}}]}, {"cpu": "500m"}),
    ],
)
def test_quantities_become_strings(given: dict[str, Any], wanted: dict[str, str]) -> None:
    made, _ = default(framework(role(spec=given)))
    assert made["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["resources"]["limits"] == wanted


def test_what_identifies_an_item_of_a_list_is_filled_in() -> None:
    made, filled = default(framework(role(spec={"containers": [{"name": "c", "ports": [{"containerPort": 80}]}]})))
    base = ("spec", "taskRoles", 0, "task", "pod", "spec", "containers", 0, "ports", 0)
    assert made["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert (*base, "protocol") in filled


def test_null_is_the_same_as_left_out() -> None:
    value = framework(role(spec={"hostNetwork": None}), retryPolicy=None, description=None)
    value["spec"]["taskRoles"][0]["task"]["podGracefulDeletionTimeoutSec"] = None
    made, _ = default(value)
    assert made == default(framework(role())).framework


def test_an_empty_text_is_the_same_as_left_out_where_there_is_a_default() -> None:
    """As the check has it, and the API server too. `kubectl diff --server-side` fails with a port that has no protocol."""
    bare, empty = ({"containers": [{"name": "c", "ports": [{"containerPort": 80, **more}]}]} for more in ({}, {"protocol": ""}))
    given = framework(role(spec=empty, service={"ports": [{"port": 80, "protocol": ""}]}), executionType="")
    assert default(given) == default(framework(role(spec=bare, service={"ports": [{"port": 80}]})))


def test_null_in_a_map_is_an_empty_value() -> None:
    """As the API server reads it. `kubectl apply` would take the entry out of what it has stored, and the digest would be another's."""
    containers = [{"name": "c", "resources": {"limits": {"cpu": None, "memory": "1Gi"}}}]
    made, _ = default(framework(role(spec={"nodeSelector": {"example.com/gpu": None}, "containers": containers})))
    spec = made["spec"]["taskRoles"][0]["task"]["pod"]["spec"]
    assert spec["nodeSelector"] == {"example.com/gpu": ""}
    assert spec["containers"][0]["resources"]["limits"] == {"cpu": "0", "memory": "1Gi"}


def test_whole_numbers_with_a_fraction_are_as_kubectl_sends_them() -> None:
    probe = {"tcpSocket": {"port": 80.0}, "periodSeconds": 5.0, "timeoutSeconds": 1.5}
    ports = [{"port": 80.0, "targetPort": 8080.0}]
    made, _ = default(framework(role(spec={"containers": [{"name": "c", "livenessProbe": probe}]}, service={"ports": ports})))
    first = made["spec"]["taskRoles"][0]
    numbers = [*first["service"]["ports"][0].values(), first["task"]["pod"]["spec"]["containers"][0]["livenessProbe"]["tcpSocket"]["port"]]
    assert repr(numbers) == "[80, 8080, 'TCP', 80]"


ODD = [
    {"containers": {"name": None, "image": "b"}},
    {"containers": "abc"},
    {"containers": [{"name": "c", "command": "abc"}]},
    {"containers": [{"name": "c", "resources": {"limits": [0.5]}}]},
    {"containers": [{"name": "c", "resources": {"limits": {"cpu": True}}}]},
    {"containers": [{"name": "c", "livenessProbe": {"periodSeconds": 1.5}}]},
    {"affinity": [{"nodeAffinity": None}]},
    {"nobodyKnows": {"this": [None, 1.0]}},
]


@pytest.mark.parametrize("spec", ODD)
def test_what_no_field_is_like_stays_as_it_was_written(spec: dict[str, Any]) -> None:
    """`check` says what is wrong with it; nothing else is made of it meanwhile."""
    made, _ = default(framework(role(spec=spec)))
    assert {name: made["spec"]["taskRoles"][0]["task"]["pod"]["spec"][name] for name in spec} == spec
