"""What reconciling needs of the world around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fcontroller.act.dispatcher import Dispatcher
from fcontroller.decide.context import Settings
from fcontroller.decide.review import Rules
from fcontroller.report import Report


class Dependencies(NamedTuple):
    """An API server, a clock, chance, and how the controller is configured."""

    api: Dispatcher
    settings: Settings
    now: Callable[[], float]
    """Seconds since 1970."""
    random_delay: Callable[[int, int], int]
    rules: Rules = Rules()
    """Whether anything runs that was not reviewed."""
    report: Report = Report()
    dry_run: bool = False
    """Nothing is stored: a Framework that changes is begun with anew."""
    server_now: Callable[[], float | None] = lambda: None
    """The API server's time; None: it is not known yet."""

    def sure_now(self) -> float:
        """Return the earlier of our time and the API server's, for decisions that cannot be undone: one clock may have jumped ahead."""
        server = self.server_now()
        return self.now() if server is None else min(self.now(), server)
