"""Names built from the Framework's, and reserved ones."""

from __future__ import annotations

import pytest

from fcompile.check.context import framework_context
from fcompile.check.rules.framework.names import name_rules
from fcompile.check.rules.framework.placeholders import placeholder_rules
from fcompile.check.rules.framework.services import service_rules
from tests.check.frameworks import context_of, found, framework, role

TEMPLATE = (0, "task", "pod")
NAME = (0, "name")


def test_short_names_are_fine() -> None:
    assert found(name_rules, framework(role(), role("ps", service={}))) == []


@pytest.mark.parametrize(
    ("name", "role_name", "count", "expected"),
    [
        ("a" * 30, "b" * 30, 10, []),
        ("a" * 30, "b" * 30, 11, [("FC401", NAME)]),
        ("a" * 30, "b" * 31, 10, [("FC401", NAME)]),
    ],
)
def test_pod_name_as_host_name(name: str, role_name: str, count: int, expected: list[object]) -> None:
    assert found(name_rules, framework(role(role_name, count), name=name)) == expected


def test_a_host_name_of_its_own_is_not_cut() -> None:
    assert found(name_rules, framework(role("b" * 60, spec={"hostname": "w{{FC_TASK_INDEX}}"}), name="a" * 60)) == []


@pytest.mark.parametrize(
    ("name", "role_name", "count", "expected"),
    [
        ("a" * 31, "b" * 31, 10, []),
        ("a" * 32, "b" * 31, 10, [("FC403", NAME)]),
        ("a", "b" * 61, 10, []),
        ("a", "b" * 61, 11, [("FC402", NAME)]),
        ("1a", "b", 1, []),
    ],
)
def test_names_of_a_service(name: str, role_name: str, count: int, expected: list[object]) -> None:
    assert found(name_rules, framework(role(role_name, count, service={}), name=name)) == expected


@pytest.mark.parametrize(("version", "codes"), [(25, ["FC403"]), (35, ["FC403"]), (36, []), (37, [])])
def test_a_service_whose_name_begins_with_a_digit(version: int, codes: list[str]) -> None:
    """From 1.36 on the API server takes it. It was refused."""
    context = framework_context(
        framework(role(service={}), name="1a"), "default", version, lambda path, part: None, holds=False, sums=False
    )
    assert [finding.rule.code for finding in name_rules(context)] == codes


def test_reserved_names() -> None:
    metadata = {"labels": {"FC_TASK_INDEX": "7", "app": "x"}, "annotations": {"FC_TASK_UID": "u"}, "name": "mine", "namespace": "ns"}
    spec = {"containers": [{"name": "c", "env": [{"name": "FC_POD_UID", "value": "1"}, {"name": "FC_OTHER", "value": "1"}]}]}
    assert found(name_rules, framework(role(metadata=metadata, spec=spec))) == [
        ("FC411", (*TEMPLATE, "metadata", "labels", "FC_TASK_INDEX")),
        ("FC411", (*TEMPLATE, "metadata", "annotations", "FC_TASK_UID")),
        ("FC413", (*TEMPLATE, "metadata", "name")),
        ("FC413", (*TEMPLATE, "metadata", "namespace")),
        ("FC412", (*TEMPLATE, "spec", "containers", 0, "env", 0, "name")),
    ]


def test_a_reserved_label_with_the_value_it_gets_anyway() -> None:
    assert found(name_rules, framework(role(metadata={"labels": {"FC_TASK_INDEX": "{{FC_TASK_INDEX}}"}}))) == []


def placeholders(value: dict[str, object]) -> list[tuple[str, tuple[str | int, ...]]]:
    return found(lambda context: placeholder_rules(context, repr(value)), value)


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("{{FC_TASK_INDEX}}", None),
        ("{{{FC_TASK_INDEX}}}", None),
        ("{{ .Values.x }} {{workflow.name}} ${FC_TASK_INDEX} {FC_TASK_INDEX}", None),
        ("{{ FC_TASK_INDEX }}", "{{FC_TASK_INDEX}}"),
        ("a{{FC_TASKINDEX}}b", "a{{FC_TASK_INDEX}}b"),
        ("{{fc_task_index}}", "{{FC_TASK_INDEX}}"),
        ("{{FC_TASK_INDEX} x", "{{FC_TASK_INDEX}} x"),
        ("{{FC_POD_NAMES}}", "{{FC_POD_NAME}}"),
        ("a{{TASK_INDEX}}", "a{{FC_TASK_INDEX}}"),
        ("{{ FRAMEWORK_NAME }}", "{{FC_FRAMEWORK_NAME}}"),
        ("{{POD_NAME}} {{task_index}} {{TASK_INDEXES}}", None),
    ],
)
def test_placeholders(written: str, fixed: str | None) -> None:
    value = framework(role(spec={"nodeName": written}))
    findings = list(placeholder_rules(context_of(value), repr(value)))
    assert [finding.rule.code for finding in findings] == ([] if fixed is None else ["FC421"])
    if fixed is not None:
        assert findings[0].fix is not None
        assert findings[0].fix.text == f'"{fixed}"'


