"""One decision about one task, for each thing that can be found under the name of its Pod."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fcontroller.decide import states
from fcontroller.decide.actions import Action, ConfirmPodGone, CreatePod, DeletePod, RecognizePod, RemovePod
from fcontroller.decide.context import TASK_RETRY, ReconcileContext
from fcontroller.decide.observed import Pod, read_pod
from fcontroller.decide.spec import RetryPolicy, read_role
from fcontroller.decide.status import Task
from fcontroller.decide.task import has_lost_owner, pod_created, pod_deleted, pod_gone, reconcile_task
from tests.decide.world import SETTINGS, START, World, role_spec

KEY = ("a", 1)
TYPES = ("Failed", "Succeeded")


def context(state: str, pod: dict[str, Any] | None = None, timeout: int | None = None, **changes: Any) -> ReconcileContext:
    """A Framework that runs, all of it stored, of which one task is in some state, and has some Pod."""
    world = World({"taskRoles": [role_spec("a", 2, task={"podGracefulDeletionTimeoutSec": timeout})]}, SETTINGS)
    world.run(1)
    made = world.look()
    made.status.waiting.clear()
    task = the_task(made)
    role = made.status.roles[0]
    role.count(task, -1)
    task.state = state
    if state == states.CREATION_PENDING:
        task.attempt.object_uid = None
    if state in states.ENDED:
        task.attempt.completion = {"code": 5, "phrase": "", "type": {"name": "Failed", "attributes": []}, "diagnostics": ""}
    role.count(task, 1)
    made.pods = {key: seen for key, seen in made.pods.items() if key != KEY}
    if pod is not None:
        assert made.config_map is not None
        own = Pod(task.attempt.object_uid or "own", made.config_map.uid, "Running", "node", "10.0.0.1", "10.0.0.2", None, None)
        made.pods = {**made.pods, KEY: own._replace(**pod)}
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def the_task(made: ReconcileContext) -> Task:
    return made.status.roles[0].tasks[1]


def decide(made: ReconcileContext) -> list[Action]:
    reconcile_task(made, made.status.roles[0], the_task(made))
    return made.actions


STRANGER = {"uid": "stranger"}
DONE = msgspec.json.encode(read_pod({"metadata": {"name": "f-a-1"}, "status": {"phase": "Failed"}}))


@pytest.mark.parametrize(
    ("pod", "actions"),
    [
        ({}, [RecognizePod(("a", 1), "stranger")]),
        ({"finished": DONE}, [RecognizePod(("a", 1), "stranger")]),
        ({"finished": DONE, "deletion_start": 0}, [RecognizePod(("a", 1), "stranger")]),
        ({"deletion_start": 0}, []),
        ({"deletion_start": 0, "marked": True}, [DeletePod(("a", 1), "stranger")]),
        ({"controller": "another ConfigMap"}, [CreatePod(("a", 1))]),
    ],
)
def test_a_pod_that_the_status_does_not_know(pod: dict[str, Any], actions: list[Action]) -> None:
    """One that was made, and not remembered, is the task's own; another owner's is in the way, which the creation will say."""
    assert decide(context(states.CREATION_PENDING, {**STRANGER, **pod})) == actions


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("", "Pod is being deleted by others"),
        ("PreemptionByScheduler: makes room", "Pod is being deleted by others: PreemptionByScheduler: makes room"),
    ],
)
def test_it_is_said_who_deletes_a_pod(why: str, said: str) -> None:
    """Whoever looks at night wants to know: was it the scheduler, a drained node, or a colleague?"""
    made = context(states.RUNNING, {"deletion_start": 0.0, "disruption": why})
    decide(made)
    assert the_task(made).attempt.completion == {
        **{"code": -101, "phrase": "PodExternalDeleted", "type": {"name": "Failed", "attributes": ["Transient"]}},
        "diagnostics": said,
    }


def test_a_long_reason_of_a_deletion_is_cut_as_messages_are() -> None:
    made = context(states.RUNNING, {"deletion_start": 0.0, "disruption": "x" * 200_000})
    decide(made)
    completion = the_task(made).attempt.completion
    assert completion is not None
    assert len(completion["diagnostics"]) < 70_000
    assert made.status.cut


def test_one_is_only_recognized_when_it_is_known_what_pods_are_made_from_and_the_state_is_stored() -> None:
    assert decide(context(states.CREATION_PENDING, STRANGER, may_recognize=False)) == []
    assert decide(context(states.CREATION_PENDING, STRANGER, may_create=False)) == [RecognizePod(KEY, STRANGER["uid"])]
    made = context(states.CREATION_PENDING, STRANGER)
    the_task(made).changed = made.status.touch()
    assert decide(made) == []
    assert made.status.waiting == {KEY}


@pytest.mark.parametrize("why", ["it has a Pod", "it is scaled away", "the attempt is ending"])
def test_one_that_cannot_be_the_tasks_own_is_deleted(why: str) -> None:
    made = context(states.RUNNING if why == "it has a Pod" else states.CREATION_PENDING, STRANGER)
    if why == "it is scaled away":
        the_task(made).deletion_pending = True
    elif why == "the attempt is ending":
        made.status.state = states.DELETING
    assert decide(made) == [DeletePod(("a", 1), "stranger")]


def test_a_pod_that_nobody_was_told_to_delete_is_asked_for() -> None:
    """It may have lost its label, and run on, for good: no list shows it any more."""
    made = context(states.DELETION_PENDING)
    task = the_task(made)
    task.changed = made.status.touch()
    assert (decide(made), made.status.waiting) == ([], {KEY})
    made.status.stored = made.status.revision
    assert decide(made) == [ConfirmPodGone(KEY, str(task.attempt.object_uid), task.attempt.completion or {})]


@pytest.mark.parametrize(("state", "ending"), [(state, state == states.DELETION_PENDING) for state in states.COMPLETING])
def test_an_attempt_whose_pod_is_gone_is_over_and_what_follows_is_decided_at_once(state: str, ending: bool) -> None:
    made = context(state)
    if ending:
        made.status.state = states.DELETING  # What has not been told to go goes with the ConfigMap.
    assert decide(made) == []
    assert the_task(made).state == states.COMPLETED
    assert the_task(made).attempt.completion is not None


@pytest.mark.parametrize("state", [states.PREPARING, states.RUNNING])
def test_a_pod_that_nobody_was_seen_to_delete_is_asked_for(state: str) -> None:
    made = context(state)
    uid = the_task(made).attempt.object_uid
    (action,) = decide(made)
    assert isinstance(action, ConfirmPodGone)
    assert (action.uid, action.completion["code"], the_task(made).state) == (uid, -101, state)


@pytest.mark.parametrize(("later", "codes"), [(299, []), (300, [-111])])
def test_a_pod_that_does_not_come_into_the_cache_is_deleted_to_be_sure(later: int, codes: list[int]) -> None:
    made = context(states.CREATION_REQUESTED)
    made.now = the_task(made).transition_time + later
    assert [action.completion["code"] for action in decide(made) if isinstance(action, DeletePod) and action.completion] == codes
    assert [key for _, key in made.requeue_after] == ([] if codes else [KEY])


@pytest.mark.parametrize("state", [states.CREATION_PENDING, states.CREATION_REQUESTED])
def test_a_task_that_is_scaled_away_before_its_pod_was_seen(state: str) -> None:
    made = context(state)
    the_task(made).deletion_pending = True
    (action,) = decide(made)
    assert isinstance(action, RemovePod if state == states.CREATION_PENDING else DeletePod)
    assert action.completion is not None
    assert action.completion["code"] == -230


@pytest.mark.parametrize("state", [states.CREATION_REQUESTED, states.RUNNING, states.DELETION_REQUESTED])
def test_a_pod_that_goes(state: str) -> None:
    made = context(state, {"deletion_start": 0.0})
    assert decide(made) == []
    assert (the_task(made).state, made.status.waiting) == (states.DELETING, {KEY})
    assert (the_task(made).attempt.completion or {})["code"] == (5 if state == states.DELETION_REQUESTED else -101)


@pytest.mark.parametrize(("timeout", "ago", "force"), [(None, 10_000, None), (60, 59, None), (60, 60, True), (0, 0, True)])
def test_one_that_does_not_go_in_time_is_forced(timeout: int | None, ago: float, force: bool | None) -> None:
    made = context(states.DELETING, timeout=timeout)
    made.pods = context(states.DELETING, {"deletion_start": made.now - ago}, timeout).pods
    the_task(made).attempt.object_uid = made.pods[KEY].uid
    assert [(type(action), action.force) for action in decide(made) if isinstance(action, DeletePod)] == (
        [(DeletePod, True)] if force else []
    )


@pytest.mark.parametrize(
    ("pod", "before", "after"),
    [
        ({"phase": "Pending"}, states.CREATION_REQUESTED, states.PREPARING),
        ({"phase": "Pending"}, states.RUNNING, states.PREPARING),
        ({"phase": "Running"}, states.CREATION_REQUESTED, states.RUNNING),
        ({"phase": "Unknown"}, states.RUNNING, states.RUNNING),
        ({"phase": "Failed", "finished": DONE}, states.PREPARING, states.DELETION_PENDING),
        ({"phase": "Running"}, states.DELETION_REQUESTED, states.DELETION_REQUESTED),
    ],
)
def test_a_task_follows_its_pod(pod: dict[str, Any], before: str, after: str) -> None:
    made = context(before, pod)
    assert decide(made) == []
    assert the_task(made).state == after
    assert the_task(made).pod_ip == "10.0.0.1"


def test_where_a_pod_is_is_stored_when_it_changes() -> None:
    made = context(states.RUNNING, {})
    revision = made.status.revision
    decide(made)
    assert made.status.revision == revision
    made.pods = {KEY: made.pods[KEY]._replace(ip="10.0.0.3")}
    decide(made)
    assert (the_task(made).pod_ip, made.status.revision > revision) == ("10.0.0.3", True)


def test_a_pod_is_told_to_go_once_the_end_is_stored() -> None:
    made = context(states.DELETION_PENDING, {})
    uid = the_task(made).attempt.object_uid
    the_task(made).changed = made.status.touch()
    assert decide(made) == []
    made.status.stored = made.status.revision
    assert decide(made) == [DeletePod(("a", 1), str(uid))]


@pytest.mark.parametrize(("owners", "lost"), [(1, False), (2, True), (3, False), (4, True)])
def test_owners_that_the_template_gives_a_pod_are_not_lost(owners: int, lost: bool) -> None:
    made = context(states.RUNNING, {})
    others = [{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": name} for name in ("one", "two")]
    template = {"metadata": {"ownerReferences": others}, "spec": {"containers": [{"name": "main", "image": "a"}]}}
    world = World({"taskRoles": [role_spec("a", 2, task={"pod": template})]}, SETTINGS)
    made.spec = made.spec._replace(roles={"a": read_role(world.spec["spec"]["taskRoles"][0])})
    assert has_lost_owner(made, made.status.roles[0], made.pods[KEY]._replace(owners=owners)) is lost


@pytest.mark.parametrize("why", ["", "busy", "completed", "ending", "not stored", "uid not stored", "role gone", "unknown"])
def test_when_a_pod_is_made(why: str) -> None:
    made = context(states.COMPLETED if why == "completed" else states.CREATION_PENDING, busy={KEY} if why == "busy" else ())
    if why == "ending":
        made.status.state = states.DELETION_REQUESTED
    elif why == "not stored":
        the_task(made).changed = made.status.touch()
    elif why == "uid not stored":
        made.status.attempt_known = made.status.touch()
    elif why == "role gone":
        made.spec = made.spec._replace(roles={})
    elif why == "unknown":
        made.may_create = False
    actions = decide(made)
    assert [type(action) for action in actions] == {"": [CreatePod], "role gone": [RemovePod]}.get(why, [])
    assert (made.status.waiting == {KEY}) is (why in ("not stored", "uid not stored"))


def test_results_that_come_late_change_nothing() -> None:
    made = context(states.RUNNING, {})
    task, revision = the_task(made), made.status.revision
    uid = str(task.attempt.object_uid)
    pod_created(made, KEY, "another", "template")
    pod_deleted(made, KEY, uid)
    pod_deleted(made, ("a", 7), uid)
    assert (task.state, task.attempt.object_uid, made.status.revision) == (states.RUNNING, uid, revision)
    made = context(states.DELETION_PENDING, {})
    pod_deleted(made, KEY, "another")
    assert the_task(made).state == states.DELETION_PENDING
    pod_deleted(made, KEY, str(the_task(made).attempt.object_uid))
    assert the_task(made).state == states.DELETION_REQUESTED
    for state in (states.ATTEMPT_COMPLETED, states.COMPLETED):
        made = context(state)
        pod_gone(made, KEY, {"code": 1})
        assert (the_task(made).state, (the_task(made).attempt.completion or {})["code"]) == (state, 5)


@pytest.mark.parametrize("stored", [True, False])
def test_force_waits_until_it_is_stored_that_the_pod_goes(stored: bool) -> None:
    made = context(states.DELETING, {"deletion_start": 0.0, "marked": True}, timeout=10)
    if not stored:
        the_task(made).changed = made.status.touch()
    assert decide(made) == ([DeletePod(("a", 1), str(the_task(made).attempt.object_uid), force=True)] if stored else [])
    assert (made.status.waiting == {KEY}) is not stored


@pytest.mark.parametrize(("scaled_away", "later", "retried"), [(False, 599, False), (False, 600, True), (True, 0, True)])
def test_a_retry_that_was_decided_comes_and_scaling_away_does_not_wait_for_it(scaled_away: bool, later: int, retried: bool) -> None:
    """Its delay comes from a status of upstream. The policy wants no retry by now."""
    made = context(states.ATTEMPT_COMPLETED)
    task = the_task(made)
    task.retries.delay, task.deletion_pending = 600, scaled_away
    made.now = task.transition_time + later
    assert decide(made) == []
    assert (task.retries.total, task.retries.delay) == ((1, None) if retried else (0, 600))
    assert task.state == (states.CREATION_PENDING if retried else states.ATTEMPT_COMPLETED)


@pytest.mark.parametrize("scaled_away", [True, False])
def test_a_task_that_is_scaled_away_and_done_is_dropped_as_soon_as_that_is_stored(scaled_away: bool) -> None:
    made = context(states.ATTEMPT_COMPLETED)
    the_task(made).deletion_pending = scaled_away
    assert decide(made) == []
    assert the_task(made).state == states.COMPLETED
    assert made.status.waiting == ({KEY} if scaled_away else set())


def test_a_task_that_has_completed_needs_nothing() -> None:
    made = context(states.COMPLETED, STRANGER)
    assert (decide(made), the_task(made).state) == ([], states.COMPLETED)


def test_a_pod_that_has_finished_ends_so_though_the_task_is_scaled_away() -> None:
    made = context(states.RUNNING, {"phase": "Failed", "finished": DONE})
    the_task(made).deletion_pending = True
    assert decide(made) == []
    assert ((the_task(made).attempt.completion or {})["code"], the_task(made).state) == (-300, states.DELETION_PENDING)


def test_a_result_is_stored_before_what_follows_from_it() -> None:
    made = context(states.RUNNING, {})
    pod_gone(made, KEY, {"code": -101, "type": {"name": "Failed", "attributes": []}, "diagnostics": ""})
    assert (the_task(made).state, made.status.waiting) == (states.ATTEMPT_COMPLETED, {KEY})
    made = context(states.RUNNING, {"phase": "Failed", "finished": DONE})
    assert (decide(made), made.status.waiting) == ([], {KEY})
    made = context(states.CREATION_PENDING)
    pod_created(made, KEY, "made", "template")
    assert decide(made) == []
    assert made.requeue_after == [(made.now + 300, KEY)], "if the cache does not show it until then"


@pytest.mark.parametrize(
    ("min_failed", "min_succeeded", "counted"), [(1, -1, ["Failed"]), (-1, 1, ["Succeeded"]), (2, 3, list(TYPES)), (-1, -1, [])]
)
def test_an_end_that_a_policy_counts_is_decisive(min_failed: int, min_succeeded: int, counted: list[str]) -> None:
    def is_decisive(name: str) -> bool:
        made = context(states.RUNNING, {})
        role = made.spec.roles["a"]._replace(min_failed=min_failed, min_succeeded=min_succeeded)
        made.spec = made.spec._replace(roles={"a": role})
        made.status.stored = made.status.revision
        pod_gone(made, KEY, {"code": 1, "type": {"name": name, "attributes": []}, "diagnostics": ""})
        return made.status.decisive > made.status.stored

    assert [name for name in TYPES if is_decisive(name)] == counted


def test_a_pod_that_goes_makes_no_other_end_less_decisive() -> None:
    made = context(states.DELETING, {"deletion_start": START})
    the_task(made).deletion_pending = True
    made.status.decisive = made.status.touch()
    decide(made)
    assert made.status.decisive == made.status.revision


def test_a_retry_is_kept_for_the_history_and_gives_back_what_its_messages_took() -> None:
    made = context(states.ATTEMPT_COMPLETED)
    made.settings = made.settings._replace(snapshots=frozenset({TASK_RETRY}))
    made.spec = made.spec._replace(roles={"a": made.spec.roles["a"]._replace(retry=RetryPolicy(False, 1))})
    task = the_task(made)
    task.attempt.completion = None
    made.status.complete(task, {"code": 5, "type": {"name": "Failed", "attributes": []}, "diagnostics": "x" * 300})
    assert made.status.said == 100
    assert decide(made) == []
    assert (task.state, task.retries.total, task.retries.accountable, task.attempt.id) == (states.CREATION_PENDING, 1, 1, 1)
    assert (made.status.said, made.status.waiting) == (0, {KEY})
    (kept,) = made.status.ended
    assert (kept.trigger, kept.value["attemptStatus"]["id"]) == (TASK_RETRY, 0)


def test_a_task_that_completes_may_end_the_attempt() -> None:
    made = context(states.ATTEMPT_COMPLETED)
    assert decide(made) == []
    assert (made.status.attempt.completion or {})["code"] == 5


def test_force_is_used_only_when_the_clock_of_the_api_server_agrees() -> None:
    made = context(states.DELETING, {"deletion_start": START}, timeout=60)
    made.now, made.server_now = START + 100, START + 59
    assert decide(made) == []
    made.server_now = START + 60
    assert decide(made) == [DeletePod(("a", 1), str(the_task(made).attempt.object_uid), force=True)]
