"""What is told of problems: as results for programs, on stderr for people, with the line of the user's own file where it is known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.krm.conftest import Call
from tests.krm.lists import FRAMEWORK, OTHER, at, listed

MISSPELT = FRAMEWORK.replace("image:", "imago:")
WRONG = FRAMEWORK.replace("taskNumber: 3", 'taskNumber: "3"')
WARNED = FRAMEWORK.replace("          restartPolicy: Never\n", "")
SOURCE = "# by hand\n" + WRONG.replace("  - name: worker", "  - # the role\n    name: worker")
REFERENCE = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "name": "train", "namespace": "research"}


def origin(text: str, written: str) -> str:
    """The Framework as kustomize annotates it."""
    return text.replace("metadata:\n", f"metadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      {written}\n", 1)


def only(results: list[Any]) -> Any:
    (result,) = results
    return result


def test_a_result_has_all_that_the_specification_names(krm: Call, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(OTHER + "---\n" + SOURCE)
    answer = krm(listed(OTHER, at("x.yaml", 1, WRONG)))
    assert answer.code == 1
    assert only(answer.results) == {
        "message": "`taskNumber` must be a whole number, not the string `3`: write it without quotes",
        "severity": "error",
        "resourceRef": REFERENCE,
        "field": {"path": "spec.taskRoles[0].taskNumber", "currentValue": "3", "proposedValue": 3},
        "file": {"path": "x.yaml", "index": 1},
        "tags": {"code": "FC111", "rule": "wrong-type", "line": "24", "column": "17", "fix": "write 3"},
    }
    assert answer.said.startswith("x.yaml:24:17: error[FC111]")
    assert "field: spec.taskRoles[0].taskNumber of Framework research/train" in answer.said


def test_a_line_is_told_only_where_it_is_certain(krm: Call, tmp_path: Path) -> None:
    """Of a file that is not there, or is another one by now, nothing is known but its name."""
    for text in (None, SOURCE.replace('"3"', '"4"'), SOURCE.replace("Framework", "Other"), SOURCE.replace("worker", "ps"), "a: ["):
        if text is not None:
            (tmp_path / "x.yaml").write_text(text)
        answer = krm(listed(at("x.yaml", 0, WRONG)))
        result = only(answer.results)
        assert result["file"] == {"path": "x.yaml", "index": 0}
        assert "line" not in result["tags"]
        assert answer.said.startswith("<stdin> (x.yaml):15:19: error[FC111]")


def test_a_field_that_is_lacking_is_at_what_lacks_it(krm: Call, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("# by hand\n\n" + WARNED)
    result = only(krm(listed(at("x.yaml", 0, WARNED))).results)
    assert result["field"]["path"].startswith("spec.taskRoles[0].task.pod.spec")
    assert (tmp_path / "x.yaml").read_text().splitlines()[int(result["tags"]["line"]) - 1] == "        spec:"


def test_kustomize_names_a_file_and_no_index(krm: Call, tmp_path: Path) -> None:
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "x.yaml").write_text(OTHER + "---\n" + SOURCE)
    result = only(krm(listed(origin(WRONG, "path: base/x.yaml"))).results)
    assert (result["file"], result["tags"]["line"]) == ({"path": "base/x.yaml"}, "24")
    (folder / "x.yaml").write_text(SOURCE + "---\n" + SOURCE)
    assert "line" not in only(krm(listed(origin(WRONG, "path: base/x.yaml"))).results)["tags"]


def test_kustomize_may_have_renamed_it(krm: Call, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(SOURCE)
    assert only(krm(listed(origin(WRONG.replace("name: train", "name: trainb"), "path: x.yaml"))).results)["tags"]["line"] == "11"
    (tmp_path / "x.yaml").write_text(SOURCE + "---\n" + SOURCE.replace("name: train", "name: other"))
    assert "line" not in only(krm(listed(origin(WRONG.replace("name: train", "name: trainb"), "path: x.yaml"))).results)["tags"]


@pytest.mark.parametrize("written", ["repo: https://example.com/r\n      path: x.yaml", "[", "configuredIn: x.yaml", "a"])
def test_what_is_not_a_file_here_is_not_told_as_one(krm: Call, tmp_path: Path, written: str) -> None:
    (tmp_path / "x.yaml").write_text(SOURCE)
    answer = krm(listed(origin(WRONG, written)))
    assert "file" not in only(answer.results)
    assert answer.said.startswith("<stdin>:1")


def test_no_file_is_waited_for(krm: Call, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in ("pipe.yaml", ".", "/dev/zero", "a\\0b", "../" * 40 + "dev/stdin"):
        result = only(krm(listed(at(path, 0, WRONG))).results)
        assert "line" not in result["tags"]


@pytest.mark.parametrize("path", ["../victim/x.yaml", "{}/victim/x.yaml", "link.yaml", "linked/x.yaml", ".git/x.yaml"])
def test_no_line_of_a_file_outside_of_the_repository_is_told(krm: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Whoever writes an annotation may name any file: its line, with all that stands beside the value, went into the log of CI."""
    repository = tmp_path / "repository"
    for folder in (tmp_path / "victim", repository / ".git"):
        folder.mkdir(parents=True)
        (folder / "x.yaml").write_text(SOURCE.replace('taskNumber: "3"', 'taskNumber: "3" # a password'))
    (repository / "link.yaml").symlink_to(tmp_path / "victim" / "x.yaml")
    (repository / "linked").symlink_to(tmp_path / "victim")
    monkeypatch.chdir(repository)
    answer = krm(listed(at(path.format(tmp_path), 0, WRONG)))
    assert "line" not in only(answer.results)["tags"]
    assert "password" not in answer.said


