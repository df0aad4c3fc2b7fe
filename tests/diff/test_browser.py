"""The report as a page, in a browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.browser import too_wide
from tests.test_cli import good

LONG = "registry.example.com/" + "a-very-long-name/" * 12 + "trainer:1"


def test_the_report_is_no_wider_than_its_window(tmp_path: Path) -> None:
    """On a phone too, whatever the names and values are."""
    name = "n" * 40
    old = good(name)
    new = (
        old.replace("busybox", LONG)
        .replace("taskNumber: 3", "taskNumber: 7")
        .replace("image:", f"command: [sh, -c, {'x' * 400}]\n            image:")
    )
    (tmp_path / "old.yaml").write_text(f"{old}---\n{good('gone')}")
    (tmp_path / "new.yaml").write_text(f"{new}---\n{good('fresh')}")
    command = [sys.executable, "-m", "fcompile", "diff", "old.yaml", "new.yaml", "--format", "html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert LONG in done.stdout
    (tmp_path / "report.html").write_text(done.stdout)
    assert too_wide(tmp_path, ["report.html"], tmp_path / "profile") == []
