"""Runs a workflow's jobs as GitHub's runner does: contexts, conditions, environment, shell. `uses` is noted down, and a checkout made."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from tests.docs.project import Project

Json = dict[str, Any]
TOKEN = "a-token"


class Ran(NamedTuple):
    """What became of a job."""

    ok: bool
    #: What its steps printed.
    said: str
    #: `uses` of the steps that were run, with what is said after `with`.
    used: list[tuple[str, Json]]
    #: What is shown on the page of the run.
    summary: str


class Runner:
    """The event, and the jobs of one workflow."""

    def __init__(self, project: Project, workflow: Json, event: str, fork: bool) -> None:
        self.project, self.workflow = project, workflow
        self.workspace = project.folder.parent / "workspace"
        repository = {"full_name": "lab/jobs"}
        about = {"number": 7, "pull_request": {"head": {"repo": {"full_name": "else/jobs"} if fork else repository, "sha": project.head}}}
        body = {"repository": repository, **(about if event == "pull_request" else {})}
        self.github: Json = {"event_name": event, "event": body, "repository": "lab/jobs", "token": TOKEN}

    def run(self, name: str) -> Ran | None:
        """A job in a new workspace; None when its condition says no."""
        job = self.workflow["jobs"][name]
        steps: Json = {}
        if not self.true(job.get("if"), steps):
            return None
        shutil.rmtree(self.workspace, ignore_errors=True)
        self.workspace.mkdir()
        summary = self.project.folder.parent / "summary"
        summary.write_text("")
        said, used, ok = "", [], True
        for step in job["steps"]:
            if not ok or not self.true(step.get("if"), steps):
                continue
            if "uses" in step:
                used.append((step["uses"], step.get("with", {})))
                self.use(step)
            else:
                done = self.script(step, steps, summary)
                said += done.stdout
                ok = done.returncode == 0
        return Ran(ok, said, used, summary.read_text())

    def use(self, step: Json) -> None:
        """Only a checkout does something here."""
        if step["uses"].startswith("actions/checkout@"):
            commit = self.project.merged if self.github["event_name"] == "pull_request" else self.project.main
            self.project.checkout(self.workspace, commit, step["with"].get("fetch-depth", 1))

    def script(self, step: Json, steps: Json, summary: Path) -> subprocess.CompletedProcess[str]:
        """A step's `run`, with the shell that is GitHub's default."""
        base = self.project.folder.parent
        (base / "event.json").write_text(json.dumps(self.github["event"]))
        (base / "script.sh").write_text(step["run"])
        (base / "output").write_text("")
        given = {"GITHUB_OUTPUT": base / "output", "GITHUB_STEP_SUMMARY": summary, "GITHUB_EVENT_PATH": base / "event.json"}
        environment = self.project.environment(
            **{name: str(path) for name, path in given.items()},
            **{name: self.filled(value, steps) for name, value in {**self.workflow.get("env", {}), **step.get("env", {})}.items()},
            CI="true",
            GITHUB_ACTIONS="true",
            GITHUB_EVENT_NAME=self.github["event_name"],
            GITHUB_REPOSITORY=self.github["repository"],
            GITHUB_BASE_REF="main",
            GITHUB_WORKSPACE=str(self.workspace),
        )
        command = ["bash", "-e", str(base / "script.sh")]
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        outputs = dict(line.split("=", 1) for line in (base / "output").read_text().splitlines())
        steps[step.get("id", "")] = {"outputs": outputs}
        return done

    def filled(self, text: str, steps: Json) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: str(self.value(found[1], steps)), text)

    def true(self, condition: str | None, steps: Json) -> bool:
        return condition is None or bool(self.value(condition, steps))

    def value(self, expression: str, steps: Json) -> Any:
        """Of an expression with nothing in it but contexts, texts, ==, || and &&."""
        python = re.sub(r"'[^']*'|[a-z_]+(?:\.[a-z_]+)+", lambda found: repr(self.looked_up(found[0], steps)), expression)
        return eval(python.replace("||", " or ").replace("&&", " and "), {"__builtins__": {}})

    def looked_up(self, text: str, steps: Json) -> Any:
        """What GitHub has there; nothing is the empty text."""
        if text.startswith("'"):
            return text[1:-1]
        value: Any = {"github": self.github, "steps": steps}
        for key in text.split("."):
            value = value.get(key, "") if isinstance(value, dict) else ""
        return value
