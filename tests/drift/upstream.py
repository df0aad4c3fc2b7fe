"""Frameworks as upstream's controller stores them: its zeros and nulls written out, with a status in every state."""

from __future__ import annotations

import base64
import copy
import gzip
import json
from pathlib import Path
from typing import Any

from tests.drift.objects import Frameworks, Object

DATA = Path(__file__).with_name("data")
CRD = (DATA / "upstream_crd.yaml").read_text("utf-8")
_RECORDED = json.loads((DATA / "upstream_frameworks.json").read_text("utf-8"))
_EARLY = ("AttemptCreationPending", "AttemptCreationRequested")
_LATE = ("AttemptDeletionPending", "AttemptDeletionRequested", "AttemptDeleting", "AttemptCompleted", "Completed")
STATES = (*_EARLY, "AttemptPreparing", "AttemptRunning", *_LATE)
"""Of Frameworks and of tasks alike."""
_TIME = "2026-11-21T04:34:10Z"
_FAILED = {
    "code": 137,
    "phrase": "ContainerSigKillReceived",
    "type": {"name": "Failed", "attributes": ["Transient"]},
    "diagnostics": 'CodePattern matched: {"code":137}\n',
    "pod": {"containers": [{"name": "c", "code": 137, "reason": "OOMKilled", "message": "a\n\tb", "signal": 9}]},
}


def stored(namespace: str) -> Frameworks:
    """One Framework for each state, those that a recording ended with, and one whose status is compressed."""
    made = [_in_state(state, number) for number, state in enumerate(STATES)]
    made += [_ended(one) for one in _RECORDED["ended"]]
    made.append(_compressed())
    # As a Go client creates it, before any controller has seen it.
    made.append(_framework("unseen", copy.deepcopy(_RECORDED["running"]["spec"]), None))
    return [{**value, "metadata": {**value["metadata"], "namespace": namespace}} for value in made]


def _framework(name: str, spec: Object, status: Object | None) -> Object:
    head = {key: _RECORDED["running"][key] for key in ("apiVersion", "kind")}
    return {**head, "metadata": {"name": name, "annotations": {"a": "b"}}, "spec": spec, "status": status}


def _in_state(state: str, number: int) -> Object:
    """The Framework in the state, and its task in the one before, as its sync would have left them."""
    running = copy.deepcopy(_RECORDED["running"])
    status = running["status"]
    _put(status, state)
    (task,) = status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]
    _put(task, STATES[max(0, STATES.index(state) - 1)])
    if state in _EARLY:
        status["attemptStatus"] |= {"configMapUID": None, "instanceUID": None}
        task["attemptStatus"] |= dict.fromkeys(("instanceUID", "podUID", "podIP", "podHostIP", "podNodeName"))
    return _framework(f"state{number}", running["spec"], status)


def _put(life: Object, state: str) -> None:
    """A Framework's or a task's status in a state."""
    life["state"] = state
    attempt = life["attemptStatus"]
    if state not in (*_EARLY, "AttemptPreparing"):
        life["runTime"] = attempt["runTime"] = _TIME
    if state in _LATE:
        attempt["completionStatus"] = dict(_FAILED)
        if "taskRoleStatuses" in attempt:
            attempt["completionStatus"]["trigger"] = {"message": "a: 1 \u2265 1", "taskRoleName": "a", "taskIndex": 0}
    if state == "AttemptCompleted":
        life["retryPolicyStatus"] = {"totalRetriedCount": 3, "accountableRetriedCount": 1, "retryDelaySec": 90}
        attempt["completionTime"] = _TIME
    if state == "Completed":
        attempt["completionTime"] = life["completionTime"] = _TIME


def _ended(one: Object) -> Object:
    return _framework(one["name"], one["spec"], one["status"])


def _compressed() -> Object:
    """With so many tasks that their status is stored compressed."""
    running = copy.deepcopy(_RECORDED["running"])
    attempt = running["status"]["attemptStatus"]
    (role,) = attempt["taskRoleStatuses"]
    (task,) = role["taskStatuses"]
    role["taskStatuses"] = [{**task, "index": index} for index in range(2_000)]
    running["spec"]["taskRoles"][0]["taskNumber"] = 2_000
    text = json.dumps(attempt["taskRoleStatuses"]).encode()
    attempt |= {"taskRoleStatuses": None, "taskRoleStatusesCompressed": base64.b64encode(gzip.compress(text)).decode()}
    return _framework("compressed", running["spec"], running["status"])


def task_statuses(framework: Object) -> Any:
    """The tasks' status, compressed or not."""
    attempt = framework["status"]["attemptStatus"]
    if attempt["taskRoleStatuses"] is not None:
        return attempt["taskRoleStatuses"]
    return json.loads(gzip.decompress(base64.b64decode(attempt["taskRoleStatusesCompressed"])))
