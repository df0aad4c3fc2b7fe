"""The Framework itself: its attempts, and the order of decisions in one reconciliation.

A change of scale is stored before anything else happens, so that a completion policy of today never meets the tasks of yesterday.

While a Framework is paused, the status follows its objects, but nothing is decided: no scale, no policy, no retry, no restart. So the
decisions at the end of the pause depend on the state at that time, and not on what came and went during the pause.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from fcompile.model import names
from fcontroller.decide import actions, states
from fcontroller.decide.codes import CACHE_TIMEOUT_CONFIG_MAP, CONFIG_MAP_DELETED_BY_OTHERS, RESTARTED, Json
from fcontroller.decide.completion import (
    complete_attempt,
    end_framework_attempt,
    ended_with_the_attempt,
    framework_attempt_gone,
    policies,
    schedule_retry,
)
from fcontroller.decide.conditions import OBJECTS_DELETED, is_false, set_not_kept, set_paused
from fcontroller.decide.context import CLOCKS_DIFFER, FRAMEWORK_RETRY, ReconcileContext
from fcontroller.decide.observed import ConfigMap, Pod
from fcontroller.decide.rescale import rescale
from fcontroller.decide.retry import retry_decision
from fcontroller.decide.spec import CREATE
from fcontroller.decide.states import (
    ATTEMPT_COMPLETED,
    COMPLETED,
    COMPLETING,
    CREATION_PENDING,
    CREATION_REQUESTED,
    DELETION_PENDING,
    DELETION_REQUESTED,
    PREPARING,
    RUNNING,
)
from fcontroller.decide.status import Attempt, End, IntentRecord, Key, Status
from fcontroller.decide.task import find, has_lost_owner, is_stored, reconcile_task

_COLLECTED = 30
"""Seconds for which the garbage collector alone deletes what goes with the ConfigMap. After that we do it."""
_EMPTY = 10
"""Seconds that it has after the last Pod is gone. It rarely needs them, and before a release we list all Pods of the namespace."""
_BY_OTHERS = "which others deleted"
_MOVES, _MOVES_EACH = 60, 20
"""Seconds for which Pods that are kept may hold up the end, and the number of Pods for which it is one second more."""


def reconcile_framework(context: ReconcileContext, keys: Iterable[Key] | None = None, *, policies_too: bool = False) -> None:
    """Decide about a Framework.

    :param keys: the tasks that something may have happened to; None: all of them, and the policies, as after a change of the spec.
    :param policies_too: apply the policies to all tasks even if there are keys.
    """
    context.keys = keys
    _reconcile(context, policies_too or keys is None)
    context.hold()


def _reconcile(context: ReconcileContext, policies_too: bool) -> None:
    status = context.status
    if context.is_new:
        status.roles = context.new_roles(0)
    _note_activity(context)
    if status.state != COMPLETED:
        is_late = context.paused and context.is_late
        set_paused(status, context.paused, context.generation, context.now, stops=context.spec.stops, is_late=is_late)
    if status.settled > status.stored or (not context.paused and rescale(context)) or _copy_timeouts(context):
        return
    if status.state == COMPLETED or None in context.busy:
        return
    if status.state != ATTEMPT_COMPLETED and not _config_map(context):
        return
    if status.state == ATTEMPT_COMPLETED:
        if not context.paused:
            _retry_or_complete(context)
    elif status.state == CREATION_PENDING:
        _create(context)
    else:
        _tasks(context, policies_too)


def _note_activity(context: ReconcileContext) -> None:
    """Note when the first attempt began, if there is a deadline: by the later of our clock and the API server's.

    So a clock that is behind, and is put right later, does not let the deadline come early: what it ends cannot be taken back.
    """
    status, server_now = context.status, context.server_now
    if context.spec.active_deadline is None or status.state == COMPLETED:
        return
    if status.active_since is None:
        if status.attempt.object_uid is not None or status.retries.total:
            status.active_since = _active_since(context)
            status.touch()
    elif server_now is not None and status.active_since > (latest := context.late_now) + CLOCKS_DIFFER:
        # Our clock was ahead, or that of a former leader: the deadline would come late, or never.
        status.active_since = latest
        status.touch()


def _active_since(context: ReconcileContext) -> float:
    """Return when the first attempt began, or, where a deadline is set later than that, the earliest time since then that is known."""
    status, found = context.status, context.config_map
    if status.state == CREATION_REQUESTED and not status.retries.total:
        return status.transition_time + (context.late_now - context.now)
    is_first = found is not None and found.uid == status.attempt.object_uid and not status.retries.total
    if found is not None and found.created is not None and is_first:
        return max(found.created, status.attempt.start_time)
    return status.transition_time if status.run_time is None else status.run_time


def _copy_timeouts(context: ReconcileContext) -> bool:
    """Copy the roles' deletion timeouts into the status, where they outlive the role. Return whether one changed."""
    changed = False
    for spec in context.spec.roles.values():
        role = context.status.role(spec.name)
        if role is not None and context.status.state != COMPLETED and role.graceful_deletion_timeout != spec.graceful_deletion_timeout:
            role.graceful_deletion_timeout = spec.graceful_deletion_timeout
            changed = True
    if changed:
        context.status.settled = context.status.touch()
    return changed


