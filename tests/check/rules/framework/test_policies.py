"""Policies that cannot do what they seem to say."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.rules.framework.policies import policies
from tests.check.frameworks import context_of, found, framework, role

FAILED = (0, "frameworkAttemptCompletionPolicy", "minFailedTaskCount")
SUCCEEDED = (0, "frameworkAttemptCompletionPolicy", "minSucceededTaskCount")
POLICY = (0, "frameworkAttemptCompletionPolicy")


@pytest.mark.parametrize(
    ("failed", "succeeded"),
    [(None, None), (1, -1), (4, 1), (1, 4), (2, 3), (3, 2), (4, -1)],
)
def test_policies_that_can_be_reached(failed: int | None, succeeded: int | None) -> None:
    assert found(policies, framework(role(failed=failed, succeeded=succeeded))) == []


@pytest.mark.parametrize(
    ("failed", "succeeded", "expected"),
    [
        (5, -1, [("FC301", FAILED)]),
        (1, 5, [("FC301", SUCCEEDED)]),
        (5, 5, [("FC301", FAILED), ("FC301", SUCCEEDED)]),
        (0, -1, [("FC302", FAILED), ("FC304", ())]),
        (1, 0, [("FC302", SUCCEEDED)]),
        (3, 3, [("FC303", POLICY)]),
        (4, 2, [("FC303", POLICY)]),
        (-1, -1, [("FC304", ())]),
        (-1, 1, []),
    ],
)
def test_completion_policies(failed: int, succeeded: int, expected: list[tuple[str, tuple[str | int, ...]]]) -> None:
    assert found(policies, framework(role(failed=failed, succeeded=succeeded))) == expected


def test_every_mixture_of_a_gap_is_one_and_no_other_is() -> None:
    """FC303 says that some mixture of failed and succeeded tasks reaches neither count: tried with every mixture."""
    for count in range(1, 7):
        for failed in range(1, count + 1):
            for succeeded in range(1, count + 1):
                gap = any(bad < failed and count - bad < succeeded for bad in range(count + 1))
                codes = [code for code, _ in found(policies, framework(role(count=count, failed=failed, succeeded=succeeded)))]
                assert ("FC303" in codes) == gap, (count, failed, succeeded)


def test_a_role_at_rest_may_keep_its_policy() -> None:
    assert found(policies, framework(role("idle", count=0, failed=2), role())) == []


def test_the_fix_of_a_zero_says_the_same() -> None:
    (finding, _) = policies(context_of(framework(role(failed=0))))
    assert finding.fix is not None
    assert finding.fix.text == "-1"


def test_failures_that_end_nothing_leave_nothing_to_retry() -> None:
    retry = {"fancyRetryPolicy": True, "maxRetryCount": 3}
    assert found(policies, framework(role(failed=-1, succeeded=1), retryPolicy=retry)) == [
        ("FC305", ("spec", "retryPolicy", "maxRetryCount"))
    ]
    assert found(policies, framework(role(failed=-1), role("chief", failed=1), retryPolicy=retry)) == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"spec": {"restartPolicy": "Always"}, "succeeded": 1}, [("FC306", SUCCEEDED)]),
        ({"spec": {"restartPolicy": "Always"}, "failed": 1, "succeeded": -1}, []),
        ({"retry": -2, "succeeded": 2}, [("FC306", SUCCEEDED)]),
        ({"retry": -1, "succeeded": 2}, []),
        ({"spec": {"restartPolicy": None}}, [("FC307", (0, "task", "pod", "spec"))]),
        ({"spec": {"restartPolicy": "OnFailure"}, "succeeded": 1}, []),
    ],
)
def test_restart_policies(more: dict[str, object], expected: list[tuple[str, tuple[str | int, ...]]]) -> None:
    assert found(policies, framework(role(**more))) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, ""])
def test_an_empty_restart_policy_is_always_too(value: str | None) -> None:
    written = framework(role())
    spec = written["spec"]["taskRoles"][0]["task"]["pod"]["spec"]
    spec["restartPolicy"] = value
    assert found(policies, written) == [("FC307", (0, "task", "pod", "spec", "restartPolicy"))]


@pytest.mark.parametrize("name", ["restartPolcy", "RestartPolicy", "restart", "resartPolicy"])
def test_a_misspelt_restart_policy_is_not_left_out(name: str) -> None:
    assert found(policies, framework(role(spec={"restartPolicy": None, name: "Never"}))) == []


def test_nothing_runs() -> None:
    assert found(policies, framework(role(count=0), role("b", count=0))) == [("FC308", ())]
    assert found(policies, framework(role(count=0), role("b", count=1))) == []


def test_left_out_counts_are_the_defaults() -> None:
    value = framework(role(count=None))
    assert found(policies, value) == []
    value["spec"]["taskRoles"][0]["frameworkAttemptCompletionPolicy"] = {"minSucceededTaskCount": 2}
    assert found(policies, value) == [("FC301", SUCCEEDED)]


@pytest.mark.parametrize(
    "value", [{}, {"spec": 3}, {"spec": {"taskRoles": [None, 1, "x", {"task": []}, {"taskNumber": "4", "task": {"pod": {"spec": []}}}]}}]
)
def test_anything_can_be_looked_at(value: dict[str, object]) -> None:
    found(policies, value)


ALWAYS = {"restartPolicy": "Always"}


@pytest.mark.parametrize("serving", [{"spec": ALWAYS}, {"retry": -2}])
def test_a_role_that_serves_beside_one_that_ends(serving: dict[str, Any]) -> None:
    assert found(policies, framework(role("ps", **serving), role())) == [("FC309", (1,))]
    for fields in ({"succeeded": 4}, {"succeeded": 1}, {"count": 0}, {"spec": ALWAYS}, {"retry": -2}, {"spec": {"restartPolicy": None}}):
        assert "FC309" not in {code for code, _ in found(policies, framework(role("ps", **serving), role(**fields)))}


def test_roles_that_all_end() -> None:
    assert found(policies, framework(role("ps"), role(), role("scaled", count=0, spec=ALWAYS))) == []
