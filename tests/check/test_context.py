"""Templates as the tasks get them, and paths back to the source."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from fcompile.lower.placeholders import role_values, substitute, sums_in, task_values
from tests.check.frameworks import context_of, framework, role
from tests.strategies import frameworks


def indices(spec: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None) -> int:
    """In how many forms a template is checked."""
    more: dict[str, Any] = {key: value for key, value in (("spec", spec), ("metadata", metadata)) if value is not None}
    return len(list(context_of(framework(role(count=12, **more))).templates()))


@pytest.mark.parametrize(
    ("spec", "metadata", "forms"),
    [
        ({}, {}, 1),
        ({"hostname": "w{{FC_TASK_INDEX}}"}, None, 2),
        ({"hostname": "{{FC_POD_NAME}}"}, None, 2),
        ({"hostname": "w{{FC_TASK_INDEX+1}}"}, None, 2),
        ({"containers": [{"name": "c", "args": ["{{FC_TASK_INDEX+1}}"]}]}, None, 1),
        ({"hostname": "{{FC_FRAMEWORK_NAME}}"}, None, 1),
        ({"containers": [{"name": "c", "args": ["{{FC_TASK_INDEX}}"], "command": ["{{FC_POD_NAME}}"]}]}, None, 1),
        ({"containers": [{"name": "c", "env": [{"name": "A", "value": "{{FC_TASK_INDEX}}"}]}]}, None, 1),
        ({"containers": [{"name": "c", "env": [{"name": "A{{FC_TASK_INDEX}}", "value": ""}]}]}, None, 2),
        ({"tolerations": [{"key": "k", "value": "{{FC_TASK_INDEX}}"}]}, None, 2),
        (None, {"annotations": {"a": "{{FC_TASK_INDEX}}"}}, 1),
        (None, {"annotations": {"a{{FC_TASK_INDEX}}": ""}}, 2),
        (None, {"labels": {"a": "{{FC_TASK_INDEX}}"}}, 2),
        (None, {"labels": {"args": "{{FC_TASK_INDEX}}"}}, 2),
    ],
)
def test_the_last_task_is_looked_at_where_the_index_can_matter(spec: Any, metadata: Any, forms: int) -> None:
    assert indices(spec, metadata) == forms


def test_templates_are_the_tasks() -> None:
    context = context_of(
        framework(role(count=12, spec={"hostname": "{{FC_TASKROLE_NAME}}-{{FC_TASK_INDEX}}", "subdomain": "{{FC_FRAMEWORK_NAMESPACE}}"}))
    )
    assert [(template["spec"]["hostname"], template["spec"]["subdomain"]) for _, template in context.templates()] == [
        ("worker-0", "default"),
        ("worker-11", "default"),
    ]


def test_a_substituted_key_leads_back_to_its_source() -> None:
    context = context_of(framework(role(count=12, metadata={"labels": {"k{{FC_TASK_INDEX}}": "v"}})))
    base = ("spec", "taskRoles", 0, "task", "pod", "metadata", "labels")
    for key in ("k0", "k11"):
        assert context.source_path((*base, key)) == (*base, "k{{FC_TASK_INDEX}}")
    assert context.source_path((*base, "other")) == (*base, "other")


def test_a_key_with_a_sum_leads_back_to_its_source() -> None:
    context = context_of(framework(role(count=12, metadata={"labels": {"k{{FC_TASK_INDEX+1}}": "v"}})))
    base = ("spec", "taskRoles", 0, "task", "pod", "metadata", "labels")
    for key in ("k1", "k12"):
        assert context.source_path((*base, key)) == (*base, "k{{FC_TASK_INDEX+1}}")


@given(frameworks())
def test_what_is_checked_is_what_lowering_and_expanding_make(value: dict[str, Any]) -> None:
    """Placeholders are filled in at once here, and there in two steps."""
    context = context_of(value)
    for one in context.roles:
        known, sums = role_values(context.name, one.name), sums_in(one.template)
        for index in (0, one.last_index):
            made = substitute(substitute(one.template, known), task_values(context.namespace, index, sums))
            assert context.substituted(one, index) == made
            assert not sums_in(made)
