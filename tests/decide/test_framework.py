"""One decision about the Framework itself: its attempt's ConfigMap, Stop, policies, and what waits for what."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide import framework, states
from fcontroller.decide.actions import (
    ConfirmConfigMapGone,
    ConfirmPodGone,
    CreateConfigMap,
    CreatePod,
    DeleteConfigMap,
    DeletePod,
    ReleaseConfigMap,
    RemoveConfigMap,
)
from fcontroller.decide.completion import ended_with_the_attempt
from fcontroller.decide.context import FRAMEWORK_RETRY, ReconcileContext
from fcontroller.decide.framework import config_map_created, reconcile_framework
from fcontroller.decide.observed import Pod
from fcontroller.decide.spec import RetryPolicy
from fcontroller.decide.states import COMPLETED, CREATION_PENDING, CREATION_REQUESTED, RUNNING
from fcontroller.decide.status import IntentRecord, Key
from fcontroller.decide.status_json import to_json
from fcontroller.decide.task import pod_gone
from tests.decide.world import SETTINGS, START, World, role_spec

UNTIL_STOP = {"code": 5, "phrase": "", "type": {"name": "Failed", "attributes": []}, "diagnostics": ""}


def begun(state: str = RUNNING, config_map: bool = True, execution: str = "Start") -> ReconcileContext:
    """A Framework that runs, all of it stored, which is then in some state, with or without a ConfigMap in the cache."""
    world = World({"taskRoles": [role_spec("a", 2)]}, SETTINGS)
    world.run(1)
    world.rules = world.rules._replace(execution_type=execution)
    context = world.look()
    context.status.state = state
    if not config_map:
        context.config_map = None
    return context


def end(context: ReconcileContext) -> int | None:
    """How the attempt has ended."""
    return None if context.status.attempt.completion is None else int(context.status.attempt.completion["code"])


def test_a_new_framework_is_stored_before_anything_is_done() -> None:
    world = World({"taskRoles": [role_spec("a", 2)]}, SETTINGS)
    context = world.look()
    reconcile_framework(context)
    status = context.status
    assert (status.state, [len(role.tasks) for role in status.roles], context.actions) == (CREATION_PENDING, [2], [])
    assert not context.looked_at_tasks
    status.stored = status.revision
    world.status = status
    again = world.look()
    reconcile_framework(again)
    assert again.actions == [CreateConfigMap()]
    assert not again.looked_at_tasks


@pytest.mark.parametrize("state", [CREATION_PENDING, RUNNING])
def test_nothing_is_decided_while_something_is_done_for_the_framework(state: str) -> None:
    context = begun(state, config_map=state == RUNNING, execution="Stop")
    context.busy = {None}
    reconcile_framework(context)
    assert (context.actions, end(context), context.status.state) == ([], None, state)


@pytest.mark.parametrize(("since", "actions"), [(None, [DeleteConfigMap("other")]), (START, [])])
def test_a_config_map_of_unknown_uid_is_deleted_once(since: float | None, actions: Any) -> None:
    context = begun(CREATION_PENDING)
    context.status.attempt.object_uid, context.pods = None, {}
    assert context.config_map is not None
    context.config_map = context.config_map._replace(uid="other", deletion_start=since)
    reconcile_framework(context)
    assert context.actions == actions
    assert context.status.state == CREATION_PENDING


@pytest.mark.parametrize("since", [None, START])
def test_one_of_unknown_uid_holds_up_nothing_while_an_attempt_runs(since: float | None) -> None:
    """Who put it there, and has a finalizer hold it, would else have nothing decided any more."""
    context = begun()
    assert context.config_map is not None
    uid = context.config_map.uid
    context.config_map = context.config_map._replace(uid="other", deletion_start=since)
    reconcile_framework(context)
    assert context.actions == [ConfirmConfigMapGone(uid)]
    assert not context.looked_at_tasks, "they wait"


def test_one_that_is_being_deleted_by_others_has_ended_the_attempt() -> None:
    context = begun()
    assert context.config_map is not None
    context.config_map = context.config_map._replace(deletion_start=START)
    reconcile_framework(context)
    assert (end(context), context.status.state) == (-100, states.DELETING)
    assert [task.attempt.completion for _, task in context.status.tasks()] == [None, None], "their Pods say how they end"


def test_an_end_that_is_known_stays_when_the_config_map_is_deleted() -> None:
    context = begun(states.DELETION_REQUESTED)
    assert context.config_map is not None
    context.config_map, context.status.attempt.completion = context.config_map._replace(deletion_start=START), UNTIL_STOP
    reconcile_framework(context)
    assert (end(context), context.status.state) == (5, states.DELETING)


def goes(since: float, uid: str | None = None, *, awaits: bool = True) -> ReconcileContext:
    """A Framework whose ConfigMap was told to go so many seconds ago, and is kept by the garbage collector. It has no Pods since."""
    context = begun(states.DELETING)
    assert context.config_map is not None
    context.status.attempt.completion = UNTIL_STOP
    context.status.end.empty_since = at = context.now - since
    context.config_map = context.config_map._replace(uid=uid or context.config_map.uid, deletion_start=at, awaits_collector=awaits)
    context.pods = {}
    return context


@pytest.mark.parametrize("uid", [None, "of an earlier attempt"])
def test_a_config_map_that_the_garbage_collector_does_not_let_go_is_released(uid: str | None) -> None:
    context = goes(30, uid)
    assert context.config_map is not None
    reconcile_framework(context)
    confirmations = ConfirmPodGone, ConfirmConfigMapGone
    assert [action for action in context.actions if not isinstance(action, confirmations)] == [ReleaseConfigMap(context.config_map.uid)]


def test_one_of_an_earlier_framework_of_the_name_is_released() -> None:
    context = goes(30)
    assert context.config_map is not None
    context.status.state, context.status.attempt.object_uid = CREATION_PENDING, None
    context.config_map = context.config_map._replace(uid="of another Framework", controller="another Framework")
    reconcile_framework(context)
    assert context.actions == [ReleaseConfigMap("of another Framework"), CreateConfigMap()]


def test_the_garbage_collector_has_half_a_minute() -> None:
    context = goes(29)
    reconcile_framework(context)
    assert ReleaseConfigMap not in map(type, context.actions)
    assert (context.now + 1, None) in context.requeue_after
    ahead = goes(30)
    ahead.server_now = ahead.now - 10
    reconcile_framework(ahead)
    assert ReleaseConfigMap not in map(type, ahead.actions), "by the API server's clock it is too early"


def test_it_is_stored_that_the_attempt_ends_before_the_garbage_collectors_work_is_done() -> None:
    context = goes(3000)
    context.status.state = states.DELETION_REQUESTED
    reconcile_framework(context)
    assert context.status.state == states.DELETING
    assert ReleaseConfigMap not in map(type, context.actions)
    context.status.stored = context.status.revision
    reconcile_framework(context)
    assert ReleaseConfigMap in map(type, context.actions)


def test_what_others_hold_is_not_released() -> None:
    context = goes(3000, awaits=False)
    reconcile_framework(context)
    assert ReleaseConfigMap not in map(type, context.actions)


def test_pods_that_the_garbage_collector_does_not_delete_are_deleted_before_the_config_map_is_released() -> None:
    context, (first, second) = goes(30), begun().pods.values()
    context.pods = {("a", 0): first, ("a", 1): second, ("b", 0): first._replace(uid="of no task", deletion_start=context.now - 5)}
    context.busy = {("a", 1)}
    reconcile_framework(context)
    assert context.actions == [DeletePod(("a", 0), first.uid)]


def test_pods_do_not_run_on_when_somebody_has_taken_the_collectors_finalizer_off() -> None:
    """And had another one hold the ConfigMap: the collector left its Pods alone, which ran on after a Stop for as long as he liked."""
    pods = begun().pods
    assert deleted(goes(29, awaits=False), pods=pods) == set()
    assert deleted(goes(30, awaits=False), pods=pods) == pods.keys()


def test_the_garbage_collector_has_ten_seconds_too_when_the_last_pod_is_gone() -> None:
    """A Pod that ends only after its grace period of 30 seconds is no reason to list a whole namespace."""
    context, (first, _) = goes(3000), begun().pods.values()
    assert context.config_map is not None
    release = ReleaseConfigMap(context.config_map.uid)
    context.pods = {("a", 0): first._replace(deletion_start=context.now - 2990)}
    reconcile_framework(context)
    context.pods = {}
    reconcile_framework(context)
    assert release not in context.actions
    assert (context.now + 10, None) in context.requeue_after
    context.now -= 500  # The clock was ahead.
    reconcile_framework(context)
    context.now += 9
    reconcile_framework(context)
    assert release not in context.actions
    context.now += 1
    reconcile_framework(context)
    assert release in context.actions


def deleted(context: ReconcileContext, *keys: Key, **changes: Any) -> set[Key]:
    """The tasks whose Pods are deleted when those with the keys are looked at; without keys: when nothing has happened to any."""
    vars(context).update(changes)
    context.actions.clear()
    context.status.stored = context.status.revision
    reconcile_framework(context, keys)
    return {action.key for action in context.actions if isinstance(action, DeletePod)}


def confirm_pods_gone(context: ReconcileContext) -> None:
    """Answer that no task's Pod is there. One that is not shown may have lost its label and its owner, and so is deleted by its uid."""
    assert deleted(context) == {role.key(task) for role, task in context.status.tasks()}
    for action in context.actions:
        assert isinstance(action, DeletePod)
        assert action.completion is not None
        pod_gone(context, action.key, action.completion)
    context.actions.clear()