def _config_map(context: ReconcileContext) -> bool:
    """Follow the attempt's ConfigMap. Return whether there is more to decide."""
    status, found = context.status, context.config_map
    if found is not None and found.uid != status.attempt.object_uid:
        _collect(context, found)  # Perhaps of an earlier Framework of this name, which could not begin otherwise.
        if found.controller == context.uid and status.state == CREATION_PENDING:
            # A ConfigMap that a controller made before it died, without storing its uid. Later it is somebody else's, and holds up nothing.
            if found.deletion_start is None:
                context.actions.append(actions.DeleteConfigMap(found.uid))
            return False
        found = None
    if found is None:
        return _without_config_map(context)
    if found.deletion_start is not None:
        if status.attempt.completion is None:
            status.attempt.completion = CONFIG_MAP_DELETED_BY_OTHERS.ended("ConfigMap is being deleted by others")
        _lose_unmoved(context)
        status.transition(states.FRAMEWORK_GOES, context.now)
        _collect(context, found)
    elif status.state == DELETION_PENDING and not status.retry_refused:
        _delete(context, found.uid)
    elif status.state == CREATION_REQUESTED:
        status.transition(states.FRAMEWORK_SEEN, context.now)
    return True


def _collect(context: ReconcileContext, config_map: ConfigMap) -> None:
    """Delete the Pods of a ConfigMap that is being deleted, and then release it, where the garbage collector has not done so in time.

    A collector that was cut off from the API server can miss that a Pod is gone, or that there is a new one of the same name. Then it
    waits for the first one for ever, and lets the second one run on.
    """
    status, now = context.status, context.sure_now
    # If somebody has taken the collector's finalizer off, and put on another one, the collector leaves the Pods alone.
    if config_map.deletion_start is None or not (config_map.awaits_collector or config_map.uid == status.attempt.object_uid):
        return
    if _has_pods(context, config_map.uid):
        status.end.empty_since = None
    elif status.end.empty_since is None or status.end.empty_since > now:
        status.end.empty_since = now
    if not context.due(config_map.deletion_start, _COLLECTED, surely=True) or not status.is_stored(status):
        return
    if status.end.empty_since is not None:
        if config_map.awaits_collector and context.due(status.end.empty_since, _EMPTY, surely=True):
            context.actions.append(actions.ReleaseConfigMap(config_map.uid))
    else:
        _delete_pods(context, config_map.uid)


def _has_pods(context: ReconcileContext, config_map_uid: str) -> bool:
    """Return whether Pods are there that go with a ConfigMap."""
    return any(_goes_with(context, config_map_uid, key, pod) for key, pod in context.pods.items())


def _delete_pods(context: ReconcileContext, config_map_uid: str) -> None:
    """Delete the Pods that go with a ConfigMap, which the garbage collector has left."""
    status, keys = context.status, context.keys
    if status.end.collected != config_map_uid:
        keys, status.end.collected = None, "" if context.paused else config_map_uid  # What a pause holds is looked at again.
    for key in context.pods if keys is None else keys:
        pod = context.pods.get(key)
        if pod is not None and pod.deletion_start is None and key not in context.busy and _goes_with(context, config_map_uid, key, pod):
            context.actions.append(actions.DeletePod(key, pod.uid))


def _goes_with(context: ReconcileContext, config_map_uid: str, key: Key, pod: Pod) -> bool:
    task = context.status.task(key)
    # The cache, which may lag, may still show as the ConfigMap's what is the Framework's own by now.
    was_moved = task is not None and task.pod_kept and context.status.retry_refused
    return pod.controller == config_map_uid and not was_moved


