"""The text of a status, which is put together by hand where there are thousands of the same."""

from __future__ import annotations

import json

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
