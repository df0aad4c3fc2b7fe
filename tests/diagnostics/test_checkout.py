"""That GitHub is told paths from the root of the repository. It put annotations of a run in a subfolder nowhere."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

import pytest

from fcompile.diagnostics.checkout import from_root
from fcompile.diagnostics.sarif import artifact
from tests.laws import run
from tests.test_cli import good


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("a.yaml", "apps/train/a.yaml"),
        ("./b/a.yaml", "apps/train/b/a.yaml"),
        ("../a.yaml", "apps/a.yaml"),
        ("../../a.yaml", "a.yaml"),
        ("/srv/a.yaml", "/srv/a.yaml"),
        ("<stdin>", "<stdin>"),
    ],
)
def test_in_a_subfolder(file: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")  # as in a worktree
    (tmp_path / "apps/train").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "apps/train")
    assert from_root(file) == shown
    assert unquote(artifact(file)["uri"]).removeprefix("file://") == shown
    monkeypatch.chdir(tmp_path)
    assert from_root("./apps/a.yaml") == "apps/a.yaml"


def test_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    assert (from_root("./a.yaml"), from_root("../a.yaml")) == ("a.yaml", "../a.yaml")
    os.rmdir(tmp_path / "gone")
    assert from_root("./a.yaml") == "a.yaml"


def test_annotations_of_a_run_in_a_subfolder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps/train.yaml").write_text(good().replace("taskNumber", "taskNumbr"))
    monkeypatch.chdir(tmp_path / "apps")
    assert run(["validate", "--format", "github", "."]).out.startswith(b"::error file=apps/train.yaml,line=")


def test_a_folder_that_anybody_may_write_to_is_no_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's `/tmp/.git` would have changed the names of all files below."""
    (tmp_path / "shared/own").mkdir(parents=True)
    (tmp_path / "shared/.git").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    monkeypatch.chdir(tmp_path / "shared/own")
    assert from_root("a.yaml") == "a.yaml"
