"""Whether an attempt is followed by another: every row of the rules, in their order."""

from __future__ import annotations

import pytest

from fcontroller.decide import codes
from fcontroller.decide.codes import Code
from fcontroller.decide.retry import RetryDecision, retry_decision
from fcontroller.decide.spec import RetryPolicy

PLAIN, TRANSIENT, CONFLICT = Code(7, "Plain"), Code(8, "T", ("Transient",)), Code(9, "TC", ("Transient", "Conflict"))
PERMANENT = Code(10, "P", ("Permanent",))
NO = RetryDecision(False)
COUNTED = RetryDecision(True)
FREE = RetryDecision(True, accountable=False)


@pytest.mark.parametrize("code", [codes.STOPPED, codes.FRAMEWORK_ATTEMPT_ENDS, codes.SCALED_DOWN])
@pytest.mark.parametrize("policy", [RetryPolicy(True, -2), RetryPolicy(False, -1), RetryPolicy(False, 9)])
def test_what_was_wanted_is_never_retried(code: Code, policy: RetryPolicy) -> None:
    assert retry_decision(policy, 0, code.ended("")) == NO


@pytest.mark.parametrize("policy", [RetryPolicy(False, 0), RetryPolicy(True, 0), RetryPolicy(False, 2), RetryPolicy(False, -2)])
def test_a_restart_is_always_followed_by_another_attempt_and_never_counts(policy: RetryPolicy) -> None:
    assert retry_decision(policy, 2, codes.RESTARTED.ended("")) == FREE


@pytest.mark.parametrize(
    ("code", "fancy", "limit", "before", "decision"),
    [
        (TRANSIENT, True, 0, 5, FREE),
        (CONFLICT, True, 0, 5, RetryDecision(True, accountable=False, conflict=True)),
        (PERMANENT, True, -2, 0, NO),
        (PERMANENT, False, 1, 0, COUNTED),
        (TRANSIENT, False, 0, 0, NO),
        (PLAIN, True, 0, 0, NO),
        (PLAIN, True, 2, 1, COUNTED),
        (PLAIN, False, 2, 1, COUNTED),
        (PLAIN, False, 2, 2, NO),
        (PLAIN, False, -1, 1000, COUNTED),
        (PLAIN, False, -2, 1000, COUNTED),
        (codes.SUCCEEDED, True, 5, 0, NO),
        (codes.SUCCEEDED, False, -1, 0, NO),
        (codes.SUCCEEDED, True, -2, 1000, COUNTED),
    ],
)
def test_the_policy(code: Code, fancy: bool, limit: int, before: int, decision: RetryDecision) -> None:
    assert retry_decision(RetryPolicy(fancy, limit), before, code.ended("")) == decision


def test_attributes_of_a_configured_code_may_be_null() -> None:
    completion = {"code": 77, "type": {"name": "Failed", "attributes": None}}
    assert retry_decision(RetryPolicy(True, 0), 0, completion) == NO


def test_attributes_only_count_of_failures() -> None:
    completion = {"code": 0, "type": {"name": "Succeeded", "attributes": ["Transient"]}}
    assert retry_decision(RetryPolicy(True, 0), 0, completion) == NO


def test_kinds_of_retries() -> None:
    assert [decision.kind for decision in (COUNTED, FREE, RetryDecision(True, accountable=False, conflict=True))] == [
        "accountable",
        "transient",
        "conflict",
    ]
