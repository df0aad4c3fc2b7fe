"""Sums with the task's index: replaced from the rules v2 on, by every way that Pods are made, and left alone by v1."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.emit import json as emit_json
from fcompile.emit.json import canonical
from fcompile.expand import pod
from fcompile.lower.intent import lower
from fcompile.lower.placeholders import sums_in
from fcompile.pipeline.compiled import compile_framework
from fcompile.pipeline.selection import selection
from fcontroller import intent as intents
from fcontroller.decide.status import Role as RoleStatus
from fcontroller.decide.status import Task
from fcontroller.reconcile.pod_renderer import PodRenderer

Json = dict[str, Any]


def framework(*, value: str = "{{FC_TASK_INDEX+1}}", tasks: int = 12) -> Json:
    """A Framework with one variable."""
    container = {"name": "train", "image": "a:1", "env": [{"name": "RANK", "value": value}]}
    role = {"name": "worker", "taskNumber": tasks, "task": {"pod": {"spec": {"restartPolicy": "Never", "containers": [container]}}}}
    return {
        "apiVersion": "frameworkcontroller.microsoft.com/v1",
        "kind": "Framework",
        "metadata": {"name": "train"},
        "spec": {"taskRoles": [role]},
    }


def ranks(pods: list[Json]) -> list[str]:
    return [variable["value"] for made in pods for variable in made["spec"]["containers"][0]["env"] if variable["name"] == "RANK"]


def test_the_index_and_a_number() -> None:
    written = "{{FC_TASK_INDEX+1}} {{FC_TASK_INDEX+99999}} {{FC_TASK_INDEX-0}} {{FC_TASK_INDEX}}"
    compiled = compile_framework(framework(value=written), "default")
    (role,) = compiled.intent.roles
    assert compiled.digest.startswith("v2:sha256:")
    assert ranks([pod(role, "default", index) for index in (0, 11)]) == ["1 99999 0 0", "12 100010 11 11"]


def test_one_sum_in_any_role_is_enough() -> None:
    (plain,) = framework(value="{{FC_TASK_INDEX}}")["spec"]["taskRoles"]
    made = framework()
    made["spec"]["taskRoles"].append({**plain, "name": "ps"})
    compiled = compile_framework(made, "default")
    assert compiled.digest.startswith("v2:sha256:")
    assert ranks([pod(role, "default", 3) for role in compiled.intent.roles]) == ["4", "3"]


@pytest.mark.parametrize("value", ["{{FC_TASK_INDEX+100000}}", "{{FC_TASK_INDEX*2}}", "{{FC_TASK_INDEX + 1}}", "{{FC_POD_NAME+1}}"])
def test_what_is_no_sum_stays(value: str) -> None:
    compiled = compile_framework(framework(value=value), "default")
    assert compiled.digest.startswith("v1:sha256:")
    assert ranks([pod(compiled.intent.roles[0], "default", 3)]) == [value]


def test_what_a_placeholder_leaves_is_not_looked_at_again() -> None:
    compiled = compile_framework(framework(value="{{FC_TASK_INDEX+{{FC_TASK_INDEX}}}} {{FC_TASK_INDEX+1}}"), "default")
    assert ranks([pod(compiled.intent.roles[0], "default", index) for index in (0, 1)]) == [
        "{{FC_TASK_INDEX+0}} 1",
        "{{FC_TASK_INDEX+1}} 2",
    ]


def test_a_framework_without_a_sum_keeps_its_digest() -> None:
    asked = compile_framework(framework(value="{{FC_TASK_INDEX}}"), "default")
    assert asked.intent == lower(compile_framework(framework(value="{{FC_TASK_INDEX}}"), "default").framework, "v1")


def test_the_rules_of_before_leave_a_sum_as_it_is() -> None:
    """A digest of v1 was made where nothing added: what was reviewed is the text."""
    intent = lower(compile_framework(framework(), "default").framework, "v1")
    assert intent.digest.startswith("v1:")
    assert ranks([pod(intent.roles[0], "default", 3)]) == ["{{FC_TASK_INDEX+1}}"]


def test_build_writes_every_pod() -> None:
    compiled = compile_framework(framework(), "default")
    texts = "".join(selection("pods").texts(compiled, emit_json.item))
    assert [texts.count(f'"value": "{rank}"') + texts.count(f'"value":"{rank}"') for rank in (12,)] == [1]
    assert ranks(list(selection("pods").objects(compiled))) == [str(index + 1) for index in range(12)]


def test_a_stored_intent_makes_the_same_pods() -> None:
    intent = compile_framework(framework(), "default").intent
    stored = intents.read_document(canonical(intent.document()))
    assert stored == intent
    assert "sums" not in intent.document()["roles"][0]


def test_the_controller_makes_the_same_pods() -> None:
    compiled = compile_framework(framework(), "default")
    metadata = {**compiled.framework["metadata"], "uid": "u"}
    renderer = PodRenderer(compiled.intent, {**compiled.framework, "metadata": metadata}, "c")
    status = RoleStatus("worker", "role")
    sent = [json.loads(renderer.pod(0, status, Task(index, "task", "", 0.0))) for index in range(12)]
    assert ranks(sent) == [str(index + 1) for index in range(12)]


@pytest.mark.parametrize(
    ("template", "only"),
    [
        ({"labels": {"a": "{{FC_TASK_INDEX}}"}}, True),
        ({"labels": {"a{{FC_FRAMEWORK_NAME}}": "b"}}, True),
        ({"labels": {"a{{FC_TASK_INDEX}}": "b"}}, False),
        ({"labels": {"a{{FC_POD_NAME}}": "b"}}, False),
        ({"labels": {"a": "{{FC_TASK_INDEX+1}}"}}, False),
        ({"memory": "1{{FC_TASK_INDEX}}Mi"}, False),
    ],
)
def test_whether_one_text_serves_all_tasks(template: Json, only: bool) -> None:
    value = framework(value="a")
    pod_template = value["spec"]["taskRoles"][0]["task"]["pod"]
    pod_template["metadata"] = {"labels": template.get("labels", {})}
    if "memory" in template:
        pod_template["spec"]["containers"][0]["resources"] = {"requests": template}
    compiled = compile_framework(value, "default")
    assert compiled.intent.roles[0].one_text_serves_all is only


def test_each_sum_is_found_once() -> None:
    assert sums_in({"a{{FC_TASK_INDEX+2}}": ["{{FC_TASK_INDEX+1}}{{FC_TASK_INDEX+2}}", 1, None]}) == ("FC_TASK_INDEX+1", "FC_TASK_INDEX+2")