def test_pods_that_the_garbage_collector_leaves_are_all_looked_at_once() -> None:
    """Afterwards only those that something happens to are: going through 10,000 for each that is gone took a minute of the loop's time."""
    pods = begun().pods
    assert deleted(goes(29), pods=pods) == set()
    context = goes(30)
    assert deleted(context, pods=pods, paused=True) == set()
    assert deleted(context, deleting=True) == pods.keys(), "the Framework itself is deleted, in the pause"
    assert deleted(context, paused=False) == set(), "the end of the pause is not stored yet"
    assert deleted(context) == pods.keys()
    assert deleted(context) == set()
    assert deleted(context, ("a", 1)) == {("a", 1)}


@pytest.mark.parametrize(("last", "goes_too"), [(True, False), (False, True)])
def test_pods_that_were_moved_stay_even_if_the_cache_does_not_show_it_yet(last: bool, goes_too: bool) -> None:
    """Those of an attempt that is retried are its own still."""
    context, (first, second) = goes(30), begun().pods.values()
    status, context.pods = context.status, {("a", 0): first, ("a", 1): second}
    status.retry_refused = last
    status.roles[0].tasks[0].state, status.roles[0].tasks[0].pod_kept = COMPLETED, True
    reconcile_framework(context)
    kept = [] if goes_too else [("a", 0)]
    assert context.actions == [DeletePod(key, pod.uid) for key, pod in context.pods.items() if key not in kept]


