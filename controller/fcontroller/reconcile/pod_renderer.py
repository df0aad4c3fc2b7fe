"""Renders the Pods of an attempt quickly: of the JSON text of a role's Pods, only what differs between its tasks is filled in for each.

The mark of the holes is random, so that no text contains it by chance, and is put into the model, not searched for in a template. Where
more than strings depends on the index (the names of fields, the form of a quantity, a sum), each Pod is made in full.
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Mapping
from functools import cached_property, partial
from hashlib import sha256
from typing import NamedTuple

import msgspec

from fcompile.lower.environment import ClusterValues
from fcompile.lower.intent import Intent
from fcompile.lower.intent import Role as RoleIntent
from fcompile.model import names
from fcontroller import intent as intents
from fcontroller.act.compare import differing_fields
from fcontroller.api import Json
from fcontroller.decide.status import Role, Task

_INDEX, _TASK_UID, _TASK_ATTEMPT = (uuid.uuid4().hex for _ in range(3))
_LARGE = 64 * 1024
"""Bytes of a Pod from which on it is compared in a thread: one of a megabyte may take half a second, and there may be very many."""
_HOLE = re.compile(f"({_INDEX}|{_TASK_UID}|{_TASK_ATTEMPT})")


class RoleTemplate(NamedTuple):
    """The text of a role's Pods, cut at its holes."""

    role_uid: str
    parts: list[str]
    """Text and hole in turn, a hole as its mark."""

    def fill(self, task: Task) -> bytes:
        """Return the Pod of one task's attempt."""
        values = {_INDEX: str(task.index), _TASK_UID: task.instance_uid, _TASK_ATTEMPT: str(task.attempt.id)}
        parts = self.parts.copy()
        parts[1::2] = [values[mark] for mark in parts[1::2]]
        return "".join(parts).encode()


class PodRenderer:
    """Makes the Pods of one attempt from its intent."""

    def __init__(self, intent: Intent, framework: Json, config_map_uid: str) -> None:
        self.intent = intent
        self.namespace: str = framework["metadata"]["namespace"]
        self._framework_uid: str = framework["metadata"]["uid"]
        self.config_map_uid = config_map_uid
        """Of the attempt's ConfigMap."""
        self._config_map: Json = {"name": names.config_map_name(framework["metadata"]["name"]), "uid": config_map_uid}
        self._roles = {role.name: role for role in intent.roles}
        self._templates: dict[str, RoleTemplate | None] = {}

    def has(self, role_status: Role) -> bool:
        """Return whether a role is in the intent. Of another one there are no Pods."""
        return role_status.name in self._roles

    @cached_property
    def template_hashes(self) -> Mapping[str, str]:
        return template_hashes(self.intent)

    def pod(self, attempt: int, role_status: Role, task: Task) -> bytes:
        """Return the Pod of a task's attempt as JSON.

        :param attempt: the id of the Framework's attempt.
        """
        role = self._roles[role_status.name]
        template = self._templates.get(role.name)
        if role.name not in self._templates or (template and template.role_uid != role_status.instance_uid):
            template = self._templates[role.name] = self._cut(role, attempt, role_status.instance_uid)
        if template:
            return template.fill(task)
        made = self._make(role, attempt, role_status.instance_uid, task.index, task.instance_uid, task.attempt.id)
        return _text(made).encode()

    async def differing_fields(self, pod: Json, attempt: int, role_status: Role, task: Task, *, added: bool = False) -> list[str] | None:
        """Return the fields in which a Pod in the cluster differs from that of a task's attempt; None: its role is not in the intent.

        :param added: as in `compare.differing_fields`.
        """
        if not self.has(role_status):
            return None
        made = self.pod(attempt, role_status, task)
        work = partial(differing_fields, pod, made, self._roles[role_status.name], self.namespace, task.index, added=added)
        return await asyncio.to_thread(work) if max(len(made), len(msgspec.json.encode(pod))) > _LARGE else work()

    def _cut(self, role: RoleIntent, attempt: int, role_uid: str) -> RoleTemplate | None:
        """Return the template of a role; None where strings are not all that differs between its Pods."""
        if not role.one_text_serves_all:
            return None
        made = self._make(role, attempt, role_uid, _INDEX, _TASK_UID, _TASK_ATTEMPT)
        return RoleTemplate(role_uid, _HOLE.split(_text(made)))

    def _make(self, role: RoleIntent, attempt: int, role_uid: str, index: int | str, task_uid: str, task_attempt: int | str) -> Json:
        values = ClusterValues(self._framework_uid, attempt, self._config_map["uid"], role_uid, task_uid, task_attempt)
        return intents.pod(role, self.namespace, index, values, self._config_map)


def template_hashes(intent: Intent) -> Mapping[str, str]:
    """Return, by role, a hash of what Pods are made from.

    It is short, since each of 10,000 tasks may have one in its status, and only tells the edits of one attempt apart.
    """
    return {role.name: sha256(json.dumps(role.pod, sort_keys=True).encode()).hexdigest()[:10] for role in intent.roles}


def _text(pod: Json) -> str:
    return json.dumps(pod, ensure_ascii=False, separators=(",", ":"))
