"""The completion codes that FrameworkController itself gives, and completion statuses made of them.

Codes and phrases are upstream's: users match on them. 200 to 219 and -999 to 0 are reserved for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TRANSIENT, CONFLICT, PERMANENT = "Transient", "Conflict", "Permanent"


class Code(NamedTuple):
    """One code with its phrase; `attributes` say whether trying again may help."""

    code: int
    phrase: str
    attributes: tuple[str, ...] = ()
    kind: str = "Failed"

    def ended(self, diagnostics: str) -> dict[str, Any]:
        """A completion status with this code."""
        kind = {"name": self.kind, "attributes": list(self.attributes)}
        return {"code": self.code, "phrase": self.phrase, "type": kind, "diagnostics": diagnostics}


SUCCEEDED = Code(0, "Succeeded", kind="Succeeded")
CONTAINER_TRANSIENT_FAILED = Code(200, "ContainerTransientFailed", (TRANSIENT,))
CONTAINER_TRANSIENT_CONFLICT_FAILED = Code(201, "ContainerTransientConflictFailed", (TRANSIENT, CONFLICT))
CONTAINER_PERMANENT_FAILED = Code(210, "ContainerPermanentFailed", (PERMANENT,))
CONFIG_MAP_DELETED_BY_OTHERS = Code(-100, "ConfigMapExternalDeleted", (TRANSIENT,))
POD_DELETED_BY_OTHERS = Code(-101, "PodExternalDeleted", (TRANSIENT,))
CACHE_TIMEOUT_CONFIG_MAP = Code(-110, "ConfigMapLocalCacheCreationTimeout", (TRANSIENT,))
CACHE_TIMEOUT_POD = Code(-111, "PodLocalCacheCreationTimeout", (TRANSIENT,))
POD_CREATION_TRANSIENT_ERROR = Code(-120, "PodCreationTransientError", (TRANSIENT,))
POD_CREATION_PERMANENT_ERROR = Code(-200, "PodCreationPermanentError", (PERMANENT,))
STOPPED = Code(-210, "StopFrameworkRequested", (PERMANENT,))
FRAMEWORK_ATTEMPT_ENDS = Code(-220, "FrameworkAttemptCompletion", (PERMANENT,))
SCALED_DOWN = Code(-230, "DeleteTaskRequested", (PERMANENT,))
NO_FAILED_CONTAINER = Code(-300, "PodFailedWithoutFailedContainer")
POD_CREATION_UNKNOWN_ERROR = Code(-310, "PodCreationUnknownError")
