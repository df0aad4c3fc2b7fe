"""Attempts that began under upstream's controller: their Pods are older than the intent, and are compared with it."""

from __future__ import annotations

import asyncio

from fcompile import expand
from fcompile.diff.live import pod_differences
from fcompile.lower.intent import Intent
from fcompile.model import names
from fcontroller.act import requests
from fcontroller.api import Api, Json
from fcontroller.decide.observed import controller_of


async def differing_pods(api: Api, intent: Intent, namespace: str, config_map_uid: str) -> dict[str, list[str]]:
    """Return the fields in which Pods of an attempt differ from its intent, by Pod. Raises Refused and Unreachable."""
    found: dict[str, list[str]] = {}
    pods, _ = await requests.list_owned(api, "pods", namespace, intent.framework)
    for pod in pods:
        if controller_of(pod["metadata"]) == config_map_uid:
            fields = _differences(intent, namespace, pod)
            if fields:
                found[pod["metadata"]["name"]] = fields
        await asyncio.sleep(0)  # There may be thousands of Pods, and other work must run in between.
    return found


def _differences(intent: Intent, namespace: str, pod: Json) -> list[str]:
    labels = pod["metadata"]["labels"]
    role = next((role for role in intent.roles if role.name == labels.get(names.TASKROLE_NAME)), None)
    if role is None:  # The role has left the spec, and the Pod will be deleted.
        return []
    expected = expand.pod(role, namespace, int(labels[names.TASK_INDEX]))
    return [difference.field for difference in pod_differences(pod, expected)]
