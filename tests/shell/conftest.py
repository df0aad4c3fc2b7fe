"""A folder with files to complete, and the programs as an installation has them."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def programs(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scripts that pip makes of pyproject.toml."""
    folder = tmp_path_factory.mktemp("bin")
    for name, function in tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]["scripts"].items():
        module, _, called = function.partition(":")
        (folder / name).write_text(f"#!{sys.executable}\nfrom {module} import {called}\n{called}()\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def environment(repository: Path, programs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a user who has nothing set up."""
    home = tmp_path_factory.mktemp("home")
    (home / "bin").symlink_to(programs)
    (home / "train.yaml").symlink_to(repository / "examples" / "pytorch-ddp.yaml")
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "TERM": "dumb", "LC_ALL": "C.UTF-8", "PYTHONPYCACHEPREFIX": f"{home}/.cache"}


@pytest.fixture(scope="module")
def folder(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with a branch, a Framework in a file with a space in its name, and other things."""
    made = tmp_path_factory.mktemp("folder")
    text = (repository / "examples" / "pytorch-ddp.yaml").read_text("utf-8")
    for name in ("train.yaml", "two words.yaml"):
        (made / name).write_text(text, "utf-8")
    for name in ("notes.txt", "train.txt"):
        (made / name).touch()
    (made / "sub").mkdir()
    (made / "more files").mkdir()
    (made / "more files" / "x.json").touch()
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for command in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "x"], ["branch", "feature"], ["tag", "v1"]):
        subprocess.run([*git, *command], cwd=made, check=True, capture_output=True)
    return made
