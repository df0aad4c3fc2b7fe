"""Making the Services of one Framework, and keeping them while an attempt runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fcompile.lower.intent import Intent
from fcontroller import intent as intents
from fcontroller.act import actions
from fcontroller.act.actions import Failed, backoff
from fcontroller.api import Api, Json, Unreachable, collection, path_of
from fcontroller.decide.services import Action, CreateService, DeleteService, ReplaceService, plan

_LOOK_AGAIN = 60.0
"""Seconds until a name that is somebody else's is tried again: his Service may have no label by which we would hear of its end."""
_ROUNDS = 5
Report = Callable[[list[str], str], None]
"""Told the names that are somebody else's, and why the API server refuses ours; nothing of either: all are there."""


class Services:
    """The Services of one Framework, as they were seen and as they should be."""

    def __init__(self, api: Api, framework: Json, start: Callable[[Coroutine[Any, Any, None]], object], report: Report) -> None:
        """:param start: runs work beside."""
        self._api, self._start, self._report = api, start, report
        self._uid: str = framework["metadata"]["uid"]
        self._namespace: str = framework["metadata"]["namespace"]
        self.found: dict[str, Json] = {}
        """All under names of the Framework, by name, whoever made them."""
        self._wanted: Mapping[str, Json] | None = None
        """Those of the attempt that runs; None: there is none."""
        self._intent: Intent | None = None
        self._keeping = False
        self._changed = asyncio.Event()
        self._taken: list[str] = []
        self._repairs = 0

    def keep(self, intent: Intent | None, framework: Json) -> None:
        """From now on keep those of this intent; None: leave what is there as it is."""
        if intent is self._intent:
            return
        self._intent, self._repairs = intent, 0
        self._wanted = None if intent is None else _wanted(intent, framework)
        self.seen()

    def seen(self) -> None:
        """Something may have changed."""
        self._changed.set()
        if self._wanted is None or self._keeping:
            return
        to_do, taken = plan(self._wanted, self.found, self._uid)
        if to_do or taken or self._taken:
            self._keeping = True
            self._start(self._keep())

    async def bring(self, intent: Intent, framework: Json) -> None:
        """Make it so that there are the Services of an intent, and no others. Raises Failed and Unreachable."""
        if "deletionTimestamp" not in framework["metadata"]:
            await self._bring(_wanted(intent, framework))

    async def _bring(self, wanted: Mapping[str, Json]) -> None:
        try:
            for _ in range(_ROUNDS):
                to_do, taken = plan(wanted, self.found, self._uid)
                # What was not as it had been seen is seen by now.
                if all([await self._do(action) for action in to_do]):
                    break
        except Failed as error:
            self._report([], str(error))
            raise
        self._taken = taken
        self._report(taken, "")

    async def _keep(self) -> None:
        try:
            while self._wanted is not None:
                self._changed.clear()
                to_do, taken = plan(self._wanted, self.found, self._uid)
                if to_do or taken != self._taken:
                    await self._repair()
                elif taken:
                    await self._until_changed()
                else:
                    break
        finally:
            self._keeping = False

    async def _repair(self) -> None:
        if self._repairs:  # Somebody may change them as often as we do.
            await asyncio.sleep(backoff(self._repairs))
        self._repairs += 1
        if self._wanted is not None:
            with contextlib.suppress(Failed, Unreachable):
                await self._bring(self._wanted)

    async def _until_changed(self) -> None:
        try:
            await asyncio.wait_for(self._changed.wait(), _LOOK_AGAIN)
        except TimeoutError:
            for name in self._taken:
                self.found.pop(name, None)

    async def _do(self, action: Action) -> bool:
        """Carry an action out. False: things are not as they were seen; how they are is noted."""
        match action:
            case CreateService(service):
                return await self._write("POST", collection("services", self._namespace), service)
            case ReplaceService(service):
                return await self._write("PUT", self._path(service["metadata"]["name"]), service)
            case DeleteService(name, uid):
                await actions.delete(self._api, self._path(name), uid)
                self.found.pop(name, None)
        return True

    async def _write(self, method: str, path: str, service: Json) -> bool:
        name = service["metadata"]["name"]
        answer = await self._api.request(method, path, {"apiVersion": "v1", "kind": "Service", **service})
        written = answer.ok
        if not written:
            if answer.code not in (404, 409):
                raise Failed(answer)
            answer = await self._api.request("GET", self._path(name))
        if answer.ok:
            self.found[name] = essence(answer.body)
        elif answer.code == 404:
            self.found.pop(name, None)
        else:
            raise Failed(answer)
        return written

    def _path(self, name: str) -> str:
        return path_of("services", self._namespace, name)


def essence(service: Json) -> Json:
    """What is kept of a Service that was seen."""
    metadata = {key: value for key, value in service["metadata"].items() if key != "managedFields"}
    return {"metadata": metadata, "spec": service["spec"]}


def _wanted(intent: Intent, framework: Json) -> Mapping[str, Json]:
    made = (intents.service(role, framework) for role in intent.roles)
    return {service["metadata"]["name"]: service for service in made if service is not None}