def test_a_package_elsewhere_is_told_of_without_its_text(krm: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kpt names the folder of a package in an annotation, as others can, and calls the function wherever kpt was called."""
    for folder in ("repository", "package"):
        (tmp_path / folder).mkdir()
    (tmp_path / "package" / "x.yaml").write_text(SOURCE.replace('taskNumber: "3"', 'taskNumber: "3" # a password'))
    (tmp_path / "x.yaml").symlink_to(tmp_path / "package" / "x.yaml")
    monkeypatch.chdir(tmp_path / "repository")
    package = f"    internal.config.kubernetes.io/package-path: {tmp_path}/package\n    internal"
    for path, kptfile, told in (("x.yaml", False, False), ("x.yaml", True, True), ("../x.yaml", True, True), ("../y.yaml", True, False)):
        if kptfile:
            (tmp_path / "package" / "Kptfile").touch()
        answer = krm(listed(at(path, 0, WRONG).replace("    internal", package, 1)))
        assert ("line" in only(answer.results)["tags"]) == told
        assert "password" not in answer.said


def test_a_line_of_another_folder_of_the_repository_is_told(krm: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An overlay of kustomize has its base beside it."""
    for folder in (".git", "base", "overlay"):
        (tmp_path / folder).mkdir()
    (tmp_path / "base" / "x.yaml").write_text(SOURCE)
    monkeypatch.chdir(tmp_path / "overlay")
    assert only(krm(listed(origin(WRONG, "path: ../base/x.yaml"))).results)["tags"]["line"] == "11"


def test_a_renamed_field_has_no_proposed_value(krm: Call) -> None:
    """It would be a value of the field that there must not be."""
    result = only(krm(listed(FRAMEWORK.replace("  taskRoles", "  executiontype: Start\n  taskRoles"))).results)
    assert result["field"] == {"path": "spec.executiontype", "currentValue": "Start"}
    assert "file" not in result


def test_warnings_are_no_reason_to_fail(krm: Call) -> None:
    answer = krm(listed(WARNED))
    assert answer.code == 0
    assert {result["severity"] for result in answer.results} == {"warning"}
    assert "executionType" in answer.value["items"][0]["spec"]
    strict = krm(listed(WARNED, config='strict: "true"'))
    assert (strict.code, strict.results) == (1, answer.results)
    assert "executionType" not in strict.value["items"][0]["spec"]


def test_the_same_framework_twice(krm: Call) -> None:
    answer = krm(listed(at("x.yaml"), OTHER, at("y.yaml")))
    result = only(answer.results)
    assert (result["tags"]["code"], result["tags"]["see"]) == ("FC501", "items[0] from x.yaml: the first one")
    assert result["file"]["path"] == "y.yaml"


def test_what_nearly_is_a_framework(krm: Call) -> None:
    result = only(krm(listed(FRAMEWORK.replace("kind: Framework", "kind: framework"))).results)
    assert result["resourceRef"]["kind"] == "framework"
    assert result["field"]["path"] == "kind"


def test_waivers_hold_in_comments_and_in_the_file(krm: Call, tmp_path: Path) -> None:
    (code,) = {result["tags"]["code"] for result in krm(listed(WARNED)).results}
    comment = f"# fcompile: waive {code}: it serves\n        "
    assert krm(listed(WARNED.replace("  spec:\n          c", f"  {comment}spec:\n          c"))).results == []
    unused = FRAMEWORK.replace("  spec:\n          r", f"  {comment}spec:\n          r")
    (tmp_path / "x.yaml").write_text("# by hand\n" + unused)
    answer = krm(listed(at("x.yaml", 0, unused)))
    result = only(answer.results)
    assert (result["tags"]["code"], result["tags"]["line"], result["resourceRef"]) == ("FC905", "13", REFERENCE)
    assert answer.said.startswith("x.yaml:13:")
    (tmp_path / ".fcompile-waivers.yaml").write_text(f"- code: {code}\n  framework: research/train\n  reason: it serves\n")
    assert krm(listed(WARNED)).results == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: train", "name: LONG"),
        ("namespace: research", "namespace: LONG"),
        ("metadata:", "metadata:\n  annotations: {internal.config.kubernetes.io/path: LONG}"),
        ("metadata:", "metadata:\n  annotations: {config.kubernetes.io/origin: 'path: LONG'}"),
        ("image: busybox", "image: busybox\n            imagePullPolicy: LONG"),
    ],
)
def test_what_is_long_does_not_stand_at_each_problem(krm: Call, old: str, new: str) -> None:
    """With a name of some megabytes and a thousand problems, the list took all memory."""
    text = FRAMEWORK.replace(old, new.replace("LONG", "x" * 100_000), 1).replace("  taskRoles:", f"  zz: 1{chr(10)}  taskRoles:", 1)
    many = "".join(f"  zz{number}: 1\n" for number in range(50))
    answer = krm(listed(text + many))
    assert answer.code == 1
    assert len(answer.results) > 50
    assert len(str(answer.results)) < 150_000


