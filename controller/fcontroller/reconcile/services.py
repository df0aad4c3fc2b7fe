"""Makes the Services of one Framework, and keeps them as they should be while an attempt runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from fcompile.lower.intent import Intent
from fcontroller import intent as intents
from fcontroller.act import requests
from fcontroller.act.requests import Refused
from fcontroller.act.retry import SILENT, SLOW, backoff
from fcontroller.api import Api, Json, Unreachable, Unwanted, Wanted, always, collection, path_of
from fcontroller.decide.services import Action, CreateService, DeleteService, ReplaceService, plan
from fcontroller.mailbox import Mailbox, ServicesReported, Start
from fcontroller.observe.cache import essence

_LOOK_AGAIN = 60.0
"""Seconds until a taken name is tried again: we may not see that the other Service goes, if it lacks our label."""
_ROUNDS = 5
_CALM = 600.0
"""Seconds after which a repair is not taken for one of a series."""


class Services:
    """The Services of one Framework, as they were seen and as they should be."""

    def __init__(self, api: Api, framework: Json, found: dict[str, Json], start: Start, mailbox: Mailbox) -> None:
        """:param found: the Services as they were seen."""
        self._api, self._found, self._start, self._mailbox = api, found, start, mailbox
        self._uid: str = framework["metadata"]["uid"]
        self._namespace: str = framework["metadata"]["namespace"]
        self._wanted: Mapping[str, Json] | None = None
        """Those of the attempt that runs; None: there is none."""
        self._intent: Intent | None = None
        self._maintaining = False
        self._changed = asyncio.Event()
        self._taken: list[str] = []
        self._wrong = False
        """Whether it was reported that a Service could not be written."""
        self._unanswered: float | None = None
        """Since when there has been no answer, by the clock of the loop."""
        self._repairs, self._repaired = 0, float("-inf")
        """How many repairs there were in a row, and when the last one was."""

    def maintain(self, intent: Intent | None, framework: Json) -> None:
        """Maintain the Services of this intent from now on; None: leave them as they are."""
        if intent is self._intent:
            return
        self._intent, self._repairs, self._unanswered = intent, 0, None
        self._wanted = None if intent is None else _wanted(intent, framework)
        self.look()

    def look(self) -> None:
        """Repair the Services if they are not as they should be."""
        self._changed.set()
        if self._wanted is None or self._maintaining:
            return
        to_do, taken = plan(self._wanted, self._found, self._uid)
        if to_do or taken or self._taken:
            self._maintaining = True
            self._start(self._maintain())

    async def ensure(self, intent: Intent, framework: Json, wanted: Wanted = always) -> None:
        """Create the Services of an intent, and delete all others of ours. Raises Refused, Unreachable and Unwanted.

        :param wanted: asked before each request.
        """
        if "deletionTimestamp" not in framework["metadata"]:
            await self._ensure(_wanted(intent, framework), wanted)

    async def _ensure(self, services: Mapping[str, Json], wanted: Wanted = always) -> None:
        loop = asyncio.get_running_loop()
        self._unanswered = loop.time() if self._unanswered is None else self._unanswered
        slow = self._unanswered + SLOW
        late = loop.call_at(slow, self._report, [], SILENT) if loop.time() < slow else None
        try:
            for _ in range(_ROUNDS):
                to_do, taken = plan(services, self._found, self._uid)
                # The watch has shown by now what was different.
                if all([await self._do(action, wanted) for action in to_do]):
                    break
        except Refused as error:
            self._unanswered = None
            self._report([], str(error))
            raise
        except Unreachable as error:
            if loop.time() >= slow:
                self._report([], str(error))
            raise
        finally:
            if late is not None:
                late.cancel()
        self._unanswered = None
        self._report(taken, "")

    def _report(self, taken: list[str], wrong: str) -> None:
        self._taken, self._wrong = self._taken if wrong else taken, bool(wrong)
        self._mailbox.put(ServicesReported(taken, wrong))

    async def _maintain(self) -> None:
        try:
            while self._wanted is not None:
                self._changed.clear()
                to_do, taken = plan(self._wanted, self._found, self._uid)
                if to_do or taken != self._taken:
                    await self._repair()
                elif taken:
                    await self._until_changed()
                else:
                    if self._wrong:  # Somebody else has made it, or it was stored and the answer was lost.
                        self._report([], "")
                    break
        finally:
            self._maintaining = False

    async def _repair(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() > self._repaired + _CALM:
            self._repairs = 0
        if self._repairs:  # Somebody else may change them again and again.
            await asyncio.sleep(backoff(self._repairs))
        self._repairs, self._repaired = self._repairs + 1, loop.time()
        if self._wanted is not None:
            with contextlib.suppress(Refused, Unreachable):
                await self._ensure(self._wanted)

    async def _until_changed(self) -> None:
        try:
            async with asyncio.timeout(_LOOK_AGAIN):
                await self._changed.wait()
        except TimeoutError:
            for name in self._taken:
                self._found.pop(name, None)

    async def _do(self, action: Action, wanted: Wanted) -> bool:
        """Carry out an action. Return False when a Service is not as it was seen; its present state is noted."""
        if not wanted():
            raise Unwanted
        match action:
            case CreateService(service):
                return await self._write("POST", collection("services", self._namespace), service)
            case ReplaceService(service):
                return await self._write("PUT", self._path(service["metadata"]["name"]), service)
            case DeleteService(name, uid):
                await requests.delete(self._api, self._path(name), uid)
                self._found.pop(name, None)
        return True

    async def _write(self, method: str, path: str, service: Json) -> bool:
        name = service["metadata"]["name"]
        answer = await self._api.request(method, path, {"apiVersion": "v1", "kind": "Service", **service})
        written = answer.ok
        if not written:
            if answer.code not in (404, 409):
                raise Refused(answer)
            answer = await self._api.request("GET", self._path(name))
        if answer.ok:
            self._found[name] = essence(answer.body)
        elif answer.code == 404:
            self._found.pop(name, None)
        else:
            raise Refused(answer)
        return written

    def _path(self, name: str) -> str:
        return path_of("services", self._namespace, name)


def _wanted(intent: Intent, framework: Json) -> Mapping[str, Json]:
    made = (intents.service(role, framework) for role in intent.roles)
    return {service["metadata"]["name"]: service for service in made if service is not None}
