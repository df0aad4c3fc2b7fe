"""The recipe for GitHub Actions of docs/ci.md: valid, careful, and each of its scripts does what the page says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.argocd.tools import tool
from tests.diagnostics import schemas
from tests.docs import blocks
from tests.docs.github import Ran, Runner
from tests.docs.project import BROKEN, MORE_WORKERS, Project, fits_schema
from tests.test_cli import good

NAME = ".github/workflows/frameworks.yaml"
GH = """\
import json, os, sys, jq

assert os.environ["GH_TOKEN"] == "a-token" and sys.argv[1] == "api"
words, options, flags = sys.argv[2:], {}, set()
path = None
while words:
    word = words.pop(0)
    if word in ("--method", "--jq", "-F"):
        options[word] = words.pop(0)
    elif word.startswith("-"):
        flags.add(word)
    else:
        path = word
with open(STORE) as store:
    comments = json.load(store)
if "-F" not in options:
    assert path == "repos/lab/jobs/issues/7/comments" and "--paginate" in flags
    for found in jq.compile(options["--jq"]).input_value(comments):
        print(json.dumps(found))
    sys.exit()
name, _, file = options["-F"].partition("=@")
assert name == "body"
with open(file) as body:
    text = body.read()
if options.get("--method", "POST") == "PATCH":
    (comment,) = [one for one in comments if path == f"repos/lab/jobs/issues/comments/{one['id']}"]
    comment["body"] = text
else:
    assert path == "repos/lab/jobs/issues/7/comments"
    comments.append({"id": len(comments) + 1, "user": {"login": "github-actions[bot]"}, "body": text})
with open(STORE, "w") as store:
    json.dump(comments, store)
