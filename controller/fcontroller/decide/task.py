"""One task: what to do about it next, by its stored state and by what was seen of its Pod.

The uid in the status decides. A Pod of ours with the task's name and another uid may be one that a controller made and then died before it
stored the uid: it is accepted as the task's own if it is exactly what the task's attempt makes, and is deleted if not. A Pod that is not
ours is left alone, and blocks the task.
"""

from __future__ import annotations

from fcompile.model import names
from fcontroller.decide import actions, states
from fcontroller.decide.codes import CACHE_TIMEOUT_POD, FAILED, POD_DELETED_BY_OTHERS, Json, deleted_by_others, scaled_away
from fcontroller.decide.completion import task_completed
from fcontroller.decide.context import TASK_RETRY, ReconcileContext
from fcontroller.decide.observed import Pod, read_end
from fcontroller.decide.retry import RetryDecision, retry_decision
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, COMPLETING, CREATION_PENDING, CREATION_REQUESTED, DELETION_PENDING
from fcontroller.decide.status import Key, Role, Status, Task

_DELETED_BY_OTHERS = POD_DELETED_BY_OTHERS.ended("Pod was deleted by others")
_LINGERS = 5
"""Seconds after which a Pod that is to be gone at once, and is held by nothing, is told once more."""


def reconcile_task(context: ReconcileContext, role: Role, task: Task) -> None:
    """Decide about one task, while the Framework's attempt is under way or ending."""
    key = role.key(task)
    if key in context.busy:
        return
    if task.state == COMPLETED:
        if task.pod_kept:
            _with_kept_pod(context, role, task)
        return
    if task.state != ATTEMPT_COMPLETED:
        pod = context.pods.get(key)
        if pod is not None and pod.uid != task.attempt.object_uid:
            if _meet_stranger(context, role, task, pod):
                return
            pod = None
        if pod is None:
            _without_pod(context, role, task)
        elif pod.deletion_start is not None:
            _going(context, role, task, pod)
        else:
            _with_pod(context, role, task, pod)
            if has_lost_owner(context, role, pod) and is_stored(context, role, task):
                context.actions.append(actions.AdoptPod(key, pod.uid))
    if task.state == ATTEMPT_COMPLETED:
        if not context.paused:
            _retry_or_complete(context, role, task)
    elif task.state == CREATION_PENDING:
        _create(context, role, task)


def is_stored(context: ReconcileContext, role: Role, task: Task) -> bool:
    """Return whether the task's state is stored; if not, have the task looked at again as soon as it is."""
    if context.status.is_stored(task):
        return True
    context.status.waiting.add(role.key(task))
    return False


def has_lost_owner(context: ReconcileContext, role: Role, pod: Pod) -> bool:
    """Return whether a task's Pod would stay when the ConfigMap is deleted: somebody has changed that owner, or added another."""
    spec = context.spec.roles.get(role.name)
    is_other = pod.owners != 1 and spec is not None and pod.owners != spec.owners
    return pod.controller != context.status.attempt.object_uid or not pod.owners or is_other


def _meet_stranger(context: ReconcileContext, role: Role, task: Task, pod: Pod) -> bool:
    """Recognize or delete a Pod of ours whose uid is not the one in the status. Return whether it is such a Pod."""
    if pod.controller != context.status.attempt.object_uid:
        return False
    force = _overdue(context, role, task, pod)
    going = pod.deletion_start is not None
    asked_for = task.state == CREATION_PENDING and task.attempt.object_uid is None and not task.deletion_pending
    if asked_for and context.status.state not in COMPLETING and (pod.finished or not going):
        if context.may_recognize and is_stored(context, role, task):
            context.actions.append(actions.RecognizePod(role.key(task), pod.uid))
    elif force or not going or _lingers(context, role, task, pod):
        context.actions.append(actions.DeletePod(role.key(task), pod.uid, force))
    return True


def _lingers(context: ReconcileContext, role: Role, task: Task, pod: Pod) -> bool:
    """Return whether an interrupted deletion left the Pod marked, so that nobody will finish it."""
    return pod.marked and pod.deletion_start is not None and context.due(pod.deletion_start, _LINGERS, role.key(task))


def _without_pod(context: ReconcileContext, role: Role, task: Task) -> None:
    """Decide about a task whose Pod the cache does not show."""
    uid, ended = task.attempt.object_uid, task.attempt.completion
    if task.state == DELETION_PENDING and uid is not None and ended is not None and context.status.state not in COMPLETING:
        # Nobody was told to delete it yet: it may have lost its label, and run on. (What is left at the end goes with the ConfigMap.)
        if is_stored(context, role, task):
            context.actions.append(actions.ConfirmPodGone(role.key(task), uid, ended))
    elif task.state in COMPLETING:
        end_attempt(context, role, task, None)
    elif task.state == CREATION_REQUESTED:
        _without_new_pod(context, role, task)
    elif task.state != CREATION_PENDING:
        # The Pod may have lost its label, and still be running.
        assert task.attempt.object_uid is not None
        context.actions.append(actions.ConfirmPodGone(role.key(task), task.attempt.object_uid, _DELETED_BY_OTHERS))


