"""The text of a status, which is put together by hand where there are thousands of the same."""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Generator
from contextlib import nullcontext
from typing import Any

import pytest

from fcompile.model.packed import STATUS_BYTES, STATUS_VALUES, role_statuses
from fcontroller.decide.status import IntentRecord, Retries, Role, Status, Task
from fcontroller.decide.status_json import COMPRESSED_FROM, MOST_ROLES, StatusText, status_from, task_to_json, text_of, to_json, to_text
from tests.decide.world import from_json

AWKWARD = 'a "quoted" \\ text\nof lines \u2028 \x01 é 😀'


def test_awkward_texts() -> None:
    status, role = Status("f-attempt", 1.5), Role("a", "uid-a")
    task = Task(3, "uid-a-3", "f-a-3", 2.5)
    task.attempt.created("uid-pod")
    task.attempt.completion = {"code": 1, "phrase": AWKWARD, "pod": {"containers": [{"message": AWKWARD}]}}
    task.pod_node_name, task.pod_ip = AWKWARD, "10.0.0.1"
    role.tasks.append(task)
    status.roles, status.others = [role], {"conditions": [{"message": AWKWARD}], AWKWARD: AWKWARD}
    stored = json.loads(to_text(status))
    (found,) = stored["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]
    assert found["attemptStatus"] == {
        "id": 0,
        "startTime": "1970-01-01T00:00:02Z",
        "runTime": None,
        "completionTime": None,
        "instanceUID": "0_uid-pod",
        "completionStatus": task.attempt.completion,
        "podName": "f-a-3",
        "podUID": "uid-pod",
        "podNodeName": AWKWARD,
        "podIP": "10.0.0.1",
        "podHostIP": None,
    }
    assert found == task_to_json(task)
    assert (stored["conditions"], stored[AWKWARD]) == ([{"message": AWKWARD}], AWKWARD)
    assert to_json(from_json(stored)) == stored


TASK = task_to_json(Task(0, "uid", "f-a-0", 2.5))
SAYS = '[{"name":"x","instanceUID":"y","podGracefulDeletionTimeoutSec":null,"taskStatuses":[{'
ROLES: list[dict[str, Any]] = [
    {"name": "a", "instanceUID": "uid-a", "podGracefulDeletionTimeoutSec": None, "taskStatuses": [TASK, {**TASK, "index": 1}]},
    {"name": "b", "instanceUID": "uid-b", "podGracefulDeletionTimeoutSec": 5, "taskStatuses": []},
    {
        **{"name": "c", "instanceUID": "uid-c", "podGracefulDeletionTimeoutSec": -1},
        "taskStatuses": [{**TASK, "attemptStatus": {**TASK["attemptStatus"], "podNodeName": SAYS, "podIP": f'"{SAYS}]'}}],
    },
]
WRITTEN = {
    "as we do": json.dumps(ROLES, separators=(",", ":")),
    "with blanks": json.dumps(ROLES),
    "in another order": json.dumps([dict(reversed(role.items())) for role in ROLES], separators=(",", ":")),
    "with null for no tasks": json.dumps(ROLES, separators=(",", ":")).replace("[]", "null"),
    "none": "[]",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_a_compressed_status_is_read_whoever_wrote_it(text: str) -> None:
    stored = to_json(Status("f-attempt", 1.5))
    stored["attemptStatus"] |= {
        "taskRoleStatuses": None,
        "taskRoleStatusesCompressed": base64.b64encode(gzip.compress(text.encode())).decode(),
    }
    again = to_json(from_json(stored))["attemptStatus"]["taskRoleStatuses"]
    assert again == (ROLES if text != "[]" else [])


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(b"[" * (STATUS_BYTES + 1)), gzip.compress(b"[]")[:-4], b"", b"no gzip"],
    ids=["a bomb", "cut", "empty", "no gzip"],
)
def test_what_cannot_be_unpacked_is_refused(packed: bytes) -> None:
    stored = to_json(Status("f-attempt", 1.5))
    stored["attemptStatus"] |= {"taskRoleStatuses": None, "taskRoleStatusesCompressed": base64.b64encode(packed).decode() or "="}
    with pytest.raises(ValueError, match=r"cut short|unpacks|header|padding|padded"):
        from_json(stored)


def packed(text: str) -> Any:
    stored = to_json(Status("f-attempt", 1.5))
    stored["attemptStatus"] |= {
        "taskRoleStatuses": None,
        "taskRoleStatusesCompressed": base64.b64encode(gzip.compress(text.encode(), 1)).decode(),
    }
    return stored


@pytest.mark.parametrize("many", ["[],", "{},", "1,", '"",', '",[",'])
def test_values_that_would_fill_the_memory_are_refused(many: str) -> None:
    """Forty kilobytes of these, compressed, became 650 MiB."""
    with pytest.raises(ValueError, match="more than 1,500,000 values"):
        from_json(packed(f"[{many * (STATUS_VALUES + 1)}1]"))


