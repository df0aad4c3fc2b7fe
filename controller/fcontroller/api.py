"""What the controller asks of an API server. The real one is behind `act.client`, the one in memory behind `testing.memory_api.facade`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from fcompile.model.names import API_VERSION

Json = dict[str, Any]


class Answer(NamedTuple):
    """A status code, and the decoded body: an object, a list or a Status."""

    code: int
    body: Json
    retry_after: float = 1
    """Seconds after which a server that is too busy (429) wants to be asked again."""
    size: int = 0
    """Bytes of the text that the body was decoded from, if there was one."""

    @property
    def ok(self) -> bool:
        return self.code < 300

    @property
    def reason(self) -> str:
        """Return the `reason` of a Status."""
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))


class Unreachable(Exception):
    """There is no connection, or no answer came, or none that can be understood: a write may have been carried out, or not."""


class TooLong(Unreachable):
    """The answer is longer than the limit. A list can be asked for with fewer objects."""


class TooSlow(Unreachable):
    """The answer takes longer than it may. A list can be asked for with fewer objects."""


class WentBack(Exception):
    """The server's data is older than what it has sent before, and stays so: what is known here is not valid any more."""


class Unwanted(Exception):
    """The request was not sent: when its turn came, it was not wanted any more."""


Body = Json | list[Any] | bytes | Callable[[], bytes]
"""The body of a request: values, JSON text, or a function that makes the text.

The function is called when the request is sent: a large text takes no memory while its request waits.
"""


def content_of(body: Body | None) -> Json | list[Any] | bytes | None:
    """Return what is sent now."""
    return body() if callable(body) else body


Name = tuple[str, str]
"""Namespace and name."""


def full_name(value: Json) -> Name:
    """Return the namespace and the name of an object."""
    return value["metadata"]["namespace"], value["metadata"]["name"]


def version_of(value: Json) -> int:
    """Return the resourceVersion of an object that was read, as a number: the greater one is newer, whatever object it is of."""
    return int(value["metadata"]["resourceVersion"])


Query = Mapping[str, str]

Wanted = Callable[[], bool]
"""Returns whether to send a request. It is called right before each sending; if it returns True, the request is sent."""


def always() -> bool:
    """Return True."""
    return True


class Projection(Enum):
    """The part of an object that is needed. Decoding the rest of a Pod would take most of the time."""

    WHOLE = "whole"
    METADATA = "metadata"
    POD = "pod"
    """What decisions depend on: the metadata that says what it is and whose, the node, the status."""


class Api(Protocol):
    """An API server."""

    async def request(
        self, method: str, path: str, body: Body | None = None, query: Query | None = None, projection: Projection = Projection.WHOLE
    ) -> Answer:
        """Send one request. A PATCH is a JSON patch. Raises Unreachable.

        :param projection: what is needed of the objects in the answer; there may be more.
        """

    def watch(self, path: str, query: Query, projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        """Yield the events of a watch until the server ends it. Raises Unreachable; a refusal is an event of type ERROR."""


class Target(NamedTuple):
    """What a request is about, by the parts of its path. Empty: the path has no such part."""

    resource: str
    """As `pods`."""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@lru_cache(maxsize=256)  # Asked several times for each request.
def target_of(path: str) -> Target:
    """Return what a path is about."""
    _, *steps = path.split("/")
    steps = steps[3:] if steps[0] == "apis" else steps[2:]
    namespace, steps = (steps[1], steps[2:]) if steps[0] == "namespaces" and len(steps) > 2 else ("", steps)
    return Target(steps[0], namespace, *steps[1:3])


def collection(kind: str, namespace: str = "") -> str:
    """Return the path of a collection in one namespace or in all; `kind` is `frameworks`, `pods`, `configmaps` or `services`."""
    root = f"/apis/{API_VERSION}" if kind == "frameworks" else "/api/v1"
    return f"{root}/namespaces/{namespace}/{kind}" if namespace else f"{root}/{kind}"


_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
"""What objects can be called: nothing in it leads to another path."""


def path_of(kind: str, namespace: str, name: str) -> str:
    """Return the path of one object. Raises ValueError when none can have that name: it may come from whoever may write a status."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"no object can be called {name!r:.100}")
    return f"{collection(kind, namespace)}/{name}"
