"""The reconciler of one Framework: it takes in what has happened, decides, and passes on the actions that follow.

All work for a Framework runs on one event loop, and its reconciliations run one after the other. All input arrives in its mailbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from fcompile.default import default
from fcompile.model import names
from fcompile.model.framework import asks_for_pause, ignored_pause, restart_of
from fcompile.model.values import mapping, sequence
from fcontroller import intent as intents
from fcontroller.act import requests
from fcontroller.act.dispatcher import Priority
from fcontroller.act.requests import Refused
from fcontroller.act.retry import backoff
from fcontroller.api import Json, Name, Projection, Unreachable, full_name, version_of
from fcontroller.breath import Breath, turns
from fcontroller.decide import actions
from fcontroller.decide.conditions import SERVICES_MADE, is_false, note_forgotten, set_adopted, set_completed, set_services, set_up_to_date
from fcontroller.decide.context import ReconcileContext, deadline
from fcontroller.decide.framework import kept_keys, note_missing, reconcile_framework
from fcontroller.decide.owners import controller_of
from fcontroller.decide.spec import Spec, is_paused, read_spec
from fcontroller.decide.states import COMPLETED, CREATED, CREATION_PENDING, DELETION_PENDING
from fcontroller.decide.status import Key, Status
from fcontroller.dependencies import Dependencies
from fcontroller.mailbox import (
    Broken,
    Due,
    FrameworkSeen,
    IntentLowered,
    IntentRead,
    IntentRefused,
    Loaded,
    Mailbox,
    Message,
    Performed,
    PodsCompared,
    PodSeen,
    ServicesReported,
    ServicesSeen,
    StatusStored,
    StatusSuperseded,
)
from fcontroller.observe.cache import Cache, task_of
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.attempt_intent import AttemptIntent
from fcontroller.reconcile.background import Background
from fcontroller.reconcile.dirty import DirtyTasks
from fcontroller.reconcile.perform import ActionContext
from fcontroller.reconcile.pod_renderer import PodRenderer
from fcontroller.reconcile.read_status import read_status
from fcontroller.reconcile.services import Services
from fcontroller.reconcile.status_writer import StatusWriter, remembered
from fcontroller.reconcile.waits import Waits
from fcontroller.reconcile.workers import Workers, decided_now

_GATHERED = 0.5
"""Seconds between two reconciliations for Pods in a namespace that is crowded with requests: their actions would only wait."""
_LAG = 0.5
"""Seconds after which objects that the watches do not show yet are read."""
_BROKEN_DELAY = 30.0
_FOR_ACTIONS = 0.8
"""The share of the time for `finish` that requests under way may take. In the rest their results are stored."""
_OFTEN, _WHILE = 2, 600.0
"""This many foreign statuses within this many seconds mean that there is another controller. One alone may be a former leader's."""
_OVERWRITTEN = (
    "Another controller writes this status, or somebody does by hand: each undoes what the other does. Let only one run a Framework"
)