def test_a_placeholder_that_resembles_none_has_no_fix() -> None:
    (finding,) = placeholder_rules(context_of(framework(role(spec={"nodeName": "{{FC_ZZZ}}"}))), "{{FC_ZZZ}}")
    assert finding.fix is None


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("{{FC_TASK_INDEX+1}}", "FC426"),
        ("{{FC_TASK_INDEX-0}}", "FC426"),
        ("{{FC_TASK_INDEX-1}}", "FC425"),
        ("{{FC_TASK_INDEX+100000}}", "FC421"),
        ("{{FC_TASK_INDEX + 1}}", "FC421"),
        ("{{FC_TASK_INDEX*2}}", "FC421"),
        ("{{FC_TASK_INDEX+1+1}}", "FC421"),
        ("{{FC_TASK_INDEX+1}", "FC421"),
        ("{{FC_POD_NAME+1}}", "FC421"),
        ("{{fc_task_index+1}}", "FC421"),
    ],
)
def test_sums(written: str, code: str) -> None:
    value = framework(role(spec={"nodeName": written}))
    assert [finding.rule.code for finding in placeholder_rules(context_of(value), repr(value))] == [code]


def test_a_sum_outside_the_template() -> None:
    assert placeholders(framework(role(), description="{{FC_TASK_INDEX+1}}")) == [("FC422", ("spec", "description"))]


def test_placeholders_outside_the_template() -> None:
    assert placeholders(framework(role(), description="{{FC_FRAMEWORK_NAME}}")) == [("FC422", ("spec", "description"))]


def test_keys_that_collide() -> None:
    labels = {"a-{{FC_FRAMEWORK_NAME}}": "1", "a-train": "2"}
    assert placeholders(framework(role(metadata={"labels": labels}))) == [("FC424", (*TEMPLATE, "metadata", "labels", "a-train"))]


def test_keys_that_collide_with_a_sum() -> None:
    labels = {"a{{FC_TASK_INDEX}}": "1", "a{{FC_TASK_INDEX-0}}": "2", "b{{FC_TASK_INDEX+1}}": "3", "b{{FC_TASK_INDEX}}": "4"}
    found = placeholders(framework(role(metadata={"labels": labels})))
    assert [one for one in found if one[0] == "FC424"] == [("FC424", (*TEMPLATE, "metadata", "labels", "a{{FC_TASK_INDEX-0}}"))]


def test_references() -> None:
    container = {
        "name": "c",
        "env": [
            {"name": "A", "value": "$(FC_TASK_INDEX) $(FC_LATER)"},
            {"name": "FC_LATER", "value": "x"},
        ],
        "args": ["$(FC_LATER)", "$(FC_TASKINDEX)", "$$(FC_TASKINDEX)", "$(OTHER)"],
    }
    base = (*TEMPLATE, "spec", "containers", 0)
    assert placeholders(framework(role(spec={"containers": [container]}))) == [
        ("FC423", (*base, "env", 0, "value")),
        ("FC423", (*base, "args", 1)),
    ]


def test_service_ports() -> None:
    ports = [
        {"name": "a", "port": 1},
        {"port": 2},
        {"name": "a", "port": 3},
        {"name": "c", "port": 1, "protocol": "UDP"},
        {"name": "d", "port": 1},
    ]
    base = (0, "service", "ports")
    assert found(service_rules, framework(role(service={"ports": ports}))) == [
        ("FC511", (*base, 1)),
        ("FC512", (*base, 2, "name")),
        ("FC512", (*base, 4, "port")),
    ]


def test_another_subdomain() -> None:
    assert found(service_rules, framework(role(service={}, spec={"subdomain": "{{FC_FRAMEWORK_NAME}}"}))) == [
        ("FC513", (*TEMPLATE, "spec", "subdomain"))
    ]
    assert found(service_rules, framework(role(service={}, spec={"subdomain": "{{FC_FRAMEWORK_NAME}}-worker"}))) == []


def test_target_ports() -> None:
    spec = {"containers": [{"name": "c", "image": "a", "ports": [{"name": "http", "containerPort": 80}]}]}
    for target, expected in (("http", []), (80, []), ("80", []), ("htp", ["FC516"]), ("grpc", ["FC516"])):
        service = {"ports": [{"port": 80, "targetPort": target}]}
        assert [code for code, _ in found(service_rules, framework(role(service=service, spec=spec)))] == expected