@pytest.mark.parametrize("refused", [True, False])
def test_pods_have_stayed_only_if_it_was_known_that_the_attempt_is_the_last(refused: bool) -> None:
    """Otherwise they went with its ConfigMap, which somebody else has deleted."""
    context = begun(states.ATTEMPT_COMPLETED, config_map=False)
    status, context.pods = context.status, {}
    status.attempt.completion, status.retry_refused = UNTIL_STOP, refused
    for _, task in status.tasks():
        task.state, task.pod_kept = COMPLETED, True
    reconcile_framework(context)
    assert (status.state, [task.pod_kept for _, task in status.tasks()]) == (COMPLETED, [refused, refused])


def test_pods_of_others_do_not_keep_the_config_map() -> None:
    context, (first, _) = goes(30), begun().pods.values()
    assert context.config_map is not None
    context.pods = {("b", 0): first._replace(uid="another's", controller="another's")}
    reconcile_framework(context)
    assert ReleaseConfigMap(context.config_map.uid) in context.actions
    assert DeletePod not in map(type, context.actions)


@pytest.mark.parametrize(("execution", "code"), [("Start", None), ("Stop", -210)])
def test_a_config_map_that_the_cache_does_not_show_is_asked_for_and_stop_does_not_wait_for_that(execution: str, code: int | None) -> None:
    """It may have lost its label."""
    context = begun(config_map=False, execution=execution)
    uid = context.status.attempt.object_uid
    assert uid is not None
    reconcile_framework(context)
    assert context.actions == [ConfirmConfigMapGone(uid)]
    assert end(context) == code
    assert not context.looked_at_tasks


def test_one_that_is_gone_for_sure_ends_the_attempt_and_what_follows_is_decided_at_once() -> None:
    context = begun(config_map=False)
    context.status.end.object_gone, context.pods = True, {}
    confirm_pods_gone(context)
    reconcile_framework(context)
    assert (end(context), context.status.state, context.actions) == (-100, states.COMPLETED, [])
    assert {(task.state, (task.attempt.completion or {})["code"]) for _, task in context.status.tasks()} == {("Completed", -220)}


