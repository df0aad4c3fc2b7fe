"""The recipe for GitLab CI of docs/ci.md: valid, and each of its scripts does what the page says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree

from tests.docs import blocks
from tests.docs.gitlab import ME, Lab, run, serving
from tests.docs.project import BROKEN, MORE_WORKERS, Project, fits_schema
from tests.test_cli import good

MARK = "<!-- fcompile diff -->\n"
OTHERS: list[dict[str, Any]] = [
    {"id": 1, "author": {"id": 7}, "body": f"{MARK}nothing to see here"},
    {"id": 2, "author": {"id": ME}, "body": "coverage: 80%"},
]


@pytest.fixture
def text(repository: Path) -> str:
    return blocks.file(repository / "docs" / "ci.md", ".gitlab-ci.yml")


@pytest.fixture
def recipe(text: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(text)
    return read


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "repository")
    made.program("pip", "import sys; print('pip', *sys.argv[1:])")
    return made


@pytest.fixture
def lab() -> Iterator[Lab]:
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    with serving(list(OTHERS)) as made:
        yield made
        assert made.notes[:2] == OTHERS, "the notes of others have been touched"


def test_it_is_a_pipeline(text: str, tmp_path: Path) -> None:
    fits_schema("vendor.gitlab-ci", tmp_path / ".gitlab-ci.yml", text)


def test_problems_are_in_the_log_and_in_the_report(project: Project, recipe: dict[str, Any], lab: Lab) -> None:
    project.change({"jobs/train.yaml": BROKEN})
    done = run(project, recipe, "frameworks", lab)
    assert done.returncode == 1
    assert "\n./jobs/train.yaml:14:13: error[FC101]" in done.stdout
    report = etree.parse(project.folder.parent / "workspace" / recipe["frameworks"]["artifacts"]["reports"]["junit"])
    assert report.xpath("string(//failure/@type)") == "FC101"


def test_a_repository_without_problems_passes(project: Project, recipe: dict[str, Any], lab: Lab) -> None:
    project.change({"jobs/train.yaml": MORE_WORKERS})
    done = run(project, recipe, "frameworks", lab)
    assert done.returncode == 0, done.stdout
    assert "pip install git+https://" in done.stdout


def test_a_bug_is_not_taken_for_a_finding(project: Project, recipe: dict[str, Any], lab: Lab) -> None:
    project.change({})
    project.program("fcompile", "raise SystemExit('--format' in __import__('sys').argv and 3)")
    assert run(project, recipe, "frameworks", lab).returncode != 0


def test_one_note_that_is_kept_up_to_date(project: Project, recipe: dict[str, Any], lab: Lab) -> None:
    said = []
    for files in (
        {"README.md": "# All jobs\n"},
        {"jobs/train.yaml": MORE_WORKERS},
        {"jobs/train.yaml": MORE_WORKERS.replace("5", "6")},
        {"jobs/train.yaml": BROKEN},
        {"jobs/train.yaml": good()},
    ):
        project.change(files)
        done = run(project, recipe, "frameworks-diff", lab)
        assert done.returncode == 0, done.stdout
        said.append([note["body"] for note in lab.notes[len(OTHERS) :]])
    assert said[0] == []
    assert all(len(notes) == 1 and notes[0].startswith(MARK) for notes in said[1:])
    assert "taskNumber` | `3` | `5` |" in said[1][0]
    assert "taskNumber` | `3` | `6` |" in said[2][0]
    assert "cannot be said" in said[3][0]
    assert said[4] == [f"{MARK}### No differences in what will run.\n"]


@pytest.mark.parametrize("on_result", [False, True], ids=["branch", "merged result"])
def test_what_the_other_branch_got_meanwhile_is_no_part_of_the_change(
    project: Project, recipe: dict[str, Any], lab: Lab, on_result: bool
) -> None:
    project.change({"jobs/train.yaml": MORE_WORKERS})
    run(project, recipe, "frameworks-diff", lab, on_result)
    assert lab.notes[-1]["body"].startswith(f"{MARK}### 1 Framework differs")
    assert "other" not in lab.notes[-1]["body"]


def test_without_a_token_there_is_no_note(project: Project, recipe: dict[str, Any], lab: Lab) -> None:
    project.change({"jobs/train.yaml": MORE_WORKERS})
    done = run(project, recipe, "frameworks-diff", lab, token="")
    assert done.returncode == 0
    assert "### 1 Framework differs" in done.stdout
    assert len(lab.notes) == len(OTHERS)


def test_a_token_that_is_not_valid_fails_the_job(project: Project, recipe: dict[str, Any], lab: Lab) -> None:
    project.change({"jobs/train.yaml": MORE_WORKERS})
    done = run(project, recipe, "frameworks-diff", lab, token="old")
    assert done.returncode != 0
    assert "404" in done.stdout
    assert len(lab.notes) == len(OTHERS)


def test_hostile_names_do_nothing(project: Project, recipe: dict[str, Any], lab: Lab) -> None:
    name = "$(touch pwned)`touch pwned`;touch pwned"
    project.change({f"jobs/{name} &body=x.yaml": good("a").replace("image: busybox", f'image: busybox\n            args: ["{name}"]')})
    for job in ("frameworks", "frameworks-diff"):
        assert run(project, recipe, job, lab).returncode == 0
    assert not list(project.folder.parent.rglob("pwned"))
    assert "pwned" in lab.notes[-1]["body"]
