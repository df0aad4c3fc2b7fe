"""All rules over one Framework: everything is told, and nothing twice."""

from __future__ import annotations

from typing import Any

from fcompile.check.framework import check_framework
from tests.check.frameworks import context_of, framework, role

TEMPLATE = ("spec", "taskRoles", 0, "task", "pod")


def checked(value: dict[str, Any]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(finding.rule.code, finding.path) for finding in check_framework(context_of(value), repr(value))]


def test_two_misspelt_placeholders_in_one_string_are_two_problems() -> None:
    path = (*TEMPLATE, "spec", "nodeName")
    found = check_framework(context_of(framework(role(spec={"nodeName": "{{FC_TASKINDEX}}.{{FC_PODNAME}}"}))), "{{FC_TASKINDEX}}")
    assert [finding.path for finding in found if finding.rule.code == "FC421"] == [path, path]


def test_what_is_wrong_for_every_task_is_told_once() -> None:
    value = framework(
        role(count=12, spec={"hostname": "Worker-{{FC_TASK_INDEX}}"}, metadata={"labels": {"bad key {{FC_TASK_INDEX}}": "v"}})
    )
    found = checked(value)
    assert found.count(("FC151", (*TEMPLATE, "spec", "hostname"))) == 1
    assert found.count(("FC152", (*TEMPLATE, "metadata", "labels", "bad key {{FC_TASK_INDEX}}"))) == 1


def test_what_is_wrong_for_the_last_task_only_is_told() -> None:
    name = "w" * 62 + "{{FC_TASK_INDEX}}"
    assert checked(framework(role(count=10, spec={"hostname": name}))) == []
    assert checked(framework(role(count=11, spec={"hostname": name}))) == [("FC151", (*TEMPLATE, "spec", "hostname"))]


def test_placeholders_leave_no_fix() -> None:
    (finding,) = check_framework(context_of(framework(role(spec={"{{FC_TASKROLE_NAME}}": 1}))), "{{FC_TASKROLE_NAME}}")
    assert finding.path == (*TEMPLATE, "spec", "{{FC_TASKROLE_NAME}}")
    assert finding.fix is None
