"""`fcompile.Framework` and its parts: they come to the same as a file that says the same, and refuse early what their types forbid."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, ValidationError

import fcompile
from fcompile import Framework, RetryPolicy, TaskRole, TaskSpec
from fcompile.check.objects import is_framework
from fcompile.declare import framework as declared
from fcompile.load import values
from tests.check.frameworks import framework, role
from tests.test_cli import good
from tests.test_python_api import BAD, GOOD, ROOT

POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36"}]}}


def train(**given: Any) -> Framework:
    return Framework(name="train", taskRoles=[TaskRole(name="worker", task=TaskSpec(pod=POD))], **given)


def read(path: Path) -> list[dict[str, Any]]:
    return [value for value in values(path.read_bytes()) if is_framework(value)]


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_they_come_to_the_same_as_their_files(path: Path) -> None:
    from_models = fcompile.compile(frameworks=map(Framework.model_validate, read(path)))
    from_file = fcompile.compile(path)
    assert from_models.problems == ()
    assert [one.digest for one in from_models.frameworks] == [one.digest for one in from_file.frameworks]
    assert from_models.expected("framework,expected") == from_file.expected("framework,expected")


def problems(given: Any) -> set[tuple[str, str]]:
    return {(problem.rule.code, problem.field) for problem in fcompile.compile(frameworks=[given]).problems}


def test_mistakes_are_told_as_those_of_files() -> None:
    """Or the model has refused them: what has another type, is out of bounds, or lacks what it needs."""
    told = refused = 0
    for path in BAD:
        try:
            found = read(path)
        except Exception:  # it cannot even be read
            continue
        for value in found:
            try:
                model = Framework.model_validate(value)
            except ValidationError:
                refused += 1
            else:
                told += 1
                assert problems(model) == problems(value), path
    assert told > 80
    assert refused < 15


def test_unknown_fields_are_kept_and_told() -> None:
    role = TaskRole.model_validate({"name": "worker", "taskNumbr": 2, "task": {"pod": POD, "x": 1}})
    made = Framework(name="train", taskRoles=[role], sepc={"a": None}, metadata_={})
    assert made.manifest()["sepc"] == {"a": None}
    assert {field for _, field in problems(made)} == {"sepc", "metadata_", "spec.taskRoles[0].taskNumbr", "spec.taskRoles[0].task.x"}


def test_a_null_stays_and_no_default_is_filled_in() -> None:
    made = train(executionType=None, retryPolicy=RetryPolicy(maxRetryCount=None))
    assert made.manifest()["spec"] == {
        "executionType": None,
        "retryPolicy": {"maxRetryCount": None},
        "taskRoles": [{"name": "worker", "task": {"pod": POD}}],
    }
    assert "podGraceful" not in repr(made)


def test_fields_given_directly_go_where_they_belong() -> None:
    text = good().replace("  namespace: default\n", "")
    (value,) = values(text.encode())
    spec = value["spec"]
    made = Framework(name="train", namespace="ml", labels={"a": "b"}, **spec)
    assert made.manifest() == {**value, "metadata": {"name": "train", "namespace": "ml", "labels": {"a": "b"}}}
    assert Framework(metadata=value["metadata"], spec=spec).manifest() == value
    # A manifest with a field in the wrong place has a mistake, which is told.
    misplaced = Framework.model_validate({**value, "taskRoles": []})
    assert ("FC101", "taskRoles") in problems(misplaced)
    with pytest.raises(ValidationError, match=r"metadata\.name"):
        Framework(taskRoles=[])


def test_the_signature_has_what_can_be_given() -> None:
    tree = ast.parse(Path(declared.__file__).read_text("utf-8"))
    (made,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    names = ["name", "namespace", "labels", "annotations", *declared.FrameworkSpec.model_fields, "metadata", "spec"]
    assert [argument.arg for argument in made.args.kwonlyargs] == names
    for name in names[1:-2]:
        given: dict[str, Any] = {"name": "a", name: None}
        manifest = Framework(**given).manifest()
        assert (name in manifest["metadata"]) is (name not in manifest["spec"])


@pytest.mark.parametrize(
    "given",
    [
        {"taskNumber": -1},
        {"taskNumber": 10_001},
        {"taskNumber": "4"},
        {"taskNumber": True},
        {"taskNumber": 1.5},
        {"frameworkAttemptCompletionPolicy": {"minFailedTaskCount": -2}},
        {"frameworkAttemptCompletionPolicy": {"minSucceededTaskCount": 2**31}},
        {"task": {"pod": POD, "retryPolicy": {"maxRetryCount": -3}}},
        {"task": {"pod": POD, "retryPolicy": {"fancyRetryPolicy": "true"}}},
        {"task": {"pod": []}},
        {"task": {}},
        {"service": {"ports": [{"port": 0}]}},
        {"service": {"ports": [{"port": 1, "targetPort": 65536}]}},
        {"service": {"ports": [{"port": 1, "protocol": "tcp"}]}},
        {"service": {"ports": [{"port": port} for port in range(1, 22)]}},
        {"name": None},
    ],
    ids=str,
)
def test_what_the_types_forbid_is_refused_at_once(given: dict[str, Any]) -> None:
    accepted = {"name": "worker", "task": {"pod": POD}}
    assert TaskRole.model_validate(accepted)
    with pytest.raises(ValidationError):
        TaskRole.model_validate(accepted | given)


def test_changes_count() -> None:
    made = train()
    assert made.spec.taskRoles
    made.spec.taskRoles[0].taskNumber = 3
    made.metadata.labels = {"a": "b"}
    made.spec.retryPolicy = RetryPolicy(maxRetryCount=-1)
    (compiled,) = fcompile.compile(frameworks=[made]).frameworks
    assert compiled.framework["spec"]["taskRoles"][0]["taskNumber"] == 3
    assert compiled.framework["metadata"]["labels"] == {"a": "b"}
    assert compiled.framework["spec"]["retryPolicy"] == {"fancyRetryPolicy": False, "maxRetryCount": -1}
    with pytest.raises(ValidationError):
        made.spec.taskRoles[0].taskNumber = -1
    assert made.spec.taskRoles[0].taskNumber == 3


def test_models_within_mappings_and_mappings_within_models() -> None:
    made = {**framework(), "spec": {"taskRoles": [TaskRole(name="worker", task=TaskSpec(pod=POD)), role("ps")]}}
    pods = fcompile.compile(frameworks=[made]).expected("pods", only=["worker[0]", "ps[0]"])
    assert [pod["metadata"]["name"] for pod in pods] == ["train-worker-0", "train-ps-0"]
    model = train()
    assert model.spec.taskRoles
    model.spec.taskRoles.append({"name": "ps", "task": {"pod": POD}})  # type: ignore[arg-type]
    assert len(fcompile.compile(frameworks=[model]).expected("pods")) == 2


def test_a_default_of_a_subclass_is_in_the_manifest() -> None:
    """Of a role with `taskNumber: int = 5`, one task was compiled."""

    class House(RetryPolicy):
        maxRetryCount: int | None = 3

    class Task(TaskSpec):
        retryPolicy: RetryPolicy | None = Field(default_factory=House)

    class Role(TaskRole):
        taskNumber: int | None = 5
        team: str = "vision"

    class Larger(Role):
        name: str = "worker"

    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}]}}
    manifest = Larger(task=Task(pod=pod)).manifest()
    assert manifest == {"name": "worker", "taskNumber": 5, "task": {"retryPolicy": {"maxRetryCount": 3}, "pod": pod}}
    assert Role.model_validate(manifest | {"taskNumber": 2}).manifest()["taskNumber"] == 2
    (made,) = fcompile.compile(frameworks=[Framework(name="a", taskRoles=[Larger(task=Task(pod=pod))])]).frameworks
    assert made.framework["spec"]["taskRoles"][0]["taskNumber"] == 5


def test_one_alone_is_no_list() -> None:
    with pytest.raises(TypeError, match="a list of one"):
        fcompile.compile(frameworks=train())  # type: ignore[arg-type]


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_without_pydantic_all_else_works() -> None:
    done = python("import sys; sys.modules['pydantic'] = None; import fcompile; fcompile.compile(text='').problems; fcompile.Framework")
    assert done.stderr.splitlines()[-1] == "ImportError: fcompile.Framework needs pydantic: install fcompile with its extra `models`"


@pytest.mark.parametrize(
    "code",
    [
        "from fcompile import *; compile(text='')",
        "import fcompile; help(fcompile)",
        "import inspect, fcompile as f; inspect.getmembers(f)",
    ],
)
def test_without_pydantic_what_asks_for_all_names_works(code: str) -> None:
    """`help(fcompile)` showed nothing, and whoever imported all names got none."""
    done = python(f"import sys; sys.modules['pydantic'] = None; {code}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "needs pydantic" not in done.stdout


def test_compiling_loads_no_pydantic() -> None:
    code = "import sys, fcompile; fcompile.compile('examples/batch.yaml').expected(); sys.exit('pydantic' in sys.modules)"
    assert python(code).returncode == 0


def test_metadata_and_its_fields_are_not_given_both() -> None:
    with pytest.raises(ValidationError, match=r"give `metadata` and `spec`, or their fields \(name\), not both"):
        Framework.model_validate({"metadata": {"name": "a"}, "spec": {}, "name": "b"})


def test_a_list_of_paths_is_to_be_unpacked() -> None:
    with pytest.raises(TypeError, match=r"write `compile\(\*paths\)`"):
        fcompile.compile(["train.yaml"])  # type: ignore[arg-type]


def test_a_misspelt_field_is_told_where_it_belongs() -> None:
    (found,) = fcompile.compile(frameworks=[train(executiontype="Stop")]).problems
    assert (found.field, found.message) == ("spec.executiontype", "`spec` has no field `executiontype`: did you mean `executionType`?")
