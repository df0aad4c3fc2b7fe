"""Frameworks in lists: those that kubectl reads are checked and built, and those that it does not are no Frameworks passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fcompile
from fcompile.cli import main

GROUP = "frameworkcontroller.microsoft.com"
BARE = {
    "metadata": {"name": "train", "namespace": "ml"},
    "spec": {
        "taskRoles": [{"name": "w", "task": {"pod": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "a:1"}]}}}}]
    },
}
FRAMEWORK = {"apiVersion": f"{GROUP}/v1", "kind": "Framework", **BARE}


def listed(*items: object, kind: str = "List", version: str = "v1") -> dict[str, object]:
    return {"apiVersion": version, "kind": kind, "items": list(items)}


def problems(value: object) -> list[tuple[str, str]]:
    return [(one.rule.code, one.field) for one in fcompile.compile(text=json.dumps(value)).problems]


def test_items_have_the_kind_of_their_list_where_they_name_none() -> None:
    """So does kubectl read it. They were passed over, and `build` left them out."""
    listing = listed(BARE, kind="FrameworkList", version=f"{GROUP}/v1")
    (compiled,) = fcompile.compile(text=json.dumps(listing), overrides=["w.taskNumber=3"]).frameworks
    assert compiled.framework["spec"]["taskRoles"][0]["taskNumber"] == 3
    assert compiled.digest == fcompile.compile(frameworks=[FRAMEWORK]).frameworks[0].digest
    assert problems(listed({**BARE, "apiVersion": "", "kind": None}, kind="FrameworkList", version=f"{GROUP}/v2")) == [
        ("FC141", "items[0].apiVersion")
    ]
    assert problems(listed(BARE, kind="FrameworkList")) == [("FC163", "items[0].apiVersion")]
    assert problems(listed(BARE)) == []


def test_objects_of_other_kinds_have_it_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`build` left out the ConfigMaps of a ConfigMapList."""
    path = tmp_path / "all.json"
    path.write_text(json.dumps(listed({"metadata": {"name": "a"}, "data": {"b": "c"}}, kind="ConfigMapList")))
    assert main(["build", "--format", "json", str(path)]) == 2, "there is no Framework"
    path.write_text(path.read_text() + json.dumps(FRAMEWORK))
    assert main(["build", "--format", "json", str(path)]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["items"][0] == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "c"}}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (listed(listed(FRAMEWORK)), "items[0].items[0]"),
        (listed({"kind": "ConfigMap"}, listed(listed(FRAMEWORK))), "items[1].items[0].items[0]"),
        (listed(listed(BARE, kind="FrameworkList", version=f"{GROUP}/v1")), "items[0].items[0]"),
        (listed(FRAMEWORK, kind="list"), "items[0]"),
        ({"items": [FRAMEWORK]}, "items[0]"),
        ({**listed(FRAMEWORK, kind="ConfigMap"), "metadata": {"name": "c"}}, "items[0]"),
        (listed(listed(FRAMEWORK, kind="ConfigMap")), "items[0].items[0]"),
        ([{"a": 1}, FRAMEWORK, FRAMEWORK], "[1]"),
        ([{**FRAMEWORK, "kind": "framework"}], "[0]"),
        ({"apiVersion": "v1", "kind": "List", "items": FRAMEWORK}, "items"),
        ({"apiVersion": "v1", "kind": "List", "item": [FRAMEWORK]}, "item[0]"),
        ({"apiVersion": "v1", "kind": "FrameworkList", "frameworks": [FRAMEWORK]}, "frameworks[0]"),
    ],
)
def test_a_framework_that_is_in_no_list_of_kubectls(value: object, field: str) -> None:
    """`validate` said nothing, and `build` passed the inner list through: what nobody had checked was applied."""
    assert problems(value) == [("FC164", field)]


def test_each_list_is_told_once_and_what_is_in_it_is_checked() -> None:
    wrong = {**FRAMEWORK, "metadata": {"name": "a-b"}}
    assert problems(listed(listed(FRAMEWORK, wrong), listed({**FRAMEWORK, "kind": "framework"}))) == [
        ("FC151", "items[0].items[1].metadata.name"),
        ("FC163", "items[1].items[0].kind"),
        ("FC164", "items[0].items[0]"),
        ("FC164", "items[1].items[0]"),
    ]


def test_what_build_makes_of_lists_in_lists_is_the_same_the_next_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each time a list was taken away."""
    path = tmp_path / "all.json"
    path.write_text(json.dumps(listed(listed(listed({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})), FRAMEWORK)))
    assert main(["build", str(path)]) == 0
    path.write_text(first := capsys.readouterr().out)
    assert first.startswith("---\napiVersion: v1\nkind: ConfigMap\n")
    assert main(["build", str(path)]) == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize(
    "value",
    [
        listed(listed({"apiVersion": "v1", "kind": "ConfigMap"}), FRAMEWORK),
        {"apiVersion": "example.com/v1", "kind": "Menu", "items": [{"name": GROUP}, FRAMEWORK["spec"], None, 5]},
        {"apiVersion": "example.com/v1", "kind": "Menu", "spec": {"items": [FRAMEWORK]}},
        listed(None, 5, [FRAMEWORK]),
        [{"name": "a", "manifest": FRAMEWORK}],
        {"apiVersion": "example.com/v1", "kind": "Menu", "items": FRAMEWORK},
        {"apiVersion": "example.com/v1", "kind": "Menu", "item": [FRAMEWORK]},
    ],
)
def test_what_is_none(value: object) -> None:
    assert problems(value) == []