"""
OTHERS = [
    {"id": 1, "user": {"login": "mallory"}, "body": "<!-- fcompile diff -->\nnothing to see here"},
    {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "coverage: 80%"},
]


@pytest.fixture
def recipe(repository: Path) -> str:
    return blocks.file(repository / "docs" / "ci.md", NAME)


@pytest.fixture
def workflow(recipe: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.load(recipe, yaml.BaseLoader)
    for job in read["jobs"].values():
        for step in job["steps"]:
            if "fetch-depth" in step.get("with", {}):
                step["with"]["fetch-depth"] = int(step["with"]["fetch-depth"])
    return read


class Hub:
    """GitHub, with a pull request on which others have commented already."""

    def __init__(self, folder: Path, workflow: dict[str, Any]) -> None:
        self.project, self.workflow, self.store = Project(folder / "repository"), workflow, folder / "comments.json"
        self.store.write_text(json.dumps(OTHERS))
        self.project.program("gh", GH.replace("STORE", repr(str(self.store))))
        self.project.program("pip", "import sys; print('pip', *sys.argv[1:])")

    def run(self, job: str, files: dict[str, str] | None = None, event: str = "pull_request", fork: bool = False) -> Ran | None:
        self.project.change(files or {"jobs/train.yaml": MORE_WORKERS})
        return Runner(self.project, self.workflow, event, fork).run(job)

    def comments(self) -> list[str]:
        """Those beside the ones that were there, which nobody has touched."""
        stored = json.loads(self.store.read_text())
        assert stored[: len(OTHERS)] == OTHERS
        return [comment["body"] for comment in stored[len(OTHERS) :]]


@pytest.fixture
def hub(tmp_path: Path, workflow: dict[str, Any]) -> Hub:
    return Hub(tmp_path, workflow)


def test_it_is_a_workflow(recipe: str, tmp_path: Path) -> None:
    fits_schema("vendor.github-workflows", tmp_path / "frameworks.yaml", recipe)


def test_actionlint_finds_nothing(recipe: str, tmp_path: Path) -> None:
    done = subprocess.run([tool("actionlint"), "-"], input=recipe, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_it_is_careful(workflow: dict[str, Any]) -> None:
    """No text of a pull request gets into a script, no stranger gets a token that writes, and each job may do no more than it does."""
    assert set(workflow["on"]) == {"push", "pull_request"}
    assert workflow["permissions"] == {"contents": "read"}
    rights = {name: {what for what, how in job["permissions"].items() if how == "write"} for name, job in workflow["jobs"].items()}
    assert rights == {"validate": {"security-events"}, "diff": {"pull-requests"}}
    for job in workflow["jobs"].values():
        steps = job["steps"]
        assert not [step for step in steps if "${{" in step.get("run", "")]
        (checkout,) = [place for place, step in enumerate(steps) if step.get("uses", "").startswith("actions/checkout@")]
        assert steps[checkout]["with"]["persist-credentials"] == "false"
        assert next(place for place, step in enumerate(steps) if step.get("run", "").startswith("pip ")) < checkout


def test_problems_are_annotated_and_reported(hub: Hub) -> None:
    ran = hub.run("validate", {"jobs/train.yaml": BROKEN})
    assert ran
    assert not ran.ok
    assert re.search(r"^pip install git\+https://", ran.said, re.MULTILINE)
    assert re.search(r"^::error file=jobs/train\.yaml,line=14,.*title=FC101 ", ran.said, re.MULTILINE)
    (given,) = [given for action, given in ran.used if action.startswith("github/codeql-action/upload-sarif@")]
    report = json.loads((hub.project.folder.parent / "workspace" / given["sarif_file"]).read_text("utf-8"))
    assert not list(schemas.sarif().iter_errors(report))
    (result,) = report["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "jobs/train.yaml"


@pytest.mark.parametrize(
    ("event", "fork", "uploaded"), [("push", False, True), ("pull_request", False, True), ("pull_request", True, False)]
)
def test_a_repository_without_problems_passes(hub: Hub, event: str, fork: bool, uploaded: bool) -> None:
    ran = hub.run("validate", event=event, fork=fork)
    assert ran
    assert ran.ok, ran.said
    assert any("upload-sarif" in action for action, _ in ran.used) is uploaded


def test_a_bug_is_not_taken_for_a_finding(hub: Hub) -> None:
    hub.project.program("fcompile", "raise SystemExit(3)")
    ran = hub.run("validate")
    assert ran
    assert not ran.ok
    assert not any("upload-sarif" in action for action, _ in ran.used)


def test_one_comment_that_is_kept_up_to_date(hub: Hub) -> None:
    nothing = hub.run("diff", {"README.md": "# All jobs\n"})
    assert nothing
    assert nothing.ok, nothing.said
    assert hub.comments() == []
    first = hub.run("diff")
    assert first
    assert first.ok, first.said
    (comment,) = hub.comments()
    assert comment.startswith("<!-- fcompile diff -->\n### 1 Framework differs")
    assert "taskNumber` | `3` | `5` |" in comment
    assert "other" not in comment, "what main got meanwhile is no part of the change"
    assert comment.endswith(first.summary)
    hub.run("diff", {"jobs/train.yaml": MORE_WORKERS.replace("5", "6")})
    (comment,) = hub.comments()
    assert "taskNumber` | `3` | `6` |" in comment
    hub.run("diff", {"jobs/train.yaml": good()})
    assert hub.comments() == ["<!-- fcompile diff -->\n### No differences in what will run.\n"]


def test_no_second_comment_when_the_first_cannot_be_looked_for(hub: Hub) -> None:
    hub.run("diff")
    assert len(hub.comments()) == 1
    hub.project.program("gh", "import sys\nif '--jq' in sys.argv: sys.exit('HTTP 502')\n" + GH.replace("STORE", repr(str(hub.store))))
    ran = hub.run("diff", {"jobs/train.yaml": BROKEN})
    assert ran
    assert not ran.ok
    assert "HTTP 502" in ran.said
    assert len(hub.comments()) == 1


def test_a_change_that_does_not_compile(hub: Hub) -> None:
    ran = hub.run("diff", {"jobs/train.yaml": BROKEN})
    assert ran
    assert ran.ok
    assert "jobs/train.yaml:14:13: error[FC101]" in ran.said
    (comment,) = hub.comments()
    assert "cannot be said" in comment


def test_a_fork_gets_the_summary_alone(hub: Hub) -> None:
    ran = hub.run("diff", fork=True)
    assert ran
    assert ran.ok
    assert "### 1 Framework differs" in ran.summary
    assert hub.comments() == []


def test_a_push_has_nothing_to_compare_with(hub: Hub) -> None:
    assert hub.run("diff", event="push") is None


def test_hostile_names_do_nothing(hub: Hub) -> None:
    """Files and Frameworks can be called what they like."""
    name = "$(touch pwned)`touch pwned`;touch pwned"
    hostile = good().replace("image: busybox", f'image: busybox\n            args: ["{name}"]')
    for job in ("validate", "diff"):
        ran = hub.run(
            job, {f"jobs/{name} ::error::x.yaml": hostile.replace("train", "a"), "jobs/\n::error::y.yaml": BROKEN.replace("train", "b")}
        )
        assert ran
        assert not list(hub.project.folder.parent.rglob("pwned"))
        assert "\n::error::" not in ran.said
