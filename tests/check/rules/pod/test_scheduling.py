"""Affinity, selectors, tolerations, topology spread, gates and priority."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def expression(operator: Any, *values: Any, key: str = "a") -> dict[str, Any]:
    found: dict[str, Any] = {"key": key, "operator": operator}
    return {**found, "values": list(values)} if values else found


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (expression("In", "x"), []),
        (expression("NotIn", "x", "y"), []),
        (expression("Exists"), []),
        (expression("DoesNotExist"), []),
        (expression("In"), ["FC275 "]),
        ({**expression("NotIn"), "values": []}, ["FC275 .values"]),
        (expression("Exists", "x"), ["FC275 .values"]),
        (expression("DoesNotExist", "x"), ["FC275 .values"]),
        (expression("Gt", "5"), []),
        (expression("Lt", "-5"), ["FC276 .values[0]"]),  # No value of a label.
        (expression("Lt", "5"), []),
        (expression("Gt"), ["FC275 "]),
        (expression("Gt", "5", "6"), ["FC275 .values"]),
        (expression("Gt", "x"), ["FC277 .values[0]"]),
        (expression("In", "a b"), ["FC276 .values[0]"]),
        (expression("In", "x", key="beta.kubernetes.io/os"), ["FC278 .key"]),
        (expression("nonsense", "x"), []),  # For the structure check.
        ({}, []),
    ],
)
def test_requirements_of_node_affinity(requirement: dict[str, Any], expected: list[str]) -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    place = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0]"
    assert check(pod(affinity={"nodeAffinity": {REQUIRED: terms}})) == [line.replace(" ", f" {place}") for line in expected]


def test_values_of_preferred_node_affinity() -> None:
    weighted = {"weight": 1, "preference": {"matchExpressions": [expression("In", "a b"), expression("In")]}}
    found = check(pod(affinity={"nodeAffinity": {PREFERRED: [weighted]}}))
    assert found == [f"FC275 spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[1]"]
    required = {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression("In", "a b")]}]}}
    assert check(pod(affinity={"nodeAffinity": required}), 32) == []


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (expression("In", "node-1", key="metadata.name"), []),
        (expression("NotIn", "node-1", key="metadata.name"), []),
        (expression("In", "a", "b", key="metadata.name"), ["FC276 .values"]),
        (expression("In", key="metadata.name"), ["FC276 "]),
        (expression("Exists", key="metadata.name"), ["FC276 .operator"]),
        (expression("In", "a", key="metadata.uid"), ["FC276 .key"]),
        (expression("In", "A_", key="metadata.name"), ["FC276 .values[0]"]),
    ],
)
def test_fields_of_nodes(requirement: dict[str, Any], expected: list[str]) -> None:
    terms = {"nodeSelectorTerms": [{"matchFields": [requirement]}]}
    place = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0]"
    assert check(pod(affinity={"nodeAffinity": {REQUIRED: terms}})) == [line.replace(" ", f" {place}") for line in expected]


SELECTOR = {"matchLabels": {"app": "x"}}
TERM = {"topologyKey": "zone", "labelSelector": SELECTOR}


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"labelSelector": {}}, []),
        ({"labelSelector": None}, ["FC274 "]),
        ({"labelSelector": {"matchExpressions": [expression("In")]}}, ["FC275 .labelSelector.matchExpressions[0]"]),
        ({"namespaceSelector": {"matchExpressions": [expression("Exists", "x")]}}, ["FC275 .namespaceSelector.matchExpressions[0].values"]),
        ({"matchLabelKeys": ["rev"]}, []),
        ({"matchLabelKeys": ["rev"], "mismatchLabelKeys": ["rev"]}, ["FC273 .matchLabelKeys[0]"]),
        ({"matchLabelKeys": ["rev"], "labelSelector": None}, ["FC274 ", "FC273 .matchLabelKeys"]),
        ({"mismatchLabelKeys": ["rev"], "labelSelector": None}, ["FC274 ", "FC273 .mismatchLabelKeys"]),
        ({"matchLabelKeys": ["app"]}, []),  # The Pod has no such label, so nothing is added.
        ({"matchLabelKeys": ["tier"], "labelSelector": {"matchLabels": {"tier": "x"}}}, ["FC273 .matchLabelKeys[0]"]),
        (
            {"matchLabelKeys": ["FC_TASKROLE_NAME"], "labelSelector": {"matchLabels": {"FC_TASKROLE_NAME": "x"}}},
            ["FC273 .matchLabelKeys[0]"],
        ),
        ({"matchLabelKeys": ["tier", "tier"]}, ["FC273 .matchLabelKeys[0]", "FC273 .matchLabelKeys[1]"]),
    ],
)
def test_terms_of_pod_affinity(kind: str, change: dict[str, Any], expected: list[str]) -> None:
    term = {**TERM, **change}
    for affinity, place in (
        ({REQUIRED: [term]}, f"spec.affinity.{kind}.{REQUIRED}[0]"),
        ({PREFERRED: [{"weight": 1, "podAffinityTerm": term}]}, f"spec.affinity.{kind}.{PREFERRED}[0].podAffinityTerm"),
    ):
        template = pod(affinity={kind: affinity}, metadata={"labels": {"tier": "x"}})
        assert check(template) == [line.replace(" ", f" {place}") for line in expected]


def test_label_keys_of_affinity_by_version() -> None:
    template = pod(affinity={"podAffinity": {REQUIRED: [{**TERM, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"]}]}})
    assert {line.partition(" ")[0] for line in check(template, 30)} == {"FC200"}
    assert {line.partition(" ")[0] for line in check(template, 31)} == {"FC273"}
    assert check(template, 28) == []


def test_node_selectors() -> None:
    assert check(pod(nodeSelector={"kubernetes.io/os": "linux"})) == []
    [found] = check(pod(nodeSelector={"failure-domain.beta.kubernetes.io/zone": "z"}))
    assert found == 'FC278 spec.nodeSelector["failure-domain.beta.kubernetes.io/zone"]'


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "a", "operator": "Exists"}, []),
        ({"operator": "Exists"}, []),
        ({"key": "a", "value": "b"}, []),
        ({"key": "a"}, []),
        ({"key": "a", "operator": "Exists", "value": "b"}, ["value"]),
        ({"key": "a", "operator": "Exists", "value": ""}, []),
        ({}, [""]),
        (None, [""]),
        ({"operator": "Equal", "value": "b"}, ["operator"]),
        ({"key": "", "value": "b"}, ["key"]),
        ({"key": "a", "value": "b c"}, ["value"]),
        ({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}, []),
        ({"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}, ["effect"]),
        ({"key": "a", "operator": "Exists", "tolerationSeconds": 5}, ["tolerationSeconds"]),
        ({"key": "a", "operator": "Exists", "tolerationSeconds": None}, []),
    ],
)
def test_tolerations(toleration: Any, expected: list[str]) -> None:
    place = "spec.tolerations[0]"
    assert check(pod(tolerations=[toleration])) == [f"FC279 {place}.{field}".rstrip(".") for field in expected]


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"minDomains": 2}, []),
        ({"whenUnsatisfiable": "ScheduleAnyway"}, []),
        ({"whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}, ["FC280 .minDomains"]),
        ({"labelSelector": None}, ["FC274 "]),
        ({"labelSelector": {"matchExpressions": [expression("In")]}}, ["FC275 .labelSelector.matchExpressions[0]"]),
        ({"topologyKey": "beta.kubernetes.io/arch"}, ["FC278 .topologyKey"]),
        ({"matchLabelKeys": ["tier"]}, []),
        ({"matchLabelKeys": ["tier", "tier"]}, ["FC273 .matchLabelKeys[0]", "FC273 .matchLabelKeys[1]"]),
        ({"matchLabelKeys": ["tier"], "labelSelector": {"matchLabels": {"tier": "x"}}}, ["FC273 .matchLabelKeys[0]"]),
        ({"matchLabelKeys": ["tier"], "labelSelector": None}, ["FC274 ", "FC273 .matchLabelKeys"]),
    ],
)
def test_spread_constraints(change: dict[str, Any], expected: list[str]) -> None:
    template = pod(topologySpreadConstraints=[{**SPREAD, **change}], metadata={"labels": {"tier": "x"}})
    assert check(template) == [line.replace(" ", " spec.topologySpreadConstraints[0]") for line in expected]


def test_spread_constraints_among_themselves() -> None:
    soft = {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}
    assert check(pod(topologySpreadConstraints=[SPREAD, soft, {**SPREAD, "topologyKey": "host"}])) == []
    assert check(pod(topologySpreadConstraints=[SPREAD, soft, SPREAD])) == ["FC280 spec.topologySpreadConstraints[2]"]


def test_spread_constraints_by_version() -> None:
    def spread(version: int, **change: Any) -> list[str]:
        return check(pod(topologySpreadConstraints=[{**SPREAD, **change}]), version)

    assert spread(26, labelSelector={"matchExpressions": [expression("In")]}) == []
    assert spread(26, matchLabelKeys=["a"]) == ["FC200 spec.topologySpreadConstraints[0].matchLabelKeys"]
    assert spread(26, minDomains=1, whenUnsatisfiable="ScheduleAnyway") == ["FC200 spec.topologySpreadConstraints[0].minDomains"]
    # Before 1.34 the server compared the lists only.
    assert spread(33, matchLabelKeys=["app"]) == ["FC273 spec.topologySpreadConstraints[0].matchLabelKeys[0]"]
    assert spread(34, matchLabelKeys=["app"]) == []
    assert spread(33, matchLabelKeys=["a", "a"]) == []


def test_scheduling_gates() -> None:
    gates = [{"name": "a"}, {"name": "b"}]
    assert check(pod(schedulingGates=gates)) == []
    assert check(pod(schedulingGates=[*gates, {"name": "a"}, {}, None])) == ["FC281 spec.schedulingGates[2].name"]
    assert check(pod(schedulingGates=gates, nodeName="n")) == ["FC281 spec.nodeName"]
    assert check(pod(schedulingGates=[], nodeName="n")) == []
    assert check(pod(schedulingGates=gates, nodeName="n"), 26) == ["FC200 spec.schedulingGates"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"priorityClassName": "high"}, []),
        ({"priorityClassName": "high", "priority": 5}, []),
        ({"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}, []),
        ({"priority": 5}, ["FC283 spec.priority"]),
        ({"priority": 1_000_000_000}, ["FC283 spec.priority"]),
        ({"priority": 1_000_000_001}, ["FC282 spec.priority"]),
        ({"priority": 2_147_483_647, "priorityClassName": "high"}, ["FC282 spec.priority"]),
        ({"preemptionPolicy": "Never"}, ["FC283 spec.preemptionPolicy"]),
        ({"priorityClassName": "system-node-critical", "priority": 2_000_001_000}, []),
        ({"priorityClassName": "system-node-critical", "priority": 0}, ["FC282 spec.priority"]),
        ({"priorityClassName": "system-cluster-critical", "preemptionPolicy": "Never"}, ["FC282 spec.preemptionPolicy"]),
    ],
)
def test_priority(spec: dict[str, Any], expected: list[str]) -> None:
    assert check(pod(**spec)) == expected


def test_overhead() -> None:
    assert check(pod(overhead={"cpu": 1})) == ["FC284 spec.overhead"]
    assert check(pod(overhead={"cpu": 1}, runtimeClassName="kata")) == []
    assert check(pod(overhead={})) == ["FC284 spec.overhead"]
