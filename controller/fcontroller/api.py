"""What the controller asks of an API server. The real one is behind `act.client`, the one in memory behind `memory_api.facade`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from enum import Enum
from typing import Any, NamedTuple, Protocol

from fcompile.model.names import API_VERSION

Json = dict[str, Any]


class Answer(NamedTuple):
    """A status code, and the decoded body: an object, a list or a Status."""

    code: int
    body: Json

    @property
    def ok(self) -> bool:
        return self.code < 300

    @property
    def reason(self) -> str:
        """Of a Status."""
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))


class Unreachable(Exception):
    """No answer came, or none that can be understood: a write may have been carried out, or not."""


Body = Json | list[Any] | bytes
"""What is sent: values, or JSON text."""


class Projection(Enum):
    """What is needed of an object. The rest of a Pod is most of it, and takes most of the time."""

    WHOLE = "whole"
    METADATA = "metadata"
    POD = "pod"
    """What decisions depend on: the metadata that says what it is and whose, the node, the status."""


class Api(Protocol):
    """An API server."""

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        """One request. A PATCH is a JSON patch. Raises Unreachable.

        :param projection: what is needed of the objects in the answer; there may be more.
        """

    def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        """The events of a watch, until the server ends it. Raises Unreachable; a refusal is an event of type ERROR."""


def collection(kind: str, namespace: str = "") -> str:
    """The path of `frameworks`, `pods`, `configmaps` or `services`, of one namespace or of all."""
    root = f"/apis/{API_VERSION}" if kind == "frameworks" else "/api/v1"
    return f"{root}/namespaces/{namespace}/{kind}" if namespace else f"{root}/{kind}"


def path_of(kind: str, namespace: str, name: str) -> str:
    """The path of one object."""
    return f"{collection(kind, namespace)}/{name}"
