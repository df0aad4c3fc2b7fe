"""What the controller reports: log lines, metrics, Kubernetes Events, and snapshots of objects for a history."""

from __future__ import annotations

from collections.abc import Sequence

from fcontroller.api import Json
from fcontroller.decide.status import Attempt, Ended, Key, TransitionRecord


class Report:
    """The interface of reports: is told what happens, after it is stored. This implementation reports nothing."""

    def looked(self, seconds: float) -> None:
        """Take note that reconciling a Framework once took `seconds`."""

    def stored(self, framework: Json, transitions: Sequence[TransitionRecord]) -> None:
        """Report the transitions of a Framework and its tasks that the API server has stored."""

    def ended(self, framework: Json, ended: Ended) -> None:
        """Report that a Framework or a task begins anew, or goes."""

    def delayed(self, framework: Json, attempt: Attempt, seconds: int) -> None:
        """Report that an attempt has ended, and that another follows after a while."""

    def refused(self, framework: Json, key: Key | None, error: Exception, failures: int) -> None:
        """Report that the API server refused a request for a task (`key`) or for the Framework itself, or did not answer.

        :param failures: how often in a row.
        """

    def unsaved(self, framework: Json, error: Exception) -> None:
        """Report that the status could not be stored. Storing it is tried again."""

    def warn(self, framework: Json, reason: str, message: str, topic: str = "") -> None:
        """Report something about a Framework that its owner should look at.

        :param topic: of messages that differ and say the same, in other words each time.
        """

    def broke(self, framework: Json, error: BaseException) -> None:
        """Report an internal error, after which the controller leaves the Framework alone for a while."""

    def framework_deleted(self, framework: Json) -> None:
        """Report that a Framework is gone; `framework` is its last known state."""

    def pod_deleted(self, pod: Json) -> None:
        """Report that a Pod is gone; `pod` is its last known state."""
