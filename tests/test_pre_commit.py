"""The hooks, run by the real pre-commit in a real repository that holds far more than Frameworks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.docs import blocks

pytestmark = pytest.mark.network

MIXTURE = Path(__file__).parent / "data" / "mixture"
POSITION = r":\d+:\d+: error\[FC\d{3}\]"


def environment(**more: str) -> dict[str, str]:
    """Ours, less what Git sets when the tests themselves run in a hook, and what would point pip elsewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    identity = {f"GIT_{who}_{what}": f"{who.lower()}@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    scripts = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    return {**kept, **identity, "PATH": scripts, **more}


def git(folder: Path, *arguments: str) -> str:
    """What Git prints; CalledProcessError when it fails."""
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return done.stdout


def commit_everything(folder: Path) -> str:
    """Commit all files of a folder, as a new repository if it is none yet; returns the commit."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "-qm", "everything", "--no-verify")
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture(scope="module")
def hooks(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """This checkout as it is now, uncommitted work included, as a repository of its own, and its commit."""
    copy = tmp_path_factory.mktemp("hooks") / "fcompile"
    for name in git(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        source, target = repository / name, copy / name
        if name and (source.is_symlink() or source.is_file()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return copy, commit_everything(copy)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment that it installs the hook into: once for all tests here."""
    return tmp_path_factory.mktemp("pre-commit-home")


class Project:
    """A repository of somebody who uses the hooks."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.environment = environment(PRE_COMMIT_HOME=str(home), PRE_COMMIT_COLOR="never")

    def run(self, *command: str) -> tuple[int, str]:
        """Exit code and output of a command in the repository."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout

    def hook(self, name: str, *arguments: str) -> tuple[int, str]:
        """Exit code and output of one of our hooks."""
        return self.run("pre-commit", "run", name, "--verbose", *arguments)

    def replace(self, file: str, old: str, new: str) -> None:
        """Change a file, and stage it."""
        path = self.folder / file
        before = path.read_bytes()
        assert old.encode() in before
        path.write_bytes(before.replace(old.encode(), new.encode()))
        git(self.folder, "add", "--", file)


@pytest.fixture
def project(tmp_path: Path, home: Path, hooks: tuple[Path, str]) -> Project:
    folder = tmp_path / "a project"
    shutil.copytree(MIXTURE, folder)
    location, commit = hooks
    used = [{"id": "fcompile-validate"}, {"id": "fcompile-validate-all", "stages": ["manual"]}]
    configuration = {"repos": [{"repo": str(location), "rev": commit, "hooks": used}]}
    (folder / ".pre-commit-config.yaml").write_text(json.dumps(configuration), "utf-8")
    commit_everything(folder)
    return Project(folder, home)


def test_the_configuration_of_the_page(repository: Path, project: Project, hooks: tuple[Path, str]) -> None:
    configuration = yaml.safe_load(blocks.file(repository / "docs" / "ci.md", ".pre-commit-config.yaml"))
    (configuration["repos"][0]["repo"], configuration["repos"][0]["rev"]) = str(hooks[0]), hooks[1]
    (project.folder / ".pre-commit-config.yaml").write_text(json.dumps(configuration), "utf-8")
    project.replace("frameworks/train.yaml", "taskNumber: 4", "taskNumer: 4")
    git(project.folder, "add", "--all")
    code, output = project.run("pre-commit", "run")
    assert code == 1, output
    assert re.search(rf"^frameworks/train\.yaml{POSITION}", output, re.MULTILINE), output


def write_lock_files(folder: Path) -> None:
    """Lock files as package managers write them: larger than any document of ours may be, and nothing of ours in them."""
    integrity = "sha512-" + "A" * 88
    packages = {f"node_modules/package-{number}": {"version": "1.0.0", "integrity": integrity} for number in range(75_000)}
    (folder / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": packages}, indent=2), "utf-8")
    entries = [f"  /package-{number}@1.0.0:\n    resolution: {{integrity: {integrity}}}\n    dev: false\n" for number in range(75_000)]
    (folder / "pnpm-lock.yaml").write_text("lockfileVersion: '9.0'\n\npackages:\n\n" + "\n".join(entries), "utf-8")


def test_a_repository_without_problems_passes(project: Project) -> None:
    write_lock_files(project.folder)
    git(project.folder, "add", "--all")
    code, output = project.hook("fcompile-validate", "--all-files")
    assert code == 0, output
    assert "Passed" in output
    assert "error[" not in output
    assert "warning[" not in output


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("chart/templates/framework.yaml", "a template"),
        ("chart/templates/plain.yaml", "a template of a Helm chart"),
        ("chart/charts/queue/templates/tests/smoke.yaml", "a template of a Helm chart"),
        ("ansible/templates/framework.yaml", "a template"),
        ("overlay/patches/more-workers.yaml", "a kustomize patch"),
        ("legacy/base/fewer-workers.yaml", "a kustomize patch"),
        ("legacy/remove.yaml", "a kustomize patch"),
    ],
)
def test_what_is_passed_over_is_said(project: Project, file: str, what: str) -> None:
    code, output = project.hook("fcompile-validate", "--files", file)
    assert code == 0, output
    assert re.search(rf"skipped {re.escape(file)}: {what}\b", output), output


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("frameworks/train.yaml", "taskNumber: 4", "taskNumer: 4"),
        ("frameworks/train.yaml", "executionType: Start", "executionType: start"),
        ("frameworks/several in one file.yaml", "containers:", "containres:"),
        ("frameworks/serve.json", '"taskNumber": 2', '"taskNumber": "2"'),
        ("frameworks/train.yaml", "  name: train", "  name: train\n  name: train"),
        ("frameworks/train.yaml", "    - name: worker", "\t- name: worker"),
        ("frameworks/crlf and BOM.yaml", "taskNumber: 1", "taskNumber: -1"),
    ],
)
def test_a_problem_fails_the_hook_at_its_position(project: Project, file: str, old: str, new: str) -> None:
    project.replace(file, old, new)
    code, output = project.hook("fcompile-validate")
    assert code == 1, output
    assert "Failed" in output
    assert re.search(rf"^{re.escape(file)}{POSITION}", output, re.MULTILINE), output


