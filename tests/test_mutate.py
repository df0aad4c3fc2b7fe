"""`tools/mutate.py` tells which changes of a small product its tests do not notice."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import mutate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it forks")

PRODUCT = '''\
"""Words are left alone."""

LIMIT = 3


def small(number: int) -> bool:
    """Return it."""
    if number < 0:
        raise ValueError("no such number")
    return number <= LIMIT and number != 2


def nobody_calls_it(text: str) -> str:
    return text + "é"


class Count:
    def __init__(self) -> None:
        self.total = 0

    @property
    def twice(self) -> int:
        return self.total * 2
'''
TESTS = """\
import pytest
import product

@pytest.mark.parametrize(("number", "small"), [(0, True), (2, False), (3, True), (4, False)])
def test_small(number, small):
    assert product.small(number) is small

def test_count():
    count = product.Count()
    count.total = 4
    assert count.twice == 8
"""
KILLED = {
    "LIMIT = (3 + 1)": "a table",
    "return number < LIMIT and number != 2": "a comparison",
    "return ((number <= LIMIT) or (number != 2))": "a condition",
    "return (self.total // 2)": "arithmetic in a property",
}


@pytest.fixture
def project(tmp_path: Path, repository: Path) -> Path:
    (tmp_path / "tools").mkdir()
    shutil.copy(repository / "tools/mutate.py", tmp_path / "tools")
    (tmp_path / "product.py").write_text(PRODUCT, encoding="utf-8")
    (tmp_path / "test_product.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    equivalent = {"file": "product.py", "was": "self.total = 0", "becomes": "pass", "why": "nobody reads it"}
    entry = "\n".join(f'{key} = "{value}"' for key, value in equivalent.items())
    (tmp_path / "tools/equivalent_mutants.toml").write_text(f"[[mutant]]\n{entry}\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def run(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/mutate.py", "--tests", "test_product.py", *options]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)


def test_what_is_killed_and_what_survives(project: Path) -> None:
    done = run(project, "--count", "100", "product.py", "--at-least", "99")
    assert done.returncode == 1, done.stdout + done.stderr
    assert (project / "product.py").read_text("utf-8") == PRODUCT, "it works in a copy"
    told = dict(re.findall(r"^(product\.py:\S+)  (killed|SURVIVED)", done.stdout, re.MULTILINE))
    found = mutate.mutants("product.py", PRODUCT)
    by_change = {mutant.becomes: told.get(mutant.name) for mutant in found}
    assert {change: by_change[change] for change in KILLED} == dict.fromkeys(KILLED, "killed")
    assert by_change["if number >= 0:"] == "killed"
    assert by_change["""return (text - "é")"""] == "SURVIVED", "no test calls it"
    assert '"XX" "é"' in done.stdout
    assert re.search(r"^all +\d+ +\d+ +\d+ +\d+\.\d%$", done.stdout, re.MULTILINE)
    assert {mutant.was for mutant in found if mutant.name not in told} == {"self.total = 0"}, "it is listed as equivalent"


def test_one_mutant_again(project: Path) -> None:
    (mutant,) = [mutant for mutant in mutate.mutants("product.py", PRODUCT) if mutant.becomes.endswith("number == 2")]
    done = run(project, "--only", mutant.name)
    assert done.returncode == 0
    assert f"{mutant.name}  killed by test_product.py::test_small" in done.stdout
    assert "-    return number <= LIMIT and number != 2\n+    return number <= LIMIT and number == 2" in done.stdout


def test_every_mutant_is_python_and_prose_is_left_alone() -> None:
    found = mutate.mutants("product.py", PRODUCT)
    for mutant in found:
        ast.parse(mutate.mutated(PRODUCT, mutant.change))
    changed = {PRODUCT.encode()[mutant.change.start : mutant.change.end].decode() for mutant in found}
    assert not changed & {'"no such number"', '"""Return it."""', "int", "bool"}
    assert len({mutant.name for mutant in found}) == len(found)


def test_what_returns_a_truth_returns_the_other_one() -> None:
    """None in place of False would be the same to whoever asks."""
    found = mutate.mutants("product.py", "def small(number):\n    if number:\n        return False\n    return None\n")
    assert {mutant.becomes for mutant in found} == {"if not (number):", "return True"}


def test_the_same_seed_gives_the_same_mutants() -> None:
    from random import Random

    found = mutate.of_paths(["fcompile/default.py"])
    one, same, other = (mutate.sampled(found, 20, Random(seed)) for seed in (1, 1, 2))
    assert one == same != other
    assert len({mutant.change.kind.rstrip("0123456789") for mutant in one}) > 5, "kinds take turns"


def test_what_is_called_equivalent_is_a_mutant_still() -> None:
    there = {(mutant.file, mutant.was, mutant.becomes) for mutant in mutate.of_paths(mutate.PRODUCT)}
    assert [entry for entry in mutate.equivalents() if entry[:3] not in there] == []
    assert all(entry.why for entry in mutate.equivalents())
