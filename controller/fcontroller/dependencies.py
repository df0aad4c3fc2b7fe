"""What the controller needs of the world around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fcontroller.api import Api, Json
from fcontroller.decide.context import Settings
from fcontroller.decide.review import LENIENT, Rules
from fcontroller.report import Report


class Dependencies(NamedTuple):
    """An API server, a clock, chance, and how the controller is configured."""

    api: Api
    settings: Settings
    now: Callable[[], float]
    """Seconds since 1970."""
    random_delay: Callable[[int, int], int]
    creation_failed: Callable[[int, str, str], Json | None]
    """From the code, reason and message of a refusal to create a Pod: the completion of the attempt, or None to try again."""
    rules: Rules = LENIENT
    """Whether anything runs that was not reviewed."""
    report: Report = Report()
    dry_run: bool = False
    """Nothing is stored: a Framework that changes is begun with anew."""