@pytest.mark.parametrize("compressed", [True, False])
def test_more_roles_than_a_framework_comes_to_are_refused(compressed: bool) -> None:
    """Eighty kilobytes of half a million such, compressed, took 300 MiB, and seconds of the event loop's time at each look."""
    for number, is_read in ((MOST_ROLES, True), (MOST_ROLES + 1, False)):
        roles = [{"name": "a", "instanceUID": "u"}] * number
        stored = packed(json.dumps(roles))
        if not compressed:
            stored["attemptStatus"] |= {"taskRoleStatuses": roles, "taskRoleStatusesCompressed": None}
        with nullcontext() if is_read else pytest.raises(ValueError, match="more than 10,500 roles"):
            assert len(from_json(stored).roles) == number


@pytest.mark.parametrize("said", [",[{" * STATUS_VALUES, '\\",' * STATUS_VALUES])
def test_what_messages_say_is_no_value(said: str) -> None:
    role = {**ROLES[0], "taskStatuses": [{**TASK, "instanceUID": said}]}
    status = from_json(packed(json.dumps([role])))
    assert status.roles[0].tasks[0].instance_uid == said


def test_a_text_without_an_end_is_gone_through_once() -> None:
    with pytest.raises(ValueError, match="truncated"):
        from_json(packed('["' + '\\",' * STATUS_VALUES * 2))


def test_what_older_controllers_did_not_write_is_not_there() -> None:
    stored = to_json(Status("f-attempt", 1.5))
    for key in ("observedRestart",):
        stored.pop(key, None)
    assert from_json(stored).restart == ""
    assert from_json({**stored, "observedRestart": "2"}).restart == "2"


def status_with(said: int, beside: int = 0) -> Status:
    """One that has so many bytes of messages."""
    status, role = Status("f-attempt", 1.5), Role("a", "uid-a")
    status.beside = beside
    task = Task(0, "uid-a-0", "f-a-0", 2.5)
    task.attempt.completion = {"code": 1, "diagnostics": "x" * said}
    role.tasks.append(task)
    status.roles = [role]
    return status


def in_steps(steps: Generator[None, None, StatusText]) -> StatusText:
    try:
        while True:
            next(steps)
    except StopIteration as end:
        made: StatusText = end.value
        return made


def status_of(tasks: int) -> Status:
    status, role = Status("f-attempt", 1.5), Role("a", "uid-a")
    role.tasks = [Task(index, f"uid-{index}", f"f-a-{index}", 2.5) for index in range(tasks)]
    status.roles = [role]
    return status


@pytest.mark.parametrize(
    ("said", "beside", "compressed"),
    [(1000, 0, False), (COMPRESSED_FROM - 2000, 0, False), (COMPRESSED_FROM, 0, True), (1000, 1_500_000, True), (1000, 1_000_000, False)],
)
def test_tasks_are_compressed_when_they_are_large_or_the_object_is(said: int, beside: int, compressed: bool) -> None:
    stored = json.loads(to_text(status_with(said, beside)))
    assert (stored["attemptStatus"]["taskRoleStatuses"] is None) is compressed
    assert from_json(stored).roles[0].tasks[0].attempt.completion == {"code": 1, "diagnostics": "x" * said}


def test_all_that_is_stored_is_read_again() -> None:
    status = status_with(3)
    (task,) = status.roles[0].tasks
    for number, life in enumerate((status, task), 1):
        life.retries = Retries(10 * number, 20 * number, 30 * number)
        life.start_time, life.run_time, life.completion_time, life.transition_time = (number * factor for factor in (1.0, 2.0, 3.0, 4.0))
    for number, attempt in enumerate((status.attempt, task.attempt), 5):
        attempt.id, attempt.object_uid, attempt.instance_uid = number, f"uid-{number}", f"{number}_uid"
        attempt.start_time, attempt.run_time, attempt.completion_time = (number * factor for factor in (1.0, 2.0, 3.0))
    task.deletion_pending, task.pod_node_name, task.pod_ip, task.pod_host_ip = True, "node", "10.0.0.1", "10.0.0.2"
    status.roles[0].graceful_deletion_timeout = 7
    status.roles[0].count(task, 1)
    status.intent, status.restart = IntentRecord("one", "two", 3, True), "now"
    again = from_json(to_json(status))
    assert to_json(again) == to_json(status)
    read = [again.retries, again.roles[0].tasks[0].retries]
    assert [(one.total, one.accountable, one.delay) for one in read] == [(10, 20, 30), (20, 40, 60)]
    assert (again.intent.digest, again.intent.next, again.intent.generation, again.intent.adopted) == ("one", "two", 3, True)
    assert (again.roles[0].deletion_pending, again.roles[0].graceful_deletion_timeout, again.said) == (1, 7, status.said)
    assert again.is_stored(again)


