"""The structure check and the Pod rules together, against recorded verdicts of Kubernetes 1.25 to 1.37 (without 1.27) on 1537 Pods.

Each version's own decoder, defaults, gates and validation judged them, with the labels and the owner that the controller adds, and a
service account. The Pods aim at the places of that validation; of those that are judged alike everywhere and for the same reasons one
is kept (of those that are accepted, one for each set of fields). Per Pod there is a 1 for each version that accepts it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fcompile.check.pod import in_force, pod_rules
from fcompile.check.rules.framework.structure import walk
from fcompile.diagnostics.problem import Severity

DATA = json.loads((Path(__file__).parents[2] / "data" / "pod_verdicts.json").read_text("utf-8"))
VERSIONS: list[int] = DATA["versions"]


def errors(template: Any, version: int) -> list[str]:
    found = [*walk(template, "PodTemplateSpec", (), version=version), *pod_rules(template, (), version=version)]
    return [finding.rule.code for finding in in_force(found, version) if finding.rule.severity is Severity.ERROR]


def judged(version: int, verdict: str) -> list[Any]:
    """The templates with this verdict, 1 for accepted."""
    place = VERSIONS.index(version)
    return [template for verdicts, template in DATA["pods"] if verdicts[place] == verdict]


@pytest.mark.parametrize("version", VERSIONS)
def test_no_error_for_what_the_server_accepts(version: int) -> None:
    accepted = judged(version, "1")
    assert len(accepted) > 40
    assert [(template, found) for template in accepted if (found := errors(template, version))] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_for_what_the_server_refuses(version: int) -> None:
    refused = judged(version, "0")
    assert len(refused) > 400
    assert [template for template in refused if not errors(template, version)] == []