def _without_new_pod(context: ReconcileContext, role: Role, task: Task) -> None:
    """Decide about a task whose Pod was created, and has not been seen yet."""
    key = role.key(task)
    if task.deletion_pending:
        completion = scaled_away()
    elif context.due_after(task, context.settings.cache_timeout, key):
        completion = CACHE_TIMEOUT_POD.ended(
            f"Pod does not appear in the cache within {context.settings.cache_timeout} s: it is taken for deleted, and deleted to be sure"
        )
    else:
        return
    # The Pod may exist nevertheless: the attempt is only over when it is gone for sure.
    assert task.attempt.object_uid is not None
    context.actions.append(actions.DeletePod(role.key(task), task.attempt.object_uid, completion=completion))


def _going(context: ReconcileContext, role: Role, task: Task, pod: Pod) -> None:
    """Handle a Pod that is being deleted."""
    _complete(context, role, task, deleted_by_others(pod.disruption), states.TASK_GOES)
    if not is_stored(context, role, task):
        return
    if _overdue(context, role, task, pod):
        context.actions.append(actions.DeletePod(role.key(task), pod.uid, force=True))
    elif _lingers(context, role, task, pod):
        context.actions.append(actions.DeletePod(role.key(task), pod.uid))


def _overdue(context: ReconcileContext, role: Role, task: Task, pod: Pod) -> bool:
    """Return whether the Pod is still being deleted after the time that the role allows for it."""
    timeout = role.graceful_deletion_timeout
    key = role.key(task)
    return timeout is not None and pod.deletion_start is not None and context.due(pod.deletion_start, timeout, key, surely=True)


def _with_pod(context: ReconcileContext, role: Role, task: Task, pod: Pod) -> None:
    """Handle a Pod that exists and that nobody has begun to delete."""
    status = context.status
    if task.state == DELETION_PENDING:
        if is_stored(context, role, task) and not (context.spec.keeps_pods and _waits_for_policies(context, role, task)):
            if _stays(context, role, task, pod):
                _keep(context, role, task)
            else:
                context.actions.append(actions.DeletePod(role.key(task), pod.uid))
        return
    if task.state in COMPLETING:
        return  # The deletion was requested, and the cache does not show it yet.
    if task.state == CREATION_REQUESTED:
        status.transition_task(role, task, states.TASK_SEEN, context.now)
    _note_place(context, task, pod)
    if pod.phase == "Pending":
        status.transition_task(role, task, states.TASK_WAITS, context.now)
    elif pod.phase == "Running":
        status.transition_task(role, task, states.TASK_RUNS, context.now)
    elif pod.finished is not None:
        _end(context, role, task, context.settings.classify(read_end(pod.finished)))
    if task.deletion_pending:
        _end(context, role, task, scaled_away())


def _stays(context: ReconcileContext, role: Role, task: Task, pod: Pod) -> bool:
    """Return whether the Pod of an attempt that has ended is to stay: it runs no more, and the task is not retried."""
    status, ended = context.status, task.attempt.completion
    if not context.spec.keeps_pods or context.paused or pod.finished is None or task.deletion_pending or ended is None:
        return False
    if status.state in COMPLETING and not (status.state == DELETION_PENDING and status.retry_refused):
        return False  # It goes with the ConfigMap.
    return not _retry(context, role, task, ended).retries


def _keep(context: ReconcileContext, role: Role, task: Task) -> None:
    """End the attempt without its Pod being deleted. The task completes in the same reconciliation, so both are stored together."""
    task.pod_kept = True
    context.status.transition_task(role, task, states.TASK_KEPT, context.now)
    if context.status.end.unmoved is not None:
        context.status.end.unmoved.add(role.key(task))
    is_stored(context, role, task)


def _with_kept_pod(context: ReconcileContext, role: Role, task: Task) -> None:
    """Decide about the Pod that a completed task has left, whatever has become of it: it goes with the task, or becomes the Framework's."""
    key, uid, moves = role.key(task), task.attempt.object_uid, context.status.end.unmoved or set()
    assert uid is not None
    pod = context.pods.get(key)
    if key in moves and pod is not None and pod.uid == uid and pod.finished is None:
        # Somebody had written that it had finished. It runs, and goes with the ConfigMap.
        moves.discard(key)
        context.status.lose_pod(task)
        return
    if (task.deletion_pending or key in moves) and is_stored(context, role, task):
        action = actions.DeletePod(key, uid, completion=task.attempt.completion) if task.deletion_pending else actions.MovePod(key, uid)
        context.actions.append(action)


def _note_place(context: ReconcileContext, task: Task, pod: Pod) -> None:
    place = (pod.node_name, pod.ip, pod.host_ip)
    if place != (task.pod_node_name, task.pod_ip, task.pod_host_ip):
        task.pod_node_name, task.pod_ip, task.pod_host_ip = place
        context.status.touch()


def _end(context: ReconcileContext, role: Role, task: Task, completion: Json) -> None:
    """Record how the attempt has ended, while its Pod still exists."""
    _complete(context, role, task, completion, states.TASK_ENDS)
    is_stored(context, role, task)