def _delete(context: ReconcileContext, uid: str) -> None:
    """Delete the ConfigMap, and where that is refused for long, the Pods that would go with it: Stop must end them all the same."""
    if context.status.is_stored(context.status):
        context.actions.append(actions.DeleteConfigMap(uid))
        if is_false(context.status, OBJECTS_DELETED) and context.due_after(context.status, _COLLECTED):
            _delete_pods(context, uid)


def _begin_to_move(context: ReconcileContext) -> Iterable[Key]:
    """Collect the Pods that are to outlive the ConfigMap, once it is stored that the attempt is the last. Return their tasks, once."""
    status = context.status
    if status.end.move_until is not None or not status.is_stored(status):
        return ()
    status.end.unmoved = kept_keys(status) if status.end.unmoved is None else status.end.unmoved
    status.end.move_until = context.sure_now + _MOVES + len(status.end.unmoved) // _MOVES_EACH
    return status.end.unmoved


def _delete_when_moved(context: ReconcileContext) -> None:
    """Delete the ConfigMap once it owns no Pod that is kept, and none has just ended; or when that takes too long, whatever the reason."""
    status, uid = context.status, context.status.attempt.object_uid
    if status.end.move_until is None or uid is None:
        return
    done = not status.end.unmoved and status.revision <= status.stored
    if done or context.deleting or context.due(status.end.move_until, 0, surely=True):
        _delete(context, uid)


def _without_config_map(context: ReconcileContext) -> bool:
    status, uid = context.status, context.status.attempt.object_uid
    if status.state == CREATION_PENDING:
        return True
    assert uid is not None
    if status.state != CREATION_REQUESTED:
        if not status.end.object_gone:
            # The ConfigMap may only have lost its label; then its Pods live on.
            if context.ending is not None and status.state in (PREPARING, RUNNING):
                end_framework_attempt(context, context.ending)
            context.actions.append(actions.ConfirmConfigMapGone(uid))
            return False
        if _pods_remain(context, uid) or (status.state != DELETION_REQUESTED and context.creating):
            return False
        _lose_unmoved(context)
        known = status.attempt.completion is not None
        completion = None if known else CONFIG_MAP_DELETED_BY_OTHERS.ended("ConfigMap was deleted by others")
        if not _has_pods(context, uid):
            framework_attempt_gone(context, completion)
        else:  # A deletion in the background leaves them to the garbage collector.
            complete_attempt(context, completion)
            status.transition(states.FRAMEWORK_GOES, context.now)
            if context.due_after(status, _COLLECTED) and status.is_stored(status):
                _delete_pods(context, uid)
        return True
    completion = context.ending
    if completion is None and context.due_after(status, context.settings.cache_timeout):
        completion = CACHE_TIMEOUT_CONFIG_MAP.ended(
            f"ConfigMap does not appear in the cache within {context.settings.cache_timeout} s: it is taken for deleted, "
            "and deleted to be sure"
        )
    if completion is None:
        return False
    context.actions.append(actions.DeleteConfigMap(uid, completion))
    return False


def _pods_remain(context: ReconcileContext, config_map_uid: str) -> bool:
    """Return whether Pods must be gone for sure before the attempt, whose ConfigMap is gone, may end; delete those.

    All tasks are looked at first and last, and in between only those that something has happened to: to go through 10,000 for each Pod
    that is gone took minutes of the loop's time.
    """
    status, keys = context.status, context.keys
    if keys is not None and status.end.remaining is not None:
        _look_for_remaining(context, status.end.remaining, keys)
        while status.end.remaining and not _remains(context, key := next(iter(status.end.remaining))):
            status.end.remaining.discard(key)
        if any(key in context.busy for key in status.end.remaining):
            return True  # Its result is waited for. Without one under way, what has failed is tried again below.
        if not status.end.remaining and _has_pods(context, config_map_uid):
            return False
    status.end.remaining = set()
    _look_for_remaining(context, status.end.remaining, [role.key(task) for role, task in status.tasks()])
    return bool(status.end.remaining)


