"""Libraries that take long to import: `barrier`, which starts in every Pod, and `validate`, which runs on every save, do without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SLOW = {"aiohttp", "jinja2", "kubernetes", "prometheus_client", "pydantic", "re2", "rich"}
RARE = SLOW | {"dataclasses", "difflib", "locale", "shlex", "subprocess", "yaml"}
"""What a file with nothing unusual or wrong in it asks for neither."""
REPORT = "import sys; from {}.cli import main; code = main({!r}); print(*{!r} & set(sys.modules), file=sys.stderr); sys.exit(code)"


@pytest.mark.parametrize(
    ("program", "words", "code"),
    [
        ("fcontroller", ["barrier"], 210),
        ("fcompile", ["validate", "{example}"], 0),
        ("fcompile", ["build", "{example}"], 0),
        ("fcompile", ["explain", "tokenize-shard-0", "{example}"], 0),
        ("fcompile", ["diff", "{example}", "{example}"], 0),
        ("fcompile", ["crd"], 0),
        ("fcompile", ["schema"], 0),
        ("fcompile", ["rule", "--all"], 0),
    ],
)
def test_nothing_slow_is_imported(program: str, words: list[str], code: int, repository: Path) -> None:
    assert _imported(program, words, code, SLOW, repository) == ""


@pytest.mark.parametrize("words", [["validate", "{example}"], ["build", "{example}"], ["build", "--emit", "expected", "{example}"]])
def test_nothing_that_is_rarely_needed_is_imported(words: list[str], repository: Path) -> None:
    assert _imported("fcompile", words, 0, RARE, repository) == ""


def test_the_end_of_a_process_does_not_wait_for_the_garbage_collector() -> None:
    counted = "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count(), len(gc.get_objects())))"
    entered = f"{counted}; from fcompile.cli import entry_point; entry_point(['crd'])"
    done = subprocess.run([sys.executable, "-c", entered], capture_output=True, text=True, check=True, timeout=60)
    frozen, left = map(int, done.stdout.splitlines()[-1].split())
    assert frozen > 100 * left


def _imported(program: str, words: list[str], code: int, unwanted: set[str], repository: Path) -> str:
    """Return which of the modules a command imports, which must end with this code."""
    words = [word.format(example=repository / "examples" / "batch.yaml") for word in words]
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(program, words, unwanted)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == code, done.stderr
    return done.stderr.splitlines()[-1]
