"""The recipes' way to install fcompile: from a git repository, at a commit."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

import fcompile
from tests import test_pre_commit
from tests.docs import blocks

hooks = test_pre_commit.hooks


def installing(repository: Path) -> set[str]:
    """The lines that do it."""
    page = repository / "docs" / "ci.md"
    workflow: Any = yaml.safe_load(blocks.file(page, ".github/workflows/frameworks.yaml"))
    scripts = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    scripts += yaml.safe_load(blocks.file(page, ".gitlab-ci.yml"))[".fcompile"]["before_script"]
    return {script for script in scripts if "install" in script}


@pytest.mark.network
def test_the_recipes_install_it(repository: Path, hooks: tuple[Path, str], tmp_path: Path) -> None:
    (line,) = installing(repository)
    venv.create(tmp_path / "venv", with_pip=True)
    location, commit = hooks
    path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = test_pre_commit.environment(FCOMPILE=f"git+{location.as_uri()}@{commit}") | {"PATH": path}
    script = f"{line}\nfcompile --version"
    done = subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"fcompile {fcompile.__version__}\n")
