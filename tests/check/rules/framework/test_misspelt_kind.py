"""Objects that are nearly Frameworks: what is meant to be one is an error with its fix, what is another's passes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import laws

GROUP = "frameworkcontroller.microsoft.com"
ROLES = "spec: {taskRoles: []}\n"
OURS = f"apiVersion: {GROUP}/v1"


def found(text: str) -> list[tuple[str, str]]:
    """The code and the fix of each problem."""
    outcome = laws.run(["validate", "--format", "json", "-"], text.encode())
    return [(one["code"], one["fix"]["text"] if one.get("fix") else "") for one in json.loads(outcome.out)["problems"]]


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        (f"{OURS}\nkind: framework\n", ["Framework"]),
        (f"{OURS}\nkind: Job\n", ["Framework"]),
        (f"{OURS}\nKind: Framework\n", ["kind"]),
        (f"{OURS}\nKind: framework\n", ["Framework"]),
        (f"{OURS}\n{ROLES}", [""]),
        ("apiVersion: frameworkcontroler.microsoft.com/v1\nkind: Framework\n", [f"{GROUP}/v1"]),
        ("apiVersion: FrameworkController.microsoft.com/v1\nkind: Framework\n", [f"{GROUP}/v1"]),
        ("apiVersion: framworkcontroler.microsft.com/v1\nkind: Job\n", [f"{GROUP}/v1", "Framework"]),
        (f"apiVersion: v1\nkind: Framework\n{ROLES}", [f"{GROUP}/v1"]),
        (f"apiVersion: batch/v1\nkind: Framework\n{ROLES}", [f"{GROUP}/v1"]),
        (f"apiVersion: framework.example.com/v1\nkind: Framework\n{ROLES}", [f"{GROUP}/v1"]),
        (f"apiVersion: 1\nkind: Framework\n{ROLES}", [f"{GROUP}/v1"]),
        (f"apiVersion: v1\nkind: FRAMEWORK\n{ROLES}", [f"{GROUP}/v1", "Framework"]),
        (f"kind: Framework\n{ROLES}", [""]),
        (f"apiversion: {GROUP}/v1\nkind: Framework\n", ["apiVersion"]),
        (f"apiversion: {GROUP}/v1\nkind: Framework\n{ROLES}", ["apiVersion"]),
        (f"api_version: {GROUP}/v1\nkind: Framework\n{ROLES}", ["apiVersion"]),
        (f"apiVersion: {GROUP}/v1\nkinds: Framework\n{ROLES}", ["kind"]),
        (f"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Framework\n  {ROLES}", [f"{GROUP}/v1"]),
    ],
)
def test_what_is_meant_to_be_one(text: str, fixes: list[str]) -> None:
    assert found(text) == [("FC163", fix) for fix in fixes]


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: framework.example.com/v1\nkind: Framework\nspec: {runtime: x}\n",
        "apiVersion: v1\nkind: Framework\n",
        "apiVersion: example.com/v1\nkind: Job\nspec: {taskRoles: []}\n",
        'apiVersion: "{{ .Values.version }}"\nkind: Framework\nspec: {taskRoles: []}\n',
        "apiVersion: ${VERSION}\nkind: Framework\nspec: {taskRoles: []}\n",
        f'apiVersion: {GROUP}/v1\nkind: "{{{{ .Values.kind }}}}"\n',
        "apiVersion: apps.microsoft.com/v1\nkind: Deployment\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {kind: framework, controller: x}\n",
        "- kind: Framework\n",
        "Framework\n",
    ],
)
def test_what_is_another_kind(text: str) -> None:
    assert found(text) == []


def test_templates_and_what_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    near = "apiVersion: FrameworkController.microsoft.com/v1\nkind: Job\n"
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("name: x\n")
    (chart / "templates" / "a.yaml").write_text(near)
    (tmp_path / "b.yaml").write_text("apiVersion: FrameworkController.example.com/v1\nkind: Framework\na: [\n")
    outcome = laws.run(["validate", str(tmp_path)], b"")
    assert outcome.code == 0
    assert outcome.err == (
        f"fcompile: skipped {chart}/templates/a.yaml: a template of a Helm chart: render it first, with `helm template`\n"
    )
    (tmp_path / "c.yaml").write_text(near)
    assert laws.run(["validate", str(tmp_path)], b"").code == 1


def test_a_framework_can_be_required(repository: Path) -> None:
    config = b"apiVersion: v1\nkind: ConfigMap\n"
    assert laws.run(["validate", "-"], config).code == 0
    for format in ("text", "json", "sarif", "junit", "github"):
        outcome = laws.run(["validate", "--require", "--format", format, "-"], config)
        assert outcome.code == 1
        assert "fcompile: --require: there is no Framework in the input\n" in outcome.err
    assert laws.run(["validate", "--require", str(repository / "examples" / "hello.yaml")], b"").code == 0
