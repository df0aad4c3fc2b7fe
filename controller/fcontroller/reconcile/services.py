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


class Services:
    """The Services of one Framework, as they were seen and as they should be."""

    def __init__(self, api: Dispatcher, framework: Json, found: SeenServices, start: Start, mailbox: Mailbox) -> None:
        """:param found: the Services as they were seen."""
        self._api, self._found, self._start, self._mailbox = api, found, start, mailbox
        self._uid: str = framework["metadata"]["uid"]
        self._namespace: str = framework["metadata"]["namespace"]
        self._wanted: Mapping[str, Json] | None = None
        """Those of the attempt that runs; None: there is none."""
        self._coming: Mapping[str, Json] = {}
        """Those of an edit that is about to be in force."""
        self._ensured: Mapping[str, Json] | None = None
        """Those that are made now for an edit or the next attempt. Whoever gave up waiting for others before does not count any more."""
        self._intent: Intent | None = None
        self._maintaining = False
        self._changed, self._renewed = asyncio.Event(), asyncio.Event()
        """Set when a Service has changed, and when others are wanted."""
        self._taken: list[str] = []
        self._wrong = self._wrong_next = ""
        """Why a Service could not be written that the attempt wants, and one that an edit or the next attempt wants, as was reported."""
        self._conflict: Answer | None = None
        """What the last write was answered, if it was refused."""
        self._unanswered: float | None = None
        """Since when there has been no answer, by the clock of the loop."""
        self._repairs = Pace()

    def maintain(self, intent: Intent | None, framework: Json) -> None:
        """Maintain the Services of this intent from now on; None: leave them as they are."""
        if intent is self._intent:
            return
        self._intent, self._coming, self._repairs, self._unanswered = intent, {}, Pace(), None
        self._wanted = None if intent is None else _wanted(intent, framework)
        self._renewed.set()
        self.look()

    def look(self) -> None:
        """Repair the Services if they are not as they should be."""
        self._changed.set()
        if self._wanted is None or self._maintaining:
            return
        to_do, taken = self._plan(self._wanted)
        if to_do or taken or self._taken or self._wrong:
            self._maintaining = True
            self._start(self._maintain())

    def are_right(self) -> bool:
        """Return whether those of the attempt that runs are all there, and nothing was said to be wrong with any since we began."""
        trouble = self._maintaining or self._taken or self._wrong or self._wrong_next
        return self._wanted is not None and not trouble and not any(self._plan(self._wanted))

    async def ensure(self, intent: Intent, framework: Json, wanted: Wanted = always) -> None:
        """Create the Services of an intent, and delete others of ours. Raises Refused, Unreachable and Unwanted.

        What the attempt that runs wants stays: it goes once the intent is in force. A caller that gives up waiting cuts off no request.

        :param wanted: asked before each request.
        """
        if "deletionTimestamp" in framework["metadata"]:
            return
        services = _wanted(intent, framework)
        self._coming = {} if self._wanted is None else services
        self._unanswered = self._unanswered if self._ensured is None else None
        self._ensured = services
        error = await asyncio.shield(self._start(self._ensure_next(services, wanted)))
        if error is not None:
            raise error

    def forget_edit(self) -> None:
        """Take in that the intent of `ensure` is not to be in force any more."""
        self._coming, self._unanswered = {}, None
        if self._wrong_next:
            self._wrong_next = ""
            self._say()
        self.look()

    def _plan(self, wanted: Mapping[str, Json]) -> Plan:
        """Plan for the attempt that runs. What an edit has changed that is about to be in force is left as it is."""
        to_do, taken = plan(wanted, self._found, self._uid)
        right = {**wanted, **self._coming}
        return Plan([action for action in to_do if right.get(_name(action)) == wanted.get(_name(action))], taken)

    def _plan_next(self, services: Mapping[str, Json]) -> Plan:
        """Plan for an edit, or the next attempt."""
        to_do, taken = plan(services, self._found, self._uid)
        runs = (self._wanted or {}).keys() - services.keys()
        return Plan([action for action in to_do if not isinstance(action, DeleteService) or action.name not in runs], taken)

    async def _ensure_next(self, services: Mapping[str, Json], wanted: Wanted) -> Exception | None:
        """Make the Services of an edit, or the next attempt. Return what has gone wrong."""

        def is_newest() -> bool:
            return self._ensured is services

        try:
            await self._ensure(lambda: self._plan_next(services), lambda: is_newest() and wanted(), is_newest, maintains=False)
        except (Refused, Unreachable, Unwanted) as error:
            if self._coming is services:  # Another edit may be coming by now.
                self._coming = {}
            self.look()
            return error
        finally:
            self._ensured = None if is_newest() else self._ensured
        return None

    async def _ensure(self, planned: Callable[[], Plan], wanted: Wanted, counts: Wanted = always, *, maintains: bool) -> None:
        """Carry out a plan. Raises Refused, Unreachable and Unwanted.

        :param counts: asked before anything is reported: an answer may come when others have been made since.
        """
        loop, late = asyncio.get_running_loop(), None

        def tell(why: str) -> None:
            if counts():
                self._report([], why, maintains)

        def sends() -> bool:
            """Return whether to send a request. It has waited for its turn so far, and from now on it waits for its answer."""
            nonlocal late
            if not wanted():
                return False
            self._unanswered = loop.time() if self._unanswered is None else self._unanswered
            if late is None and loop.time() < self._unanswered + SLOW:
                late = loop.call_at(self._unanswered + SLOW, tell, SILENT)
            return True

        try:
            for _ in range(_ROUNDS):
                to_do, taken = planned()
                # The watch has shown by now what was different.
                if all([await self._do(action, sends) for action in to_do]):
                    break
            else:
                if self._conflict is not None and planned().actions:
                    raise Refused(self._conflict)  # It is no race: a webhook may answer so, again and again.
        except Refused as error:
            self._unanswered = None if counts() else self._unanswered
            tell(str(error))
            raise
        except Unreachable as error:
            if self._unanswered is not None and loop.time() >= self._unanswered + SLOW:
                tell(str(error))
            raise
        except Unwanted:
            self._unanswered = None if counts() else self._unanswered
            raise
        finally:
            if late is not None:
                late.cancel()
        if not counts():
            return
        self._unanswered = None
        changed = [f"`{_name(action)}`" for action in planned().actions if not isinstance(action, DeleteService)] if maintains else []
        wrong = f"{some(changed)}: changed again as soon as it was written, as by an admission webhook" if changed else ""
        self._report(taken, wrong, maintains)

    def _report(self, taken: list[str], wrong: str, maintains: bool) -> None:
        """Report what has become of the Services of the attempt that runs, or else of those of an edit or the next attempt."""
        if not wrong:
            self._taken = taken
        if maintains:
            self._wrong = wrong
        else:
            self._wrong, self._wrong_next = self._wrong if wrong else "", wrong
        self._say()

    def _say(self) -> None:
        wrong = self._wrong or self._wrong_next
        self._mailbox.put(ServicesReported([] if wrong else self._taken, wrong))

    async def _maintain(self) -> None:
        try:
            while self._wanted is not None:
                to_do, taken = self._plan(self._wanted)
                if to_do or taken != self._taken:
                    await self._repair()
                elif taken:
                    await self._until_changed()
                else:
                    if self._wrong:  # Somebody else has made it, or it was stored and the answer was lost.
                        self._report([], "", maintains=True)
                    break
        finally:
            self._maintaining = False

    async def _repair(self) -> None:
        delay = self._repairs.delay()
        if delay and await _is_set(self._renewed, delay):  # Somebody else may change them again and again.
            return
        services = self._wanted
        if services is not None:
            with contextlib.suppress(Refused, Unreachable, Unwanted):
                await self._ensure(lambda: self._plan(services), lambda: self._wanted is services, maintains=True)

    async def _until_changed(self) -> None:
        if not await _is_set(self._changed, _LOOK_AGAIN):
            with contextlib.suppress(Refused, Unreachable):
                for name in list(self._taken):
                    await self._read(self._api, name)

    async def _do(self, action: Action, wanted: Wanted) -> bool:
        """Carry out an action. Return False when a Service is not as it was seen; its present state is noted."""
        api = self._api.when(wanted)
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
        return True

    async def _replace(self, api: Api, service: Json) -> bool:
        """Write what the intent decides, and leave the rest as it is."""
        metadata, name = service["metadata"], service["metadata"]["name"]
        found = await self._read(api, name)
        if found is None or found["metadata"]["resourceVersion"] != metadata["resourceVersion"]:
            return False
        labels = {**(found["metadata"].get("labels") or {}), **metadata["labels"]}
        others = {key: value for key, value in found["spec"].items() if key not in SPEC}
        written = {**found, "metadata": {**found["metadata"], "labels": labels}, "spec": {**others, **service["spec"]}}
        return await self._write(api, "PUT", self._path(name), written)

    async def _write(self, api: Api, method: str, path: str, service: Json) -> bool:
        answer = await api.request(method, path, {"apiVersion": "v1", "kind": "Service", **service})
        self._conflict = None if answer.ok else answer
        if answer.ok:
            self._found.take(answer.body)
        elif answer.code in (404, 409):
            await self._read(api, service["metadata"]["name"])
        else:
            raise Refused(answer)
        return answer.ok

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


def _wanted(intent: Intent, framework: Json) -> Mapping[str, Json]:
    made = (intents.service(role, framework) for role in intent.roles)
    return {service["metadata"]["name"]: service for service in made if service is not None}
