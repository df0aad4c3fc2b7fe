"""Each script says what it does and what it takes when it is asked, and begins nothing then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_RUNS = 'if __name__ == "__main__":'
SCRIPTS = sorted(
    path.relative_to(ROOT)
    for path in (*ROOT.glob("tools/*.py"), *ROOT.glob("benchmarks/*.py"), *ROOT.glob("tests/*/__main__.py"))
    if _RUNS in path.read_text("utf-8")
)


def _ask(script: Path, word: str) -> subprocess.CompletedProcess[str]:
    module = [] if script.parts[0] == "tools" else ["-m"]
    name = str(script) if not module else ".".join(script.with_suffix("").parts).removesuffix(".__main__")
    command = [sys.executable, *module, name, word]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_all_are_here() -> None:
    assert {"tools", "benchmarks", "tests"} == {script.parts[0] for script in SCRIPTS}
    assert len(SCRIPTS) > 15


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_it_says_what_it_does(script: Path) -> None:
    asked = _ask(script, "--help")
    assert (asked.returncode, asked.stderr) == (0, "")
    usage, about, *_ = asked.stdout.split("\n\n")
    assert usage.startswith("usage: ")
    assert len(about.split()) > 5


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_it_takes_no_other_word(script: Path) -> None:
    asked = _ask(script, "--nothing-of-the-kind")
    assert (asked.returncode, asked.stdout) == (2, "")
    assert asked.stderr.startswith("usage: ")
    assert "Traceback" not in asked.stderr
