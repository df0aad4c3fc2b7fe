"""A rule is found by its folder: Frameworks', Pods', those of reading and those of waivers, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "fcompile"
HOMES = {"0": "load/rules.py", "1": "check/rules/framework/", "2": "check/rules/pod/", "9": "waivers/rules.py"} | dict.fromkeys(
    "3456", "check/rules/framework/"
)
DECLARED = [
    (path.relative_to(PACKAGE).as_posix(), code)
    for path in sorted(PACKAGE.rglob("*.py"))
    for code in re.findall(r'(?:error|warning|note)_rule\(\s*(?:code=)?"(FC\d{3})"', path.read_text("utf-8"))
]


def test_the_rules_are_found() -> None:
    assert len(DECLARED) > 150


@pytest.mark.parametrize(("path", "code"), DECLARED)
def test_a_rule_is_declared_in_its_folder(path: str, code: str) -> None:
    assert path.startswith(HOMES[code[2]])
