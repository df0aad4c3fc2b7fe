"""What the controller tells of: to a log, to counters, as Kubernetes Events, as snapshots for a history."""

from __future__ import annotations

from collections.abc import Sequence

from fcontroller.api import Json
from fcontroller.decide.context import Key
from fcontroller.decide.status import Ended, TransitionRecord


class Report:
    """Is told what happens, after it is stored. This one tells nobody."""

    def looked(self, seconds: float) -> None:
        """Take in how many seconds a reconciliation took."""

    def stored(self, framework: Json, transitions: Sequence[TransitionRecord]) -> None:
        """Tell of transitions of a Framework and its tasks that are stored."""

    def ended(self, framework: Json, ended: Ended) -> None:
        """Tell how a Framework or a task was that begins anew, or goes."""

    def refused(self, framework: Json, key: Key | None, error: Exception, failures: int) -> None:
        """Tell that the API server has refused something for a task, or for the Framework itself, or has not answered.

        :param failures: how often one after the other.
        """

    def unsaved(self, framework: Json, error: Exception) -> None:
        """Tell why the status could not be stored; it is tried again."""

    def warn(self, framework: Json, reason: str, message: str) -> None:
        """Warn that something is not as it should be with a Framework."""

    def broke(self, framework: Json, error: BaseException) -> None:
        """Tell that the controller itself has failed with a Framework, and leaves it alone for a while."""

    def framework_deleted(self, framework: Json) -> None:
        """Tell that a Framework is gone, as it was last seen."""

    def pod_deleted(self, pod: Json) -> None:
        """Tell that a Pod is gone, as it was last seen."""
