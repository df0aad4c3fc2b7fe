"""What the server says when it refuses: Status objects, as clients decode them."""

from __future__ import annotations

from typing import Any

from fcontroller.testing.memory_api.kinds import Kind
from fcontroller.testing.memory_api.values import Object

CHANGED = "the object has been modified; please apply your changes to the latest version and try again"


class Refusal(Exception):
    """A request that is answered with an error.

    `code` is the HTTP status code, `status` the body.
    """

    def __init__(self, code: int, reason: str, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status: Object = failure(code, reason, message, details)


def failure(code: int, reason: str, message: str, details: Object | None = None) -> Object:
    status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    if reason:
        status["reason"] = reason
    if details is not None:
        status["details"] = details
    return {**status, "code": code}


def success(**fields: Any) -> Object:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", **fields}


def named(name: str, group: str, kind: str) -> Object:
    """Return the details that say which object is meant, without those that are empty."""
    return {field: value for field, value in (("name", name), ("group", group), ("kind", kind)) if value}


def bad_request(message: str) -> Refusal:
    return Refusal(400, "BadRequest", message)


def not_found(kind: Kind, name: str) -> Refusal:
    return Refusal(404, "NotFound", f'{kind.resource} "{name}" not found', named(name, kind.group, kind.plural))


def no_such_path() -> Refusal:
    return Refusal(404, "NotFound", "the server could not find the requested resource", {})


def not_allowed() -> Refusal:
    return Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def already_exists(kind: Kind, name: str, deleting: bool) -> Refusal:
    message = f'{kind.resource} "{name}" already exists'
    return Refusal(
        409, "AlreadyExists", f"object is being deleted: {message}" if deleting else message, named(name, kind.group, kind.plural)
    )


def conflict(kind: Kind, name: str, why: str, called: str = "") -> Refusal:
    """:param called: what the message calls the resource, if not by its plural."""
    called = called or kind.plural
    full = f"{called}.{kind.group}" if kind.group else called
    return Refusal(409, "Conflict", f'Operation cannot be fulfilled on {full} "{name}": {why}', named(name, kind.group, called))


def other_uid(kind: Kind, name: str, wanted: str, uid: str) -> Refusal:
    return conflict(kind, name, f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}")


def expired(message: str, **metadata: str) -> Refusal:
    """Return the refusal of a request for a state older than the history that is kept."""
    refusal = Refusal(410, "Expired", message)
    refusal.status["metadata"] = metadata
    return refusal
