"""The status to JSON and back, with upstream's fields and nulls. A large one is compressed, since etcd takes 1.5 MiB of an object.

Writing or reading 10,000 tasks would block the event loop for too long. So this is done in steps, by generators: other work can run in
between, and the status may change meanwhile.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from fcompile.lower.intent import at_once
from fcompile.model.formats import accepts
from fcompile.model.framework import MAX_ROLES, MAX_TASKS
from fcompile.model.packed import packed_tasks
from fcontroller.decide.codes import Json
from fcontroller.decide.messages import size
from fcontroller.decide.states import STATES
from fcontroller.decide.status import Attempt, IntentRecord, Life, Retries, Role, Status, Task, from_time, task_counts, to_time

COMPRESSED_FROM = 716_800
"""Bytes of the JSON of `taskRoleStatuses` from which on it is compressed."""
MOST_ROLES = MAX_TASKS + MAX_ROLES
"""Roles that a status may have: those of the spec, and removed ones, each of which still has a task."""
_ROOM = 1_250_000
"""Bytes that spec and status may have together before more is done to make the status small."""
_FAST, _SMALL = 1, 6
"""Levels of compression: the second takes twice as long for a fifth less."""
_GZIP = 16 + zlib.MAX_WBITS
"""What zlib calls a header and an end as of gzip."""
_STEP = 100
"""Tasks in one step."""
_FEW = 1_000
"""Up to so many tasks, their texts are made anew each time. Those of 1,000 Frameworks of 100 tasks would take 150 MiB if they were kept."""
_OWN = frozenset(
    (
        *("activeStartTime", "attemptStatus", "completionTime", "intent", "observedRestart", "retryPolicyStatus"),
        *("runTime", "startTime", "state", "taskCounts", "transitionTime"),
    )
)


class StatusText(NamedTuple):
    """The stored form of a status."""

    revision: int
    """Which it is of."""
    text: str
    """JSON."""


def text_of(status: Status) -> Generator[None, None, StatusText]:
    """Make the stored form of a status, as it is at the first step, in steps."""
    own = status.attempt
    head = {**status.others, **_life(status), "taskCounts": task_counts(status)}
    if status.active_since is not None:
        head["activeStartTime"] = to_time(status.active_since)
    if status.intent.digest or status.intent.next:
        head["intent"] = status.intent.to_json()
    if status.restart:
        head["observedRestart"] = status.restart
    attempt = {**_attempt(own), "configMapName": own.object_name, "configMapUID": own.object_uid}
    head["attemptStatus"] = attempt
    if status.retry_refused:
        # It is a field of the attempt. An older controller does not know it and may begin another attempt, which then does not have it.
        attempt["retryRefused"] = True
    before_tasks = _encode(head).decode().removesuffix("}}")
    revision, roles = status.revision, [(_role_head(role), [(task, _content(task)) for task in role.tasks]) for role in status.roles]
    number = status.task_number
    if number > _STEP:  # Small ones are done at once: a thousand that took turns would all be in memory.
        yield
    pieces: list[bytes] = []
    for role_head, tasks in roles:
        before = (b"," if pieces else b"[") + role_head
        for start in range(0, len(tasks), _STEP):
            some = tasks[start : start + _STEP]
            texts = [_known_text(task, content) if number > _FEW else _task_text(content) for task, content in some]
            pieces.append(before + b",".join(texts))
            before = b","
            if number > _STEP:
                yield
        pieces.append((b"" if tasks else before) + b"]}")
    pieces.append(b"]" if pieces else b"[]")
    packed = yield from _packed(pieces, status.beside)
    return StatusText(revision, f"{before_tasks},{packed}}}}}")


def _packed(pieces: list[bytes], beside: int) -> Generator[None, None, str]:
    """Return the fields that hold the tasks, compressed if need be."""
    if sum(map(len, pieces)) < min(COMPRESSED_FROM, _ROOM - beside):
        return f'"taskRoleStatuses":{b"".join(pieces).decode()}'
    packed = yield from _compress(pieces, _FAST)
    if len(packed) * 4 // 3 > _ROOM - beside:
        packed = yield from _compress(pieces, _SMALL)
    return f'"taskRoleStatuses":null,"taskRoleStatusesCompressed":"{base64.b64encode(packed).decode()}"'


def _compress(pieces: list[bytes], level: int) -> Generator[None, None, bytes]:
    compressor = zlib.compressobj(level, wbits=_GZIP)
    packed = []
    for piece in pieces:
        packed.append(compressor.compress(piece))
        yield
    return b"".join([*packed, compressor.flush()])


def to_text(status: Status) -> str:
    """Return the JSON of the status as it is stored."""
    return at_once(text_of(status)).text


def to_json(status: Status) -> Json:
    """Return the status as it is stored."""
    value: Json = json.loads(to_text(status))
    return value


_encode = msgspec.json.Encoder().encode


def status_from(value: Mapping[str, Any]) -> Generator[None, None, Status]:
    """Return, in steps, a status that was stored, by this controller or by upstream's.

    Fields that are null may be missing: tools that patch a status, as Argo CD's actions do, leave out nulls. Raises LookupError, TypeError
    and ValueError for anything else.
    """
    attempt = value["attemptStatus"]
    status = Status(attempt["configMapName"], 0)
    _life_from_json(status, value)
    _attempt_from_json(status.attempt, attempt, attempt.get("configMapUID"))
    for role, items in _roles(attempt):
        if len(status.roles) == MOST_ROLES:
            raise ValueError(f"it has more than {MOST_ROLES:,} roles")
        status.roles.append(role)
        for number, item in enumerate(items):
            task = _task_from_json(item)
            role.add(task)
            status.said += size(task.attempt.completion)
            if number % _STEP == _STEP - 1:
                yield
    intent = value.get("intent") or {}
    status.intent = IntentRecord(
        intent.get("digest"), intent.get("nextDigest"), intent.get("observedGeneration"), bool(intent.get("adopted"))
    )
    status.restart = value.get("observedRestart") or ""
    status.active_since = from_time(value.get("activeStartTime"))
    status.retry_refused = bool(attempt.get("retryRefused"))
    status.others = {key: item for key, item in value.items() if key not in _OWN}
    status.stored = status.revision
    return status


class _RetryPolicyStatus(msgspec.Struct):
    accountableRetriedCount: int
    retryDelaySec: int | None
    totalRetriedCount: int


class _AttemptStatus(msgspec.Struct, omit_defaults=True):
    id: int
    startTime: str | None
    runTime: str | None
    completionTime: str | None
    instanceUID: str | None
    completionStatus: Any
    podName: str
    podUID: str | None
    podNodeName: str | None
    podIP: str | None
    podHostIP: str | None
    # Like other fields that are not upstream's, only there when they say something.
    podKept: bool = False
    podTemplateHash: str | None = None


class _TaskStatus(msgspec.Struct):
    """What a task's JSON is made from: to make dicts of it takes longer."""

    index: int
    instanceUID: str
    deletionPending: bool
    state: str
    startTime: str | None
    runTime: str | None
    completionTime: str | None
    transitionTime: str | None
    retryPolicyStatus: _RetryPolicyStatus
    attemptStatus: _AttemptStatus


