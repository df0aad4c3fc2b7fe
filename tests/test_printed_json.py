"""Every JSON that a command prints is what its model in `fcompile/declare` and its schema in `schemas/` say, and has no other fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
import jsonschema
import pytest
import yaml
from pydantic import BaseModel, RootModel

from fcompile.cli import main
from fcompile.convert.ledger import Outcome
from fcompile.declare.argocd import Announcements
from fcompile.declare.convert import Conversion, Field
from fcompile.declare.diagnostics import Diagnostics, Problem, Rules
from fcompile.declare.diff import Comparison, Effect
from fcompile.declare.explain import Explanation
from fcompile.diagnostics.problem import Severity
from fcompile.diff import json as diff_json
from fcompile.diff.effects import ORDER
from fcompile.diff.result import Result
from tests.argocd.server import inside
from tests.convert.operator import DATA as CONVERTED
from tests.diff.frameworks import framework, role, spec
from tests.diff.test_command import config, put
from tests.diff.test_live import live, stored
from tests.docs.blocks import blocks
from tests.test_cli import good
from tests.test_command_line import COMMANDS
from tools.schemas import FOLDER, PRINTED

Capture = pytest.CaptureFixture[str]
Model = TypeVar("Model", bound=BaseModel)
PRINTED_BY: dict[str, type[BaseModel] | None] = {
    "fcompile build": None,  # objects of Kubernetes
    "fcompile convert": Conversion,
    "fcompile diff": Comparison,
    "fcompile explain": Explanation,
    "fcompile rule": Rules,
    "fcompile validate": Diagnostics,
}
"""What each command with `--format json` prints."""


def checked(model: type[Model], printed: str) -> Model:
    """The document as its model; what the model does not declare fails the test."""
    (name,) = [name for name, one in PRINTED.items() if one is model]
    schema = json.loads((FOLDER / name).read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(printed))
    return model.model_validate_json(printed, extra="forbid")


def used(value: Any) -> Iterator[tuple[str, str]]:
    """The fields that are there: each with the model that it is a field of."""
    if isinstance(value, BaseModel):
        if not isinstance(value, RootModel):
            yield from ((type(value).__name__, name) for name in value.model_fields_set)
        for name in value.model_fields_set:
            yield from used(getattr(value, name))
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from used(item)


def declared(model: type[BaseModel]) -> set[tuple[str, str]]:
    """The fields that there can be."""
    schema = model.model_json_schema()
    types = {**schema.get("$defs", {}), **({} if issubclass(model, RootModel) else {model.__name__: schema})}
    return {(name, field) for name, one in types.items() for field in one["properties"]}


def test_every_command_with_json_has_a_model(repository: Path) -> None:
    found = {
        context.command_path
        for context in COMMANDS
        for param in context.command.params
        if param.name == "format" and isinstance(param.type, click.Choice) and "json" in param.type.choices
    }
    assert found == set(PRINTED_BY)
    page = (repository / "docs" / "json.md").read_text("utf-8")
    for command, model in PRINTED_BY.items():
        assert f"| `{command} --format json`" in page or f"| `{command}` as JSON |" in page
        assert model is None or model in PRINTED.values()


def test_validate(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    waived = tmp_path / "waived.yaml"
    waived.write_text(good().replace("    taskNumber", "    # fcompile: waive FC101: it is meant\n    taskNumbr"))
    examples = sorted(map(str, (repository / "examples" / "bad").iterdir()))
    assert main(["validate", "--format", "json", *examples, str(repository / "examples"), str(waived)]) == 1
    found = checked(Diagnostics, capsys.readouterr().out)
    assert len({problem.code for problem in found.problems}) > 100
    assert set(used(found)) == declared(Diagnostics)
    assert main(["validate", "--format", "json", str(tmp_path / "none.yaml")]) == 2
    assert capsys.readouterr().out == ""


def test_rule(capsys: Capture) -> None:
    assert main(["rule", "--all", "-o", "json"]) == 0
    assert set(used(checked(Rules, capsys.readouterr().out))) == declared(Rules)


def test_explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["echo", "{{FC_TASK_INDEX}}"]
    container = {"name": "main", "image": "a:1", "command": command, "resources": {"limits": {"cpu": 0.5}}}
    put("train.yaml", framework(spec(role(pod={"containers": [container]}, service={}), activeDeadlineSeconds=60)))
    assert main(["explain", "train-worker-1", "--format", "json", "--set", "worker.task.pod.spec.priorityClassName=high"]) == 0
    found = checked(Explanation, capsys.readouterr().out)
    assert {value.origin for value in found.values} == {"source", "placeholder", "override", "default", "controller"}
    assert set(used(found)) == declared(Explanation)


def test_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    asks = {"name": "main", "image": "a:1", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}
    old, new = role(count=3, retry=1), role(count=2, retry=1, pod={"containers": [{**asks, "image": "a:2"}]}, service={})
    put("old/a.yaml", framework(spec(old, role("ps"))), framework(spec(), "gone"), config(a="1"), config("gone"))
    put("new/a.yaml", framework(spec(new, role("more"), description="x")), framework(spec(), "more"), config(b="2"), config("more"))
    put("old/zero.yaml", framework(spec(role(frameworkAttemptCompletionPolicy={"minFailedTaskCount": 0})), "zero"))
    put("new/zero.yaml", framework(spec(role()), "zero"))
    put("old/refused.yaml", framework(spec(executionType="Stop"), "refused"))
    put("new/refused.yaml", framework(spec(), "refused"))
    assert main(["diff", "--format", "json", "old", "new"]) == 1
    found = checked(Comparison, capsys.readouterr().out)
    assert {one.kind for one in found.frameworks} == {one.change for one in found.objects} == {"added", "removed", "changed"}
    assert {pods.what for one in found.frameworks for change in one.changes for pods in change.pods} == {"created", "deleted", "kept"}
    assert {change.part for one in found.frameworks for change in one.changes} == {"framework", "role", "pod", "service"}
    of_live = {(model, name) for model, name in declared(Comparison) if model.startswith("Live")}
    assert set(used(found)) >= declared(Comparison) - of_live


def test_the_example_on_the_page_of_diff(repository: Path) -> None:
    (block,) = [block for block in blocks(repository / "docs" / "diff.md") if block.language == "yaml" and block.section == "Formats"]
    assert checked(Comparison, json.dumps(yaml.safe_load(block.text))).frameworks[0].changes[0].note


def test_diff_live() -> None:
    extra, changed = stored(0), stored(1)
    extra["metadata"]["name"] = "train-worker-7"
    changed["spec"]["containers"][0]["image"] = "a:2"
    some = live([stored(0), changed, extra])
    finished = {"state": "Completed", "attemptStatus": {"completionStatus": {"code": 0, "phrase": "Succeeded"}}}
    status = {"state": "AttemptRunning", "attemptStatus": {"id": 2, "taskRoleStatuses": [{"name": "worker", "taskStatuses": [finished]}]}}
    none = live([], status)._replace(services=(("train-worker", some.pods[1].differences),))
    found = checked(Comparison, "".join(diff_json.write(Result((), (), (some, none)))))
    assert {pods.kind for one in found.live for pods in one.pods} == {"as-expected", "differ", "finished", "missing", "unexpected"}
    assert set(used(found)) >= {(model, name) for model, name in declared(Comparison) if model.startswith("Live")}


def test_the_words_are_those_that_there_are() -> None:
    assert get_args(Field.model_fields["outcome"].annotation) == tuple(outcome.name.lower() for outcome in Outcome)
    assert get_args(Effect) == tuple(effect.value for effect in ORDER)
    assert get_args(Problem.model_fields["severity"].annotation) == tuple(severity.value for severity in Severity)


def test_convert(tmp_path: Path, capsys: Capture) -> None:
    job = (CONVERTED / "jobs" / "pytorch-everything.yaml").read_text("utf-8")
    (tmp_path / "job.yaml").write_text(job, "utf-8")
    (tmp_path / "job2.yaml").write_text(job.replace("name: bert-large\n", "generateName: zürich\n", 1), "utf-8")
    (tmp_path / "broken.yaml").write_text("a: [", "utf-8")
    assert main(["convert", "--format", "json", "--to", str(tmp_path / "out"), str(tmp_path)]) == 1
    streams = capsys.readouterr()
    assert (streams.out, streams.err.isascii()) == ("", True)
    found = checked(Conversion, streams.err)
    assert set(used(found)) == declared(Conversion)
    assert [len(found.objects), len(found.unreadable)] == [2, 1]
    assert {field.outcome for one in found.objects for field in one.fields} == {"converted", "dropped", "different"}
    assert all(bool(field.remedy) == (field.outcome == "different") for one in found.objects for field in one.fields)


def test_parameters(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text((repository / "examples" / "pytorch-ddp.yaml").read_text("utf-8"))
    answer = inside("parameters", tmp_path, {"ARGOCD_APP_NAME": "lab", "ARGOCD_APP_SOURCE_PATH": "lab", "PATH": "/nonexistent"})
    assert set(used(checked(Announcements, answer.out))) == declared(Announcements)


def test_the_page_names_every_schema(repository: Path) -> None:
    text = (repository / "docs" / "json.md").read_text("utf-8")
    assert {path.name for path in FOLDER.glob("*.schema.json")} == {*PRINTED, "framework.schema.json"}
    for path in FOLDER.glob("*.schema.json"):
        assert f"(../schemas/{path.name})" in text
