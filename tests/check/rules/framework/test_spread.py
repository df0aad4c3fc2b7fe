"""Spread constraints that count none of the Framework's Pods."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.rules.framework.spread import spread_rules
from tests.check.frameworks import context_of, found, framework, role

OWN = {"app": "bert", "tier": "gpu"}
ADD = "add it to `metadata.labels` of the template, or select by FC_FRAMEWORK_NAME"


def spread(selector: Any, *more: Any) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"topologySpreadConstraints": [constraint, *more]}


def messages(selector: Any, labels: Any = OWN, *others: Any) -> list[str]:
    value = framework(role(metadata={"labels": labels}, spec=spread(selector)), *others)
    return [finding.message for finding in spread_rules(context_of(value))]


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ({"matchLabels": {"app": "brt"}}, "have `app: bert`: write that"),
        ({"matchLabels": {"app": "bert", "team": "nlp"}}, f"have no label `team`: {ADD}"),
        ({"matchLabels": {"training.kubeflow.org/job-name": "bert"}}, f"have no label `training.kubeflow.org/job-name`: {ADD}"),
        ({"matchLabels": {"FC_FRAMEWORK_NAME": "trian"}}, "have `FC_FRAMEWORK_NAME: train`: write that"),
        ({"matchLabels": {"FC_TASKROLE_NAME": "server"}}, "have `FC_TASKROLE_NAME: worker`: write that"),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, "have `app: bert`: write that"),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["bert"]}]}, "have `app: bert`: leave it out"),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, f"have no label `team`: {ADD}"),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, "have `app: bert`: leave it out"),
    ],
)
def test_told(selector: Any, why: str) -> None:
    (said,) = messages(selector)
    assert said == f"this counts no Pod of the role, so it spreads none of them: they {why}"


@pytest.mark.parametrize(
    "selector",
    [
        None,  # Has a rule of its own.
        {},
        {"matchLabels": {"app": "bert"}},
        {"matchLabels": {"FC_FRAMEWORK_NAME": "{{FC_FRAMEWORK_NAME}}", "FC_TASKROLE_NAME": "worker"}},
        {"matchLabels": {"FC_TASK_INDEX": "3"}},
        {"matchLabels": {"app": "{{OTHER}}"}},
        {"matchLabels": {"app": 1}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "bert"]}, {"key": "x", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["a"]}, {"key": "tier", "operator": "Exists"}]},
        {
            "matchExpressions": [
                {"key": "app", "operator": "Inn", "values": ["a"]},
                None,
                {"operator": "Exists"},
                {"key": "app", "operator": "In"},
            ]
        },
        "app=bert",
    ],
)
def test_fine(selector: Any) -> None:
    assert messages(selector) == []


def test_a_label_with_the_index() -> None:
    assert messages({"matchLabels": {"shard": "s-0"}}, {"shard": "s-{{FC_TASK_INDEX}}"}) == []
    assert messages({"matchLabels": {"shard": "s-2"}}, {"shard": "s-{{FC_TASK_INDEX}}"}) == []
    assert messages({"matchLabels": {"pod": "train-worker-2"}}, {"pod": "{{FC_POD_NAME}}"}) == []
    assert messages({"matchLabels": {"app": "train"}}, {"app": "{{FC_FRAMEWORK_NAME}}"}) == []


def test_pods_of_another_role_are_counted() -> None:
    assert messages({"matchLabels": {"app": "ps"}}, OWN, role("ps", metadata={"labels": {"app": "ps"}})) == []


def test_places() -> None:
    expressions = {"matchExpressions": [{"key": "app", "operator": "Exists"}, {"key": "app", "operator": "In", "values": ["a"]}]}
    more = [{**spread({"matchLabels": {"app": "a"}})["topologySpreadConstraints"][0], "topologyKey": "node"}, None, {"labelSelector": 1}]
    value = framework(
        role(metadata={"labels": OWN}, spec=spread(expressions, *more)), role("ps", spec=spread({"matchLabels": {"a": "b"}})), None
    )
    at = ("task", "pod", "spec", "topologySpreadConstraints")
    assert found(spread_rules, value) == [
        ("FC517", (0, *at, 0, "labelSelector", "matchExpressions", 1)),
        ("FC517", (0, *at, 1, "labelSelector", "matchLabels", "app")),
        ("FC517", (1, *at, 0, "labelSelector", "matchLabels", "a")),
    ]
