"""Carries out actions. The result of an action is a function that changes the status; the reconciler applies it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import NamedTuple

from fcompile.diagnostics.visible import listed
from fcompile.model import names
from fcontroller import intent as intents
from fcontroller.act import requests
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.pod_owners import PodOwners
from fcontroller.act.requests import Refused, StillThere
from fcontroller.api import Api, Json, Projection, Wanted, path_of
from fcontroller.decide import actions
from fcontroller.decide.failures.creation import creation_failure
from fcontroller.decide.framework import config_map_confirmed_gone, config_map_created, config_map_deleted, config_map_gone
from fcontroller.decide.owners import controller_of, framework_owner, is_config_map, is_framework, is_labelled, owners
from fcontroller.decide.states import DELETION_PENDING
from fcontroller.decide.status import Key, Status
from fcontroller.decide.task import find, pod_created, pod_deleted, pod_gone, pod_moved
from fcontroller.dependencies import Dependencies
from fcontroller.intent import Lowered
from fcontroller.mailbox import Result
from fcontroller.observe.cache import pod_name
from fcontroller.reconcile.pod_renderer import PodRenderer
from fcontroller.reconcile.services import Services


class ActionContext(NamedTuple):
    """The inputs of an action, as they were when it began."""

    framework: Json
    status: Status
    renderer: PodRenderer | None
    """What Pods are made from; None: that is not known."""
    services: Services
    pod_owners: PodOwners
    next_intent: Lowered | None
    """What the next attempt runs; None: the status does not name it."""
    paused: bool
    ends: bool
    """Whether the Framework is to end now, so that no attempt may begin."""

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.framework["metadata"]

    @property
    def namespace(self) -> str:
        return str(self.framework["metadata"]["namespace"])

    @property
    def name(self) -> str:
        return str(self.framework["metadata"]["name"])

    def config_map_path(self) -> str:
        return path_of("configmaps", self.namespace, names.config_map_name(self.name))

    def pod_path(self, key: Key) -> str:
        return path_of("pods", self.namespace, pod_name(self.name, key))


async def perform(
    dependencies: Dependencies, action: actions.Action, context: ActionContext, decided: Wanted, when_wanted: Api
) -> Result | None:
    """Carry out an action. Raises Refused and Unreachable, after which the action is decided again, and Unwanted.

    :param decided: tells whether the action is still decided, and no pause holds it.
    :param when_wanted: sends creations and deletions while that is so. From then on the action waits for an answer.
    """
    api = dependencies.api
    match action:
        case actions.CreateConfigMap():
            return await _begin_attempt(when_wanted, context, decided)
        case actions.DeleteConfigMap(uid, completion):
            await requests.delete(when_wanted, context.config_map_path(), uid, confirm=completion is not None)
            return config_map_deleted if completion is None else partial(config_map_gone, completion=completion)
        case actions.RemoveConfigMap(completion):
            await requests.remove(when_wanted, context.config_map_path(), context.framework["metadata"]["uid"])
            return partial(config_map_gone, completion=completion)
        case actions.ReleaseConfigMap(uid):
            await requests.release(when_wanted, context.config_map_path(), uid, partial(context.pod_owners.pod_of, context.namespace))
            return None
        case actions.ConfirmConfigMapGone(uid):
            return await _confirm_config_map_gone(api, when_wanted, context, uid)
        case actions.CreatePod(key):
            return await _create_pod(when_wanted, context, key)
        case actions.DeletePod(key, uid, force, completion):
            await requests.delete(when_wanted, context.pod_path(key), uid, force=force, confirm=completion is not None or force)
            return partial(pod_deleted, key=key, uid=uid) if completion is None else partial(pod_gone, key=key, completion=completion)
        case actions.RemovePod(key, completion):
            return await _remove_pod(when_wanted, context, key, completion)
        case actions.RecognizePod(key, uid):
            return await _recognize_pod(dependencies, when_wanted, context, key, uid)
        case actions.ConfirmPodGone(key, uid, completion):
            return await _confirm_pod_gone(when_wanted, context, key, uid, completion)
        case actions.AdoptPod(key, uid):
            await _adopt_pod(dependencies, context, key, uid)
            return None
        case actions.MovePod(key, uid):
            return await _move_pod(when_wanted, context, key, uid)


async def _begin_attempt(when_wanted: Api, context: ActionContext, decided: Wanted) -> Result | None:
    lowered = context.next_intent
    if lowered is None:  # The spec has changed in the meantime.
        return None
    await context.services.ensure(lowered.document.intent, context.framework, decided)  # They report themselves of what is not answered.
    config_map = intents.config_map(lowered.document.intent, context.framework, context.status.attempt.id)
    try:
        made = await requests.create(when_wanted, "configmaps", config_map)
    except Refused as error:
        if error.reason == "AlreadyExists":
            path, uid = context.config_map_path(), context.framework["metadata"]["uid"]
            found = await requests.find(when_wanted, path, Projection.METADATA)
            if found is not None:
                await _delete_hidden(when_wanted, context, path, found["metadata"], uid)
        raise
    return partial(config_map_created, uid=made["metadata"]["uid"], digest=lowered.document.digest, generation=lowered.generation)


async def _confirm_config_map_gone(api: Dispatcher, when_wanted: Api, context: ActionContext, uid: str) -> Result | None:
    found = await requests.find(api, context.config_map_path(), uid=uid)
    if found is None:
        return partial(config_map_confirmed_gone, uid=uid)
    labels, status = found["metadata"].get("labels") or {}, context.status
    if is_labelled(found["metadata"], context.name):
        return None  # The watch will show it again soon, or that it is gone.
    goes = status.state == DELETION_PENDING and status.is_stored(status) and not context.paused
    if not goes or status.retry_refused:  # Of the last attempt, Pods that are kept must be moved before it goes.
        metadata = {**found["metadata"], "labels": {**labels, names.FRAMEWORK_NAME: context.name}}
        try:
            await requests.replace(api, context.config_map_path(), {**found, "metadata": metadata})
            return None
        except Refused as error:
            if not goes or error.code == HTTPStatus.CONFLICT:
                raise
    await requests.delete(when_wanted, context.config_map_path(), uid)
    return config_map_deleted


async def _create_pod(when_wanted: Api, context: ActionContext, key: Key) -> Result | None:
    role, task = find(context.status, key)
    if context.renderer is None or not context.renderer.has(role):  # The role has left the spec in the meantime.
        return None
    try:
        pod = partial(context.renderer.pod, context.status.attempt.id, role, task)
        uid = await requests.create_pod(when_wanted, context.namespace, pod)
    except Refused as error:
        if error.reason == "AlreadyExists":
            await _collect(when_wanted, context, key)
        completion = creation_failure(error.code, error.reason, str(error))
        if completion is None:
            raise
        return await _remove_pod(when_wanted, context, key, completion)
    return partial(pod_created, key=key, uid=uid, template=context.renderer.template_hashes[role.name])


async def _collect(api: Api, context: ActionContext, key: Key) -> None:
    """Delete the Pod that has the name of a task's if all that owned it is an earlier Framework of this name, or its ConfigMap, and gone.

    By the same rule Kubernetes' garbage collector deletes it, if that works. And one of this attempt that no watch shows.
    """
    found = await requests.find(api, context.pod_path(key), Projection.METADATA)
    metadata: Json = found["metadata"] if found else {}
    if found is not None and await _delete_hidden(api, context, context.pod_path(key), metadata, context.status.attempt.object_uid):
        return
    if len(owners(metadata)) != 1 or "deletionTimestamp" in metadata:
        return
    (owner,) = owners(metadata)
    path = context.config_map_path() if is_config_map(owner, context.name) else None
    if is_framework(owner, context.name):
        path = path_of("frameworks", context.namespace, context.name)
    if path is not None and await requests.find(api, path, Projection.METADATA, uid=owner["uid"]) is None:
        await requests.delete(api, context.pod_path(key), metadata["uid"], version=metadata["resourceVersion"])


async def _delete_hidden(api: Api, context: ActionContext, path: str, metadata: Json, owner: str | None) -> bool:
    """Delete an object of ours that has the name of one to be made, and not the label by which watches show it. Return whether it is one.

    The controller before has made it, and died before it stored the uid; then somebody has changed the label. Or somebody has made it.

    :param owner: the uid of what controls objects of ours of this kind.
    """
    if not owner or controller_of(metadata) != owner or is_labelled(metadata, context.name):
        return False
    if "deletionTimestamp" not in metadata:
        await requests.delete(api, path, metadata["uid"], version=metadata["resourceVersion"])
    return True


async def _remove_pod(api: Api, context: ActionContext, key: Key, completion: Json) -> Result:
    await requests.remove(api, context.pod_path(key), context.status.attempt.object_uid or "")
    return partial(pod_gone, key=key, completion=completion)


async def _recognize_pod(dependencies: Dependencies, api: Api, context: ActionContext, key: Key, uid: str) -> Result | None:
    found = await requests.find(api, context.pod_path(key), uid=uid)
    if found is None or context.status.task(key) is None:  # Meanwhile the task may have been scaled away.
        return None
    renderer = context.renderer
    wrong = ["spec"] if renderer is None else await foreign_fields(found, context.status, renderer, key)
    if renderer is not None and not wrong:
        return partial(pod_created, key=key, uid=uid, template=renderer.template_hashes[key[0]])
    await requests.delete(api, context.pod_path(key), uid)
    # If admission changes each Pod, and no answer to a creation arrives, this goes on and on.
    fields = listed([f"`{field}`" for field in wrong], 1)
    why = "Admission has changed it, or an edit came, and the answer to its creation was lost; or somebody else has made it"
    said = f"Pod `{pod_name(context.name, key)}` is deleted, and made anew, since it differs from what its task makes in {fields}. {why}"
    dependencies.report.warn(context.framework, "PodNotRecognized", said)
    return None


async def foreign_fields(pod: Json, status: Status, renderer: PodRenderer, key: Key) -> list[str]:
    """Return in which fields a Pod is not the one that the task's attempt makes, but for its uid, which was not stored.

    Nothing may be added to its spec: whoever may create Pods could have made it, with a command that ends at once and well.
    """
    role, task = find(status, key)
    if controller_of(pod["metadata"]) != status.attempt.object_uid:
        return ["metadata.ownerReferences"]
    differing = await renderer.differing_fields(pod, status.attempt.id, role, task, added=True)
    return ["spec"] if differing is None else differing


async def _adopt_pod(dependencies: Dependencies, context: ActionContext, key: Key, uid: str) -> None:
    role, task = find(context.status, key)
    if context.renderer is not None and context.renderer.has(role):
        wanted = owners(json.loads(context.renderer.pod(context.status.attempt.id, role, task))["metadata"])
        if await _write_owners(dependencies.api, context, key, uid, wanted, "has other owners than it was made with, and keeps them"):
            said = f"Somebody had changed the owners of Pod `{pod_name(context.name, key)}`: it would have stayed"
            dependencies.report.warn(context.framework, "PodOwnersRestored", said)


async def _move_pod(api: Api, context: ActionContext, key: Key, uid: str) -> Result:
    wanted = [framework_owner(context.framework)]
    written = await _write_owners(api, context, key, uid, wanted, "is to outlive the ConfigMap, and cannot be given to the Framework")
    return partial(pod_moved, key=key, gone=written is None)


async def _write_owners(api: Api, context: ActionContext, key: Key, uid: str, wanted: Sequence[Json], problem: str) -> bool | None:
    try:
        return await requests.write_owners(api, context.pod_path(key), uid, wanted)
    except Refused as error:
        error.args = (f"Pod `{pod_name(context.name, key)}` {problem}: {error}",)
        raise


async def _confirm_pod_gone(api: Api, context: ActionContext, key: Key, uid: str, completion: Json) -> Result | None:
    found = await requests.find(api, context.pod_path(key), Projection.METADATA, uid=uid)
    if found is not None:
        controller = controller_of(found["metadata"])
        # The watch does not show those that somebody has given to a Framework: they would never be seen again.
        if is_labelled(found["metadata"], context.name) and controller in ("", context.status.attempt.object_uid):
            return None  # The watch will show it again soon.
        if "deletionTimestamp" in found["metadata"]:
            raise StillThere(found)
        await requests.delete(api, context.pod_path(key), uid, confirm=True)
    return partial(pod_gone, key=key, completion=completion)
