"""What reconciling needs of the world around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fcontroller.act.dispatcher import Dispatcher
from fcontroller.decide.context import Settings, sure_time
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
        return sure_time(self.now(), self.server_now())
