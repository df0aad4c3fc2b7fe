"""What is said of a digest, and whether it may run, by how strict the controller is; and what holds while an edit was not reviewed."""

from __future__ import annotations

import pytest

from fcompile.pipeline.compiled import compile_framework
from fcontroller.decide.review import LENIENT, Rules, in_force, review
from fcontroller.decide.spec import read_spec
from tests.decide.world import role_spec

ENFORCED, REQUIRED = Rules(enforce=True), Rules(require=True)
SAME, OTHER = "v1:sha256:aa", "v1:sha256:bb"
TRUE, UNKNOWN, FALSE = True, None, False


@pytest.mark.parametrize(
    ("reviewed", "rules", "value", "reason", "may_run"),
    [
        *((SAME, rules, TRUE, "DigestMatches", True) for rules in (LENIENT, ENFORCED, REQUIRED)),
        *((text, LENIENT, FALSE, "DigestDiffers", True) for text in (OTHER, "v1:", "aa", ":", " ")),
        *((text, rules, FALSE, "DigestDiffers", False) for text in (OTHER, "v1:", "aa") for rules in (ENFORCED, REQUIRED)),
        ("v3:sha256:aa", LENIENT, FALSE, "UnknownLowering", True),
        *(("v3:sha256:aa", rules, FALSE, "UnknownLowering", False) for rules in (ENFORCED, REQUIRED)),
        *((text, rules, UNKNOWN, "NotCompiled", True) for text in (None, "") for rules in (LENIENT, ENFORCED)),
        *((text, REQUIRED, FALSE, "NotCompiled", False) for text in (None, "")),
    ],
)
def test_verdicts(reviewed: str | None, rules: Rules, value: bool | None, reason: str, may_run: bool) -> None:
    verdict = review(reviewed, SAME, rules)
    assert (verdict.reviewed, verdict.reason, verdict.may_run) == (value, reason, may_run)
    assert may_run or ("`fcompile build`" in verdict.message and "until then no Pod is made of it" in verdict.message)


def test_of_an_edit_that_was_not_reviewed_counts_and_policies_hold() -> None:
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "f"}}
    policy = {"minFailedTaskCount": 2, "minSucceededTaskCount": 1}
    gone = role_spec("gone", 3, task={"podGracefulDeletionTimeoutSec": 7}, frameworkAttemptCompletionPolicy=policy)
    old = compile_framework({**head, "spec": {"taskRoles": [role_spec("a", 1), gone]}}, "default")
    new = compile_framework({**head, "spec": {"executionType": "Stop", "taskRoles": [role_spec("b", 1), role_spec("a", 5)]}}, "default")
    held = in_force(read_spec(new.framework), old.intent)
    assert (held.execution_type, list(held.roles)) == ("Stop", ["a", "gone"])
    assert held.roles["a"] == read_spec(new.framework).roles["a"]
    assert held.roles["gone"] == read_spec(old.framework).roles["gone"]
    assert in_force(read_spec(new.framework), new.intent) == read_spec(new.framework)
