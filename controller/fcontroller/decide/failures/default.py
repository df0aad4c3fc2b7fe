"""The `podFailureSpec` that comes with the controller: failures of Kubernetes, of the container runtime, and by signals.

Codes, phrases, attributes and what they stand for are those that upstream comes with. It is in the form of the configuration, so that
it can be printed and changed.
"""

from __future__ import annotations

from typing import Final

from fcontroller.decide.codes import PERMANENT, TRANSIENT, Json

_ANYTHING: Final = "(?ms).*"
"""Given so that the name and the message are part of the diagnostics."""


def _failure(code: int, phrase: str, attribute: str, *patterns: Json) -> Json:
    # No attribute: whether another try may help is unknown, so `maxRetryCount` decides.
    kind = {"type": {"attributes": [attribute]}} if attribute else {}
    return {"code": code, "phrase": phrase, **kind, "podPatterns": list(patterns)}


def _pod(reason: str) -> Json:
    return {"reasonRegex": f"(?i)^{reason}$", "messageRegex": _ANYTHING}


def _container(least: int, most: int | None, reason: str = "", message: str = _ANYTHING) -> Json:
    codes = {"min": least} if most is None else {"min": least, "max": most}
    reasons = {"reasonRegex": f"(?i)^{reason}$"} if reason else {}
    return {"containers": [{**reasons, "codeRange": codes, "nameRegex": _ANYTHING, "messageRegex": message}]}


_CANNOT_RUN: Final = "ContainerCannotRun"
_NO_SUCH_COMMAND: Final = "(?msi).*(not found|cannot find|no such).*"
_SIGNALS: Final = (
    (2, "Int", TRANSIENT),
    (3, "Quit", TRANSIENT),
    (4, "Ill", PERMANENT),
    (6, "Abrt", ""),
    (7, "Bus", PERMANENT),
    (8, "Fpe", PERMANENT),
    (9, "Kill", TRANSIENT),
    (11, "Segv", PERMANENT),
    (13, "Pipe", PERMANENT),
    (15, "Term", TRANSIENT),
)
_SIGNALLED: Final = 128
"""A shell's exit code for a signal is that much more."""

DEFAULT_POD_FAILURE_SPEC: Final[list[Json]] = [
    # What the kubelet and the node controller do to a Pod.
    _failure(-1000, "PodEvicted", TRANSIENT, _pod("Evicted")),
    _failure(-1001, "PodNodeLost", TRANSIENT, _pod("NodeLost")),
    _failure(-1002, "PodScheduledToInsufficientResourceNode", TRANSIENT, _pod(r"OutOf\S+")),
    _failure(-1003, "PodPreemptedForCriticalPod", TRANSIENT, _pod("Preempting")),
    _failure(-1004, "PodDeadlineExceeded", PERMANENT, _pod("DeadlineExceeded")),
    _failure(-1005, "PodNodeAdmissionForbidden", PERMANENT, _pod("Forbidden")),
    _failure(
        -1006,
        "PodNodeAdmissionUnexpectedError",
        TRANSIENT,
        *map(_pod, ("UnexpectedAdmissionError", "UnknownReason", "InvalidNodeInfo", "UnexpectedPredicateFailureType")),
    ),
    # What the container runtime does. The first match counts, so the last entry is for what the others leave.
    _failure(-1200, "ContainerDockerOOMKilled", PERMANENT, _container(1, None, "OOMKilled")),
    _failure(-1201, "ContainerDockerCreationError", "", _container(125, 125, _CANNOT_RUN)),
    _failure(-1202, "ContainerDockerStartCmdPermissionDenied", PERMANENT, _container(126, 126, _CANNOT_RUN)),
    _failure(
        -1203,
        "ContainerDockerStartCmdNotFound",
        PERMANENT,
        _container(127, 127, _CANNOT_RUN),
        _container(128, 128, _CANNOT_RUN, _NO_SUCH_COMMAND),
    ),
    _failure(-1204, "ContainerDockerStartUnknownError", "", _container(128, 128, _CANNOT_RUN)),
    *[
        _failure(_SIGNALLED + number, f"ContainerSig{name}Received", attribute, _container(_SIGNALLED + number, _SIGNALLED + number))
        for number, name, attribute in _SIGNALS
    ],
]
