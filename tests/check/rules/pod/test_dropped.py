"""Fields behind feature gates, and what the structure check says inside them."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.pod import in_force, pod_rules
from fcompile.check.rules.framework.structure import walk
from fcompile.diagnostics.problem import Severity, field_path
from tests.check.rules.pod.pods import check, container, findings, of_main, pod


@pytest.mark.parametrize(
    ("template", "field", "known", "on"),
    [
        (pod(hostUsers=True), "spec.hostUsers", 25, 33),
        (pod(schedulingGates=[{"name": "a"}]), "spec.schedulingGates", 26, 27),
        (pod(resources={"limits": {"cpu": 1}}), "spec.resources", 32, 34),
        (pod(hostnameOverride="h"), "spec.hostnameOverride", 34, 35),
        (pod(workloadRef={"name": "w"}), "spec.workloadRef", 35, None),
        (pod(securityContext={"supplementalGroupsPolicy": "Merge"}), "spec.securityContext.supplementalGroupsPolicy", 31, 33),
        (pod(securityContext={"seLinuxChangePolicy": "Recursive"}), "spec.securityContext.seLinuxChangePolicy", 32, 33),
        (pod(volumes=[{"name": "v", "image": {"reference": "x"}}]), "spec.volumes[0].image", 31, 35),
        (of_main(lifecycle={"stopSignal": "SIGTERM"}), "spec.containers[0].lifecycle.stopSignal", 33, None),
        (of_main(resizePolicy=[]), "spec.containers[0].resizePolicy", 27, 33),
        (
            of_main(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}, "fileKeyRef": {"path": "p"}}}]),
            "spec.containers[0].env[0].valueFrom.fileKeyRef",
            34,
            None,
        ),
    ],
)
def test_gates(template: dict[str, Any], field: str, known: int, on: int | None) -> None:
    assert check(template, known - 1) == []
    assert check(template, known) == [f"FC200 {field}"]
    if on is not None:
        assert check(template, on - 1) == [f"FC200 {field}"]
        assert check(template, on) == []


def test_the_message_says_when_the_field_is_in_force() -> None:
    [finding] = findings(pod(hostUsers=True), 30)
    assert finding.rule.severity is Severity.WARNING
    assert "UserNamespacesSupport" in finding.message
    assert "from 1.33" in finding.message
    [forever] = findings(pod(workloadRef={}), 36)
    assert "every version that is known needs it" in forever.message


def test_nothing_is_dropped_from_null() -> None:
    assert check(pod(hostUsers=None, resources=None, volumes=None), 32) == []


def both(template: dict[str, Any], version: int) -> list[str]:
    """Errors of the structure check and the Pod rules that hold together."""
    found = [*walk(template, "PodTemplateSpec", (), version=version), *pod_rules(template, (), version=version)]
    return [
        f"{finding.rule.code} {field_path(finding.path)}" for finding in in_force(found, version) if finding.rule.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("template", "dropped", "in_force_from"),
    [
        (pod(volumes=[{"name": "v", "image": {"pullPolicy": "never"}}]), 34, 35),
        (pod(schedulingGates=[{"name": "-"}]), 26, 27),
        (pod(hostnameOverride="H"), 34, 35),
        (of_main(lifecycle={"preStop": {"exec": {"command": ["x"]}, "sleep": {"seconds": -1}}}), 29, 30),
        (pod(resources={"limits": {"cpu": "-1"}}), 33, 34),
    ],
)
def test_values_in_dropped_fields_are_not_looked_at(template: dict[str, Any], dropped: int, in_force_from: int) -> None:
    assert both(template, dropped) == []
    assert both(template, in_force_from) != []


@pytest.mark.parametrize("name", [{"name": "A_"}, {"name": ""}, {}, {"name": None}])
def test_the_name_of_a_volume_that_is_taken_out_is_looked_at_in_the_framework(name: dict[str, Any]) -> None:
    """Otherwise the definition refuses what no check told."""
    volume = {**name, "image": {"reference": "x"}}
    assert both(pod(volumes=[volume]), 34) == both(pod(volumes=[volume]), 35) != []


def test_what_cannot_be_read_is_refused_anywhere() -> None:
    assert both(pod(schedulingGates="x"), 26) == ["FC111 spec.schedulingGates"]
    assert both(pod(schedulingGates=[{"nam": "x"}]), 26) == ["FC101 spec.schedulingGates[0].nam"]
    assert both(pod(resources={"limits": {"cpu": "x"}}), 33) == ["FC151 spec.resources.limits.cpu"]


@pytest.mark.parametrize(
    ("number", "is_refused"), [(2**31 - 1, False), (-(2**31), False), (2**31, True), (-(2**31) - 1, True), (1e20, True)]
)
def test_a_number_beyond_its_type_is_refused_anywhere(number: float, is_refused: bool) -> None:
    expected = ["FC131 spec.evictionResponders[0].priority"] if is_refused else []
    assert both(pod(evictionResponders=[{"name": "a.b/c", "priority": number}]), 37) == expected


def test_selectors_of_spread_constraints_in_old_versions() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b c"}}}
    template = pod(topologySpreadConstraints=[constraint])
    assert both(template, 26) == []
    assert both(template, 27) == ["FC151 spec.topologySpreadConstraints[0].labelSelector.matchLabels.a"]


def test_everything_else_stays() -> None:
    template = pod({**container(), "image": ""}, hostUsers=False)
    assert both(template, 30) == ["FC122 spec.containers[0].image"]
