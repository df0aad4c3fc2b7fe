"""Quantities of a Pod are those that the API server would write, wherever they are."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.emit import yaml
from fcompile.expand import pod
from fcompile.load import values
from fcompile.lower.quantities import canonical_quantities, has_symbolic_quantity
from fcompile.pipeline.compiled import compile_framework
from fcompile.pipeline.selection import Selection
from tests.check.frameworks import framework, role

SPEC: dict[str, Any] = {
    "overhead": {"cpu": "0.25"},
    "initContainers": [{"name": "i", "image": "b", "resources": {"limits": {"memory": "1024Mi"}}}],
    "containers": [
        {
            "name": "c",
            "image": "b",
            "resources": {"requests": {"cpu": 0.5, "memory": "0.5Gi", "nvidia.com/gpu": "1000m"}},
            "env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1000m"}}}],
        }
    ],
    "volumes": [
        {"name": "v", "emptyDir": {"sizeLimit": "2048Mi"}},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1024Gi"}}}}}},
    ],
}


def test_everywhere() -> None:
    value = framework(role(spec=SPEC))
    (made,) = compile_framework(value, "ns").intent.roles
    spec = pod(made, "ns", 0)["spec"]
    assert spec["overhead"] == {"cpu": "250m"}
    assert spec["initContainers"][0]["resources"]["limits"] == {"memory": "1Gi"}
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "512Mi", "nvidia.com/gpu": "1"}
    assert spec["containers"][0]["env"][-1]["valueFrom"]["resourceFieldRef"]["divisor"] == "1"
    assert spec["volumes"][0]["emptyDir"]["sizeLimit"] == "2Gi"
    assert spec["volumes"][1]["ephemeral"]["volumeClaimTemplate"]["spec"]["resources"]["requests"] == {"storage": "1Ti"}


def test_an_amount_that_depends_on_the_task() -> None:
    limits = {"memory": "102{{FC_TASK_INDEX}}Mi", "cpu": "{{FC_TASK_INDEX}}000m", "example.com/x": "{{FC_TASK_INDEX}}000"}
    compiled = compile_framework(
        framework(role(count=12, spec={"containers": [{"name": "c", "image": "b", "resources": {"limits": limits}}]})), "ns"
    )
    pods = Selection(("pods",))
    printed = values("".join(pods.texts(compiled, yaml.document)).encode())
    assert printed == list(pods.objects(compiled))
    found = [made["spec"]["containers"][0]["resources"]["limits"] for made in printed]
    assert [amounts["memory"] for amounts in found[3:6]] == ["1023Mi", "1Gi", "1025Mi"]
    assert [amounts["cpu"] for amounts in found[:2]] == ["0", "1"]
    assert [amounts["example.com/x"] for amounts in (found[1], found[10])] == ["1k", "10k"]


def test_the_framework_itself_keeps_what_was_written() -> None:
    made = compile_framework(framework(role(spec=SPEC)), "ns").framework
    template = made["spec"]["taskRoles"][0]["task"]["pod"]["spec"]
    assert template["containers"][0]["resources"]["requests"] == {"cpu": "0.5", "memory": "0.5Gi", "nvidia.com/gpu": "1000m"}


def test_equal_amounts_have_one_digest() -> None:
    def digest(memory: str) -> str:
        containers = [{"name": "c", "image": "b", "resources": {"limits": {"memory": memory}}}]
        return compile_framework(framework(role(spec={"containers": containers})), "ns").intent.digest

    assert digest("1024Mi") == digest("1Gi") != digest("1G")


def test_an_object_without_quantities_is_not_copied() -> None:
    value = {
        "containers": [{"name": "c", "image": "b", "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}],
        "nodeSelector": {"a": "1024Mi"},
    }
    assert canonical_quantities(value, "PodSpec") == value
    assert canonical_quantities(value, "PodSpec")["nodeSelector"] is value["nodeSelector"]


@pytest.mark.parametrize(
    ("limits", "symbolic"),
    [
        ({"cpu": "{{FC_TASK_INDEX}}"}, True),
        ({"cpu": "1", "memory": "1{{FC_TASK_INDEX}}Gi"}, True),
        ({"memory": "1{{FC_TASK_INDEX}}Gi", "cpu": "1"}, True),
        ({"cpu": "1", "memory": "1Gi"}, False),
        ({}, False),
    ],
)
def test_whether_an_amount_depends_on_the_task(limits: dict[str, str], symbolic: bool) -> None:
    spec = {"hostname": "{{FC_TASK_INDEX}}", "containers": [{"name": "c", "resources": {"limits": limits}}]}
    assert has_symbolic_quantity(spec, "PodSpec") is symbolic


ODD = [
    {"containers": "1000m"},
    {"containers": {"resources": {"limits": {"cpu": "1000m"}}}},
    {"containers": ["1000m", {"name": "c", "args": [{"cpu": "1000m"}], "resources": "1000m"}]},
    {"containers": [{"resources": {"limits": ["1000m"]}}]},
    {"affinity": "1000m", "nodeSelector": ["1000m"], "overhead": {"cpu": 1, "memory": None}},
    {"volumes": [{"emptyDir": {"sizeLimit": 1024}}]},
]


@pytest.mark.parametrize("spec", ODD)
def test_what_is_of_another_type_is_left_alone(spec: dict[str, Any]) -> None:
    """The controller lowers what is stored, whoever has checked it."""
    assert canonical_quantities(spec, "PodSpec") == spec
