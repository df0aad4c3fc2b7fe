"""A repository whose pull request is looked at: what it holds, what the change is, and how scripts are run in a checkout of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.test_cli import good
from tests.test_pre_commit import environment

BROKEN = good().replace("image:", "imag:")
MORE_WORKERS = good().replace("taskNumber: 3", "taskNumber: 5")


class Project:
    """A server's repository with the branch `main`, where one Framework is, and a branch with a change, forked off before main went on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: Stand-ins for what would reach the network; first in the PATH of scripts.
        self.programs = folder.parent / "programs"
        self.programs.mkdir()
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.put("jobs/train.yaml", good())
        self.put("README.md", "# Jobs\n")
        self.base = self.commit()
        self.git("branch", "change")
        self.put("jobs/other.yaml", good("other"))
        self.main = self.commit()
        self.git("checkout", "-q", "change")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=self.environment(), capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def commit(self) -> str:
        """Of everything; the commit's name."""
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def change(self, files: Mapping[str, str]) -> None:
        """Push this to the branch, and make what merging it would give, as both servers do."""
        self.git("checkout", "-q", "change")
        for name, text in files.items():
            self.put(name, text)
        self.head = self.commit()
        self.git("checkout", "-q", "--detach", "main")
        self.git("merge", "-q", "--no-ff", "-m", "merged", "change")
        self.merged = self.git("rev-parse", "HEAD")
        self.git("checkout", "-q", "change")

    def checkout(self, target: Path, commit: str, depth: int) -> None:
        """As the runners do: a new folder, one commit and so many before it (0: all), and no branch."""
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["git", "init", "-q", str(target)], check=True, timeout=60)
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        limit = [f"--depth={depth}"] if depth else []
        for command in (["fetch", "-q", *limit, self.folder.as_uri(), commit], ["checkout", "-q", "--detach", "FETCH_HEAD"]):
            subprocess.run(["git", *command], cwd=target, check=True, timeout=60)

    def program(self, name: str, python: str) -> None:
        """Put a stand-in into the PATH."""
        path = self.programs / name
        path.write_text(f"#!{sys.executable}\n{python}")
        path.chmod(0o755)

    def environment(self, **more: str) -> dict[str, str]:
        """Ours, as a clean one, with this environment's fcompile in the PATH."""
        kept = {name: value for name, value in environment().items() if not name.startswith(("CI", "GITHUB_"))}
        return {**kept, "PATH": f"{self.programs}{os.pathsep}{kept['PATH']}", **more}


def fits_schema(schema: str, file: Path, text: str) -> None:
    """Assert that a recipe, put into a file, fits one of the schemas that check-jsonschema comes with."""
    file.write_text(text)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
