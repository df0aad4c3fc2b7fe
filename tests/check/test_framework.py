"""All rules over one Framework: everything is told, and nothing twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

import fcompile
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


@pytest.mark.parametrize("add", ["", "+1", "-0", "+99999"])
def test_a_sum_is_judged_by_what_it_becomes(add: str) -> None:
    index = "{{FC_TASK_INDEX" + add + "}}"
    container = {"name": f"c{index}", "image": f"a:{index}", "resources": {"requests": {"memory": f"{index}Gi"}}}
    labels = {f"k{index}": f"r{index}"}
    value = framework(role(metadata={"labels": labels}, spec={"containers": [container], "nodeSelector": labels, "hostname": f"h-{index}"}))
    assert {code for code, _ in checked(value)} <= {"FC426"}


def test_a_sum_that_is_too_long_for_the_last_task_is_told() -> None:
    name = "w" * 62 + "{{FC_TASK_INDEX+1}}"
    refused = [("FC151", (*TEMPLATE, "spec", "hostname"))]
    for count, expected in ((9, []), (10, refused)):
        assert [one for one in checked(framework(role(count=count, spec={"hostname": name}))) if one[0] != "FC426"] == expected


@pytest.mark.parametrize("added", ["{{FC_TASK_INDEX+1}}", "{{FC_TASK_INDEX-0}}", r"{{FC_TASK_INDEX\x2b1}}", r"{{FC_TASK\x5FINDEX\u002d0}}"])
def test_a_sum_is_found_however_it_is_written(added: str) -> None:
    """The text of a document says what is not looked for in it."""
    value = framework(role(spec={"hostname": "SUM-" + 62 * "a"}))
    found = fcompile.compile(text="# YAML\n" + json.dumps(value).replace("SUM", added)).problems
    assert [problem.rule.code for problem in found] == ["FC151", "FC426"]
