"""The structure check against recorded verdicts of Kubernetes 1.36.3's own decoder, defaulting and validation of a new Pod.

`data/server_verdicts.json` holds Pod specs that have every field, all of them valid, and for each field values that the server accepted
or refused there. (What it refused for a reason between fields is not among them: that is for the Pod rules.)
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fcompile.check.rules.framework.structure import walk
from fcompile.diagnostics.problem import Finding, Severity

DATA = json.loads((Path(__file__).parents[2] / "data" / "server_verdicts.json").read_text("utf-8"))
ABSENT = object()


class Case(NamedTuple):
    pod: int
    path: tuple[str, ...]
    value: Any
    accepted: bool


def cases() -> list[Case]:
    found = []
    for pod, path, accepted, refused, absent in DATA["fields"]:
        steps = tuple(path.split("/"))
        found += [Case(pod, steps, value, True) for value in accepted]
        found += [Case(pod, steps, value, False) for value in refused]
        if absent is not None:
            found.append(Case(pod, steps, ABSENT, absent))
    return found


def template(case: Case) -> dict[str, Any]:
    """The case's Pod with its value put in."""
    changed: dict[str, Any] = copy.deepcopy(DATA["pods"][case.pod])
    owner: Any = changed
    for step in case.path[:-1]:
        owner = owner[int(step) if isinstance(owner, list) else step]
    last = int(case.path[-1]) if isinstance(owner, list) else case.path[-1]
    if case.value is ABSENT:
        del owner[last]
    else:
        owner[last] = case.value
    return changed


def errors(value: dict[str, Any], version: int = 36) -> list[Finding]:
    return [finding for finding in walk(value, "PodTemplateSpec", (), version=version) if finding.rule.severity is Severity.ERROR]


@pytest.mark.parametrize("pod", DATA["pods"])
def test_valid_pods_have_no_finding(pod: dict[str, Any]) -> None:
    assert list(walk(pod, "PodTemplateSpec", (), version=36)) == []


def test_there_are_verdicts_of_both_kinds() -> None:
    assert len([case for case in cases() if case.accepted]) > 1500
    assert len([case for case in cases() if not case.accepted]) > 1000


def test_no_error_for_what_the_server_accepts() -> None:
    wrong = [
        (case.path, case.value, [finding.message for finding in found])
        for case in cases()
        if case.accepted and (found := errors(template(case)))
    ]
    assert wrong == []


def test_an_error_for_what_the_server_refuses() -> None:
    assert [(case.path, case.value) for case in cases() if not case.accepted and not errors(template(case))] == []
