"""What is said of a digest, and whether it may run, by how strict the controller is; and what holds while an edit was not reviewed."""

from __future__ import annotations

import pytest

from fcompile.pipeline.compiled import compile_framework
from fcontroller.decide.review import Rules, in_force, review, with_what_runs
from fcontroller.decide.spec import RetryPolicy, RoleSpec, Spec, read_spec
from tests.decide.world import SETTINGS, World, role_spec

LENIENT, ENFORCED, REQUIRED = Rules(enforce=False), Rules(), Rules(require=True)
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
    assert may_run or ("`fcompile build`" in verdict.message and "until then no Pod is made of it, and a restart waits" in verdict.message)


def test_what_matches_is_told_of_new_pods() -> None:
    """Those from before an edit run on: it was said that what runs is the digest of the edit."""
    assert review(SAME, SAME, ENFORCED).message == f"New Pods are made from what was reviewed: {SAME}"


def test_of_an_edit_that_was_not_reviewed_counts_and_policies_hold() -> None:
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "f"}}
    policy = {"minFailedTaskCount": 2, "minSucceededTaskCount": 1}
    gone = role_spec("gone", 3, task={"podGracefulDeletionTimeoutSec": 7}, frameworkAttemptCompletionPolicy=policy)
    old = compile_framework({**head, "spec": {"taskRoles": [role_spec("a", 1), gone]}}, "default")
    new = compile_framework({**head, "spec": {"executionType": "Stop", "taskRoles": [role_spec("b", 1), role_spec("a", 5)]}}, "default")
    last = read_spec(old.framework)
    held = in_force(read_spec(new.framework), old.intent, last)
    assert (held.execution_type, list(held.roles)) == ("Stop", ["a", "gone"])
    assert held.roles["a"] == read_spec(new.framework).roles["a"]
    assert held.roles["gone"] == read_spec(old.framework).roles["gone"]
    assert in_force(read_spec(new.framework), new.intent, last) == read_spec(new.framework)


def test_a_role_that_is_removed_keeps_its_tasks() -> None:
    """It fell back to the number that was stored, although the edit before had another: tasks that ran were ended."""
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "f"}}
    stored, last, new = (
        compile_framework({**head, "spec": {"taskRoles": [role_spec("a", 1), *roles]}}, "default")
        for roles in ([role_spec("gone", 1)], [role_spec("gone", 3)], [])
    )
    held = in_force(read_spec(new.framework), stored.intent, read_spec(last.framework))
    assert held.roles["gone"] == read_spec(last.framework).roles["gone"]


@pytest.mark.parametrize("stays", [False, True])
def test_how_many_owners_pods_have_is_said_by_what_they_are_made_from(stays: bool) -> None:
    """By an edit that was not reviewed, or the lack of a role in it, somebody had changed all Pods that ran."""
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "f"}}
    owned = role_spec("a", 1)
    owned["task"]["pod"]["metadata"] = {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}]}
    old = compile_framework({**head, "spec": {"taskRoles": [owned]}}, "default")
    new = compile_framework({**head, "spec": {"taskRoles": [role_spec("a" if stays else "b", 1)]}}, "default")
    assert in_force(read_spec(new.framework), old.intent, read_spec(old.framework)).roles["a"].owners == 2


def test_it_says_whether_pods_are_made() -> None:
    verdict = review(OTHER, SAME, REQUIRED)
    assert (verdict.may_run, "until then no Pod is made of it" in verdict.message) == (False, True)
    assert review(OTHER, SAME, LENIENT).message.endswith("review and apply that")


def test_while_it_is_not_known_what_pods_are_made_from_only_roles_that_run_hold() -> None:
    """One that the spec has lost is what runs of it, and nothing is decided about its tasks that have ended."""
    world = World({"taskRoles": [role_spec("a", 1), role_spec("gone", 3, task={"podGracefulDeletionTimeoutSec": 7})]}, SETTINGS)
    world.run(1)
    assert world.status is not None
    gone = world.status.roles[1]
    gone.count(gone.tasks[2], -1)
    gone.tasks[2].deletion_pending = True
    gone.count(gone.tasks[2], 1)
    world.set_spec({"executionType": "Stop", "taskRoles": [role_spec("new", 1), role_spec("a", 5)]})
    held = with_what_runs(world.rules, world.status)
    assert (held.execution_type, list(held.roles)) == ("Stop", ["a", "gone"])
    assert held.roles["a"] == world.rules.roles["a"]
    assert held.roles["gone"] == RoleSpec("gone", 2, -1, -1, RetryPolicy(False, 0), 7, known=False)


def test_a_task_that_is_still_being_replaced_costs_no_other_its_place() -> None:
    """It was the last one, which runs, that was too many by the number of tasks."""
    world = World({"taskRoles": [role_spec("gone", 3)]}, SETTINGS)
    world.run(1)
    assert world.status is not None
    (gone,) = world.status.roles
    gone.count(gone.tasks[1], -1)
    gone.tasks[1].deletion_pending = True
    gone.count(gone.tasks[1], 1)
    world.set_spec({"taskRoles": [role_spec("new", 1)]})
    assert with_what_runs(world.rules, world.status).roles["gone"].task_number == 3


@pytest.mark.parametrize("spec", [{}, {"taskRoles": None}])
def test_a_spec_that_says_little(spec: dict[str, object]) -> None:
    read = read_spec({"spec": {**spec, "retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 0}}})
    assert (read.execution_type, read.roles, read.task_number) == ("Start", {}, 0)


@pytest.mark.parametrize(
    ("count", "before", "may"), [(10_000, 0, True), (10_001, 10_000, False), (10_500, 10_500, True), (10_501, 10_500, False)]
)
def test_how_many_tasks_a_framework_may_have(count: int, before: int, may: bool) -> None:
    """One that was stored and is larger may stay so, and not grow."""
    retry = RetryPolicy(False, 0)
    assert Spec("Start", retry, {"a": RoleSpec("a", count, 1, -1, retry, None)}).may_have_all(before) is may
