"""The status to JSON and back, with upstream's fields and nulls. A large one is compressed, since etcd takes 1.5 MiB of an object.

Writing or reading 10,000 tasks would block the event loop for too long. So this is done in steps, by generators: other work can run in
between, and the status may change meanwhile.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Generator, Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any, NamedTuple, TypeVar

from fcompile.model.formats import accepts
from fcompile.model.packed import packed_tasks
from fcontroller.decide.messages import size
from fcontroller.decide.states import STATES
from fcontroller.decide.status import Attempt, IntentRecord, Json, Life, Retries, Role, Status, Task, from_time, task_counts, to_time

COMPRESSED_FROM = 716_800
"""Bytes of the JSON of `taskRoleStatuses` from which on it is compressed."""
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
_TASKS = '"taskStatuses":['
_KEPT = ',"podKept":true'
"""Like other fields that are not upstream's, only there when it says something."""
_ROLE = re.compile(r'{"name":"[^"\\]*","instanceUID":"[^"\\]*","podGracefulDeletionTimeoutSec":(?:null|-?[0-9]+),"taskStatuses":\[')
"""How a role begins, as this controller and upstream's write it. No name, message or reason of anybody's has unescaped quotes in it."""
T = TypeVar("T")


class StatusText(NamedTuple):
    """The stored form of a status."""

    revision: int
    """Which it is of."""
    text: str
    """JSON."""


def text_of(status: Status) -> Generator[None, None, StatusText]:
    """Make the stored form of a status, as it is at the first step, in steps."""
    own, others = status.attempt, "".join(f"{_text(key)}:{_text(value)}," for key, value in status.others.items())
    # It is a field of the attempt. An older controller does not know it and may begin another attempt, which then does not have it.
    last = '"retryRefused":true,' if status.retry_refused else ""
    attempt = f'{{{_attempt_text(own)},"configMapName":{_text(own.object_name)},"configMapUID":{_text(own.object_uid)},{last}'
    intent = f'"intent":{_text(status.intent.to_json())},' if status.intent.digest or status.intent.next else ""
    restart = f'"observedRestart":{_text(status.restart)},' if status.restart else ""
    since = f'"activeStartTime":{_time(status.active_since)},' if status.active_since is not None else ""
    head = f'{{{others}{_life_text(status)},"taskCounts":{_text(task_counts(status))},{since}{intent}{restart}"attemptStatus":{attempt}'
    revision, roles = status.revision, [(_role_head(role), [(task, _content(task)) for task in role.tasks]) for role in status.roles]
    number = status.task_number
    if number > _STEP:  # Small ones are done at once: a thousand that took turns would all be in memory.
        yield
    pieces: list[bytes] = []
    for role_head, tasks in roles:
        before = f"{',' if pieces else '['}{role_head}"
        for start in range(0, len(tasks), _STEP):
            some = tasks[start : start + _STEP]
            texts = [_known_text(task, content) if number > _FEW else _task_text(content) for task, content in some]
            pieces.append(f"{before}{','.join(texts)}".encode())
            before = ","
            if number > _STEP:
                yield
        pieces.append(f"{'' if tasks else before}]}}".encode())
    pieces.append(b"]" if pieces else b"[]")
    packed = yield from _packed(pieces, status.beside)
    return StatusText(revision, f"{head}{packed}}}}}")


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
    return _done(text_of(status)).text


def to_json(status: Status) -> Json:
    """Return the status as it is stored."""
    value: Json = json.loads(to_text(status))
    return value


_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def from_json(value: Mapping[str, Any]) -> Status:
    """Return a status that was stored, by this controller or by upstream's. Raises LookupError, TypeError and ValueError for anything else.

    Fields that are null may be missing: tools that patch a status, as Argo CD's actions do, leave out nulls.
    """
    return _done(status_from(value))


def status_from(value: Mapping[str, Any]) -> Generator[None, None, Status]:
    """Read a status in steps, as `from_json` does at once."""
    attempt = value["attemptStatus"]
    status = Status(attempt["configMapName"], 0)
    _life_from_json(status, value)
    _attempt_from_json(status.attempt, attempt, attempt.get("configMapUID"))
    for role, items in _roles(attempt):
        status.roles.append(role)
        for number, item in enumerate(items):
            task = _task_from_json(item)
            role.tasks.append(task)
            role.count(task, 1)
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


def role_statuses(attempt: Mapping[str, Any]) -> list[Json]:
    """Return the `taskRoleStatuses` of an `attemptStatus`, compressed or not. Raises ValueError when they cannot be unpacked."""
    packed = packed_tasks(attempt)
    return json.loads(packed) if packed else attempt.get("taskRoleStatuses") or []


def _roles(attempt: Mapping[str, Any]) -> Iterator[tuple[Role, Iterator[Json]]]:
    """Yield each role and its tasks. Where they are many, they are read one by one: all at once, they take a tenth of a second."""
    text = packed_tasks(attempt)
    heads = [(match.start(), match.end()) for match in _ROLE.finditer(text)]
    if len(heads) != text.count('"taskStatuses"') or not heads:
        heads = []
        for value in role_statuses(attempt):
            yield _role_from_json(value), iter(value.get("taskStatuses") or ())
    for start, end in heads:
        yield _role_from_json(json.loads(f"{text[start:end]}]}}")), _Items(text, end)


