"""An API server to which nothing is written: each write is only logged. A status counts as stored, to show what would follow."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable

from fcontroller.api import Answer, Api, Body, Json, Projection, Query, Unreachable, content_of

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


class DryRun(Api):
    """Logs each write once. Writes that are not carried out are tried again and again; the repetitions are not logged."""

    def __init__(self, api: Api, say: Callable[..., None]) -> None:
        """:param say: takes a message, and fields."""
        self._api, self._say = api, say
        self._said: set[tuple[str, str]] = set()

    async def request(
        self, method: str, path: str, body: Body | None = None, query: Query | None = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        if method == "GET":
            return await self._api.request(method, path, body, query, projection)
        sent = content_of(body)
        content: Json = json.loads(sent) if isinstance(sent, bytes) else sent if isinstance(sent, dict) else {}
        if path.endswith("/status"):
            return await self._as_if_stored(path.removesuffix("/status"), content["status"])
        name = f"/{content['metadata']['name']}" if method == "POST" else ""
        self._tell(method, path + name)
        raise Unreachable("nothing is written in a dry run")

    async def _as_if_stored(self, path: str, status: Json) -> Answer:
        found = await self._api.request("GET", path)
        if found.ok:
            self._tell("PUT", f"{path}/status", state=status["state"])
            found.body["status"] = status
        return found

    def _tell(self, method: str, path: str, **fields: str) -> None:
        said = (method, "".join([path, *fields.values()]))
        if said not in self._said:
            self._said.add(said)
            self._say(f"would {_VERBS[method]} {path}", **fields)

    def watch(self, path: str, query: Query, projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        return self._api.watch(path, query, projection)