def _look_for_remaining(context: ReconcileContext, remaining: set[Key], keys: Iterable[Key]) -> None:
    """Note which tasks' Pods must be gone for sure, and delete these. The tasks' attempts end when that is so."""
    for key in keys:
        if not _remains(context, key):
            remaining.discard(key)
            continue
        remaining.add(key)
        role, task = find(context.status, key)
        if key not in context.busy and (task.state == CREATION_REQUESTED or is_stored(context, role, task)):
            assert task.attempt.object_uid is not None
            completion = task.attempt.completion or ended_with_the_attempt()
            if context.paused and not context.deleting:  # Nothing is deleted, but what is gone is gone.
                context.actions.append(actions.ConfirmPodGone(key, task.attempt.object_uid, completion))
            else:
                context.actions.append(actions.DeletePod(key, task.attempt.object_uid, completion=completion))


def _remains(context: ReconcileContext, key: Key) -> bool:
    """Return whether a task's Pod may come, or stays: the garbage collector leaves it since somebody has changed its owners.

    One of a task that runs, and that is not shown, may have lost its label, too. One whose creation was requested before somebody else
    deleted the ConfigMap may still appear; the garbage collector would delete it too, but not at once.
    """
    status, pod = context.status, context.pods.get(key)
    role, task = status.role(key[0]), status.task(key)
    if role is None or task is None or (task.pod_kept and status.retry_refused):
        return False
    if task.state == CREATION_REQUESTED and status.state != DELETION_REQUESTED:
        return True
    if pod is None:
        return task.state in (PREPARING, RUNNING)
    return pod.uid == task.attempt.object_uid and has_lost_owner(context, role, pod)


def _retry_or_complete(context: ReconcileContext) -> None:
    status = context.status
    assert status.attempt.completion is not None
    decision = retry_decision(context.spec.retry, status.retries.accountable, status.attempt.completion)
    if status.retry_refused or (status.retries.delay is None and not decision.retries):
        if not status.retry_refused:
            _lose_kept(context, [role.key(task) for role, task in status.tasks() if task.pod_kept], _BY_OTHERS)
        # A time to live counts from it. If our clock is behind, and is put right later, it must not come early.
        status.transition(states.FRAMEWORK_DONE, context.late_now)
    if not status.is_stored(status):
        return
    if status.retries.delay is None:
        schedule_retry(context, decision)
        status.touch()
    assert status.retries.delay is not None
    # What needs no wait must not wait for our clock either: that of a former leader, which stamped the time, may have been ahead.
    delay = status.retries.delay
    if context.ending is not None or context.restart_wanted or not delay or context.due_after(status, delay):
        context.keep(FRAMEWORK_RETRY)
        status.retries.total += 1
        status.retries.accountable += decision.accountable
        status.retries.delay = None
        status.transition(states.FRAMEWORK_RETRIED, context.now, decision.kind)
        status.attempt = Attempt(status.retries.total, names.config_map_name(context.name), context.now)
        status.roles = context.new_roles(status.task_number)
        status.intent, status.end = IntentRecord(), End()
        status.said, status.cut = 0, False
        status.settled = status.revision


def kept_keys(status: Status) -> set[Key]:
    """Return the tasks whose Pods are to outlive the ConfigMap."""
    return {role.key(task) for role, task in status.tasks() if task.pod_kept and not task.deletion_pending}


def _lose_unmoved(context: ReconcileContext) -> None:
    """Record which Pods go with the ConfigMap if others have deleted it before all were moved."""
    status = context.status
    if status.state == DELETION_PENDING and status.retry_refused:
        kept = kept_keys(status)
        _lose_kept(context, kept if status.end.unmoved is None else kept & status.end.unmoved, _BY_OTHERS)


def _lose_kept(context: ReconcileContext, keys: Collection[Key], why: str) -> None:
    """Record that Pods which were to stay have gone with the ConfigMap, or will."""
    status = context.status
    for key in keys:
        status.lose_pod(find(status, key)[1])
    if keys and context.spec.keeps_pods:
        set_not_kept(status, len(keys), why, context.generation, context.now)


def _create(context: ReconcileContext) -> None:
    context.note_restart()  # Nothing is running that could be ended.
    if context.deleting or not context.status.is_stored(context.status):
        return
    if context.ending is not None:
        context.actions.append(actions.RemoveConfigMap(context.ending))
    elif context.spec.execution_type != CREATE and context.may_begin and context.spec.may_have_all(context.status.task_number):
        context.actions.append(actions.CreateConfigMap())


