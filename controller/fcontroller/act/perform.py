"""Carrying out what was decided, and what follows from it for the status."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from fcompile.lower.intent import Intent
from fcompile.model import names
from fcontroller import intent as intents
from fcontroller.act import actions
from fcontroller.act.actions import Failed
from fcontroller.act.pod_renderer import PodRenderer
from fcontroller.act.services import Services
from fcontroller.api import Api, Json, path_of
from fcontroller.decide.context import (
    Action,
    CreateConfigMap,
    CreatePod,
    DeleteConfigMap,
    DeleteFramework,
    DeletePod,
    Key,
    ReconcileContext,
    RemoveConfigMap,
    RemovePod,
)
from fcontroller.decide.framework import config_map_created, config_map_deleted, config_map_gone
from fcontroller.decide.status import Status
from fcontroller.decide.task import find, pod_created, pod_deleted, pod_gone
from fcontroller.dependencies import Dependencies

Result = Callable[[ReconcileContext], None]
"""What follows from an action for the status."""


class ActionContext(NamedTuple):
    """What an action is carried out with: everything as it was when the action was decided."""

    framework: Json
    status: Status
    config_map: Json | None
    """The attempt's ConfigMap, without its data."""
    renderer: PodRenderer | None
    """What its Pods are made from; None while the attempt has no ConfigMap."""
    services: Services
    next_intent: tuple[Json, Intent] | None
    """What the next attempt runs, and the Framework as it was when that was decided."""

    @property
    def namespace(self) -> str:
        return str(self.framework["metadata"]["namespace"])

    @property
    def name(self) -> str:
        return str(self.framework["metadata"]["name"])

    def config_map_path(self) -> str:
        return path_of("configmaps", self.namespace, names.config_map_name(self.name))

    def pod_path(self, key: Key) -> str:
        return path_of("pods", self.namespace, names.pod_name(self.name, *key))

    def config_map_uid(self) -> str:
        assert self.config_map is not None
        return str(self.config_map["metadata"]["uid"])


async def perform(dependencies: Dependencies, action: Action, scene: ActionContext) -> Result | None:
    """Carry an action out. Raises Failed and Unreachable, after which it is decided again."""
    api = dependencies.api
    match action:
        case CreateConfigMap(attempt):
            return await _begin_attempt(api, scene, attempt)
        case DeleteConfigMap(uid, completion):
            await actions.delete(api, scene.config_map_path(), uid, confirm=completion is not None)
            return config_map_deleted if completion is None else partial(config_map_gone, completion=completion)
        case RemoveConfigMap(completion):
            await actions.remove(api, scene.config_map_path(), scene.framework["metadata"]["uid"])
            return partial(config_map_gone, completion=completion)
        case CreatePod(role, index):
            return await _create_pod(dependencies, scene, (role, index))
        case DeletePod(role, index, uid, force, completion):
            key = (role, index)
            await actions.delete(api, scene.pod_path(key), uid, force=force, confirm=completion is not None or force)
            return partial(pod_deleted, key=key, uid=uid) if completion is None else partial(pod_gone, key=key, completion=completion)
        case RemovePod(role, index, completion):
            return await _remove_pod(api, scene, (role, index), completion)
        case DeleteFramework(uid):
            await actions.delete(api, path_of("frameworks", scene.namespace, scene.name), uid, propagation="Foreground")
    return None


async def _begin_attempt(api: Api, scene: ActionContext, attempt: int) -> Result:
    assert scene.next_intent is not None
    framework, intent = scene.next_intent
    await scene.services.bring(intent, framework)
    made = await actions.create_config_map(api, intents.config_map(intent, framework, attempt))
    return partial(config_map_created, uid=made["metadata"]["uid"])


async def _create_pod(dependencies: Dependencies, scene: ActionContext, key: Key) -> Result | None:
    role, task = find(scene.status, key)
    pod = scene.renderer.pod(scene.status.attempt.id, role, task) if scene.renderer else None
    if pod is None:  # The role has left the spec just now.
        return None
    try:
        uid = await actions.create_pod(dependencies.api, scene.namespace, pod)
    except Failed as error:
        completion = dependencies.creation_failed(error.code, error.reason, str(error))
        if completion is None:
            raise
        return await _remove_pod(dependencies.api, scene, key, completion)
    return partial(pod_created, key=key, uid=uid)


async def _remove_pod(api: Api, scene: ActionContext, key: Key, completion: Json) -> Result:
    await actions.remove(api, scene.pod_path(key), scene.config_map_uid())
    return partial(pod_gone, key=key, completion=completion)


class Brought(NamedTuple):
    """What is stored with an attempt."""

    intent: Intent
    adopted: bool
    """Whether upstream's controller began the attempt."""


async def bring_intent(api: Api, services: Services, framework: Json, attempt: int, may_run: Callable[[Intent], bool]) -> Brought:
    """Make the intent that is stored with an attempt that of the Framework as it is, if it may run."""
    path = path_of("configmaps", framework["metadata"]["namespace"], names.config_map_name(framework["metadata"]["name"]))
    stored = await actions.read(api, path)
    kept = intents.stored_intent(stored)
    current = kept is not None and intents.is_current(stored, framework)
    intent = kept if kept is not None and current else intents.intent_of(framework)
    # An attempt that upstream's controller has begun has no other intent.
    if not may_run(intent) and kept is not None:
        return Brought(kept, intents.is_adopted(stored))
    if not current:
        await services.bring(intent, framework)
        await actions.replace(api, path, intents.with_intent(stored, intents.config_map(intent, framework, attempt)))
    return Brought(intent, intents.is_adopted(stored))
