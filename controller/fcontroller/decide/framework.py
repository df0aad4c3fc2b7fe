"""The Framework itself: its attempts, and in which order everything of one look is decided.

A change of scale is stored before anything else happens, so that a completion policy of today never meets the tasks of yesterday.
"""

from __future__ import annotations

from collections.abc import Iterable

from fcompile.model import names
from fcontroller.decide import states
from fcontroller.decide.codes import CACHE_TIMEOUT_CONFIG_MAP, CONFIG_MAP_DELETED_BY_OTHERS, STOPPED
from fcontroller.decide.completion import end_framework_attempt, ended_with_the_attempt, framework_attempt_gone, policies
from fcontroller.decide.observed import ConfigMap
from fcontroller.decide.rescale import rescale
from fcontroller.decide.retry import retry_decision
from fcontroller.decide.spec import CREATE, STOP
from fcontroller.decide.states import (
    ATTEMPT_COMPLETED,
    COMPLETED,
    COMPLETING,
    CREATION_PENDING,
    CREATION_REQUESTED,
    DELETION_PENDING,
    DELETION_REQUESTED,
    PREPARING,
)
from fcontroller.decide.status import Attempt, Json
from fcontroller.decide.sync import (
    FRAMEWORK_RETRY,
    CreateConfigMap,
    DeleteConfigMap,
    DeleteFramework,
    DeletePod,
    Key,
    RemoveConfigMap,
    Sync,
)
from fcontroller.decide.task import sync_task

STOP_REQUESTED = "The Framework is to be stopped"


def sync_framework(sync: Sync, keys: Iterable[Key] | None = None) -> None:
    """Decide about a Framework.

    `keys` are the tasks that something may have happened to; None: all of them, as after a change of the spec.
    """
    status = sync.status
    if sync.is_new:
        status.roles = [sync.new_role(role.name, role.task_number) for role in sync.spec.roles.values()]
        status.changed = status.settled = status.touch()
        return
    if status.settled > status.stored or rescale(sync) or _copy_timeouts(sync):
        return
    if status.state == COMPLETED:
        if sync.due(status.transition_time, sync.settings.completed_retention) and not sync.deleting:
            sync.actions.append(DeleteFramework(sync.uid))
        return
    if None in sync.busy:
        return
    if status.state != ATTEMPT_COMPLETED and not _config_map(sync):
        return
    if status.state == ATTEMPT_COMPLETED:
        _retry_or_complete(sync)
    elif status.state == CREATION_PENDING:
        _create(sync)
    else:
        _tasks(sync, keys)


def _copy_timeouts(sync: Sync) -> bool:
    """Keep the timeouts of the spec in the status, where they outlive a role. Whether one has changed."""
    changed = False
    for spec in sync.spec.roles.values():
        role = sync.status.role(spec.name)
        if role is not None and sync.status.state != COMPLETED and role.graceful_deletion_timeout != spec.graceful_deletion_timeout:
            role.graceful_deletion_timeout = spec.graceful_deletion_timeout
            changed = True
    if changed:
        sync.status.settled = sync.status.touch()
    return changed


def _config_map(sync: Sync) -> bool:
    """Follow what has become of the attempt's ConfigMap. Whether there is more to decide."""
    status, found = sync.status, sync.config_map
    if found is not None and found.uid != status.attempt.object_uid:
        if found.controller == sync.uid:
            # One that was made without living to store its uid.
            if not found.deleting:
                sync.actions.append(DeleteConfigMap(found.uid))
            return False
        found = None
    if found is None:
        return _without_config_map(sync)
    if found.deleting:
        if status.attempt.completion is None:
            status.attempt.completion = CONFIG_MAP_DELETED_BY_OTHERS.ended("ConfigMap is being deleted by others")
        status.move(states.FRAMEWORK_GOES, sync.now)
    elif status.state == DELETION_PENDING:
        _delete(sync, found)
    elif status.state == CREATION_REQUESTED:
        status.move(states.FRAMEWORK_SEEN, sync.now)
    return True


def _delete(sync: Sync, found: ConfigMap) -> None:
    if sync.status.is_stored(sync.status):
        sync.actions.append(DeleteConfigMap(found.uid))


def _without_config_map(sync: Sync) -> bool:
    status = sync.status
    if status.state == CREATION_PENDING:
        return True
    if status.state != CREATION_REQUESTED:
        if status.state != DELETION_REQUESTED and _pods_may_come(sync):
            return False
        known = status.attempt.completion is not None
        framework_attempt_gone(sync, None if known else CONFIG_MAP_DELETED_BY_OTHERS.ended("ConfigMap was deleted by others"))
        return True
    if sync.spec.execution_type == STOP:
        completion = STOPPED.ended(STOP_REQUESTED)
    elif sync.due(status.transition_time, sync.settings.cache_timeout):
        completion = CACHE_TIMEOUT_CONFIG_MAP.ended(
            f"ConfigMap does not appear in the cache within {sync.settings.cache_timeout} s: it is taken for deleted, "
            "and deleted to be sure"
        )
    else:
        return False
    assert status.attempt.object_uid is not None
    sync.actions.append(DeleteConfigMap(status.attempt.object_uid, completion))
    return False