class _RoleStatus(msgspec.Struct):
    name: Any
    instanceUID: Any
    podGracefulDeletionTimeoutSec: Any = None
    podTemplateHash: Any = None
    taskStatuses: list[msgspec.Raw] | None = None


_decode_roles = msgspec.json.Decoder(list[_RoleStatus]).decode
_decode = msgspec.json.Decoder().decode


def _roles(attempt: Mapping[str, Any]) -> Iterator[tuple[Role, Iterable[Json]]]:
    """Yield each role and its tasks. Those that are compressed are read one by one: all at once, they take a tenth of a second."""
    if packed := packed_tasks(attempt):
        for one in _decode_roles(packed):
            role = _role_of(one.name, one.instanceUID, one.podGracefulDeletionTimeoutSec, one.podTemplateHash)
            yield role, map(_decode, one.taskStatuses or ())
        return
    for value in attempt.get("taskRoleStatuses") or ():
        timeout, template = value.get("podGracefulDeletionTimeoutSec"), value.get("podTemplateHash")
        yield _role_of(value["name"], value["instanceUID"], timeout, template), value.get("taskStatuses") or ()


def _role_head(role: Role) -> bytes:
    own = {"name": role.name, "instanceUID": role.instance_uid, "podGracefulDeletionTimeoutSec": role.graceful_deletion_timeout}
    if role.pod_template_hash:
        own["podTemplateHash"] = role.pod_template_hash
    return _encode({**own, "taskStatuses": ()}).removesuffix(b"]}")


