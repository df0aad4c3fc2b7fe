"""The picture of Frameworks: a row for each Framework, and one for each of its roles, with a sign for each task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from fcompile.model.packed import role_statuses
from fcontroller.api import Json
from fcontroller.decide.retry import NEVER_RETRIED
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, CREATION_PENDING, CREATION_REQUESTED, PREPARING, RUNNING

_WAITS, _STARTS, _RUNS, _GOES, _SUCCEEDED, _FAILED, _ENDED = "·", "◌", "●", "◐", "✓", "✗", "–"
LEGEND: Final = (
    f"{_WAITS} waits  {_STARTS} starts  {_RUNS} runs  {_GOES} goes  {_SUCCEEDED} succeeded  {_FAILED} failed  {_ENDED} was ended"
)
STYLES: Final = {_WAITS: "dim", _STARTS: "cyan", _RUNS: "blue", _GOES: "yellow", _SUCCEEDED: "green", _FAILED: "bold red", _ENDED: "dim"}
"""How rich is to write each sign."""


class Row(NamedTuple):
    """A line of the picture."""

    label: str
    signs: str = ""
    """Of tasks; empty: the row is a Framework's."""
    retries: int = 0

    def text(self, width: int, label_width: int) -> str:
        """Return the line. Tasks are counted where signs for them all would make it wider than that; a label that is too wide is cut."""
        if not self.signs:
            return self.label
        label = self.label if len(self.label) <= label_width else f"{self.label[: label_width - 1]}…"
        label = f"  {label:<{label_width}} "
        retried = f"  ({self.retries} retried)" if self.retries else ""
        fits = len(label) + len(self.signs) + len(retried) <= width
        return f"{label}{self.signs if fits else _counted(self.signs)}{retried}"


def rows(statuses: Mapping[str, Json]) -> list[Row]:
    """Return the rows of Frameworks, each given by its name and stored status. An empty status means that it has not begun."""
    found: list[Row] = []
    for name, status in statuses.items():
        if status:
            attempt = status["attemptStatus"]
            completion = attempt["completionStatus"]
            end = f", {completion['code']} {completion['phrase']}" if completion else ""
            found.append(Row(f"{name}: {status['state']}, attempt {attempt['id']}{end}"))
            found += [_role(name, role) for role in role_statuses(attempt)]
    return found


def folded(found: Sequence[Row], height: int) -> list[Row]:
    """Return at most `height` rows, the last of which sums up those that do not fit."""
    if len(found) <= height:
        return list(found)
    shown, rest = list(found[: max(height - 1, 0)]), [row for row in found[max(height - 1, 0) :] if row.signs]
    return [*shown, Row(f"  … {len(rest)} more roles  {_counted(''.join([row.signs for row in rest]))}")]


def _role(framework: str, role: Json) -> Row:
    tasks = role["taskStatuses"]
    signs = "".join([_sign(task["state"], (task["attemptStatus"]["completionStatus"] or {}).get("code")) for task in tasks])
    return Row(f"{framework}-{role['name']}", signs, sum(task["retryPolicyStatus"]["totalRetriedCount"] for task in tasks))


def _counted(signs: str) -> str:
    return "  ".join([f"{sign} {count}" for sign, count in Counter(signs).items()])


def _sign(state: str, code: int | None) -> str:
    if state == CREATION_PENDING:
        return _WAITS
    if state in (CREATION_REQUESTED, PREPARING):
        return _STARTS
    if state == RUNNING:
        return _RUNS
    if state in (ATTEMPT_COMPLETED, COMPLETED):
        return _SUCCEEDED if not code else _ENDED if code in NEVER_RETRIED else _FAILED
    return _GOES
