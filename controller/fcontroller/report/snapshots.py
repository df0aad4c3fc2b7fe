"""Snapshots: objects as they were before they were removed or began a new attempt, logged in upstream's form for a history."""

from __future__ import annotations

import json
from typing import Any

from fcompile.model import names
from fcontroller.api import Json
from fcontroller.decide.context import TASK_DELETION
from fcontroller.decide.status import Ended, Role, to_time


def marked(trigger: str, value: Json) -> str:
    """Return the text of a log line with a snapshot: the marker that people search for, and the object."""
    return f": {trigger}: ObjectSnapshot: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"


def framework_snapshot(framework: Json, status: Json | None = None) -> Json:
    """Return the snapshot of a Framework, with `status` in place of its own when it is given."""
    return {**_head(framework), "spec": framework["spec"], "status": framework.get("status") if status is None else status}


def pod_snapshot(pod: Json) -> Json:
    """Return the snapshot of a Pod with its kind, which items of lists lack."""
    return {"apiVersion": "v1", "kind": "Pod", **pod, "metadata": _metadata(pod)}


def task_snapshot(framework: Json, ended: Ended, role: Role, now: float) -> Json:
    """Return the snapshot of a task of a role, as an object of a kind that no API server has."""
    metadata, attempt, status = framework["metadata"], ended.attempt, ended.value
    name, index = metadata["name"], str(status["index"])
    going = {"deletionTimestamp": to_time(now), "deletionGracePeriodSeconds": 0} if ended.trigger == TASK_DELETION else {}
    labels = {names.FRAMEWORK_NAME: name, names.TASKROLE_NAME: role.name, names.TASK_INDEX: index}
    annotations = {
        **labels,
        names.FRAMEWORK_NAMESPACE: metadata["namespace"],
        names.CONFIGMAP_NAME: attempt.object_name,
        names.FRAMEWORK_UID: metadata["uid"],
        names.FRAMEWORK_ATTEMPT_ID: str(attempt.id),
        names.FRAMEWORK_ATTEMPT_INSTANCE_UID: attempt.instance_uid or "",
        names.CONFIGMAP_UID: attempt.object_uid or "",
        names.TASKROLE_UID: role.instance_uid,
    }
    own = {
        "name": names.pod_name(name, role.name, status["index"]),
        "namespace": metadata["namespace"],
        "uid": status["instanceUID"],
        "resourceVersion": metadata["resourceVersion"],
        "generation": metadata["generation"],
        "creationTimestamp": status["startTime"],
        **going,
        "labels": labels,
        "annotations": annotations,
    }
    return {"apiVersion": names.API_VERSION, "kind": "Task", "metadata": own, "spec": _task_spec(framework, role.name), "status": status}


def _task_spec(framework: Json, role: str) -> Any:
    """Return the `task` of a role, or None when the role has left the spec."""
    return next((spec["task"] for spec in framework["spec"].get("taskRoles") or () if spec["name"] == role), None)


def _head(framework: Json) -> Json:
    return {"apiVersion": framework["apiVersion"], "kind": framework["kind"], "metadata": _metadata(framework)}


def _metadata(value: Json) -> Json:
    return {key: item for key, item in value["metadata"].items() if key != "managedFields"}
