"""One Framework while it lives: what was seen of it is looked at, what is decided is done, and the status is stored in between.

Everything of a Framework happens on one event loop, and no two looks at once. While an action for a task is under way, the task is busy
and nothing more is decided about it; many tasks' actions are under way at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, NamedTuple

from fcompile.default import default
from fcompile.lower.intent import Intent
from fcompile.model import names
from fcontroller import intent as intents
from fcontroller.act import actions
from fcontroller.act.actions import Failed
from fcontroller.api import Api, Json, Unreachable, path_of
from fcontroller.decide import observed
from fcontroller.decide.conditions import INTENT_REVIEWED, set_condition
from fcontroller.decide.framework import config_map_created, config_map_deleted, config_map_gone, sync_framework
from fcontroller.decide.spec import Spec, read_spec
from fcontroller.decide.states import CREATION_REQUESTED, PREPARING, RUNNING
from fcontroller.decide.status import Attempt, Status
from fcontroller.decide.status_json import from_json, to_json
from fcontroller.decide.sync import (
    Action,
    CreateConfigMap,
    CreatePod,
    DeleteConfigMap,
    DeleteFramework,
    DeletePod,
    Key,
    RemoveConfigMap,
    RemovePod,
    Settings,
    Sync,
)
from fcontroller.decide.task import find, pod_created, pod_deleted, pod_gone

_FIRST_DELAY, _LONGEST_DELAY = 0.05, 60.0
_SOON, _LATER = 0.25, 1.0
"""Seconds that changes of the status are collected before they are stored: of states, and of everything else."""


Result = Callable[[Sync], None]
"""What follows from an action for the status."""


class Outside(NamedTuple):
    """What a runner needs of the world."""

    api: Api
    settings: Settings
    now: Callable[[], float]
    random_delay: Callable[[int, int], int]
    creation_failed: Callable[[int, str, str], Json | None]
    """From the code, reason and message of a refusal to create a Pod: the completion of the attempt, or None to try again."""
    enforce_intent: bool = False
    """Do not begin an attempt that would not run what was reviewed."""


class Runner:
    """Runs one Framework, by its uid."""

    def __init__(self, outside: Outside, framework: Json) -> None:
        self.outside = outside
        self.framework = framework
        self.namespace, self.name = framework["metadata"]["namespace"], framework["metadata"]["name"]
        self.uid: str = framework["metadata"]["uid"]
        self.status: Status | None = None
        if framework.get("status") and framework["status"].get("attemptStatus"):
            self.status = from_json(framework["status"])
        self.spec: Spec = _spec(framework)
        self.intent: Intent | None = None
        self.config_map: Json | None = None
        """The ConfigMap under the attempt's name, as it was last seen, without its data."""
        self.pods: dict[Key, observed.Pod] = {}
        self._dirty: set[Key] | None = None
        """Tasks to be looked at; None: all of them."""
        self._busy: set[Key | None] = set()
        self._failures: dict[Key | None, int] = {}
        self._look: asyncio.Handle | None = None
        self._wakes: dict[Key | None, asyncio.TimerHandle] = {}
        self._save: asyncio.TimerHandle | None = None
        self._saving = False
        self._save_took = 0.0
        """Seconds that encoding the last status took."""
        self.running: set[asyncio.Task[None]] = set()
        self.writes = 0
        self.stopped = False
        self.poke_all()

    # What was seen

    def seen_framework(self, framework: Json) -> None:
        """The Framework has changed, or is what it was."""
        old, new = self.framework, _newer(self.framework, framework)
        self.framework = new
        if old["metadata"]["generation"] != new["metadata"]["generation"]:
            self.intent = None
            self.poke_all()
        elif "deletionTimestamp" in new["metadata"] or intents.reviewed_digest(old) != intents.reviewed_digest(new):
            self.poke()

    def seen_config_map(self, config_map: Json | None) -> None:
        """The ConfigMap under the attempt's name is this, or is gone."""
        self.config_map = config_map
        self.poke()

    def poke(self, *keys: Key) -> None:
        """Look soon: at the Framework, and at these tasks of it."""
        if self._dirty is not None:
            self._dirty.update(keys)
        if self._look is None and not self.stopped:
            self._look = asyncio.get_running_loop().call_soon(self.look)

    def poke_all(self) -> None:
        """Look soon, at every task."""
        self._dirty = None
        self.poke()

    def stop(self) -> None:
        """Nothing more is decided. What is under way comes to its end."""
        self.stopped = True
        for handle in (self._look, self._save, *self._wakes.values()):
            if handle is not None:
                handle.cancel()

    # Deciding

    def look(self) -> None:
        """Decide, and see to it that what is decided is done and stored."""
        self._look = None
        if self.intent is None and not self._spec_is_in_force():
            return
        keys, self._dirty = self._dirty, set()
        sync = self._sync()
        self.status = sync.status
        settled = sync.status.settled
        sync_framework(sync, keys)
        if sync.status.settled != settled:
            self._dirty = None  # Other tasks than before, or a new attempt.
        elif not sync.looked_at_tasks:
            self._dirty = keys
        for when, key in sync.wakes:
            self._wake(when, key)
        for action in sync.actions:
            if isinstance(action, CreateConfigMap) and not self._is_reviewed(sync):
                continue
            key = _key(action)
            self._busy.add(key)
            self._start(self._act(action, key))
        self._store()

    def _spec_is_in_force(self) -> bool:
        """While an attempt runs, a new spec counts only when the attempt's ConfigMap holds its intent."""
        status, config_map = self.status, self.config_map
        runs = status is not None and status.state in (CREATION_REQUESTED, PREPARING, RUNNING)
        if runs and config_map is not None and status is not None and config_map["metadata"]["uid"] == status.attempt.object_uid:
            if None not in self._busy:
                self._busy.add(None)
                self._start(self._bring_intent(status.attempt.id))
            return False
        self.spec = _spec(self.framework)
        return True

    def _is_reviewed(self, sync: Sync) -> bool:
        """Say whether what would run is what was reviewed; whether it may run."""
        intent, reviewed = intents.intent_of(self.framework), intents.reviewed_digest(self.framework)
        matches = intents.matches(self.framework, intent)
        reason, message = {
            True: ("DigestMatches", f"What runs was reviewed: {intent.digest}"),
            None: ("NotCompiled", "The Framework has no digest of what was reviewed; `fcompile build` writes one"),
            False: (
                "DigestDiffers",
                f"What would run is {intent.digest}, and {reviewed} was reviewed: compile it again with `fcompile build`, "
                "review and apply it",
            ),
        }[matches]
        generation = self.framework["metadata"]["generation"]
        changed = set_condition(sync.status, INTENT_REVIEWED, matches, reason, message, generation, sync.now)
        if changed and matches is False:
            self._start(self._warn(reason, message))
        return matches is not False or not self.outside.enforce_intent

    async def _warn(self, reason: str, message: str) -> None:
        with contextlib.suppress(Failed, Unreachable):
            await actions.create_event(self.outside.api, self.framework, reason, message, self.outside.now())

    def _sync(self) -> Sync:
        config_map = None if self.config_map is None else observed.config_map(self.config_map)
        return Sync(
            name=self.name,
            uid=self.uid,
            spec=self.spec,
            status=self.status,
            now=self.outside.now(),
            new_uid=lambda: str(uuid.uuid4()),
            random_delay=self.outside.random_delay,
            settings=self.outside.settings,
            config_map=config_map,
            pods=self.pods,
            deleting="deletionTimestamp" in self.framework["metadata"],
            busy=self._busy,
        )

    def _wake(self, when: float, key: Key | None) -> None:
        if key in self._wakes:
            self._wakes[key].cancel()
        delay = max(when - self.outside.now(), 0) + 0.01
        self._wakes[key] = asyncio.get_running_loop().call_later(delay, self.poke, *([] if key is None else [key]))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        return task

    # Storing

    def _store(self) -> None:
        """See to it that what has changed is stored: at once, or a bit later together with what comes until then."""
        status = self.status
        if status is None or status.revision <= status.stored or self._saving or self.stopped:
            return
        urgent = status.settled > status.stored or status.changed > status.stored
        loop = asyncio.get_running_loop()
        # A large status takes its time: no more than a small part of all time goes into storing it.
        soon = max(_SOON, 10 * self._save_took)
        due = loop.time() + (0.0 if urgent else soon if status.moved > status.stored else max(_LATER, soon))
        if self._save is None or due < self._save.when():
            if self._save is not None:
                self._save.cancel()
            self._save = loop.call_at(due, lambda: self._start(self._save_status(status)))

    async def _save_status(self, status: Status) -> None:
        self._save, self._saving = None, True
        revision, failures = status.revision, 0
        stored: Json | None = None
        while not self.stopped:
            try:
                began = time.perf_counter()
                encoded = to_json(status)
                self._save_took = time.perf_counter() - began
                stored = await actions.write_status(self.outside.api, self.framework, encoded)
                break
            except (Failed, Unreachable):
                failures += 1
                await asyncio.sleep(_backoff(failures))
                revision = status.revision
        self._saving = False
        if stored is None:  # The Framework is gone.
            self.stop()
            return
        self.writes += 1
        self.seen_framework(stored)  # Its spec may have changed meanwhile, and the watch says nothing new then.
        status.stored = revision
        waiting, status.waiting = status.waiting, set()
        self.poke(*waiting)

    # Acting

    async def _act(self, action: Action, key: Key | None) -> None:
        about = self._about(key)
        try:
            result = await self._do(action)
            self._failures.pop(key, None)
            # Meanwhile the attempt may have gone, and its tasks with it: what was done for them means nothing to those that came after.
            if result is not None and self._about(key) is about:
                result(self._sync())
        except (Failed, Unreachable):
            self._failures[key] = self._failures.get(key, 0) + 1
            await asyncio.sleep(_backoff(self._failures[key]))
        finally:
            self._busy.discard(key)
            self.poke(*[] if key is None else [key])

    def _about(self, key: Key | None) -> Attempt | None:
        """The attempt that an action is for: a task's, or the Framework's. None: there is no such task any more."""
        assert self.status is not None
        if key is None:
            return self.status.attempt
        role = self.status.role(key[0])
        return role.tasks[key[1]].attempt if role is not None and key[1] < len(role.tasks) else None

    async def _do(self, action: Action) -> Result | None:
        """Carry an action out; returns what follows for the status."""
        api = self.outside.api
        config_map_path = path_of("configmaps", self.namespace, names.config_map_name(self.name))
        match action:
            case CreateConfigMap(attempt):
                return await self._begin_attempt(attempt)
            case DeleteConfigMap(uid, completion):
                await actions.delete(api, config_map_path, uid, confirm=completion is not None)
                return config_map_deleted if completion is None else partial(config_map_gone, completion=completion)
            case RemoveConfigMap(completion):
                await actions.remove(api, config_map_path, self.uid)
                return partial(config_map_gone, completion=completion)
            case CreatePod(role, index):
                return await self._create_pod((role, index))
            case DeletePod(role, index, uid, force, completion):
                path = path_of("pods", self.namespace, names.pod_name(self.name, role, index))
                await actions.delete(api, path, uid, force=force, confirm=completion is not None or force)
                if completion is not None:
                    return partial(pod_gone, key=(role, index), completion=completion)
                return partial(pod_deleted, key=(role, index), uid=uid)
            case RemovePod(role, index, completion):
                return await self._remove_pod((role, index), completion)
            case DeleteFramework(uid):
                await actions.delete(api, path_of("frameworks", self.namespace, self.name), uid, propagation="Foreground")
        return None

    async def _begin_attempt(self, attempt: int) -> Result:
        intent = intents.intent_of(self.framework)
        await self._ensure_services(intent)
        made = await actions.create_config_map(self.outside.api, intents.config_map(intent, self.framework, attempt))
        return partial(config_map_created, uid=made["metadata"]["uid"])

    async def _create_pod(self, key: Key) -> Result | None:
        assert self.config_map is not None
        assert self.status is not None
        if self.intent is None:  # The spec has changed just now: it is decided again, with the new one.
            return None
        role_status, task = find(self.status, key)
        role = next((role for role in self.intent.roles if role.name == key[0]), None)
        if role is None:  # It has left the spec just now.
            return None
        pod = intents.pod(role, self.framework, self.config_map["metadata"], self.status, role_status, task)
        try:
            uid = await actions.create_pod(self.outside.api, pod)
        except Failed as error:
            completion = self.outside.creation_failed(error.code, error.reason, str(error))
            if completion is None:
                raise
            return await self._remove_pod(key, completion)
        return partial(pod_created, key=key, uid=uid)

    async def _bring_intent(self, attempt: int) -> None:
        """Make the stored intent that of the Framework as it is, and take it from there."""
        path = path_of("configmaps", self.namespace, names.config_map_name(self.name))
        framework, failures = self.framework, 0
        while not self.stopped:
            try:
                stored = await actions.read(self.outside.api, path)
                intent = intents.stored_intent(stored) if intents.is_current(stored, framework) else None
                if intent is None:
                    intent = intents.intent_of(framework)
                    await self._ensure_services(intent)
                    made = intents.config_map(intent, framework, attempt)
                    await actions.replace(self.outside.api, path, intents.with_intent(stored, made))
            except (Failed, Unreachable) as error:
                if isinstance(error, Failed) and error.code == 404:
                    await asyncio.sleep(_LATER)  # The attempt is over, which is seen soon.
                    break
                failures += 1
                await asyncio.sleep(_backoff(failures))
                continue
            if self.framework["metadata"]["generation"] == framework["metadata"]["generation"]:
                self.intent, self.spec = intent, _spec(framework)
                break
            framework = self.framework
        self._busy.discard(None)
        self.poke_all()

    async def _ensure_services(self, intent: Intent) -> None:
        for role in intent.roles:
            service = intents.service(role, self.framework)
            if service is not None:
                await actions.ensure_service(self.outside.api, service)

    async def _remove_pod(self, key: Key, completion: Json) -> Result:
        assert self.config_map is not None
        path = path_of("pods", self.namespace, names.pod_name(self.name, *key))
        await actions.remove(self.outside.api, path, self.config_map["metadata"]["uid"])
        return partial(pod_gone, key=key, completion=completion)


def _key(action: Action) -> Key | None:
    match action:
        case CreatePod(role, index) | RemovePod(role, index, _):
            return role, index
        case DeletePod():
            return action.role, action.task
    return None


def _spec(framework: Json) -> Spec:
    return read_spec(default(framework).framework)


def _newer(one: Json, other: Json) -> Json:
    """The later of two versions of an object."""
    return other if int(other["metadata"]["resourceVersion"]) >= int(one["metadata"]["resourceVersion"]) else one


def _backoff(failures: int) -> float:
    return min(_FIRST_DELAY * 2.0 ** (failures - 1), _LONGEST_DELAY)
