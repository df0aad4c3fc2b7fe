"""Libraries that take long to import: `barrier`, which starts in every Pod, and `validate`, which runs on every save, do without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SLOW = {"aiohttp", "jinja2", "kubernetes", "prometheus_client", "pydantic", "re2", "rich"}
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
    words = [word.format(example=repository / "examples" / "batch.yaml") for word in words]
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(program, words, SLOW)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == code, done.stderr
    assert done.stderr.splitlines()[-1] == "", done.stderr