def test_a_commit_is_refused_until_the_problem_is_fixed(project: Project) -> None:
    assert project.run("pre-commit", "install")[0] == 0
    project.replace("frameworks/train.yaml", "taskNumber: 4", "taskNumer: 4")
    code, output = project.run("git", "commit", "-m", "more workers")
    assert code == 1, output
    assert re.search(rf"^frameworks/train\.yaml{POSITION}", output, re.MULTILINE), output
    project.replace("frameworks/train.yaml", "taskNumer: 4", "taskNumber: 5")
    code, output = project.run("git", "commit", "-m", "more workers")
    assert code == 0, output


def test_the_same_framework_in_two_changed_files(project: Project) -> None:
    shutil.copy(project.folder / "frameworks/train.yaml", project.folder / "frameworks/copy of train.yaml")
    git(project.folder, "add", "--all")
    code, output = project.hook("fcompile-validate", "--all-files")
    assert code == 1, output
    assert "frameworks/train.yaml" in output
    assert "frameworks/copy of train.yaml" in output


def test_the_whole_repository_is_compared_with_one_changed_file(project: Project) -> None:
    shutil.copy(project.folder / "frameworks/train.yaml", project.folder / "frameworks/copy.yaml")
    git(project.folder, "add", "--all")
    assert project.hook("fcompile-validate")[0] == 0, "the hook for changed files sees only the copy"
    code, output = project.hook("fcompile-validate-all", "--hook-stage", "manual")
    assert code == 1, output
    assert re.search(rf"frameworks/(train|copy)\.yaml{POSITION}", output), output


def test_a_change_of_other_files_only(project: Project) -> None:
    project.replace("aws/stack.yaml", "-data", "-files")
    project.replace("broken/tab.yaml", "tab", "tabs")
    code, output = project.hook("fcompile-validate")
    assert code == 0, output


def test_a_change_of_nothing_that_the_hook_reads(project: Project) -> None:
    (project.folder / "README.md").write_text("# A project\n", "utf-8")
    git(project.folder, "add", "--all")
    code, output = project.hook("fcompile-validate")
    assert code == 0, output
    assert "Skipped" in output