@pytest.mark.parametrize("known", [None, UNTIL_STOP])
def test_pods_of_one_that_is_gone_are_waited_for_and_deleted_in_the_end(known: dict[str, Any] | None) -> None:
    context = begun(config_map=False)
    pods, now = context.pods, context.now
    context.status.end.object_gone, context.status.attempt.completion = True, known
    assert deleted(context) == set()
    assert (end(context), context.status.state) == (5 if known else -100, states.DELETING)
    assert deleted(context, now=now + 29) == set()
    assert deleted(context, now=now + 30) == pods.keys()
    assert deleted(context, ("a", 1)) == {("a", 1)}
    assert {(task.attempt.completion or {})["code"] for _, task in context.status.tasks()} == {-220}
    context.pods = {("b", 0): pods["a", 1]._replace(uid="another's", controller="another's")}
    confirm_pods_gone(context)
    assert deleted(context) == set()
    assert context.status.state == COMPLETED


def test_pods_of_one_that_is_gone_are_looked_at_first_and_last_and_when_something_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of 10,000 were looked at whenever something happened to one, and that took minutes of the loop's time."""
    looked, remains = list[Key](), framework._remains

    def counted(context: ReconcileContext, key: Key) -> bool:
        looked.append(key)
        return remains(context, key)

    monkeypatch.setattr(framework, "_remains", counted)
    context = begun(config_map=False)
    first, second = context.pods
    other = context.pods[second]
    context.status.end.object_gone = True

    def looks(*keys: Key, **changes: Any) -> list[Key]:
        looked.clear()
        deleted(context, *keys, **changes)
        return looked

    assert looks(first) == [first, second]
    assert looks(first) == [first]
    assert looks() == []
    assert deleted(context, first, pods={second: other}) == {first}, "it may run on without its label"
    assert looks(second, busy={first}) == [second, first]
    assert deleted(context, second, busy={first}, pods={second: other._replace(controller="")}) == {second}
    assert deleted(context, busy=()) == {first, second}, "what has failed is tried again"
    for index in range(2):
        context.status.roles[0].tasks[index].state = states.ATTEMPT_COMPLETED
    assert looks(first, pods={}) == [first, second, first, second]
    assert context.status.state == states.COMPLETED


def test_what_the_end_of_one_attempt_has_noted_means_nothing_at_the_end_of_the_next() -> None:
    world = World({"retryPolicy": {"fancyRetryPolicy": True}, "taskRoles": [role_spec("a", 2)]}, SETTINGS)
    world.run(1)
    world.config_map = None  # Deleted in the background, with its Pods.
    world.pods.clear()
    world.run(5)
    context = world.look()
    assert (context.status.state, context.status.attempt.id) == (RUNNING, 1)
    context.config_map, context.status.end.object_gone = None, True
    context.pods = {key: pod._replace(controller="") if key == ("a", 1) else pod for key, pod in context.pods.items()}
    reconcile_framework(context, [("a", 0)])
    assert [action.key for action in context.actions if isinstance(action, DeletePod)] == [("a", 1)]


@pytest.mark.parametrize("known", [None, UNTIL_STOP])
def test_pods_that_may_have_come_too_late_are_deleted_first(known: dict[str, Any] | None) -> None:
    context = begun(config_map=False)
    context.status.end.object_gone = True
    _, task = next(context.status.tasks())
    task.state, task.attempt.completion = CREATION_REQUESTED, known
    reconcile_framework(context)
    (action,) = context.actions
    assert isinstance(action, DeletePod)
    assert action.completion is not None
    assert (action.uid, action.completion["code"]) == (task.attempt.object_uid, 5 if known else -220)
    assert context.status.state == RUNNING
    assert not context.looked_at_tasks


def test_pods_that_were_asked_for_and_not_answered_yet_are_waited_for() -> None:
    context = begun(config_map=False)
    context.status.end.object_gone = context.creating = True
    reconcile_framework(context)
    assert (context.status.state, end(context)) == (RUNNING, None)


