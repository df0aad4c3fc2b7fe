"""`fcontroller demo`, as somebody runs it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

DEMO = [sys.executable, "-c", "from fcontroller.cli import entry_point; entry_point()", "demo"]


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *arguments], capture_output=True, text=True, check=False, timeout=120)


def test_an_example_runs_to_its_end(repository: Path) -> None:
    done = demo("--run", "0.3", "--exit", "captions-shard-2=137,0", str(repository / "examples" / "spot.yaml"))
    assert done.returncode == 0, done.stderr
    assert "captions: Completed, attempt 0, 0 Succeeded" in done.stdout
    assert "(1 retried)" in done.stdout


def test_a_terminal_is_drawn_on(repository: Path) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "wb") as out:
        done = subprocess.run([*DEMO, "--run", "0.2", str(repository / "examples" / "batch.yaml")], stdout=out, check=False, timeout=120)
    drawn = os.read(ours, 1 << 20).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "\x1b[" in drawn
    assert "tokenize-shard" in drawn


def test_a_framework_with_an_error_does_not_run(repository: Path) -> None:
    done = demo(str(repository / "examples" / "bad" / "FC101-unknown-field.yaml"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "FC101" in done.stderr


def test_wrong_use() -> None:
    done = demo("--exit", "a=b", "x.yaml")
    assert done.returncode == 2
    assert "POD=CODE" in done.stderr
