"""What a decision knows of time, pauses, restarts and history."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide.actions import DeletePod
from fcontroller.decide.context import FRAMEWORK_RETRY, SNAPSHOTS, TASK_RETRY, ReconcileContext, Settings
from tests.decide.world import SETTINGS, START, World, role_spec


def world(**changes: Any) -> World:
    made = World({"taskRoles": [role_spec("a", 2)], **changes}, SETTINGS)
    made.run(1)
    return made


def context(ahead: float = 0) -> ReconcileContext:
    """One in which our clock is ahead of the one that counts."""
    made = world().look()
    made.now, made.server_now = START + 100, START + 100 - ahead
    return made


@pytest.mark.parametrize(("since", "due", "again"), [(39, True, None), (40, True, None), (41, False, START + 101)])
def test_what_is_due_and_when_to_look_again(since: float, due: bool, again: float | None) -> None:
    made = context()
    assert made.due(START + since, 60, ("a", 1)) is due
    assert made.requeue_after == ([] if again is None else [(again, ("a", 1))])


class HandedOver(World):
    """Those who lead after an attempt has ended have another clock: that of the leader before was an hour ahead."""

    handed_over = 0.0
    retried_after: float | None = None

    def _save(self) -> bool:
        changed = super()._save()
        assert self.stored is not None
        (task,) = self.stored["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"] or [{}]
        if not self.handed_over and "AttemptCompleted" in (self.stored["state"], task.get("state")):
            self.now -= 3600
            self.handed_over = self.now
        retries = [status["retryPolicyStatus"]["totalRetriedCount"] for status in (self.stored, task) if status]
        if self.retried_after is None and any(retries):
            self.retried_after = self.now - self.handed_over
        return changed


ONCE = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 1}}


@pytest.mark.parametrize(("of_framework", "of_task"), [({}, ONCE), (ONCE, {})])
def test_a_retry_without_delay_waits_for_no_clock(of_framework: Any, of_task: Any) -> None:
    made = HandedOver({"taskRoles": [role_spec("a", 1, run="1", exits="1,0", task=of_task)], **of_framework}, SETTINGS)
    made.run(10)
    assert made.handed_over
    assert made.retried_after == 0


def test_a_retry_with_a_delay_waits_for_no_longer_than_that() -> None:
    """The end of the attempt is an hour ahead of us: we waited for that hour too."""
    made = HandedOver({"taskRoles": [role_spec("a", 1, run="1", exits="201,0")], "retryPolicy": {"fancyRetryPolicy": True}}, SETTINGS)
    made.run(7200)
    assert made.handed_over
    assert made.retried_after == SETTINGS.conflict_delay[0]


@pytest.mark.parametrize("hidden", ["hidden", "hidden_config_map"])
def test_what_never_shows_up_is_given_up_after_the_usual_time(hidden: str) -> None:
    made = World({"taskRoles": [role_spec("a", 1)]}, SETTINGS)
    setattr(made, hidden, True)
    made.run(10)
    made.now -= 3600
    made.run(SETTINGS.cache_timeout + 10)
    assert made.stored is not None
    assert made.stored["state"] == "Completed"


def test_what_cannot_be_taken_back_is_due_by_both_clocks() -> None:
    made = context(ahead=50)
    assert made.due(START + 20, 60)
    assert made.due(START + 20, 60, surely=True) is False
    assert made.requeue_after == [(START + 130, None)], "as long as it really takes, on our clock"
    made.server_now = START + 80
    assert made.due(START + 20, 60, surely=True)


@pytest.mark.parametrize(
    ("server", "again"), [(0, 1100), (-50, 1150), (50, 1100), (-61, 160), (61, 160), (-5000, 160), (5000, 160), (None, 1100)]
)
def test_clocks_that_differ_are_looked_at_again(server: float | None, again: float) -> None:
    """The wrong one may be put right, and then it may be time."""
    made = context()
    made.server_now = None if server is None else made.now + server
    assert made.due(START, 1100, surely=True) is False
    assert made.due(START, 1100) is False
    assert made.requeue_after == [(START + again, None), (START + 1100, None)]


@pytest.mark.parametrize(("deleting", "left"), [(False, 0), (True, 1)])
def test_a_pause_holds_deletions_unless_the_framework_itself_goes(deleting: bool, left: int) -> None:
    made = context()
    made.paused, made.deleting, made.actions = True, deleting, [DeletePod(("a", 0), "uid")]
    made.hold()
    assert len(made.actions) == left
    made.paused, made.actions = False, [DeletePod(("a", 0), "uid")]
    made.hold()
    assert len(made.actions) == 1


@pytest.mark.parametrize(
    ("asked", "done", "wanted"), [("", "", False), ("1", "", True), ("1", "1", False), ("2", "1", True), ("", "1", False)]
)
def test_a_restart_is_carried_out_once(asked: str, done: str, wanted: bool) -> None:
    made = context()
    made.restart, made.status.restart, revision = asked, done, made.status.revision
    assert made.restart_wanted is wanted
    made.note_restart()
    assert (made.restart_wanted, made.status.restart) == (False, asked if wanted else done)
    assert (made.status.revision > revision) is wanted, "what was noted is stored"


def test_only_the_history_that_is_wanted_is_kept() -> None:
    made = context()
    ((role, task), _) = made.status.tasks()
    made.settings = made.settings._replace(snapshots=frozenset({TASK_RETRY}))
    made.keep(FRAMEWORK_RETRY)
    made.keep(TASK_RETRY, role, task)
    (kept,) = made.status.ended
    assert (kept.trigger, kept.role, kept.value["index"], kept.attempt) == (TASK_RETRY, role, 0, made.status.attempt)
    made.settings = made.settings._replace(snapshots=frozenset({FRAMEWORK_RETRY}))
    made.keep(FRAMEWORK_RETRY)
    assert made.status.ended[-1].value["state"] == "AttemptRunning"


def test_what_upstream_calls_its_settings_and_their_defaults() -> None:
    assert SNAPSHOTS == ("OnFrameworkRetry", "OnFrameworkDeletion", "OnTaskRetry", "OnTaskDeletion", "OnPodDeletion")
    settings = Settings(lambda pod: {})
    thirty_days, five_minutes, a_minute_to_a_quarter = 2_592_000, 300, (60, 900)
    assert (settings.completed_retention, settings.cache_timeout, settings.conflict_delay) == (
        thirty_days,
        five_minutes,
        a_minute_to_a_quarter,
    )
    assert (settings.tracking_label, settings.snapshots) == ("", frozenset())
