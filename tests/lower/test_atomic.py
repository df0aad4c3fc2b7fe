"""Atomic lists and objects of a Pod are as the API server stores them; everything else is as it was written."""

from __future__ import annotations

from typing import Any

from fcompile.expand import pod
from fcompile.lower.atomic import as_stored
from fcompile.pipeline.compiled import compile_framework
from tests.check.frameworks import framework, role


def lowered(**spec: Any) -> dict[str, Any]:
    (made,) = compile_framework(framework(role(spec=spec)), "ns").intent.roles
    found: dict[str, Any] = pod(made, "ns", 0)["spec"]
    return found


def test_empty_values_that_the_server_drops() -> None:
    made = lowered(
        containers=[{"name": "c", "image": "b", "tty": False, "envFrom": [{"prefix": "", "secretRef": {"name": "s", "optional": False}}]}],
        tolerations=[{"key": "k", "operator": "", "value": "", "effect": "", "tolerationSeconds": 0}],
    )
    assert made["containers"][0]["envFrom"] == [{"secretRef": {"name": "s", "optional": False}}]
    assert made["tolerations"] == [{"key": "k", "tolerationSeconds": 0}]
    # Not in anything atomic, so that no diff will stumble over it.
    assert made["containers"][0]["tty"] is False


def test_empty_values_that_mean_something() -> None:
    terms = [{"topologyKey": "k", "namespaceSelector": {}, "namespaces": [], "labelSelector": {"matchLabels": {}}}]
    made = lowered(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
    (term,) = made["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term == {"topologyKey": "k", "namespaceSelector": {}, "labelSelector": {}}


def test_defaults() -> None:
    token = {"serviceAccountToken": {"path": "t", "audience": ""}}
    labels = {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}
    env = [
        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": ""}}},
        {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "containerName": ""}}},
        {"name": "C", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1000m"}}},
    ]
    made = lowered(containers=[{"name": "c", "image": "b", "env": env}], volumes=[{"name": "v", "projected": {"sources": [token, labels]}}])
    assert [one["valueFrom"] for one in made["containers"][0]["env"][-3:]] == [
        {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}},
        {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}},
        {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}},
    ]
    assert made["volumes"][0]["projected"]["sources"] == [
        {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}},
        {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels", "apiVersion": "v1"}}]}},
    ]


def test_the_framework_itself_keeps_what_was_written() -> None:
    spec = {"tolerations": [{"key": "k", "effect": ""}]}
    made = compile_framework(framework(role(spec=spec)), "ns").framework
    assert made["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["tolerations"] == [{"key": "k", "effect": ""}]


def test_what_is_no_object_where_there_should_be_one_stays() -> None:
    for odd in (None, "text", ["item"]):
        value = {"affinity": odd, "tolerations": odd, "containers": [odd]}
        assert as_stored(value, "PodSpec") == value