class _Items(Iterator[Json]):
    """The items of a list in a JSON text, one after the other."""

    _decoder = json.JSONDecoder()

    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at

    def __next__(self) -> Json:
        if self._text[self._at] == "]":
            raise StopIteration
        value, end = self._decoder.raw_decode(self._text, self._at)
        self._at = end + (self._text[end] == ",")
        item: Json = value
        return item


def _done(steps: Generator[None, None, T]) -> T:
    """Run all steps."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value


def _role_head(role: Role) -> str:
    own = {"name": role.name, "instanceUID": role.instance_uid, "podGracefulDeletionTimeoutSec": role.graceful_deletion_timeout}
    return f"{_text(own)[:-1]},{_TASKS}"


def _role_from_json(value: Json) -> Role:
    # It is a part of paths: `x?`, `../` or a line end would lead to the objects of others.
    if not accepts("framework-name")(value["name"]):
        raise ValueError(f"no role can be called {value['name']!r:.100}")
    role = Role(value["name"], value["instanceUID"])
    role.graceful_deletion_timeout = value.get("podGracefulDeletionTimeoutSec")
    return role


def _content(task: Task) -> tuple[Any, ...]:
    """Return all that a task's JSON is made from."""
    retries, attempt = task.retries, task.attempt
    return (
        *(task.state, task.start_time, task.run_time, task.completion_time, task.transition_time),
        *(retries.total, retries.accountable, retries.delay),
        *(attempt.id, attempt.start_time, attempt.run_time, attempt.completion_time, attempt.instance_uid, attempt.completion),
        *(attempt.object_name, attempt.object_uid, task.pod_node_name, task.pod_ip, task.pod_host_ip),
        *(task.index, task.instance_uid, task.deletion_pending, task.pod_kept),
    )


def _known_text(task: Task, content: tuple[Any, ...]) -> str:
    # Most tasks of a large Framework are as they were when its status was stored the last time.
    if task.text is None or task.text[0] != content:
        task.text = content, _task_text(content)
    return task.text[1]


def _task_text(content: tuple[Any, ...]) -> str:
    state, start, run, end, transition, total, accountable, delay, *rest = content
    attempt, started, ran, ended, instance, completion, pod_name, pod_uid, node, ip, host_ip, index, uid, deletion_pending, kept = rest
    return (
        f'{{"index":{index:d},"instanceUID":{_string(uid)},"deletionPending":{"true" if deletion_pending else "false"},'
        f'{_life(state, start, run, end, transition, total, accountable, delay)},"attemptStatus":{{'
        f'{_attempt(attempt, started, ran, ended, instance, completion)},"podName":{_string(pod_name)},"podUID":{_string(pod_uid)},'
        f'"podNodeName":{_string(node)},"podIP":{_string(ip)},"podHostIP":{_string(host_ip)}{_KEPT if kept else ""}}}}}'
    )


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
    task.pod_node_name, task.pod_ip, task.pod_host_ip = attempt.get("podNodeName"), attempt.get("podIP"), attempt.get("podHostIP")
    return task


# These are written ten thousand times for a large Framework: formatting by hand takes a third of the time.


def _life_text(life: Life) -> str:
    """Return the fields that a Framework and a task have in common."""
    retries = life.retries
    times = life.start_time, life.run_time, life.completion_time, life.transition_time
    return _life(life.state, *times, retries.total, retries.accountable, retries.delay)


def _life(
    state: str,
    start: float | None,
    run: float | None,
    end: float | None,
    transition: float | None,
    total: int,
    accountable: int,
    delay: int | None,
) -> str:
    retries = f'"accountableRetriedCount":{accountable:d},"retryDelaySec":{"null" if delay is None else f"{delay:d}"}'
    return (
        f'"state":{_string(state)},"startTime":{_time(start)},"runTime":{_time(run)},"completionTime":{_time(end)},'
        f'"transitionTime":{_time(transition)},"retryPolicyStatus":{{{retries},"totalRetriedCount":{total:d}}}'
    )


def _attempt_text(attempt: Attempt) -> str:
    """Return the fields that an attempt of a Framework and one of a task have in common."""
    times = attempt.start_time, attempt.run_time, attempt.completion_time
    return _attempt(attempt.id, *times, attempt.instance_uid, attempt.completion)


def _attempt(number: int, start: float | None, run: float | None, end: float | None, instance: str | None, completion: Json | None) -> str:
    return (
        f'"id":{number:d},"startTime":{_time(start)},"runTime":{_time(run)},"completionTime":{_time(end)},'
        f'"instanceUID":{_string(instance)},"completionStatus":{"null" if completion is None else _text(completion)}'
    )


def _time(seconds: float | None) -> str:
    return "null" if seconds is None else f'"{to_time(seconds)}"'


def _string(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)


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
