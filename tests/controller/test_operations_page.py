"""docs/operations.md tells of every condition and Event. (Its tables of settings and metrics are written by a tool.)"""

from __future__ import annotations

import re
from pathlib import Path

from fcontroller.decide import conditions


def test_conditions(repository: Path) -> None:
    page = (repository / "docs" / "operations.md").read_text("utf-8").partition("## Conditions")[2]
    types = {value for name, value in vars(conditions).items() if name.isupper() and not name.startswith("_") and isinstance(value, str)}
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == types


def test_events(repository: Path) -> None:
    page = (repository / "docs" / "operations.md").read_text("utf-8").partition("## Events")[2].partition("## Conditions")[0]
    told = set(re.findall(r"`([A-Z]\w+)`(?=[^|]*\|)", page))
    folder = repository / "controller" / "fcontroller"
    sources = [(folder / name).read_text("utf-8") for name in ("report/reporter.py", "reconcile/inspector.py")]
    calls = [call for source in sources for call in re.findall(r"(?:_record|_warn_of|\.warn)\(([^()]*)", source)]
    recorded = {reason for call in calls for reason in re.findall(r'"([A-Z][A-Za-z]+)"', call)}
    everything = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    recorded |= set(re.findall(r'Verdict\((?:False|None)[^,"]*, "(\w+)"', everything))
    assert {"AttemptStarted", "TasksFailed", "NameTaken", "PodsDiffer", "NotCompiled", "Uncompilable"} <= recorded <= told
