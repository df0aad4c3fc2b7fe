"""Faults on purpose: what a controller gets instead of the server's answer, and whether the request is carried out all the same."""

from __future__ import annotations

from typing import Any, NamedTuple

from fcontroller.testing.memory_api.answers import failure

Answer = tuple[int, Any]


class Lost(ConnectionError):
    """The connection broke: the client cannot know whether the request arrived."""


class Crash(BaseException):
    """The client's process ends here. Not an Exception, so that no handler of errors survives it."""


class Call(NamedTuple):
    """A request, as a rule sees it."""

    number: int
    """1 for the first request of all."""
    write: int
    """1 for the first POST, PUT, PATCH or DELETE; 0 for a GET."""
    method: str
    path: str


class Fault(NamedTuple):
    """What happens to one request."""

    outcome: Answer | BaseException
    """What the client gets instead of the server's answer."""
    stored: bool = False
    """Whether the server carries it out all the same."""

    @staticmethod
    def lost(*, stored: bool = False) -> Fault:
        """Return the fault of a lost request; with `stored` only its answer is lost."""
        return Fault(Lost("the connection broke"), stored)

    @staticmethod
    def crash(*, stored: bool = False) -> Fault:
        """Return the fault of a client that dies before the request is sent; with `stored` before it reads the answer."""
        return Fault(Crash(), stored)

    @staticmethod
    def too_many(seconds: int = 1) -> Fault:
        """Return a 429: the client should ask again after some seconds."""
        message = "the server has received too many requests and has asked us to try again later"
        return Fault((429, failure(429, "TooManyRequests", message, {"retryAfterSeconds": seconds})))

    @staticmethod
    def internal_error(*, stored: bool = False) -> Fault:
        """Return a 500."""
        return Fault((500, failure(500, "InternalError", "Internal error occurred: on purpose")), stored)

    @staticmethod
    def timeout(*, stored: bool = False) -> Fault:
        """Return a 504: the server gave up, but may have done what was asked."""
        message = "Timeout: request did not complete within requested timeout"
        return Fault((504, failure(504, "Timeout", message, {"retryAfterSeconds": 1})), stored)
