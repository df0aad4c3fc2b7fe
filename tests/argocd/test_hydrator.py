"""Rendered manifests in Git: Argo CD's source hydrator calls the plugin, and its commit server writes what it has printed to a branch.

tests/argocd/hydrated/wet was written by `writeManifests` of Argo CD 3.5's commit server, with the writer of YAML that it uses (yaml.v3).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fcompile.cli import main
from fcompile.load import values
from tests.docs.project import Project

DATA = Path(__file__).with_name("hydrated")
Capture = pytest.CaptureFixture[str]


def generate(folder: Path, path: str, **variables: str) -> bytes:
    """What the plugin prints for an application, called as by the hydrator: no version of a cluster is told."""
    environment = {
        "PATH": os.environ["PATH"],
        "ARGOCD_APP_NAMESPACE": "lab",
        "ARGOCD_APP_SOURCE_PATH": path,
        "KUBE_VERSION": "",
        **variables,
    }
    command = [sys.executable, "-P", "-m", "fcompile", "argocd", "generate"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_what_is_written_is_what_was_compiled(capsys: Capture) -> None:
    """Whatever yaml.v3 quotes, or does not."""
    assert values((DATA / "wet" / "manifest.yaml").read_bytes()) == values(generate(DATA / "dry", "dry"))
    assert main(["diff", str(DATA / "dry"), str(DATA / "wet")]) == 0
    assert capsys.readouterr().out == "No differences in what will run.\n"


def test_the_branch_is_compiled_again_and_stays_as_it_is() -> None:
    """An Application without a tool is given to the plugin there too, since the folder holds a Framework."""
    assert values(generate(DATA / "wet", "wet")) == values(generate(DATA / "dry", "dry"))


def test_the_same_bytes_whenever_and_wherever(tmp_path: Path) -> None:
    """The hydrator makes a commit for each difference."""
    pin = '[{"name": "kubernetes-version", "string": "1.36"}]'
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(DATA / "dry", tmp_path / "elsewhere" / "app")
    calls = [
        {},
        {"KUBE_VERSION": "v1.30.2", "KUBE_API_VERSIONS": "v1,apps/v1"},
        {"KUBE_VERSION": "1.36.0", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.UTF-8"},
        {"ARGOCD_APP_NAME": "another", "ARGOCD_APP_REVISION": "f" * 40, "HOME": "/nowhere"},
    ]
    made = {generate(tmp_path / "elsewhere" / "app", "elsewhere/app", ARGOCD_APP_PARAMETERS=pin, **variables) for variables in calls}
    assert made == {generate(DATA / "dry", "dry", ARGOCD_APP_PARAMETERS=pin)}


def test_a_version_that_is_pinned_is_what_counts(tmp_path: Path) -> None:
    """What the plugin checks for must not change with the plugin's default."""
    newer = (
        (DATA / "dry" / "train.yaml")
        .read_text("utf-8")
        .replace("restartPolicy: Never", "restartPolicy: Never\n          hostnameOverride: a")
    )
    (tmp_path / "train.yaml").write_text(newer)
    environment = {**os.environ, "ARGOCD_APP_NAMESPACE": "lab", "KUBE_VERSION": ""}
    command = [sys.executable, "-P", "-m", "fcompile", "argocd", "generate"]
    for version, code in (("1.30", 1), ("1.36", 0)):
        pin = f'[{{"name": "kubernetes-version", "string": "{version}"}}]'
        done = subprocess.run(
            command, cwd=tmp_path, env={**environment, "ARGOCD_APP_PARAMETERS": pin}, capture_output=True, timeout=60, check=False
        )
        assert done.returncode == code, done.stderr.decode()


def test_a_branch_is_reviewed_by_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Beside what the commit server adds, which is no manifest."""
    project = Project(tmp_path / "repository")
    project.git("checkout", "-q", "--orphan", "environments/prod")
    project.git("rm", "-rfq", ".")
    hydrated = (DATA / "wet" / "manifest.yaml").read_text("utf-8")
    project.put("apps/train/manifest.yaml", hydrated)
    project.put("apps/train/hydrator.metadata", '{"drySha": "1"}\n')
    project.put("apps/train/README.md", "# Manifest Hydration\n")
    project.commit()
    project.git("checkout", "-q", "-b", "environments/prod-next")
    project.put("apps/train/manifest.yaml", hydrated.replace("taskNumber: 3", "taskNumber: 5"))
    project.put("apps/train/hydrator.metadata", '{"drySha": "2"}\n')
    project.commit()
    monkeypatch.chdir(project.folder)
    assert main(["diff", "--git", "environments/prod...environments/prod-next", "--format", "markdown"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("### 1 Framework differs")
    assert "taskNumber` | `3` | `5` |" in out
    assert "hydrator" not in out
