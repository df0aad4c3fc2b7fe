"""The messages to one reconciler: everything that happens to its Framework, in the order in which it becomes known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, Protocol, TypeVar

from fcontroller.api import Json
from fcontroller.decide.actions import Action, key_of
from fcontroller.decide.context import ReconcileContext
from fcontroller.decide.status import Attempt, Key, Status

T = TypeVar("T")
Result = Callable[[ReconcileContext], None]
"""The change of the status that follows from an action."""


class Start(Protocol):
    """Starts a background task. If that fails, a message says so."""

    def __call__(self, work: Coroutine[Any, Any, T], /) -> asyncio.Task[T]: ...


class Decided(NamedTuple):
    """What a decision about a task, or the Framework, depends on: the decision holds while this stays the same."""

    framework: int
    task: int | None
    """The revisions of the last changes of the Framework's state and of the task's."""
    attempt: Attempt | None
    """The attempt that it is for: the task's, or the Framework's. None: there is no such task any more."""


class FrameworkSeen(NamedTuple):
    """A watch showed the Framework."""

    framework: Json


class PodSeen(NamedTuple):
    """The Pod of a task has changed, or is gone."""

    key: Key


class ServicesSeen(NamedTuple):
    """Services have changed."""


class Due(NamedTuple):
    """It is time to look again at a task, or (None) at the Framework and its ConfigMap."""

    key: Key | None


class Loaded(NamedTuple):
    """The Framework was read, and what is known of its objects is at least as new."""

    framework: Json | None
    """None: it is gone."""
    status: Status | None


class Performed(NamedTuple):
    """An action has ended."""

    action: Action
    decided: Decided
    """What it depended on when it was decided."""
    result: Result | None
    error: Exception | None
    seconds: float = 0
    """How long it took."""

    @property
    def key(self) -> Key | None:
        """Return the task that it was for; None: it was for the Framework itself."""
        return key_of(self.action)


class StatusStored(NamedTuple):
    """The API server has stored the status of a revision."""

    revision: int
    framework: Json
    """The Framework as it is stored; its own status need not be in it."""


class StatusSuperseded(NamedTuple):
    """Somebody else has written the status, or (None) the Framework is gone."""

    framework: Json | None


class IntentRead(NamedTuple):
    """The attempt's ConfigMap was read, or written."""

    version: str
    """The resourceVersion of the ConfigMap."""
    digest: str
    """Of the document in it; empty: there is none that counts."""
    document: bytes = b""
    """Its text, where it was read."""
    problem: str = ""
    """Why it does not count."""
    orphaned: bool = False
    """Whether somebody has taken its owner off, or put other finalizers of the garbage collector's on, so that Pods would stay."""


class IntentLowered(NamedTuple):
    """A large spec was lowered, which takes a while."""


class IntentRefused(NamedTuple):
    """The attempt's ConfigMap could not be read or written, or (Unwanted) was not to be written any more; if need be, it is tried again."""

    error: Exception


class ServicesReported(NamedTuple):
    """The state of the Services."""

    taken: list[str]
    """Names that are somebody else's."""
    refused: str
    """Why one cannot be made, changed or deleted; empty: all is well."""


class PodsCompared(NamedTuple):
    """In which fields Pods of an adopted attempt differ from its intent, by Pod."""

    config_map_uid: str
    differing: dict[str, list[str]]


class Broken(NamedTuple):
    """Something has failed that must never fail."""

    error: BaseException


Message = (
    FrameworkSeen
    | PodSeen
    | ServicesSeen
    | Due
    | Loaded
    | Performed
    | StatusStored
    | StatusSuperseded
    | IntentRead
    | IntentLowered
    | IntentRefused
    | ServicesReported
    | PodsCompared
    | Broken
)


def _nobody(_: Message) -> None:
    """Take in that something has come, which nobody wants to know any more."""


class Mailbox:
    """Collects messages until they are taken."""

    def __init__(self, arrived: Callable[[Message], object]) -> None:
        """:param arrived: is told each message that there is to take."""
        self._arrived = arrived
        self._messages: list[Message] = []

    def put(self, message: Message) -> None:
        self._messages.append(message)
        self._arrived(message)

    def close(self) -> None:
        """Tell nobody any more of what comes, and so forget who was told."""
        self._arrived = _nobody

    def take(self) -> list[Message]:
        """Return what has come since the last time, in order."""
        messages, self._messages = self._messages, []
        return messages
