"""The text of a status, which is put together by hand where there are thousands of the same."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from fcompile.model.packed import STATUS_BYTES
from fcontroller.decide.status import Role, Status, Task
from fcontroller.decide.status_json import from_json, task_to_json, to_json, to_text

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


def test_what_older_controllers_did_not_write_is_not_there() -> None:
    stored = to_json(Status("f-attempt", 1.5))
    for key in ("observedRestart",):
        stored.pop(key, None)
    assert from_json(stored).restart == ""
    assert from_json({**stored, "observedRestart": "2"}).restart == "2"