def end_attempt(context: ReconcileContext, role: Role, task: Task, completion: Json | None) -> None:
    """Record that the attempt is over and its Pod gone for sure. A completion that is known already stays."""
    _complete(context, role, task, completion, states.TASK_GONE)
    is_stored(context, role, task)


def _complete(context: ReconcileContext, role: Role, task: Task, completion: Json | None, transition: states.Transition) -> None:
    """Note how a task's attempt has ended, and the transition that follows."""
    status, spec = context.status, context.spec.roles.get(role.name)
    counts = task.deletion_pending
    if completion is not None:
        if task.attempt.completion is None and spec is not None:
            counts |= (spec.min_failed if completion["type"]["name"] == FAILED else spec.min_succeeded) >= 1
        status.complete(task, completion)
    status.transition_task(role, task, transition, context.now)
    if counts:
        status.decisive = max(status.decisive, task.changed)


def _waits_for_policies(context: ReconcileContext, role: Role, task: Task) -> bool:
    """Return whether it cannot be said yet whether the task is retried."""
    spec = context.spec.roles.get(role.name)
    return spec is not None and not spec.known and not task.deletion_pending and context.status.state not in COMPLETING


def _retry_or_complete(context: ReconcileContext, role: Role, task: Task) -> None:
    if _waits_for_policies(context, role, task):
        return
    key = role.key(task)
    assert task.attempt.completion is not None
    decision = _retry(context, role, task, task.attempt.completion)
    if task.retries.delay is None and not decision.retries:
        context.status.transition_task(role, task, states.TASK_DONE, context.now)
        task_completed(context, role, task)
        if task.deletion_pending:
            is_stored(context, role, task)  # A task that is marked for deletion is dropped as soon as its state is stored.
        return
    if not is_stored(context, role, task):
        return
    delay = task.retries.delay
    if task.deletion_pending or not delay or context.due_after(task, delay, key):
        context.keep(TASK_RETRY, role, task)
        task.retries.total += 1
        task.retries.accountable += decision.accountable
        task.retries.delay = None
        context.status.transition_task(role, task, states.TASK_RETRIED, context.now, decision.kind)
        context.status.forget(task)
        role.count(task, -1)
        task.begin_attempt(names.pod_name(context.name, role.name, task.index), context.now)
        role.count(task, 1)
        is_stored(context, role, task)


def _retry(context: ReconcileContext, role: Role, task: Task, completion: Json) -> RetryDecision:
    spec = context.spec.roles.get(role.name)
    return retry_decision(spec.retry, task.retries.accountable, completion) if spec else RetryDecision(False)


def _create(context: ReconcileContext, role: Role, task: Task) -> None:
    status = context.status
    if status.state in COMPLETING or not is_stored(context, role, task):
        return
    if status.attempt_known > status.stored:
        status.waiting.add(role.key(task))  # The ConfigMap's uid, by which the Pod will be known as ours, is not stored yet.
        return
    if task.deletion_pending or role.name not in context.spec.roles:
        context.actions.append(actions.RemovePod(role.key(task), scaled_away()))
    elif context.may_create:
        context.actions.append(actions.CreatePod(role.key(task)))


def pod_created(context: ReconcileContext, key: Key, uid: str, template: str) -> None:
    """Take in the result of a CreatePod: the Pod exists with this uid.

    :param template: the hash of what it was made from, which an edit may have replaced since.
    """
    role, task = find(context.status, key)
    if task.state == CREATION_PENDING:
        task.attempt.created(uid)
        context.status.note_template(role, task, None if role.pod_template_hash in (None, template) else template)
        context.status.transition_task(role, task, states.TASK_CREATED, context.now)


def pod_deleted(context: ReconcileContext, key: Key, uid: str) -> None:
    """Take in the result of a DeletePod without a completion: the API server accepted it."""
    if context.status.task(key) is None:
        return  # The Pod belonged to no task.
    role, task = find(context.status, key)
    if task.state == DELETION_PENDING and task.attempt.object_uid == uid:
        context.status.transition_task(role, task, states.TASK_DELETED, context.now)


def pod_gone(context: ReconcileContext, key: Key, completion: Json) -> None:
    """Take in the result of a RemovePod, or of a DeletePod with a completion: no Pod of this task is left."""
    role, task = find(context.status, key)
    if task.state not in (ATTEMPT_COMPLETED, COMPLETED):
        end_attempt(context, role, task, completion)
    elif task.pod_kept:
        context.status.lose_pod(task)


def pod_moved(context: ReconcileContext, key: Key, *, gone: bool) -> None:
    """Take in the result of a MovePod: the Framework owns the Pod, or it was gone."""
    if context.status.end.unmoved is not None:
        context.status.end.unmoved.discard(key)
    if gone:
        context.status.lose_pod(find(context.status, key)[1])


def find(status: Status, key: Key) -> tuple[Role, Task]:
    """Return the role and the task of a key, which must exist."""
    role = status.role(key[0])
    assert role is not None
    return role, role.tasks[key[1]]
