"""The table in docs/diff.md says what `diff` says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fcompile.check.tool_files import FileKind
from fcompile.model.names import PAUSE_ANNOTATION, RESTART_ANNOTATION
from tests.diff.frameworks import Json, annotated, effects, role, spec

STATES = {
    "while an attempt runs": "AttemptRunning",
    "before the first attempt, or between two": "AttemptCreationPending",
    "while an attempt is being ended": "AttemptDeleting",
    "completed or stopped": "Completed",
}
ONE, RETRIED = role(), role(retry=1)
OTHER = {"containers": [{"name": "main", "image": "b:1"}]}
SERVED = role(service={"ports": [{"port": 80}]}, pod={"hostname": "h", "subdomain": "s"})
UNSERVED = role(pod={"hostname": "h", "subdomain": "s"})
PAUSED = annotated(spec(), PAUSE_ANNOTATION, "true")
EDITS: dict[str, list[tuple[Json, Json, str]]] = {
    "`description`": [(spec(), spec(description="x"), "")],
    "annotation `frameworkcontroller.microsoft.com/pause`": [(spec(), PAUSED, ""), (PAUSED, spec(), "")],
    "annotation `frameworkcontroller.microsoft.com/restart`": [(spec(), annotated(spec(), RESTART_ANNOTATION, "now"), "")],
    "`executionType` Create → Start": [(spec(executionType="Create"), spec(), "")],
    "`executionType` Create or Start → Stop": [(spec(), spec(executionType="Stop"), "")],
    "`executionType` Start → Create": [(spec(), spec(executionType="Create"), ""), (spec(executionType="Stop"), spec(), "")],
    "`managedBy`": [(spec(), spec(managedBy="kueue.x-k8s.io/multikueue"), "")],
    "`retryPolicy` of the Framework": [(spec(), spec(retryPolicy={"maxRetryCount": 1}), "")],
    "`activeDeadlineSeconds`": [
        (spec(), spec(activeDeadlineSeconds=9), ""),
        (spec(activeDeadlineSeconds=9), spec(activeDeadlineSeconds=8), ""),
        (spec(activeDeadlineSeconds=9), spec(), ""),
    ],
    "`cleanPodPolicy` All": [
        (spec(), spec(cleanPodPolicy="None"), ""),
        (spec(cleanPodPolicy="All"), spec(cleanPodPolicy="Running"), ""),
        (spec(cleanPodPolicy="Running"), spec(), ""),
    ],
    "… All → left out": [
        (spec(cleanPodPolicy="All"), spec(), ""),
        (spec(cleanPodPolicy="Running"), spec(cleanPodPolicy="None"), ""),
    ],
    "`ttlSecondsAfterFinished`": [
        (spec(), spec(ttlSecondsAfterFinished=0), ""),
        (spec(ttlSecondsAfterFinished=9), spec(ttlSecondsAfterFinished=8), ""),
        (spec(ttlSecondsAfterFinished=9), spec(), ""),
    ],
    "`taskNumber`": [(spec(), spec(role(count=3)), ""), (spec(), spec(ONE, role("ps")), ""), (spec(ONE, role("ps")), spec(), "")],
    "`frameworkAttemptCompletionPolicy`": [(spec(), spec(role(frameworkAttemptCompletionPolicy={"minFailedTaskCount": 2})), "")],
    "`task.retryPolicy`": [(spec(), spec(RETRIED), "")],
    "`task.podGracefulDeletionTimeoutSec`": [
        (spec(), spec({**ONE, "task": {**ONE["task"], "podGracefulDeletionTimeoutSec": 5}}), ""),
    ],
    "`task.pod`": [(spec(RETRIED), spec(role(retry=1, pod=OTHER)), "next-retry"), (spec(), spec(role(pod=OTHER)), "new-attempt")],
    "… tasks that the same edit adds": [(spec(role(count=0)), spec(role(count=2, pod=OTHER)), "")],
    "`service` added": [(spec(UNSERVED), spec(SERVED), ""), (spec(SERVED), spec(UNSERVED), "")],
}


def rows() -> dict[str, list[str]]:
    """The cells of each row, by its first one."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "diff.md").read_text(encoding="utf-8")
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    first = next(place for place, cells in enumerate(table) if cells[0] == "what changes")
    assert table[first][1:] == list(STATES)
    return {cells[0]: cells[1:] for cells in table[first + 2 :] if len(cells) == len(STATES) + 1}


@pytest.mark.parametrize("name", EDITS)
def test_a_row(name: str) -> None:
    (cells,) = (cells for label, cells in rows().items() if label.startswith(name))
    for cell, state in zip(cells, STATES.values(), strict=True):
        for before, after, class_while_it_runs in EDITS[name] if cell else ():
            (effect,) = set(effects(before, after, {"state": state}).values())
            if class_while_it_runs and state == "AttemptRunning":  # the cell has more than one
                assert effect == class_while_it_runs
                assert effect in cell
            else:
                assert cell.startswith(effect), (state, effect)


def test_no_row_is_left_out() -> None:
    assert all(any(label.startswith(name) for name in EDITS) for label in rows())


def test_the_schema_names_each_kind_of_file(repository: Path) -> None:
    """Its list stands apart from the kinds themselves."""
    schema = (repository / "schemas" / "diff.schema.json").read_text(encoding="utf-8")
    (listed,) = re.findall(r"a file of which something else makes what runs: ([^\"]+)", schema)
    assert set(re.findall(r"[A-Za-z][A-Za-z ]*(?=[,.:])", listed)) >= set(FileKind)
