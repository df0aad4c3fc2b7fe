"""Makes the Services of one Framework, and keeps them as they should be while an attempt runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping

from fcompile.lower.intent import Intent
from fcontroller import intent as intents
from fcontroller.act import requests
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.requests import Refused
from fcontroller.act.retry import SILENT, SLOW, Pace
from fcontroller.api import Answer, Api, Json, Unreachable, Unwanted, Wanted, always, collection, path_of
from fcontroller.decide.conditions import some
from fcontroller.decide.services import SPEC, Action, CreateService, DeleteService, Plan, ReplaceService, plan
from fcontroller.mailbox import Mailbox, ServicesReported, Start
from fcontroller.observe.cache import SeenServices

_LOOK_AGAIN = 60.0
"""Seconds until a taken name is tried again: we may not see that the other Service goes, if it lacks our label."""
_ROUNDS = 5


class _Silence:
    """Tells once that no answer has come for long, however often it was asked."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_long(self) -> bool:
        return self._since is not None and asyncio.get_running_loop().time() >= self._since + SLOW

    def begin(self, tell: Callable[[str], object]) -> None:
        """Note that a request is sent."""
        loop = asyncio.get_running_loop()
        self._since = loop.time() if self._since is None else self._since
        if self._timer is None and not self.is_long:
            self._timer = loop.call_at(self._since + SLOW, tell, SILENT)

    def stop(self) -> None:
        """Tell nothing any more until the next request is sent."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def end(self) -> None:
        """Note that there was an answer, or nothing was asked."""
        self._since = None


class _Desired:
    """The Services that an intent wants, and what is known of the requests to make them."""

    def __init__(self, intent: Intent, framework: Json, silence: _Silence | None = None) -> None:
        made = (intents.service(role, framework) for role in intent.roles)
        self.services: Mapping[str, Json] = {service["metadata"]["name"]: service for service in made if service is not None}
        self.silence = silence or _Silence()
        self.is_made: bool | None = None
        """Whether `ensure` has made them; None: it has not ended."""


class Services:
    """The Services of one Framework, as they were seen and as they should be."""

    def __init__(self, api: Dispatcher, framework: Json, found: SeenServices, start: Start, mailbox: Mailbox) -> None:
        """:param found: the Services as they were seen."""
        self._api, self._found, self._start, self._mailbox = api, found, start, mailbox
        self._uid: str = framework["metadata"]["uid"]
        self._namespace: str = framework["metadata"]["namespace"]
        self._intent: Intent | None = None
        self._running: _Desired | None = None
        """Those of the attempt that runs; None: there is none."""
        self._next: _Desired | None = None
        """Those of an edit, or the next attempt, that is about to be in force. Only the newest counts."""
        self._maintaining = False
        self._changed, self._renewed = asyncio.Event(), asyncio.Event()
        """Set when a Service has changed, and when others are wanted."""
        self._taken: list[str] = []
        self._wrong = self._wrong_next = ""
        """Why a Service could not be written that the attempt wants, and one that an edit or the next attempt wants, as was reported."""
        self._repairs = Pace()

    def maintain(self, intent: Intent | None, framework: Json) -> None:
        """Maintain the Services of this intent from now on; None: leave them as they are."""
        if intent is self._intent:
            return
        self._intent, self._next, self._repairs = intent, None, Pace()
        self._running = None if intent is None else _Desired(intent, framework)
        self._renewed.set()
        self.look()

    def look(self) -> None:
        """Repair the Services if they are not as they should be."""
        self._changed.set()
        if self._running is None or self._maintaining:
            return
        to_do, taken = self._plan(self._running)
        if to_do or taken or self._taken or self._wrong:
            self._maintaining = True
            self._start(self._maintain())

    def are_right(self) -> bool:
        """Return whether those of the attempt that runs are all there, and nothing was said to be wrong with any since we began."""
        trouble = self._maintaining or self._taken or self._wrong or self._wrong_next
        return self._running is not None and not trouble and not any(self._plan(self._running))

    async def ensure(self, intent: Intent, framework: Json, wanted: Wanted = always) -> None:
        """Create the Services of an intent, and delete others of ours. Raises Refused, Unreachable and Unwanted.

        What the attempt that runs wants stays: it goes once the intent is in force. A caller that gives up waiting cuts off no request.

        :param wanted: asked before each request.
        """
        if "deletionTimestamp" in framework["metadata"]:
            return
        before = self._next
        # Of one that was given up, an answer may still come.
        self._next = following = _Desired(intent, framework, before.silence if before and before.is_made is not None else None)
        error = await asyncio.shield(self._start(self._ensure(following, wanted)))
        if error is not None:
            raise error

    def forget_edit(self) -> None:
        """Take in that the intent of `ensure` is not to be in force any more."""
        self._next = None
        if self._wrong_next:
            self._wrong_next = ""
            self._say()
        self.look()

    def _counts(self, desired: _Desired) -> bool:
        return desired is self._running or desired is self._next

    def _plan(self, desired: _Desired) -> Plan:
        """Plan for the attempt that runs, or for what is next.

        What is next leaves alone what the attempt wants that runs, and maintenance what is about to change.
        """
        wanted = desired.services
        to_do, taken = plan(wanted, self._found, self._uid)
        if desired is self._running:
            coming = self._next.services if self._next is not None and self._next.is_made is not False else {}
            right = {**wanted, **coming}
            return Plan([action for action in to_do if right.get(_name(action)) == wanted.get(_name(action))], taken)
        runs = self._running.services.keys() - wanted.keys() if self._running is not None else ()
        return Plan([action for action in to_do if not isinstance(action, DeleteService) or action.name not in runs], taken)

    async def _ensure(self, desired: _Desired, wanted: Wanted) -> Exception | None:
        """Make the Services of an edit, or the next attempt. Return what has gone wrong."""
        try:
            await self._make(desired, wanted)
        except (Refused, Unreachable, Unwanted) as error:
            desired.is_made = False
            self.look()
            return error
        desired.is_made = True
        return None

    async def _make(self, desired: _Desired, wanted: Wanted = always) -> None:
        """Carry out a plan, as long as it counts. Raises Refused, Unreachable and Unwanted."""

        def sends() -> bool:
            """Return whether to send a request. It has waited for its turn so far, and from now on it waits for its answer."""
            if not self._counts(desired) or not wanted():
                return False
            desired.silence.begin(lambda why: self._report(desired, [], why))
            return True

        try:
            for _ in range(_ROUNDS):
                to_do, taken = self._plan(desired)
                conflicts = [conflict for action in to_do if (conflict := await self._do(action, sends)) is not None]
                if not conflicts:
                    break
            else:
                if self._plan(desired).actions:
                    raise Refused(conflicts[-1])  # It is no race: a webhook may answer so, again and again.
        except Unreachable as error:
            if desired.silence.is_long:
                self._report(desired, [], str(error))
            raise
        except (Refused, Unwanted) as error:
            desired.silence.end()
            if isinstance(error, Refused):
                self._report(desired, [], str(error))
            raise
        finally:
            desired.silence.stop()
        desired.silence.end()
        left = self._plan(desired).actions if desired is self._running else ()
        changed = [f"`{_name(action)}`" for action in left if not isinstance(action, DeleteService)]
        wrong = f"{some(changed)}: changed again as soon as it was written, as by an admission webhook" if changed else ""
        self._report(desired, taken, wrong)

    def _report(self, desired: _Desired, taken: list[str], wrong: str) -> None:
        """Report what has become of Services, if they are still wanted."""
        if not self._counts(desired):
            return
        if not wrong:
            self._taken = taken
        if desired is self._running:
            self._wrong = wrong
        else:
            self._wrong, self._wrong_next = self._wrong if wrong else "", wrong
        self._say()

    def _say(self) -> None:
        wrong = self._wrong or self._wrong_next
        self._mailbox.put(ServicesReported([] if wrong else self._taken, wrong))

    async def _maintain(self) -> None:
        try:
            while (running := self._running) is not None:
                to_do, taken = self._plan(running)
                if to_do or taken != self._taken:
                    await self._repair(running)
                elif taken:
                    await self._until_changed()
                else:
                    if self._wrong:  # Somebody else has made it, or it was stored and the answer was lost.
                        self._report(running, [], "")
                    break
        finally:
            self._maintaining = False

    async def _repair(self, running: _Desired) -> None:
        delay = self._repairs.delay()
        if delay and await _is_set(self._renewed, delay):  # Somebody else may change them again and again.
            return
        with contextlib.suppress(Refused, Unreachable, Unwanted):
            await self._make(running)

    async def _until_changed(self) -> None:
        if not await _is_set(self._changed, _LOOK_AGAIN):
            with contextlib.suppress(Refused, Unreachable):
                for name in list(self._taken):
                    await self._read(self._api, name)

    async def _do(self, action: Action, sends: Wanted) -> Answer | None:
        """Carry out an action. Return the conflict if a Service is not as it was seen; its present state is noted."""
        api = self._api.when(sends)
        match action:
            case CreateService(service):
                return await self._write(api, "POST", collection("services", self._namespace), service)
            case ReplaceService(service):
                return await self._replace(api, service)
            case DeleteService(name, uid):
                there = self._found.get(name)
                await requests.delete(api, self._path(name), uid)
                if there is not None and there["metadata"]["uid"] == uid:
                    self._found.lose(name, there)
        return None

    async def _replace(self, api: Api, service: Json) -> Answer | None:
        """Write what the intent decides, and leave the rest as it is."""
        metadata, name = service["metadata"], service["metadata"]["name"]
        found = await self._read(api, name)
        if found is None or found["metadata"]["resourceVersion"] != metadata["resourceVersion"]:
            return Answer(409, {"message": f"`{name}` changes again and again"})
        labels = {**(found["metadata"].get("labels") or {}), **metadata["labels"]}
        others = {key: value for key, value in found["spec"].items() if key not in SPEC}
        written = {**found, "metadata": {**found["metadata"], "labels": labels}, "spec": {**others, **service["spec"]}}
        return await self._write(api, "PUT", self._path(name), written)

    async def _write(self, api: Api, method: str, path: str, service: Json) -> Answer | None:
        answer = await api.request(method, path, {"apiVersion": "v1", "kind": "Service", **service})
        if answer.ok:
            self._found.take(answer.body)
        elif answer.code in (404, 409):
            await self._read(api, service["metadata"]["name"])
        else:
            raise Refused(answer)
        return None if answer.ok else answer

    async def _read(self, api: Api, name: str) -> Json | None:
        """Note and return what a Service is like now, as the server itself says: the watch may lag, and not show what lacks our label."""
        there = self._found.get(name)
        found = await requests.find(api, self._path(name))
        if found is None:
            self._found.lose(name, there)
        else:
            self._found.take(found)
        return found

    def _path(self, name: str) -> str:
        return path_of("services", self._namespace, name)


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event from now on, so many seconds at most. Return whether it came."""
    event.clear()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


def _name(action: Action) -> str:
    return action.name if isinstance(action, DeleteService) else str(action.service["metadata"]["name"])