def test_many_tasks_are_written_and_read_a_hundred_at_a_time() -> None:
    """So that nobody else waits for all of them."""
    status = status_of(1000)
    assert len(list(text_of(status))) == 1 + 10
    status.beside = 1_000_000
    assert len(list(text_of(status))) >= 1 + 2 * 10, "and compressed so too"
    status.beside = 0
    assert len(list(status_from(to_json(status)))) == 10


def test_what_does_not_fit_is_compressed_better() -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(3, 9))) for _ in range(2000)]
    said, sizes = " ".join(rng.choices(words, k=150_000)), []
    for beside in (0, 900_000):
        status = status_with(0, beside)
        status.roles[0].tasks[0].attempt.completion = {"code": 1, "diagnostics": said}
        sizes.append(len(to_text(status)))
    fast, small = sizes
    assert small < 0.95 * fast


def test_what_changes_after_the_first_step_is_not_stored() -> None:
    status = status_of(1000)
    steps = text_of(status)
    next(steps)
    for task in status.roles[0].tasks:
        task.pod_ip = "10.0.0.1"
    revision = status.revision
    status.touch()
    stored = in_steps(steps)
    assert stored.revision == revision
    assert "10.0.0.1" not in stored.text


@pytest.mark.parametrize(("tasks", "kept"), [(1000, False), (1001, True)])
def test_texts_of_tasks_are_kept_only_where_there_are_many(tasks: int, kept: bool) -> None:
    status = status_of(tasks)
    text = to_text(status)
    assert all((task.text is not None) is kept for task in status.roles[0].tasks)
    assert to_text(status) == text


@pytest.mark.parametrize(("bytes_", "compressed"), [(COMPRESSED_FROM - 1, False), (COMPRESSED_FROM, True)])
@pytest.mark.parametrize("letter", ["x", "é"])
def test_from_which_size_on_it_is_compressed(bytes_: int, compressed: bool, letter: str) -> None:
    status = status_with(0)
    (task,) = status.roles[0].tasks
    task.pod_node_name = letter * 300_000
    task.pod_node_name += "-" * (bytes_ - _size(status))
    assert _size(status) == bytes_
    assert (to_json(status)["attemptStatus"]["taskRoleStatuses"] is None) is compressed


def _size(status: Status) -> int:
    """Bytes of the JSON of the roles."""
    return len(json.dumps(role_statuses(to_json(status)["attemptStatus"]), separators=(",", ":"), ensure_ascii=False).encode())


def test_the_plain_field_counts_when_it_is_there() -> None:
    assert role_statuses({}) == role_statuses({"taskRoleStatuses": None, "taskRoleStatusesCompressed": None}) == []
    assert role_statuses({"taskRoleStatuses": ROLES, "taskRoleStatusesCompressed": "no gzip"}) == ROLES


@pytest.mark.parametrize(("digest", "next_"), [(None, "b"), ("a", None), ("a", "b"), (None, None)])
def test_an_intent_that_is_only_named_is_stored(digest: str | None, next_: str | None) -> None:
    status = Status("f-attempt", 1.5)
    status.intent = IntentRecord(digest, next_, 3 if digest else None)
    again = from_json(to_json(status)).intent
    assert (again.digest, again.next, again.generation) == (digest, next_, 3 if digest else None)
    assert ("intent" in to_json(status)) is (digest is not None or next_ is not None)


def test_a_state_that_there_is_none_of_is_refused() -> None:
    stored = to_json(Status("f-attempt", 1.5))
    with pytest.raises(ValueError, match="no state that there is: 'Odd'"):
        from_json({**stored, "state": "Odd"})


@pytest.mark.parametrize("name", ["", "A", "a-b", "a" * 64, "a/../b", "a?b", "a b", "a\r\nb", "a\n"])
def test_what_no_role_can_be_called_is_refused(name: str) -> None:
    """Paths of requests are made of it, and whoever may write a status may write anything."""
    stored = to_json(status_with(3))
    stored["attemptStatus"]["taskRoleStatuses"][0]["name"] = name
    with pytest.raises(ValueError, match="no role can be called '"):
        from_json(stored)


@pytest.mark.parametrize("index", ["0", "0/../b", 0.5, None, True])
def test_what_is_no_index_is_refused(index: Any) -> None:
    stored = to_json(status_with(3))
    stored["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][0]["index"] = index
    with pytest.raises(ValueError, match="no index of a task: "):
        from_json(stored)


def test_times_that_are_null_are_long_ago() -> None:
    """Those of the beginning; the others have not come yet."""
    stored = to_json(status_with(3))
    (role,) = stored["attemptStatus"]["taskRoleStatuses"]
    for value in (stored, stored["attemptStatus"], *role["taskStatuses"], role["taskStatuses"][0]["attemptStatus"]):
        value |= {key: None for key in value if key.endswith("Time")}
    status = from_json(stored)
    (task,) = status.roles[0].tasks
    for life in (status, task):
        assert (life.start_time, life.transition_time, life.attempt.start_time) == (0, 0, 0)
        assert (life.run_time, life.completion_time) == (None, None)