def test_pods_whose_owner_somebody_has_taken_off_are_deleted_before_the_attempt_ends() -> None:
    context = begun(config_map=False)
    context.status.end.object_gone = True
    context.pods = pods = {key: pod._replace(controller="") if key == ("a", 1) else pod for key, pod in context.pods.items()}
    reconcile_framework(context)
    deleted = [(action.key, action.uid) for action in context.actions if isinstance(action, DeletePod)]
    assert deleted == [(("a", 1), context.pods["a", 1].uid)]
    assert (context.status.state, end(context)) == (RUNNING, None)
    del pods["a", 1]  # It may have lost its label, too.
    context.actions.clear()
    reconcile_framework(context)
    (action,) = context.actions
    assert isinstance(action, DeletePod)
    assert (action.key, action.completion is not None, end(context)) == (("a", 1), True, None)
    assert action.completion is not None
    pod_gone(context, ("a", 1), action.completion)
    context.actions.clear()
    reconcile_framework(context)
    assert (end(context), context.actions) == (-100, [])


@pytest.mark.parametrize(("state", "waits"), [(RUNNING, True), (CREATION_REQUESTED, False)])
def test_one_whose_state_is_not_stored_is_not_deleted_unless_it_was_only_asked_for(state: str, waits: bool) -> None:
    """After a death in between, nobody would know what the Pod that is gone was."""
    context = begun(config_map=False)
    status = context.status
    status.end.object_gone = True
    context.pods = {key: pod._replace(controller="") for key, pod in context.pods.items() if key == ("a", 1)}
    (_, first), (_, task) = status.tasks()
    first.state, task.state, task.changed = states.COMPLETED, state, status.touch()
    delete = DeletePod(("a", 1), context.pods["a", 1].uid, completion=ended_with_the_attempt())
    reconcile_framework(context)
    assert (delete in context.actions, end(context)) == (not waits, None)
    status.stored = status.revision
    context.actions.clear()
    reconcile_framework(context)
    assert delete in context.actions


@pytest.mark.parametrize(("state", "deletes"), [(states.DELETION_PENDING, True), (states.DELETION_REQUESTED, False)])
def test_a_config_map_whose_kept_pods_have_moved_is_deleted_once(state: str, deletes: bool) -> None:
    context = begun(state)
    status = context.status
    assert context.config_map is not None
    status.attempt.completion, status.retry_refused, status.end.unmoved = UNTIL_STOP, True, set()
    reconcile_framework(context)
    assert (DeleteConfigMap(context.config_map.uid) in context.actions) == deletes


@pytest.mark.parametrize(("later", "execution", "code"), [(299, "Start", None), (300, "Start", -110), (0, "Stop", -210)])
def test_a_config_map_that_does_not_come_into_the_cache_is_deleted_to_be_sure(later: int, execution: str, code: int | None) -> None:
    context = begun(CREATION_REQUESTED, config_map=False, execution=execution)
    context.now = context.status.transition_time + later
    reconcile_framework(context)
    assert [action.completion["code"] for action in context.actions if isinstance(action, DeleteConfigMap) and action.completion] == (
        [code] if code else []
    )
    assert context.requeue_after == ([] if code else [(context.status.transition_time + 300, None)])
    assert end(context) is None, "once it is gone for sure"
    assert not context.looked_at_tasks


def test_the_result_of_a_creation_counts_once() -> None:
    context = begun(CREATION_PENDING, config_map=False)
    status = context.status
    status.attempt.object_uid, status.intent = None, IntentRecord(None, "next")
    config_map_created(context, "made", "next", 7)
    assert (str(status.state), to_json(status)["attemptStatus"]["instanceUID"]) == (CREATION_REQUESTED, "0_made")
    reconcile_framework(context)
    assert context.requeue_after == [(context.now + 300, None)], "if the cache does not show it until then"
    config_map_created(context, "second", "other", 8)
    assert to_json(status)["attemptStatus"]["configMapUID"] == "made"
    assert status.intent.to_json() == {"digest": "next", "nextDigest": None, "observedGeneration": 7, "adopted": False}


def test_pods_wait_until_the_uid_of_their_config_map_is_stored() -> None:
    context = begun(states.PREPARING)
    status = context.status
    for _, task in status.tasks():
        task.state, task.attempt.object_uid = CREATION_PENDING, None
    context.pods = {}
    status.attempt_known = status.touch()
    reconcile_framework(context)
    assert (context.actions, len(status.waiting)) == ([], 2)
    status.stored = status.revision
    reconcile_framework(context)
    assert context.actions == [CreatePod(("a", 0)), CreatePod(("a", 1))]


