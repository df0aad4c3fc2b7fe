"""How an attempt can end: the codes that are known in advance, and the `completionStatus` that says so.

A code, its phrase and its type are upstream's: users' tools compare them. Positive codes are exit codes of containers; those from 200 to
219 are agreed between containers and the controller. Codes of a `podFailureSpec` (`failures.spec`) may be anything that is not reserved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

Json = dict[str, Any]

FAILED: Final = "Failed"
TRANSIENT: Final = "Transient"
"""It may well not happen again."""
PERMANENT: Final = "Permanent"
"""It will happen again."""
CONFLICT: Final = "Conflict"
"""Others were after the same resources."""

RESERVED: Final = ((-999, 0), (200, 219))
"""Codes that no `podFailureSpec` may give, as closed ranges."""


class Code(NamedTuple):
    """A way for an attempt to end."""

    code: int
    phrase: str
    attributes: Sequence[str] | None = ()
    """Of its type: what a fancy retry policy goes by. None is stored as null: so are those of a `podFailureSpec` that gives none."""
    type_name: str = FAILED

    def ended(self, diagnostics: str) -> Json:
        """Return the completion status of an attempt that ended with this code: a new object each time, so that statuses share nothing."""
        attributes = None if self.attributes is None else list(self.attributes)
        return {
            "code": self.code,
            "phrase": self.phrase,
            "type": {"name": self.type_name, "attributes": attributes},
            "diagnostics": diagnostics,
        }


def ending(completion: Json) -> str:
    """Return the code and phrase of a completion status."""
    return f"{completion['code']} {completion['phrase']}".rstrip()


def policy_met(completion: Json) -> str:
    """Return which completion policy ended an attempt, or that all tasks have completed; empty: it was something else."""
    return str((completion.get("trigger") or {}).get("message") or "")


SUCCEEDED: Final = Code(0, "Succeeded", type_name="Succeeded")

CONTAINER_TRANSIENT: Final = Code(200, "ContainerTransientFailed", (TRANSIENT,))
CONTAINER_CONFLICT: Final = Code(201, "ContainerTransientConflictFailed", (TRANSIENT, CONFLICT))
CONTAINER_PERMANENT: Final = Code(210, "ContainerPermanentFailed", (PERMANENT,))

CONFIG_MAP_DELETED_BY_OTHERS: Final = Code(-100, "ConfigMapExternalDeleted", (TRANSIENT,))
POD_DELETED_BY_OTHERS: Final = Code(-101, "PodExternalDeleted", (TRANSIENT,))
CACHE_TIMEOUT_CONFIG_MAP: Final = Code(-110, "ConfigMapLocalCacheCreationTimeout", (TRANSIENT,))
CACHE_TIMEOUT_POD: Final = Code(-111, "PodLocalCacheCreationTimeout", (TRANSIENT,))
POD_CREATION_TRANSIENT: Final = Code(-120, "PodCreationTransientError", (TRANSIENT,))
"""Never stored: such a Pod is created again and again."""
RESTARTED: Final = Code(-130, "RestartFrameworkRequested", (TRANSIENT,))
"""Not upstream's: somebody has annotated the Framework. It is always followed by another attempt."""
POD_CREATION_PERMANENT: Final = Code(-200, "PodCreationPermanentError", (PERMANENT,))
STOPPED: Final = Code(-210, "StopFrameworkRequested", (PERMANENT,))
FRAMEWORK_ATTEMPT_ENDS: Final = Code(-220, "FrameworkAttemptCompletion", (PERMANENT,))
SCALED_DOWN: Final = Code(-230, "DeleteTaskRequested", (PERMANENT,))
DEADLINE_EXCEEDED: Final = Code(-240, "ActiveDeadlineExceeded", (PERMANENT,))
"""Not upstream's: the Framework has taken longer than its `activeDeadlineSeconds`."""
NO_FAILED_CONTAINER: Final = Code(-300, "PodFailedWithoutFailedContainer")
POD_CREATION_UNKNOWN: Final = Code(-310, "PodCreationUnknownError")


def unrecognized(exit_code: int) -> Code:
    """Return the code of a failure that no known code describes: the container's exit code itself."""
    return Code(exit_code, "ContainerUnrecognizedFailed")


def scaled_away() -> Json:
    """Return the completion of a task that the spec does not want any more."""
    return SCALED_DOWN.ended("The task is scaled away")


def deleted_by_others(why: str) -> Json:
    """Return the completion of a task whose Pod others delete, and why they do, if they say so."""
    return POD_DELETED_BY_OTHERS.ended(f"Pod is being deleted by others{f': {why}' if why else ''}")


def is_reserved(code: int) -> bool:
    return any(low <= code <= high for low, high in RESERVED)