def test_what_is_wrong_in_the_waivers_file(krm: Call, tmp_path: Path) -> None:
    (tmp_path / ".fcompile-waivers.yaml").write_text("- code: FC999\n  reason: it serves\n")
    result = only(krm(listed(FRAMEWORK)).results)
    assert (result["file"], result["tags"]["line"]) == ({"path": ".fcompile-waivers.yaml"}, "1")
    assert "resourceRef" not in result


def test_without_a_name(krm: Call) -> None:
    for result in krm(listed(FRAMEWORK.replace("  name: train\n", ""))).results:
        assert result["resourceRef"] == {**REFERENCE, "name": ""}


@pytest.mark.parametrize(
    ("config", "key", "says"),
    [
        ('strickt: "true"', "strickt", "did you mean `strict`?"),
        ("anything: a", "anything", "there are kubernetes-version, namespace, set, strict"),
        ("strict: true", "strict", "in quotes"),
        ("kubernetes-version: 1.30", "kubernetes-version", "in quotes"),
        ('kubernetes-version: "1.3"', "kubernetes-version", "known are 1.25 to 1.37"),
        ('strict: "yes"', "strict", 'write "true" or "false"'),
        ("namespace: A_b", "namespace", "lower-case"),
        ("set: worker", "set", "role.field=value"),
        ("worker.taskNumber: many", '["worker.taskNumber"]', "a whole number"),
        ('ps.taskNumber: "1"', '["ps.taskNumber"]', "functionConfig: ps.taskNumber=1: no such role; there are: train/worker"),
        ('worker.taskNumbr: "1"', '["worker.taskNumbr"]', "did you mean `taskNumber`"),
        ("set: ps.taskNumber=1", "set", "functionConfig: ps.taskNumber=1: no such role"),
    ],
)
def test_what_cannot_be_done_is_a_result_and_the_items_stay(krm: Call, config: str, key: str, says: str) -> None:
    text = listed(FRAMEWORK, config=config)
    answer = krm(text)
    assert answer.code == 1
    assert answer.out.startswith(text)
    result = only(answer.results)
    assert says in result["message"]
    assert says in answer.said
    assert result["severity"] == "error"
    assert result["field"]["path"] == (f"data{key}" if key.startswith("[") else f"data.{key}")
    assert result["resourceRef"] == {"apiVersion": "v1", "kind": "ConfigMap", "name": "fcompile"}


def test_of_two_overrides_of_a_field_the_last_one_holds(krm: Call) -> None:
    config = 'set: "worker.taskNumber=5\\nworker.taskNumber=6\\nworker.taskNumber=5"'
    answer = krm(listed(FRAMEWORK, config=config))
    assert answer.code == 0, answer.said
    assert "taskNumber: 5\n" in answer.out


@pytest.mark.parametrize("config", ["functionConfig: a\n", "functionConfig: {spec: {}}\n", "functionConfig: {data: a}\n"])
def test_a_config_of_another_form(krm: Call, config: str) -> None:
    answer = krm(listed(FRAMEWORK) + config)
    assert (answer.code, len(answer.results)) == (1, 1)
    assert answer.said.startswith("fcompile: functionConfig: ")


def test_settings_do_what_the_options_of_build_do(krm: Call) -> None:
    config = (
        "namespace: lab\nworker.taskNumber: '5'\nset: |\n  worker.task.pod.spec.containers[main].workingDir=/a=b\n\n  worker.taskNumber=4"
    )
    (item,) = krm(listed(FRAMEWORK.replace("  namespace: research\n", ""), config=config)).value["items"]
    (role,) = item["spec"]["taskRoles"]
    assert item["metadata"]["namespace"] == "lab"
    assert (role["taskNumber"], role["task"]["pod"]["spec"]["containers"][0]["workingDir"]) == (5, "/a=b")
    assert "using `default`" in krm(listed(FRAMEWORK.replace("  namespace: research\n", ""))).said


def test_settings_that_make_a_framework_wrong_leave_the_items_as_they_were(krm: Call) -> None:
    text = listed(FRAMEWORK, config="worker.task.pod.spec.restartPolicy: Often")
    answer = krm(text)
    assert (answer.code, answer.out[: len(text)]) == (1, text)
    assert only(answer.results)["field"]["currentValue"] == "Often"