def test_the_uid_of_a_new_config_map_is_what_pods_wait_for() -> None:
    context = begun(CREATION_PENDING, config_map=False)
    context.status.attempt.object_uid = None
    config_map_created(context, "made", "digest", 1)
    assert context.status.attempt_known == context.status.revision > context.status.stored


def test_a_retry_that_was_decided_comes_though_the_policy_no_longer_wants_it() -> None:
    """And the history has the attempt that it follows."""
    context = begun(states.ATTEMPT_COMPLETED, config_map=False)
    context.settings = context.settings._replace(snapshots=frozenset({FRAMEWORK_RETRY}))
    status = context.status
    status.attempt.completion, status.retries.delay, status.intent = UNTIL_STOP, 60, IntentRecord("digest", None, 3)
    status.said, status.cut = 50, True
    context.now = status.transition_time + 59
    reconcile_framework(context)
    assert (status.state, status.retries.delay) == (states.ATTEMPT_COMPLETED, 60)
    context.now += 1
    reconcile_framework(context)
    after = to_json(status)
    assert (after["state"], after["attemptStatus"]["id"]) == (CREATION_PENDING, 1)
    assert after["retryPolicyStatus"] == {"totalRetriedCount": 1, "accountableRetriedCount": 1, "retryDelaySec": None}
    assert "intent" not in after, "the next attempt begins with one of its own"
    assert (status.said, status.cut) == (0, False)
    (kept,) = status.ended
    assert (kept.trigger, kept.value["state"], kept.attempt.id) == (FRAMEWORK_RETRY, states.ATTEMPT_COMPLETED, 0)


@pytest.mark.parametrize(("attributes", "delay"), [(["Transient"], 0), (["Transient", "Conflict"], 60)])
def test_a_transient_failure_is_retried_at_once_unless_it_was_a_conflict(attributes: list[str], delay: int) -> None:
    context = begun(states.ATTEMPT_COMPLETED, config_map=False)
    context.spec = context.spec._replace(retry=RetryPolicy(fancy=True, max_retry_count=0))
    status = context.status
    status.attempt.completion = {**UNTIL_STOP, "type": {"name": "Failed", "attributes": attributes}}
    context.now = status.transition_time
    reconcile_framework(context)
    assert (status.state == CREATION_PENDING) is (delay == 0)
    assert status.retries.delay == (delay or None)
    assert status.retries.accountable == 0


@pytest.mark.parametrize(("way", "actions"), [("there", 1), ("going", 0), ("busy", 0), ("another's", 0), ("a task's", 0)])
def test_a_pod_of_the_attempt_that_is_no_tasks_is_deleted_once(way: str, actions: int) -> None:
    context = begun()
    assert context.config_map is not None
    key = ("a", 1 if way == "a task's" else 7)
    uid = context.pods["a", 1].uid
    pod = Pod(uid if key[1] == 1 else "orphan", context.config_map.uid, "Running", "node", "10.0.0.1", "10.0.0.2", None, None)
    if way == "going":
        pod = pod._replace(deletion_start=START)
    elif way == "busy":
        context.busy = {key}
    elif way == "another's":
        pod = pod._replace(controller="another ConfigMap")
    context.pods = {**context.pods, key: pod}
    reconcile_framework(context, [key])
    assert context.actions == [DeletePod(key, "orphan")] * actions


@pytest.mark.parametrize("policies_too", [True, False])
def test_policies_are_held_against_all_tasks_when_somebody_asks_for_that(policies_too: bool) -> None:
    context = begun()
    role = context.status.roles[0]
    role.count(role.tasks[0], -1)
    role.tasks[0].state, role.tasks[0].attempt.completion, role.tasks[0].completion_time = "Completed", UNTIL_STOP, START
    role.count(role.tasks[0], 1)
    reconcile_framework(context, [("a", 1), ("a", 2)], policies_too=policies_too)
    assert end(context) == (5 if policies_too else None)


@pytest.mark.parametrize(
    ("execution", "action"), [("Create", None), ("Start", CreateConfigMap()), ("Stop", RemoveConfigMap)], ids=["Create", "Start", "Stop"]
)
def test_what_an_attempt_begins_with(execution: str, action: Any) -> None:
    context = begun(CREATION_PENDING, config_map=False, execution=execution)
    context.status.attempt.object_uid = None
    reconcile_framework(context)
    found = [type(each) if isinstance(each, RemoveConfigMap) else each for each in context.actions]
    assert found == ([] if action is None else [action])