def _pods_may_come(sync: Sync) -> bool:
    """Whether there may be Pods that were asked for when somebody else had deleted their ConfigMap.

    They are deleted, lest they run on for a while: the garbage collector would do it too, but not at once.
    """
    asked = [(role, task) for role, task in sync.status.tasks() if task.state == CREATION_REQUESTED]
    for role, task in asked:
        if (role.name, task.index) not in sync.busy:
            assert task.attempt.object_uid is not None
            completion = task.attempt.completion or ended_with_the_attempt()
            sync.actions.append(DeletePod(role.name, task.index, task.attempt.object_uid, completion=completion))
    return bool(asked) or sync.creating


def _retry_or_complete(sync: Sync) -> None:
    status, stopped = sync.status, sync.spec.execution_type == STOP
    assert status.attempt.completion is not None
    decision = retry_decision(sync.spec.retry, status.retries.accountable, status.attempt.completion)
    if status.retries.delay is None and not decision.retries:
        status.move(states.FRAMEWORK_DONE, sync.now)
        sync.due(status.transition_time, sync.settings.completed_retention)
        return
    if not status.is_stored(status):
        return
    if status.retries.delay is None:
        status.retries.delay = sync.random_delay(*sync.settings.conflict_delay) if decision.conflict else 0
        status.touch()
    if stopped or sync.due(status.transition_time, status.retries.delay):
        sync.keep(FRAMEWORK_RETRY)
        status.retries.total += 1
        status.retries.accountable += decision.accountable
        status.retries.delay = None
        status.move(states.FRAMEWORK_RETRIED, sync.now, decision.kind)
        status.attempt = Attempt(status.retries.total, names.config_map_name(sync.name), sync.now)
        status.roles = [sync.new_role(role.name, role.task_number) for role in sync.spec.roles.values()]
        status.settled = status.revision


def _create(sync: Sync) -> None:
    if sync.deleting or sync.spec.execution_type == CREATE or not sync.status.is_stored(sync.status):
        return
    if sync.spec.execution_type == STOP:
        sync.actions.append(RemoveConfigMap(STOPPED.ended(STOP_REQUESTED)))
    else:
        sync.actions.append(CreateConfigMap(sync.status.attempt.id))


def _tasks(sync: Sync, keys: Iterable[Key] | None) -> None:
    """The attempt is under way or ending: see to its policies and tasks."""
    status = sync.status
    sync.looked_at_tasks = True
    if status.state not in COMPLETING and sync.spec.execution_type == STOP:
        end_framework_attempt(sync, STOPPED.ended(STOP_REQUESTED))
    if status.state not in COMPLETING and keys is None:
        policies(sync)
    if keys is None:
        for role, task in status.tasks():
            sync_task(sync, role, task)
    else:
        # In the order of the status, as if all were looked at.
        places = {role.name: place for place, role in enumerate(status.roles)}
        for name, index in sorted((key for key in keys if key[0] in places), key=lambda key: (places[key[0]], key[1])):
            role = status.roles[places[name]]
            if index < len(role.tasks):
                sync_task(sync, role, role.tasks[index])
    if status.state == PREPARING and any(role.running for role in status.roles):
        status.move(states.FRAMEWORK_RUNS, sync.now)


def config_map_created(sync: Sync, uid: str) -> None:
    """The result of a CreateConfigMap: the ConfigMap exists with that uid."""
    if sync.status.state != CREATION_PENDING:
        return
    sync.status.attempt.created(uid)
    sync.status.move(states.FRAMEWORK_CREATED, sync.now)
    sync.status.attempt_known = sync.status.revision
    sync.due(sync.status.transition_time, sync.settings.cache_timeout)


def config_map_deleted(sync: Sync) -> None:
    """The result of a DeleteConfigMap without a completion: the API server took it."""
    if sync.status.state == DELETION_PENDING:
        sync.status.move(states.FRAMEWORK_DELETED, sync.now)


def config_map_gone(sync: Sync, completion: Json) -> None:
    """The result of a RemoveConfigMap, or of a DeleteConfigMap with a completion: there is none of ours any more."""
    if sync.status.state not in (ATTEMPT_COMPLETED, COMPLETED):
        framework_attempt_gone(sync, completion)
