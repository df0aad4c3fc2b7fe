"""The status to JSON and back, with upstream's fields and nulls. A large one is compressed, since etcd takes 1.5 MiB of an object."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from fcompile.model.packed import STATUS_BYTES, unpacked
from fcontroller.decide.status import Attempt, IntentRecord, Json, Life, Retries, Role, Status, Task, from_time, task_counts, to_time

COMPRESSED_FROM = 716_800
"""Bytes of the JSON of `taskRoleStatuses` from which on it is compressed."""
_LEVEL = 1  # Higher ones take several times as long for a tenth less.
_OWN = frozenset(
    ("attemptStatus", "completionTime", "intent", "retryPolicyStatus", "runTime", "startTime", "state", "taskCounts", "transitionTime")
)


def to_json(status: Status) -> Json:
    """The status as it is stored."""
    value: Json = json.loads(to_text(status))
    return value


def summary(status: Status) -> Json:
    """Return the fields of a status by which a Framework that is over is known."""
    return {
        "transitionTime": to_time(status.transition_time),
        "taskCounts": task_counts(status),
        "attemptStatus": {"completionStatus": status.attempt.completion},
    }


def to_text(status: Status) -> str:
    """The JSON of the status as it is stored."""
    roles = f"[{','.join(map(_role_text, status.roles))}]"
    packed = roles.encode() if len(roles) * 4 >= COMPRESSED_FROM else b""
    if len(packed) >= COMPRESSED_FROM:
        compressed = base64.b64encode(gzip.compress(packed, _LEVEL, mtime=0)).decode()
        tasks = f'"taskRoleStatuses":null,"taskRoleStatusesCompressed":"{compressed}"'
    else:
        tasks = f'"taskRoleStatuses":{roles}'
    own, others = status.attempt, "".join(f"{_text(key)}:{_text(value)}," for key, value in status.others.items())
    attempt = f'{{{_attempt_text(own)},"configMapName":{_text(own.object_name)},"configMapUID":{_text(own.object_uid)},{tasks}}}'
    intent = f'"intent":{_text(status.intent.to_json())},' if status.intent.digest or status.intent.next else ""
    return f'{{{others}{_life_text(status)},"taskCounts":{_text(task_counts(status))},{intent}"attemptStatus":{attempt}}}'


_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def from_json(value: Mapping[str, Any]) -> Status:
    """A status that was stored, by this controller or by upstream's.

    Fields that are null may be missing: tools that patch a status, as Argo CD's actions do, leave out nulls.
    """
    attempt = value["attemptStatus"]
    status = Status(attempt["configMapName"], 0)
    _life_from_json(status, value)
    _attempt_from_json(status.attempt, attempt, attempt.get("configMapUID"))
    status.roles = [_role_from_json(role) for role in role_statuses(attempt)]
    intent = value.get("intent") or {}
    status.intent = IntentRecord(
        intent.get("digest"), intent.get("nextDigest"), intent.get("observedGeneration"), bool(intent.get("adopted"))
    )
    status.others = {key: item for key, item in value.items() if key not in _OWN}
    status.stored = status.revision
    return status


def role_statuses(attempt: Mapping[str, Any]) -> list[Json]:
    """Return the `taskRoleStatuses` of an `attemptStatus`, compressed or not. Raises ValueError when they cannot be unpacked."""
    roles: list[Json] | None = attempt.get("taskRoleStatuses")
    packed = attempt.get("taskRoleStatusesCompressed")
    if roles is None and packed:
        roles = json.loads(unpacked(packed, STATUS_BYTES))
    return roles or []


def _role_text(role: Role) -> str:
    own = {"name": role.name, "instanceUID": role.instance_uid, "podGracefulDeletionTimeoutSec": role.graceful_deletion_timeout}
    return f'{_text(own)[:-1]},"taskStatuses":[{",".join(map(_task_text, role.tasks))}]}}'


def _role_from_json(value: Json) -> Role:
    role = Role(value["name"], value["instanceUID"])
    role.graceful_deletion_timeout = value.get("podGracefulDeletionTimeoutSec")
    for item in value.get("taskStatuses") or ():
        task = _task_from_json(item)
        role.tasks.append(task)
        role.count(task, 1)
    return role


def _task_text(task: Task) -> str:
    # Most tasks of a large Framework are as they were when its status was stored the last time.
    retries, attempt = task.retries, task.attempt
    content = (
        *(task.state, task.start_time, task.run_time, task.completion_time, task.transition_time),
        *(retries.total, retries.accountable, retries.delay),
        *(attempt.id, attempt.start_time, attempt.run_time, attempt.completion_time, attempt.instance_uid, attempt.completion),
        *(attempt.object_name, attempt.object_uid, task.pod_node_name, task.pod_ip, task.pod_host_ip),
        *(task.index, task.instance_uid, task.deletion_pending),
    )
    if task.text is None or task.text[0] != content:
        task.text = content, _new_task_text(task)
    return task.text[1]


def _new_task_text(task: Task) -> str:
    deletion_pending = "true" if task.deletion_pending else "false"
    own = f'"index":{task.index:d},"instanceUID":{_string(task.instance_uid)},"deletionPending":{deletion_pending}'
    pod = f'"podName":{_string(task.attempt.object_name)},"podUID":{_string(task.attempt.object_uid)}'
    place = f'"podNodeName":{_string(task.pod_node_name)},"podIP":{_string(task.pod_ip)},"podHostIP":{_string(task.pod_host_ip)}'
    return f'{{{own},{_life_text(task)},"attemptStatus":{{{_attempt_text(task.attempt)},{pod},{place}}}}}'


def task_to_json(task: Task) -> Json:
    """An item of `taskStatuses`."""
    value: Json = json.loads(_task_text(task))
    return value


def _task_from_json(value: Json) -> Task:
    attempt = value["attemptStatus"]
    task = Task(value["index"], value["instanceUID"], attempt["podName"], 0)
    task.deletion_pending = value["deletionPending"]
    _life_from_json(task, value)
    _attempt_from_json(task.attempt, attempt, attempt.get("podUID"))
    task.pod_node_name, task.pod_ip, task.pod_host_ip = attempt.get("podNodeName"), attempt.get("podIP"), attempt.get("podHostIP")
    return task


# These are written ten thousand times for a large Framework: by hand that takes a third of the time.


def _life_text(life: Life) -> str:
    """Fields that a Framework and a task have in common."""
    retries = life.retries
    delay = "null" if retries.delay is None else f"{retries.delay:d}"
    return (
        f'"state":{_string(life.state)},"startTime":{_time(life.start_time)},"runTime":{_time(life.run_time)},'
        f'"completionTime":{_time(life.completion_time)},"transitionTime":{_time(life.transition_time)},"retryPolicyStatus":'
        f'{{"accountableRetriedCount":{retries.accountable:d},"retryDelaySec":{delay},"totalRetriedCount":{retries.total:d}}}'
    )


def _attempt_text(attempt: Attempt) -> str:
    """Fields that an attempt of a Framework and one of a task have in common."""
    completion = "null" if attempt.completion is None else _text(attempt.completion)
    return (
        f'"id":{attempt.id:d},"startTime":{_time(attempt.start_time)},"runTime":{_time(attempt.run_time)},'
        f'"completionTime":{_time(attempt.completion_time)},"instanceUID":{_string(attempt.instance_uid)},"completionStatus":{completion}'
    )


def _time(seconds: float | None) -> str:
    return "null" if seconds is None else f'"{to_time(seconds)}"'


def _string(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)


def _life_from_json(life: Life, value: Mapping[str, Any]) -> None:
    retries = value["retryPolicyStatus"]
    life.state = value["state"]
    life.start_time = from_time(value["startTime"]) or 0
    life.run_time = from_time(value.get("runTime"))
    life.completion_time = from_time(value.get("completionTime"))
    life.transition_time = from_time(value["transitionTime"]) or 0
    life.retries = Retries(retries["totalRetriedCount"], retries["accountableRetriedCount"], retries.get("retryDelaySec"))


def _attempt_from_json(attempt: Attempt, value: Mapping[str, Any], object_uid: str | None) -> None:
    attempt.id = value["id"]
    attempt.start_time = from_time(value["startTime"]) or 0
    attempt.run_time = from_time(value.get("runTime"))
    attempt.completion_time = from_time(value.get("completionTime"))
    attempt.instance_uid = value.get("instanceUID")
    attempt.object_uid = object_uid
    attempt.completion = value.get("completionStatus")