def _role_of(name: Any, instance_uid: str, graceful_deletion_timeout: int | None, template: str | None) -> Role:
    # It is a part of paths: `x?`, `../` or a line end would lead to the objects of others.
    if not accepts("framework-name")(name):
        raise ValueError(f"no role can be called {name!r:.100}")
    role = Role(name, instance_uid)
    role.graceful_deletion_timeout, role.pod_template_hash = graceful_deletion_timeout, template
    return role


def _content(task: Task) -> tuple[Any, ...]:
    """Return all that a task's JSON is made from: quickly, since it is done for all tasks at once."""
    attempt, retries = task.attempt, task.retries
    return (
        *(task.index, task.instance_uid, task.deletion_pending, task.state),
        *(task.start_time, task.run_time, task.completion_time, task.transition_time),
        *(retries.accountable, retries.delay, retries.total),
        *(attempt.id, attempt.start_time, attempt.run_time, attempt.completion_time, attempt.instance_uid, attempt.completion),
        *(attempt.object_name, attempt.object_uid, task.pod_node_name, task.pod_ip, task.pod_host_ip),
        *(task.pod_kept, attempt.pod_template_hash or None),
    )


def _known_text(task: Task, content: tuple[Any, ...]) -> bytes:
    # Most tasks of a large Framework are as they were when its status was stored the last time.
    if task.text is None or task.text[0] != content:
        task.text = content, _task_text(content)
    return task.text[1]


def _task_text(content: tuple[Any, ...]) -> bytes:
    (index, uid, deleted, state, start, run, end, transition, *retries, attempt_id, began, ran, ended, instance, completion) = content[:17]
    attempt = _AttemptStatus(attempt_id, to_time(began), to_time(ran), to_time(ended), instance, completion, *content[17:])
    life = state, to_time(start), to_time(run), to_time(end), to_time(transition), _RetryPolicyStatus(*retries)
    return _encode(_TaskStatus(index, uid, deleted, *life, attempt))


def task_to_json(task: Task) -> Json:
    """Return an item of `taskStatuses`."""
    value: Json = json.loads(_task_text(_content(task)))
    return value


def _task_from_json(value: Json) -> Task:
    attempt = value["attemptStatus"]
    if type(value["index"]) is not int:  # A part of paths, too.
        raise ValueError(f"no index of a task: {value['index']!r:.100}")
    task = Task(value["index"], value["instanceUID"], attempt["podName"], 0)
    task.deletion_pending = value["deletionPending"]
    task.pod_kept = bool(attempt.get("podKept"))
    _life_from_json(task, value)
    _attempt_from_json(task.attempt, attempt, attempt.get("podUID"))
    task.attempt.pod_template_hash = attempt.get("podTemplateHash")
    task.pod_node_name, task.pod_ip, task.pod_host_ip = attempt.get("podNodeName"), attempt.get("podIP"), attempt.get("podHostIP")
    return task


def _life(status: Status) -> Json:
    """Return the fields of a Framework that its tasks have too."""
    return {
        "state": status.state,
        "startTime": to_time(status.start_time),
        "runTime": to_time(status.run_time),
        "completionTime": to_time(status.completion_time),
        "transitionTime": to_time(status.transition_time),
        "retryPolicyStatus": _retries(status.retries),
    }


def _retries(retries: Retries) -> _RetryPolicyStatus:
    return _RetryPolicyStatus(retries.accountable, retries.delay, retries.total)


def _attempt(attempt: Attempt) -> Json:
    """Return the fields of a Framework's attempt that those of its tasks have too."""
    return {
        "id": attempt.id,
        "startTime": to_time(attempt.start_time),
        "runTime": to_time(attempt.run_time),
        "completionTime": to_time(attempt.completion_time),
        "instanceUID": attempt.instance_uid,
        "completionStatus": attempt.completion,
    }


def _life_from_json(life: Life, value: Mapping[str, Any]) -> None:
    retries = value["retryPolicyStatus"]
    life.state = value["state"]
    if life.state not in STATES:  # For an unknown state there would be no transition, and no name for metrics.
        raise ValueError(f"no state that there is: {life.state!r:.100}")
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
