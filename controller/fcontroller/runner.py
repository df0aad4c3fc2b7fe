"""One Framework while it lives: what was seen of it is looked at, what is decided is done, and the status is stored in between.

Everything of a Framework happens on one event loop, and no two looks at once.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from fcompile.default import default
from fcompile.lower.intent import Intent
from fcontroller import intent as intents
from fcontroller.act import actions
from fcontroller.act.actions import Failed, backoff
from fcontroller.act.adopt import differing_pods
from fcontroller.act.perform import ActionContext, bring_intent
from fcontroller.act.pod_renderer import PodRenderer
from fcontroller.act.queue import Queue
from fcontroller.act.services import Services
from fcontroller.act.status_writer import StatusWriter
from fcontroller.api import Json, Unreachable
from fcontroller.decide import observed
from fcontroller.decide.conditions import INTENT_REVIEWED, set_adopted, set_completed, set_condition, set_services
from fcontroller.decide.context import CreateConfigMap, Key, ReconcileContext
from fcontroller.decide.framework import reconcile_framework
from fcontroller.decide.review import in_force, review
from fcontroller.decide.spec import Spec, read_spec
from fcontroller.decide.states import COMPLETED, CREATED
from fcontroller.decide.status import Status
from fcontroller.decide.status_json import from_json
from fcontroller.dependencies import Dependencies

_ATTEMPT_GONE_DELAY = 1.0
"""Seconds; that the attempt is over is seen soon."""
_LAG = 0.5
"""Seconds after which what was not seen yet may be."""
_BROKEN_DELAY = 30.0


class Runner:
    """Runs one Framework, by its uid."""

    def __init__(
        self, dependencies: Dependencies, framework: Json, begin_again: Callable[[Json], None], has_seen: Callable[[Json], bool]
    ) -> None:
        """:param begin_again: is given the Framework when its status is not what this runner knows: another runner is needed.

        :param has_seen: whether ConfigMaps and Pods are known at least as they were when an object was last written.
        """
        self.dependencies = dependencies
        self._begin_again, self._has_seen = begin_again, has_seen
        self.framework = framework
        self.namespace, self.name = framework["metadata"]["namespace"], framework["metadata"]["name"]
        self.uid: str = framework["metadata"]["uid"]
        self.status: Status | None = None
        if framework.get("status") and framework["status"].get("attemptStatus"):
            self.status = from_json(framework["status"])
        self._read = (framework["metadata"]["generation"], _spec(framework))
        """The spec as it was read last, and the generation that it was read from."""
        self.spec: Spec = self._read[1]
        self.renderer: PodRenderer | None = None
        """What the attempt's Pods are made from; None: it must be looked up whether that is what the spec wants now."""
        self._next_intent: tuple[Json, Intent] | None = None
        self.config_map: Json | None = None
        """The ConfigMap under the attempt's name, as it was last seen, without its data."""
        self.pods: dict[Key, observed.Pod] = {}
        self._dirty: set[Key] | None = None
        """Tasks to be looked at; None: all of them."""
        self._look: asyncio.Handle | None = None
        self._wakes: dict[Key | None, asyncio.TimerHandle] = {}
        self.running: set[asyncio.Task[None]] = set()
        self.queue = Queue(dependencies, self._start, self._scene, self._context, self.poke)
        self.status_writer = StatusWriter(dependencies.api, self._start, framework)
        self.services = Services(dependencies.api, framework, self._start, self._report_services)
        self.stopped = False
        self._begun = self.status is None or self.status.state == COMPLETED
        if self._begun:
            self.poke_all()
        else:
            self._start(self._begin(framework))

    # What was seen

    def seen_framework(self, framework: Json) -> None:
        """The Framework has changed, or is what it was."""
        old, new = self.framework, _newer(self.framework, framework)
        self.framework = new
        self.status_writer.seen_framework(new)
        if "deletionTimestamp" in new["metadata"]:
            self.services.keep(None, new)  # The garbage collector takes them.
        edited = old["metadata"]["generation"] != new["metadata"]["generation"]
        if edited or intents.reviewed_digest(old) != intents.reviewed_digest(new):
            self.renderer = None
            self.poke_all()
        elif "deletionTimestamp" in new["metadata"]:
            self.poke()

    def seen_config_map(self, config_map: Json | None) -> None:
        """The ConfigMap under the attempt's name is this, or is gone."""
        if config_map is None or self.config_map is None or config_map["metadata"]["uid"] != self.config_map["metadata"]["uid"]:
            self.renderer = None
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
        self.status_writer.stop()
        self.services.keep(None, self.framework)
        self.queue.clear()
        for handle in (self._look, *self._wakes.values()):
            if handle is not None:
                handle.cancel()

    async def finish(self, seconds: float) -> None:
        """After `stop`: wait for what is under way, and store what has come of it: the next one to lead goes on from there."""
        if self.running:
            await asyncio.wait(self.running, timeout=seconds)
        if self.status is not None and await self.status_writer.finish(self.status):
            self.dependencies.report.stored(self.framework, self.status.take_transitions())

    # Deciding

    async def _begin(self, framework: Json) -> None:
        """Begin once nothing that is known is older than what was done before: a list may be, where one server lags behind another."""
        failures = 0
        while not self.stopped:
            try:
                found = await actions.read_framework(self.dependencies.api, framework)
            except (Failed, Unreachable):
                failures += 1
                await asyncio.sleep(backoff(failures))
                continue
            if found is None or found.get("status") != framework.get("status"):
                self._stored(found, superseded=True)
                return
            if self._has_seen(found):
                self.seen_framework(found)
                self._begun = True
                self.poke_all()
                return
            await asyncio.sleep(_LAG)

    def look(self) -> None:
        """Decide, and see to it that what is decided is done and stored."""
        self._look = None
        try:
            self._decide()
        except Exception as error:
            self._broke(error)

    def _broke(self, error: BaseException) -> None:
        """A defect of ours has met this Framework: others go on, and this one begins anew after a while."""
        if not self.stopped:
            self.stop()
            self.dependencies.report.broke(self.framework, error)
            asyncio.get_running_loop().call_later(_BROKEN_DELAY, lambda: self._begin_again(self.framework))

    def _decide(self) -> None:
        if not self._begun or (self.renderer is None and not self._spec_is_in_force()):
            return
        began, state = time.perf_counter(), None if self.status is None else self.status.state
        keys, self._dirty = self._dirty, set()
        context = self._context()
        self.status = context.status
        settled = context.status.settled
        reconcile_framework(context, keys)
        if context.status.state == COMPLETED and state != COMPLETED:
            set_completed(context.status, self.framework["metadata"]["generation"], context.now)
        if context.status.settled != settled:
            self._dirty = None  # Other tasks than before, or a new attempt.
        elif not context.looked_at_tasks:
            self._dirty = keys
        for when, key in context.requeue_after:
            self._wake(when, key)
        for action in context.actions:
            if isinstance(action, CreateConfigMap) and not self._may_begin():
                continue
            self.queue.add(action)
        runs = context.status.state in CREATED and not context.deleting
        self.services.keep(self.renderer.intent if runs and self.renderer else None, self.framework)
        self.status_writer.see(context.status, self._stored)
        ended, context.status.ended = context.status.ended, []
        for each in ended:
            self.dependencies.report.ended(self.framework, each)
        self.dependencies.report.looked(time.perf_counter() - began)

    def _spec_is_in_force(self) -> bool:
        """While an attempt runs, a new spec counts only when the attempt's ConfigMap holds its intent."""
        status, config_map = self.status, self.config_map
        runs = status is not None and status.state in CREATED
        if runs and config_map is not None and status is not None and config_map["metadata"]["uid"] == status.attempt.object_uid:
            if None not in self.queue.busy:
                self.queue.busy.add(None)
                self._start(self._bring_intent(status.attempt.id, config_map))
            return False
        self.spec = self._spec_of(self.framework)
        return True

    def _spec_of(self, framework: Json) -> Spec:
        if self._read[0] != framework["metadata"]["generation"]:
            self._read = (framework["metadata"]["generation"], _spec(framework))
        return self._read[1]

    def _may_begin(self) -> bool:
        """Whether the Framework as it is may run."""
        self._next_intent = self.framework, intents.intent_of(self.framework)
        return self._may_run(*self._next_intent)

    def _may_run(self, framework: Json, intent: Intent) -> bool:
        """Say whether what would run is what was reviewed; whether it may run."""
        assert self.status is not None
        verdict = review(intents.reviewed_digest(framework), intent.digest, self.dependencies.rules)
        generation = framework["metadata"]["generation"]
        said = (verdict.reviewed, verdict.reason, verdict.message)
        if set_condition(self.status, INTENT_REVIEWED, *said, generation, self.dependencies.now()) and verdict.reviewed is False:
            self.dependencies.report.warn(self.framework, verdict.reason, verdict.message)
        return verdict.may_run

    def _report_services(self, taken: list[str], refused: str) -> None:
        assert self.status is not None
        wrong = set_services(self.status, taken, refused, self.framework["metadata"]["generation"], self.dependencies.now())
        if wrong:
            self.dependencies.report.warn(self.framework, *wrong)
        self.poke()

    async def _report_adopted(self, intent: Intent, framework: Json, config_map_uid: str) -> None:
        try:
            differing = await differing_pods(self.dependencies.api, intent, framework, config_map_uid)
        except (Failed, Unreachable):
            return  # They are looked at again when the spec changes or the controller starts.
        if self.status is None or self.status.attempt.object_uid != config_map_uid:
            return
        wrong = set_adopted(self.status, differing, framework["metadata"]["generation"], self.dependencies.now())
        if wrong:
            self.dependencies.report.warn(self.framework, *wrong)
        self.poke()

    def _context(self) -> ReconcileContext:
        config_map = None if self.config_map is None else observed.config_map(self.config_map)
        return ReconcileContext(
            name=self.name,
            uid=self.uid,
            spec=self.spec,
            status=self.status,
            now=self.dependencies.now(),
            new_uid=lambda: str(uuid.uuid4()),
            random_delay=self.dependencies.random_delay,
            settings=self.dependencies.settings,
            config_map=config_map,
            pods=self.pods,
            deleting="deletionTimestamp" in self.framework["metadata"],
            busy=self.queue.busy,
            creating=self.queue.creating,
        )

    def _scene(self) -> ActionContext:
        assert self.status is not None
        return ActionContext(self.framework, self.status, self.config_map, self.renderer, self.services, self._next_intent)

    def _wake(self, when: float, key: Key | None) -> None:
        if key in self._wakes:
            self._wakes[key].cancel()
        delay = max(when - self.dependencies.now(), 0) + 0.01
        self._wakes[key] = asyncio.get_running_loop().call_later(delay, self.poke, *([] if key is None else [key]))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broke(error)

    def _stored(self, framework: Json | None, superseded: bool) -> None:
        """The status was stored, with this Framework, or what is stored is not known here; None: the Framework is gone."""
        if framework is None or superseded:
            stopped = self.stopped
            self.stop()
            if framework is not None and not stopped:
                self._begin_again(framework)
            return
        assert self.status is not None
        self.dependencies.report.stored(framework, self.status.take_transitions())
        self.seen_framework(framework)  # Its spec may have changed meanwhile, and the watch says nothing new then.
        waiting, self.status.waiting = self.status.waiting, set()
        self.poke(*waiting)

    async def _bring_intent(self, attempt: int, config_map: Json) -> None:
        """Make the stored intent that of the Framework as it is, and take it from there."""
        framework, failures = self.framework, 0
        while not self.stopped:
            try:
                brought = await bring_intent(self.dependencies.api, self.services, framework, attempt, partial(self._may_run, framework))
            except (Failed, Unreachable) as error:
                if isinstance(error, Failed) and error.code == 404:
                    await asyncio.sleep(_ATTEMPT_GONE_DELAY)
                    break
                failures += 1
                await asyncio.sleep(backoff(failures))
                continue
            if self.framework["metadata"]["generation"] == framework["metadata"]["generation"]:
                intent = brought.intent
                self.renderer, self.spec = PodRenderer(intent, framework, config_map), in_force(self._spec_of(framework), intent)
                if brought.adopted:
                    self._start(self._report_adopted(intent, framework, config_map["metadata"]["uid"]))
                break
            framework = self.framework
        self.queue.busy.discard(None)
        self.poke_all()


def _spec(framework: Json) -> Spec:
    return read_spec(default(framework).framework)


def _newer(one: Json, other: Json) -> Json:
    """The later of two versions of an object."""
    return other if int(other["metadata"]["resourceVersion"]) >= int(one["metadata"]["resourceVersion"]) else one