class Reconciler:
    """Runs one Framework, by its uid."""

    def __init__(self, dependencies: Dependencies, framework: Json, cache: Cache, over: Callable[[Reconciler], None]) -> None:
        """:param over: is called once the Framework has come to its end, and that is stored and told."""
        self.dependencies, self._cache, self._over = dependencies, cache, over
        self.key: Name = full_name(framework)
        self.uid: str = framework["metadata"]["uid"]
        self.owned = cache.of(self.key)
        self.stopped = False
        self._background = Background()
        self._loading: asyncio.Task[None] | None = None
        self._mending: asyncio.TimerHandle | None = None
        self._reconciled = float("-inf")
        """When it was last reconciled, by the clock of the loop."""
        self._gathering: asyncio.TimerHandle | None = None
        """When messages are looked at that came in a crowd."""
        self._superseded = float("-inf"), 0
        """Since when statuses that somebody else wrote are counted, and how many there were."""
        self._ignored_pause = ""
        self.status: Status | None = None
        self._begin(framework, is_new=not _has_status(framework))

    def _begin(self, framework: Json, *, is_new: bool) -> None:
        """Begin, or begin anew.

        :param is_new: whether the Framework has no status; if it may have one, it is read first.
        """
        # Requests still under way report to the old mailbox, which nobody reads any more.
        self.mailbox = self._background.mailbox = Mailbox(self._arrive)
        self._know(remembered(framework), _spec(framework))
        self.status = None
        self._uid_base, self._uids = str(uuid.uuid4())[:-12], 0
        self.spec = self._newest_spec
        """The one that holds."""
        self._measured = -1
        """The generation that was measured."""
        self._dirty = DirtyTasks()
        self._compared: PodRenderer | None = None
        self._alarms = Alarms(self.mailbox)
        self.workers = Workers(self.dependencies, self.key[0], self.mailbox, self._alarms)
        self.waits = Waits(self.dependencies, self.workers, self.owned, self._alarms)
        start = self._background.start
        self.writer = StatusWriter(self.dependencies.api, self.dependencies.report, framework, start, self.mailbox)
        self.services = Services(self.dependencies.api, framework, self.owned.services, start, self.mailbox)
        self.intent = AttemptIntent(self.dependencies, framework, self.services, start, self.mailbox, self._alarms)
        self._loaded = is_new
        if self._loaded:
            self._schedule()
        else:
            self.writer.unsaved_since = asyncio.get_running_loop().time()  # Until it is read, nothing of it is stored.
            self._loading = start(self._load(framework, self.mailbox))

    def _know(self, framework: Json, spec: Spec) -> None:
        self.framework, self._newest_spec = framework, spec
        """All but its status, as it was last seen, and the spec in it."""
        self.paused = is_paused(asks_for_pause(framework), spec)
        """Whether nothing of this Framework may be created or deleted."""
        ignored, self._ignored_pause = self._ignored_pause, ignored_pause(framework)
        if self._ignored_pause not in ("", ignored):  # Whoever has written it may take the Framework for paused.
            said = f"The annotation {names.PAUSE_ANNOTATION} is {json.dumps(self._ignored_pause)}, and does not pause: only true does"
            self.dependencies.report.warn(framework, "PauseIgnored", said, topic="value")

    def _begin_again(self, framework: Json) -> None:
        self._halt()
        self._begin(framework, is_new=False)

    async def _load(self, framework: Json, mailbox: Mailbox) -> None:
        """Begin once the cache is at least as new as what was done before; with several API servers a list may be older."""
        failures = 0
        while True:
            try:
                found = await requests.read_framework(self.dependencies.api, framework)
                version = version_of(found) if found else 0
                if not self._cache.has_seen(self.key, version):
                    await asyncio.sleep(_LAG)
                if not self._cache.has_seen(self.key, version):
                    await self._cache.refresh(self.key)
                status = await read_status(found["status"], self.key[0]) if found and _has_status(found) else None
                if status is not None and status.state == DELETION_PENDING and status.retry_refused:
                    status.end.unmoved = await self._unmoved(status)
                return mailbox.put(Loaded(found, status))
            except (Refused, Unreachable) as error:
                failures += 1
                error.args = (f"reading it, before anything else can be done: {error}",)
                self.dependencies.report.refused(framework, None, error, failures)
                await asyncio.sleep(backoff(failures))

    async def _unmoved(self, status: Status) -> set[Key]:
        """Return the tasks whose Pods are to be the Framework's own, and are not: the controller before has moved the others.

        Raises Refused and Unreachable.
        """
        kept = {names.pod_name(self.key[1], *key): key for key in kept_keys(status)}
        pods = await requests.list_pods(self.dependencies.api, *self.key, kept)
        return {key for name, key in kept.items() if name not in pods or controller_of(pods[name]) != self.uid}

    # Its life

    @property
    def renderer(self) -> PodRenderer | None:
        """Return what renders Pods, or None while it is not known what they are made from."""
        return None if self.status is None else self.intent.renderer(self.status, self.framework)

    @property
    def under_way(self) -> set[asyncio.Task[Any]]:
        """Return all work under way for the Framework."""
        return {*self._background.under_way, *self.workers.under_way}

    def stop(self) -> None:
        """Make no more decisions. Requests under way come to their end."""
        self.stopped = True
        self._halt()
        self.mailbox.close()

    def _halt(self) -> None:
        if self._loading is not None:
            self._loading.cancel()
        self.writer.stop()
        self.intent.stop()
        self.services.maintain(None, self.framework)
        self.workers.stop()
        turns().drop(self.reconcile)
        self._alarms.clear()
        self._gather_no_more()

    async def finish(self, seconds: float) -> None:
        """Wait, after `stop`, for requests under way and store their results, so that the next leader can go on from there."""
        end = asyncio.get_running_loop().time() + seconds
        if self.under_way:
            _, late = await asyncio.wait(self.under_way, timeout=seconds * _FOR_ACTIONS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        status = self.status
        if status is None:
            return
        context = self._context()
        for message in self.mailbox.take():
            if isinstance(message, Performed):
                self._apply(message, context)
            elif isinstance(message, StatusStored):
                status.stored = message.revision
                self.writer.done()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                await self.writer.finish(status)
        self.dependencies.report.stored(self.framework, status.take_transitions())

    # Reconciling

    def _schedule(self) -> None:
        if not self.stopped:
            turns().put(self.reconcile)

    def _arrive(self, message: Message) -> None:
        """Take in that there is a message: have it looked at at once, or, if that is of no use yet, together with others."""
        loop, again = asyncio.get_running_loop(), self._reconciled + _GATHERED
        if loop.time() >= again or not self._can_wait(message):
            self._schedule()
        elif self._gathering is None and not self.stopped:
            self._gathering = loop.call_at(again, self._schedule)

    def _can_wait(self, message: Message) -> bool:
        if isinstance(message, PodSeen):
            return self.workers.is_crowded(Priority.CREATION) or self.workers.is_crowded(Priority.DELETION)
        return isinstance(message, Performed) and message.error is None and self.workers.are_kept_busy

    def _gather_no_more(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
        self._gathering = None

    def reconcile(self) -> None:
        """Take in what has happened, decide, and have the decisions carried out and the status stored."""
        began, self._reconciled = time.perf_counter(), asyncio.get_running_loop().time()
        self._gather_no_more()
        try:
            self._reconcile()
        except Exception as error:
            self._break(error)
        self.dependencies.report.looked(time.perf_counter() - began)

    def _reconcile(self) -> None:
        mailbox, messages = self.mailbox, self.mailbox.take()
        has_results = self.status is not None and any([isinstance(message, Performed) for message in messages])
        results = self._context() if has_results else None
        for message in messages:
            self._receive(message, results)
            if self.stopped or self.mailbox is not mailbox:
                return
        # Once for all of them: anybody may write Services, and to go through ten thousand takes long.
        if any([isinstance(message, ServicesSeen) for message in messages]):
            self.services.look()
        if not self._loaded:
            return
        if self.status is not None:
            self._maintain_intent(self.status)
        context = self._decide()
        self._prepare_intent(context.status)
        set_up_to_date(context.status, context.generation, context.now)
        self.waits.say(context.status, self.framework, self.spec, self.paused, context.may_create)
        self.workers.advance(context.actions, self._action_context)
        runs = context.status.state in CREATED and not context.deleting and not self.paused
        renderer = self.renderer if runs else None
        self.services.maintain(renderer.intent if renderer else None, self.framework)
        # What was refused before we began may have been withdrawn since, so that nobody asks for it again.
        if is_false(context.status, SERVICES_MADE) and context.status.intent.next is None and self.services.are_right():
            set_services(context.status, [], "", context.generation, context.now)
        self.writer.see(context.status)
        if context.status.state == COMPLETED and context.status.revision <= context.status.stored:
            asyncio.get_running_loop().call_soon(self._over, self)

    def _decide(self) -> ReconcileContext:
        """Decide about everything that may have changed."""
        if self.status is not None:
            awaited = self.intent.awaits_edit
            spec = self.intent.spec(self._newest_spec, self.spec, self.status, self.framework, self.paused)
            if (spec, self.intent.awaits_edit) != (self.spec, awaited):  # As when an edit is refused: its policies count from now on.
                self.spec = spec
                self._dirty.add_all()
        state = None if self.status is None else self.status.state
        keys, policies_too = self._dirty.take(self.status, self.owned.pods)
        context = self._context()
        self.status = status = context.status
        self._measure(status)
        settled, delay = status.settled, status.retries.delay
        reconcile_framework(context, keys, policies_too=policies_too)
        if status.state == COMPLETED and state != COMPLETED:
            set_completed(status, context.generation, context.now)
        if status.retries.delay and not delay:  # For minutes it would look as if it had ended.
            self.dependencies.report.delayed(self.framework, status.attempt, status.retries.delay)
        if status.settled != settled:
            self._dirty.add_all()  # The tasks have changed, or the attempt is new.
        elif not context.looked_at_tasks:
            self._dirty.put_back(keys, policies_too)
        elif self._dirty:
            self._schedule()
        if context.looked_at_tasks:
            self._alarms.drop(keys)  # What they still wait for is among what follows.
        self._requeue(context)
        ended, status.ended = status.ended, []
        for each in ended:
            self.dependencies.report.ended(self.framework, each)
        return context

    def _prepare_intent(self, status: Status) -> None:
        """Name the intent of the next attempt."""
        if status.state == CREATION_PENDING:
            self.intent.prepare(status, self.framework, begins=None in self.workers.busy)

    def _maintain_intent(self, status: Status) -> None:
        """Maintain the intent of the running attempt."""
        self._prepare_intent(status)
        config_map = self.owned.config_map
        if status.state in CREATED and config_map is not None and config_map.uid == status.attempt.object_uid:
            had = self.renderer
            self.intent.maintain(status, self.framework, config_map.version, self.paused)
            renderer = self.renderer
            if renderer is not had:
                self._dirty.add_all()
            if renderer is not None and renderer is not self._compared and status.intent.adopted:
                self._compared = renderer
                self._background.start(self._compare(renderer, self.mailbox))

    async def _compare(self, renderer: PodRenderer, mailbox: Mailbox) -> None:
        """Compare all Pods of an attempt that began under upstream's controller with its intent, which is newer."""
        differing, breath = dict[str, list[str]](), Breath()
        try:
            async for page, _ in requests.pages_of_owned(self.dependencies.api, "pods", *self.key, Projection.WHOLE):
                for pod in page:
                    if fields := await self.differing_fields(pod, renderer):
                        differing[pod["metadata"]["name"]] = fields
                    await breath.take()
        except (Refused, Unreachable):
            return  # Adopted Pods are compared again when the spec changes or the controller starts.
        mailbox.put(PodsCompared(renderer.config_map_uid, differing))

    async def differing_fields(self, pod: Json, renderer: PodRenderer | None) -> list[str]:
        """Return the fields in which a Pod differs from what the renderer makes; none if it is no task's, or is being deleted."""
        status, (_, key) = self.status, task_of(pod["metadata"]["name"])
        role, task = (status.role(key[0]), status.task(key)) if status else (None, None)
        if status is None or role is None or task is None or task.pod_kept or renderer is None or "deletionTimestamp" in pod["metadata"]:
            return []
        if task.attempt.object_uid != pod["metadata"]["uid"]:
            return []
        return await renderer.differing_fields(pod, status.attempt.id, role, task) or []

    def _measure(self, status: Status) -> None:
        """Note how large the Framework is without its status."""
        generation = self.framework["metadata"]["generation"]
        if self._measured != generation:
            self._measured = generation
            status.beside = len(json.dumps({key: self.framework[key] for key in ("metadata", "spec")}))

    def _context(self) -> ReconcileContext:
        status = self.status
        now = self.dependencies.now()
        return ReconcileContext(
            name=self.key[1],
            uid=self.uid,
            generation=self.framework["metadata"]["generation"],
            spec=self.spec,
            status=Status(names.config_map_name(self.key[1]), now) if status is None else status,
            is_new=status is None,
            now=now,
            server_now=self.dependencies.server_now(),
            new_uid=self._new_uid,
            random_delay=self.dependencies.random_delay,
            settings=self.dependencies.settings,
            config_map=self.owned.config_map,
            pods=self.owned.pods,
            deleting="deletionTimestamp" in self.framework["metadata"],
            paused=self.paused,
            restart=self._restart(),
            busy=self.workers.busy,
            creating=self.workers.creating,
            may_begin=status is not None and self.intent.next(status) is not None,
            may_create=self.renderer is not None and not self.intent.awaits_edit,
            may_recognize=self.renderer is not None,
        )

    def _restart(self) -> str:
        """Return the value of the restart annotation if another attempt may begin; otherwise a restart would only end what runs."""
        restart, status = restart_of(self.framework), self.status
        if status is None or restart in ("", status.restart) or self.intent.may_run(status, self.framework):
            return restart
        return ""

    def _new_uid(self) -> str:
        """Return a uid that no task or role has had. They differ in a counter, so that those of 10,000 tasks compress well."""
        self._uids += 1
        return f"{self._uid_base}{self._uids:012x}"

    def _action_context(self) -> ActionContext:
        assert self.status is not None
        next_intent, paused = self.intent.next(self.status), self.paused
        end = deadline(self._newest_spec, self.status)
        ends = self._newest_spec.stops or (end is not None and not paused and self.dependencies.sure_now() >= end)
        owners = self._cache.pod_owners
        return ActionContext(self.framework, self.status, self.renderer, self.services, owners, next_intent, paused, ends)

    # What has happened

    def _receive(self, message: Message, results: ReconcileContext | None) -> None:
        match message:
            case FrameworkSeen(framework):
                self._see(framework)
            case PodSeen(key):
                self._see_pod(key)
            case Due(key):
                self._dirty.add(key)
            case Performed():
                self._perform(message, results)
            case StatusStored(revision, framework):
                self._store(revision, framework)
            case StatusSuperseded(framework):
                self._supersede(framework)
            case IntentRead() | IntentRefused() | IntentLowered():
                self.intent.note(message)
                self._dirty.add_all()
            case Loaded(framework, status):
                self._take(framework, status)
            case ServicesSeen():
                pass  # They are looked at when all messages are taken in.
            case ServicesReported() | PodsCompared():
                self._warn(message)
            case Broken(error):
                self._break(error)

    def _see_pod(self, key: Key) -> None:
        pod = self.owned.pods.get(key)
        self.waits.note_deletion(key, pod is not None and pod.deletion_start is not None)
        self._dirty.add(key)

    def _see(self, framework: Json) -> None:
        """Take in the Framework, unless it is older than what is known."""
        if version_of(framework) < version_of(self.framework):
            return
        old = self.framework
        is_edited = framework["metadata"]["generation"] != old["metadata"]["generation"]
        if not is_edited:  # Then the spec is the same. One copy of it is enough in memory: a megabyte of JSON takes sixteen there.
            framework = {**framework, "spec": old["spec"]}
        new = remembered(framework)
        self._know(new, _spec(new) if is_edited else self._newest_spec)
        if "status" in framework:
            self.writer.seen_framework(framework)
        if _asks(old) != _asks(new):
            self._dirty.add_all()
            if self._mending is not None:  # The edit may have repaired it.
                self._mending.cancel()
                self._mend()

    def _take(self, framework: Json | None, status: Status | None) -> None:
        """Take in the Framework and its status as they were read at the start."""
        if framework is None:
            return self._leave_alone()
        self.status = status
        if status is not None:
            now = self.dependencies.now()
            note_missing(status, self.owned.config_map, self.owned.pods, now)
            note_forgotten(status, framework["metadata"]["generation"], now)
        self.waits.begin()
        self.writer.begin(framework)
        self._see(framework)
        self._dirty.add_all()
        self._loaded = True

    def _supersede(self, framework: Json | None) -> None:
        if framework is None:
            return self._leave_alone()
        now = asyncio.get_running_loop().time()
        if now > self._superseded[0] + _WHILE:
            self._superseded = now, 0
        self._superseded = self._superseded[0], self._superseded[1] + 1
        if self._superseded[1] == _OFTEN:
            self.dependencies.report.warn(self.framework, "StatusOverwritten", _OVERWRITTEN)
        self._begin_again(framework)

    def _store(self, revision: int, framework: Json) -> None:
        """Take in that the status was stored, and look again at the tasks that waited for it."""
        status = self.status
        if status is None:
            return
        status.stored = revision
        self.writer.done()
        self.dependencies.report.stored(framework, status.take_transitions())
        self._see(framework)  # The spec may have changed in the meantime, of which the watch would say nothing new.
        waiting, status.waiting = status.waiting, set()
        for key in waiting:
            self._dirty.add(key)

    def _perform(self, message: Performed, context: ReconcileContext | None) -> None:
        """Apply the result of an action, or note its failure."""
        if context is None:
            return
        self._apply(message, context)
        failures = self.workers.note(message, context.status)
        if failures and message.error is not None:
            self.dependencies.report.refused(self.framework, message.key, message.error, failures)
        self._dirty.add(message.key)

    def _apply(self, message: Performed, context: ReconcileContext) -> None:
        # The attempt and its tasks may be gone by now: results of their actions mean nothing to the tasks of the next attempt.
        now = decided_now(context.status, message.key)
        if message.result is not None and now.attempt is message.decided.attempt:
            message.result(context)
            if isinstance(message.action, actions.CreateConfigMap):
                self.intent.begun()

    def _warn(self, message: ServicesReported | PodsCompared) -> None:
        """Set the conditions of Services and of adopted Pods."""
        status, generation, now = self.status, self.framework["metadata"]["generation"], self.dependencies.now()
        if status is None:
            return
        if isinstance(message, ServicesReported):
            wrong = set_services(status, message.taken, message.refused, generation, now)
        elif status.attempt.object_uid == message.config_map_uid:
            wrong = set_adopted(status, message.differing, generation, now)
        else:
            wrong = None
        if wrong:
            self.dependencies.report.warn(self.framework, *wrong)

    def _break(self, error: BaseException) -> None:
        """Give up this Framework after an internal error, and begin anew after a while; other Frameworks go on."""
        if self._mending is None:
            self.dependencies.report.broke(self.framework, error)
            self._leave_alone()

    def _leave_alone(self) -> None:
        """Begin anew after a while: the Framework has failed, or is gone. If it is gone, the watch will say so and stop this reconciler."""
        self._halt()
        self._loaded, self.status = False, None  # The Framework is read again, and left out of metrics until then: it may be what is wrong.
        if self._mending is None:
            self._mending = asyncio.get_running_loop().call_later(_BROKEN_DELAY, self._mend)

    def _mend(self) -> None:
        self._mending = None
        if not self.stopped:
            try:
                self._begin_again(self.framework)
            except Exception as error:
                self._break(error)

    def _requeue(self, context: ReconcileContext) -> None:
        """Look again when the time has come that was waited for."""
        loop, now = asyncio.get_running_loop(), self.dependencies.now()
        for when, key in context.requeue_after:
            self._alarms.set(key, loop.time() + max(when - now, 0) + 0.01)


def _asks(framework: Json) -> tuple[Any, ...]:
    """Return what decisions about all tasks depend on."""
    return framework["metadata"]["generation"], intents.reviewed_digest(framework), asks_for_pause(framework), restart_of(framework)


def _has_status(framework: Json) -> bool:
    return bool((framework.get("status") or {}).get("attemptStatus"))


def _spec(framework: Json) -> Spec:
    """Return the spec of a stored Framework. To fill in the defaults of Pod templates too took a third of a second for a megabyte."""
    spec = framework["spec"]
    roles = [{**role, "task": {**role["task"], "pod": _owners_of(role["task"])}} for role in spec.get("taskRoles") or ()]
    return read_spec(default({"spec": {**spec, "taskRoles": roles}}).framework)


def _owners_of(task: Json) -> Json:
    """Return all that a spec reads of a task's Pod template."""
    return {"metadata": {"ownerReferences": sequence(mapping(mapping(task, "pod"), "metadata"), "ownerReferences")}}