def _sweep(context: ReconcileContext, keys: Iterable[Key]) -> None:
    """Delete Pods of the attempt that are no task's: created late after a scale-down, or by somebody else under our ConfigMap."""
    for key in keys:
        pod = context.pods.get(key)
        if pod is None or key in context.busy or context.status.task(key) is not None:
            continue
        if pod.controller == context.status.attempt.object_uid and pod.deletion_start is None:
            context.actions.append(actions.DeletePod(key, pod.uid))


def _end(context: ReconcileContext, policies_too: bool) -> None:
    """End the attempt if somebody wants that, or a policy is met."""
    if context.ending is not None:
        end_framework_attempt(context, context.ending)
    elif context.restart_wanted:
        end_framework_attempt(context, RESTARTED.ended(f"A restart was asked for by annotation: {context.restart}"))
        context.note_restart()
    elif policies_too:
        policies(context)


def _tasks(context: ReconcileContext, policies_too: bool) -> None:
    """Look at the policies and the tasks of an attempt that is under way or ending."""
    status, keys = context.status, context.keys
    context.looked_at_tasks = True
    if status.state not in COMPLETING and not context.paused:
        _end(context, policies_too)
    if context.paused:
        status.end.move_until = None
    elif status.state == DELETION_PENDING and status.retry_refused:
        moving = _begin_to_move(context)
        keys = None if keys is None else {*keys, *moving}
    _sweep(context, context.pods if keys is None else keys)
    if keys is None:
        for role, task in status.tasks():
            reconcile_task(context, role, task)
    else:
        # In the order of the status, as if all were looked at.
        places = {role.name: place for place, role in enumerate(status.roles)}
        for name, index in sorted((key for key in keys if key[0] in places), key=lambda key: (places[key[0]], key[1])):
            role = status.roles[places[name]]
            if index < len(role.tasks):
                reconcile_task(context, role, role.tasks[index])
    if status.state == PREPARING and any(role.running for role in status.roles):
        status.transition(states.FRAMEWORK_RUNS, context.now)
    if status.state == DELETION_PENDING and status.retry_refused:
        _delete_when_moved(context)


def note_missing(status: Status, config_map: ConfigMap | None, pods: Mapping[Key, Pod], now: float) -> None:
    """Note that what was created before the status was stored is not shown by a cache that is as new as that: it would have been seen.

    So whether it is gone is asked at once, and not only when it should have appeared by now.
    """
    if status.state == CREATION_REQUESTED and (config_map is None or config_map.uid != status.attempt.object_uid):
        status.transition(states.FRAMEWORK_SEEN, now)
    for role, task in status.tasks():
        if task.state == CREATION_REQUESTED:
            pod = pods.get(role.key(task))
            if pod is None or pod.uid != task.attempt.object_uid:
                status.transition_task(role, task, states.TASK_SEEN, now)


def config_map_created(context: ReconcileContext, uid: str, digest: str, generation: int) -> None:
    """Take in the result of a CreateConfigMap: the ConfigMap exists with this uid, and holds the document with this digest."""
    if context.status.state != CREATION_PENDING:
        return
    context.status.attempt.created(uid)
    context.status.intent = IntentRecord(digest, None, generation)
    context.status.transition(states.FRAMEWORK_CREATED, context.now)
    context.status.attempt_known = context.status.revision


def config_map_deleted(context: ReconcileContext) -> None:
    """Take in the result of a DeleteConfigMap without a completion: the API server accepted it. Pods that were not moved go with it."""
    status = context.status
    if status.state == DELETION_PENDING:
        _lose_kept(context, status.end.unmoved or (), "which waits only for some time for another owner of theirs")
        status.transition(states.FRAMEWORK_DELETED, context.now)


def config_map_confirmed_gone(context: ReconcileContext, uid: str) -> None:
    """Take in the result of a ConfirmConfigMapGone: the attempt's ConfigMap is gone for sure."""
    if context.status.attempt.object_uid == uid:
        context.status.end.object_gone = True


def config_map_gone(context: ReconcileContext, completion: Json) -> None:
    """Take in the result of a RemoveConfigMap, or of a DeleteConfigMap with a completion: no ConfigMap of this Framework is left."""
    if context.status.state not in (ATTEMPT_COMPLETED, COMPLETED):
        framework_attempt_gone(context, completion)
