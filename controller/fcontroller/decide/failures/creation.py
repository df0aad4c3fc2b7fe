"""Pods that the API server refuses to create: whether to try again, or how the attempt has ended."""

from __future__ import annotations

from typing import Final

from fcontroller.decide.codes import POD_CREATION_PERMANENT, POD_CREATION_TRANSIENT, POD_CREATION_UNKNOWN, Code, Json
from fcontroller.decide.go_json import go_json, valid

_PLATFORM: Final = ("object provided is unrecognized", "exceeded quota")
"""In messages of errors that are not of the Pod's making."""
_COMES: Final = (
    'serviceaccount "default" not found',
    "status unknown for quota",
    'cannot create resource "pods"',
)
"""As these: what Kubernetes' own controllers put into each new namespace, and are late with, and the rights of this controller."""
_BROKEN: Final = ("connection reset by peer", "http2: server sent GOAWAY and closed the connection")
_BROKEN_WHOLE: Final = "http: can't write HTTP request on broken connection"
_BROKEN_ANY_CASE: Final = "use of closed network connection"
_TOO_LARGE: Final = 413
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500


def creation_failure(status: int, reason: str, message: str) -> Json | None:
    """Return the completion status of an attempt whose Pod cannot be created, or None where creating it is to be tried again.

    :param status: the HTTP status. :param reason, message: of the Status in the answer.
    """
    code = creation_code(status, reason, message)
    if code is POD_CREATION_TRANSIENT:
        return None
    return code.ended(f"Failed to create Pod: {go_json({'message': valid(message), 'reason': reason, 'code': status})}")


def creation_code(status: int, reason: str, message: str) -> Code:
    """Return the code for a Pod that was not created. The reason decides, even an empty one, and not the HTTP status.

    It is upstream's, but for what comes by itself or is the platform's: a task that fails for that is not tried again.
    """
    if any([part in message for part in (*_PLATFORM, *_COMES)]):
        return POD_CREATION_TRANSIENT
    if reason in ("BadRequest", "Forbidden"):
        return POD_CREATION_UNKNOWN
    if reason in ("Invalid", "RequestEntityTooLarge") or status == _TOO_LARGE:
        # The API server may say so because it could not read the whole request.
        return POD_CREATION_UNKNOWN if _connection_broke(message) else POD_CREATION_PERMANENT
    return POD_CREATION_TRANSIENT


def ends_batch(status: int, message: str) -> bool:
    """Return whether other Pods of the role would be refused for the same reason, such as a quota or the server's trouble."""
    return status == _TOO_MANY or status >= _SERVER_ERROR or any([part in message for part in ("exceeded quota", *_COMES)])


def _connection_broke(message: str) -> bool:
    return message == _BROKEN_WHOLE or any([part in message for part in _BROKEN]) or _BROKEN_ANY_CASE in message.lower()
