"""`fcompile argocd parameters`: what is announced can be sent back as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fcompile.model.names import API_VERSION
from tests.argocd.server import environment, inside

APP = {"ARGOCD_APP_NAME": "lab", "ARGOCD_APP_REVISION": "0123", "ARGOCD_APP_SOURCE_PATH": "lab", "PATH": "/nonexistent"}
FIELDS = {"name", "title", "tooltip", "required", "itemType", "collectionType", "string", "array", "map"}


def announced(folder: Path) -> list[dict[str, Any]]:
    """With no more than Argo CD gives to this command."""
    answer = inside("parameters", folder, APP)
    assert answer.code == 0
    found: list[dict[str, Any]] = json.loads(answer.out)
    assert [one for one in found if set(one) - FIELDS or one["collectionType"] not in one] == []
    assert len({one["name"] for one in found}) == len(found)
    return found


def test_what_is_announced_is_taken_back(repository: Path, tmp_path: Path) -> None:
    for name in ("pytorch-ddp.yaml", "spot.yaml"):
        (tmp_path / name).write_text((repository / "examples" / name).read_text())
    found = announced(tmp_path)
    values = {one["name"]: one["string"] for one in found if "string" in one}
    assert values["resnetddp/worker.taskNumber"] == "4"
    assert values["resnetddp/worker.task.pod.spec.containers[pytorch].image"] == "registry.example.com/vision/resnet:2.5.1-cuda12.4"
    assert values['resnetddp/worker.task.pod.spec.containers[pytorch].resources.limits["nvidia.com/gpu"]'] == "8"
    before = inside("generate", tmp_path, environment("lab"))
    sent = [{"name": one["name"], one["collectionType"]: one[one["collectionType"]]} for one in found]
    after = inside("generate", tmp_path, environment("lab", sent))
    assert after == before
    assert before.code == 0


def test_the_values_that_are_sent_back_count(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text((repository / "examples" / "pytorch-ddp.yaml").read_text())
    name = 'resnetddp/worker.task.pod.spec.containers[pytorch].resources.limits["nvidia.com/gpu"]'
    request = name.replace("limits", "requests")
    answer = inside("generate", tmp_path, environment("lab", [{"name": one, "string": "4"} for one in (name, request)]))
    resources = answer.objects[0]["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["resources"]
    assert resources["limits"]["nvidia.com/gpu"] == "4"


def test_what_is_wrong_with_an_application_does_not_hide_the_rest(tmp_path: Path) -> None:
    general = announced(tmp_path_with(tmp_path, "empty", "a: 1\n"))
    assert {one["name"] for one in general} >= {"pods", "pods-per-role", "set"}
    for text in ("a: [", "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nspec: {taskRoles: [1, {name: a, task: 7}]}\n"):
        assert announced(tmp_path_with(tmp_path, str(len(text)), text)) == general
    (tmp_path / "empty" / "Chart.yaml").write_text("name: a\n")
    assert announced(tmp_path / "empty") == general


def test_a_form_has_an_end(tmp_path: Path) -> None:
    role = "{name: r%d, task: {pod: {spec: {containers: [{name: a, image: b}]}}}}"
    roles = ", ".join(role % number for number in range(400))
    framework = (
        f"apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nmetadata: {{name: a}}\nspec: {{taskRoles: [{roles}]}}\n"
    )
    assert len(announced(tmp_path_with(tmp_path, "large", framework))) < 520


@pytest.mark.parametrize(
    ("place", "left"), [("framework", 0), ("role", 0), ("container", 1), ("resource", 2), ("image", 100), ("amount", 2)]
)
def test_a_form_has_no_field_that_nobody_could_fill_in(tmp_path: Path, place: str, left: int) -> None:
    """A container's name of some megabytes was announced with each of its resources: that took all memory of the sidecar."""
    words = dict.fromkeys(("framework", "role", "container", "resource", "image", "amount"), "a") | {place: "b" * 50_000}
    limits = {f"{words['resource']}{number}": words["amount"] for number in range(99)}
    container = {"name": words["container"], "image": words["image"], "resources": {"limits": limits}}
    role = {"name": words["role"], "taskNumber": 1, "task": {"pod": {"spec": {"containers": [container]}}}}
    framework = {"apiVersion": API_VERSION, "kind": "Framework", "metadata": {"name": words["framework"]}, "spec": {"taskRoles": [role]}}
    found = announced(tmp_path_with(tmp_path, "large", json.dumps(framework)))
    assert len(found) - len(announced(tmp_path_with(tmp_path, "none", "a: 1\n"))) == left
    assert len(json.dumps(found)) < 100_000


def test_what_is_no_text_or_number_is_no_value_of_a_form(tmp_path: Path) -> None:
    values = '{"taskNumber": [[1]], "name": "a", "task": {"pod": {"spec": {"containers": [{"name": "a", "image": {"a": 1}}]}}}}'
    text = f'{{"apiVersion": "{API_VERSION}", "kind": "Framework", "metadata": {{"name": "f"}}, "spec": {{"taskRoles": [{values}]}}}}'
    assert announced(tmp_path_with(tmp_path, "odd", text)) == announced(tmp_path_with(tmp_path, "none", "a: 1\n"))


def tmp_path_with(folder: Path, name: str, text: str) -> Path:
    made = folder / name
    made.mkdir()
    (made / "a.yaml").write_text(text)
    return made
