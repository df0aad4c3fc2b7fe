"""`fcompile.compile`: what the commands say and make, as values, and nothing besides."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import pytest

import fcompile
from fcompile.cli import main
from fcompile.emit.json import canonical
from fcompile.load import values
from fcompile.model import names
from fcompile.pipeline.compiled import _CONTAINER_BYTES, Compiled
from tests.check.frameworks import framework, role
from tests.test_cli import good

ROOT = Path(__file__).resolve().parents[1]
GOOD = sorted(path for path in (ROOT / "examples").rglob("*.yaml") if not {"bad", "kubeflow"} & set(path.parts))
BAD = sorted(path for path in (ROOT / "examples" / "bad").rglob("*") if path.is_file())
Capture = pytest.CaptureFixture[str]
WAIVED = "# fcompile: waive FC101: it is meant\n"


def misspelt() -> str:
    return good().replace("taskNumber", "taskNumbr")


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_it_makes_what_build_prints(path: Path, capsys: Capture) -> None:
    compilation = fcompile.compile(path)
    assert compilation.problems == ()
    assert capsys.readouterr() == ("", "")
    for kinds, made in (
        ("framework", [one.framework for one in compilation.frameworks]),
        ("expected", compilation.expected()),
        ("services", compilation.expected("services")),
    ):
        assert main(["build", "--emit", kinds, str(path)]) == 0
        assert [value for value in values(capsys.readouterr().out.encode()) if kinds != "framework" or value["kind"] == "Framework"] == made
    digests = [one.framework["metadata"]["annotations"][names.DIGEST_ANNOTATION] for one in compilation.frameworks]
    assert [one.digest for one in compilation.frameworks] == digests


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_it_finds_what_validate_finds(path: Path, capsys: Capture) -> None:
    compilation = fcompile.compile(str(path))
    assert capsys.readouterr() == ("", "")
    main(["validate", "--format", "json", str(path)])
    said = json.loads(capsys.readouterr().out)["problems"]
    assert [(one.rule.code, one.severity.value, one.span.line, one.span.column, one.message) for one in compilation.problems] == [
        (one["code"], one["severity"], one["line"], one["column"], one["message"]) for one in said
    ]
    if any(problem.severity is fcompile.Severity.ERROR for problem in compilation.problems):
        for ask in (lambda: compilation.frameworks, compilation.expected):
            with pytest.raises(fcompile.CompileError) as refused:
                ask()
            assert refused.value.problems == tuple(one for one in compilation.problems if one.severity is fcompile.Severity.ERROR)
            assert str(refused.value).startswith(str(refused.value.problems[0]))


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_mappings_come_to_the_same_as_their_files(path: Path) -> None:
    read = [value for value in values(path.read_bytes()) if value.get("kind") == "Framework"]
    from_values, from_file = fcompile.compile(frameworks=read), fcompile.compile(path)
    assert [one.digest for one in from_values.frameworks] == [one.digest for one in from_file.frameworks]
    assert from_values.expected() == from_file.expected()


def test_a_text_is_a_str_or_bytes() -> None:
    digests = {fcompile.compile(text=text).frameworks[0].digest for text in (good(), good().encode(), "\ufeff" + good())}
    assert len(digests) == 1
    assert fcompile.compile(text="").problems == ()
    (broken,) = fcompile.compile(text="a: \ud800").problems
    assert broken.severity is fcompile.Severity.ERROR


def test_other_types_in_mappings() -> None:
    class Text(str):
        __slots__ = ()

    (made,) = fcompile.compile(frameworks=(UserDict(one) for one in [framework(role(), name=Text("train"))])).frameworks
    assert made.name == "train"
    assert type(made.framework["metadata"]["name"]) is str
    for value, says in (
        ([{**framework(role()), "spec": {"x": Decimal(1)}}], r"frameworks\[0\]: `spec.x` is of the type Decimal"),
        ([{**framework(role()), "metadata": {1: "x"}}], "`metadata` has a key that is not a string"),
        ([{1: "x"}], r"frameworks\[0\]: it has a key that is not a string"),
        ([{"kind": "Pod", "apiVersion": "v1"}], r"frameworks\[0\] is not a Framework"),
        (framework(role()), "a list of one"),
    ):
        with pytest.raises(TypeError, match=says):
            fcompile.compile(frameworks=value)  # type: ignore[arg-type]


def test_members_of_enums_are_what_they_hold() -> None:
    class Mode(str, Enum):  # noqa: UP042 -- a StrEnum is its value for `str()` too.
        TRAIN = "train"
        FIELD = "description"

    class Count(IntEnum):
        FEW = 3

    spec = {**framework(role())["spec"], Mode.FIELD: Mode.TRAIN, "activeDeadlineSeconds": Count.FEW}
    (made,) = fcompile.compile(frameworks=[{**framework(role()), "spec": spec}]).frameworks
    assert made.framework["spec"]["description"] == "train"
    assert made.framework["spec"]["activeDeadlineSeconds"] == 3


def test_problems_of_mappings_have_places() -> None:
    wrong = {**framework(role()), "sepc": {}}
    (problem,) = fcompile.compile(frameworks=[framework(role(), name="a"), wrong]).problems
    assert (problem.file, problem.rule.code, problem.field) == ("frameworks[1]", "FC101", "sepc")
    assert problem.source_line.startswith("sepc:")
    (twice,) = fcompile.compile(frameworks=[framework(role())] * 2).problems
    assert (twice.rule.code, twice.file, twice.related[0].file) == ("FC501", "frameworks[1]", "frameworks[0]")


@pytest.mark.parametrize("arguments", [{}, {"text": "", "frameworks": []}], ids=lambda arguments: ",".join(arguments) or "none")
def test_the_input_is_never_guessed(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="exactly one of them"):
        fcompile.compile(**arguments)
    with pytest.raises(TypeError, match="exactly one of them"):
        fcompile.compile("a.yaml", text="")


def test_what_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = fcompile.compile(tmp_path / "no.yaml").problems
    assert problem.severity is fcompile.Severity.ERROR
    assert "there is no file or folder" in problem.message


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        ({"namespace": "A"}, "namespace"),
        ({"kubernetes_version": "1.3"}, "kubernetes-version"),
        ({"overrides": ["x"]}, "override"),
        ({"overrides": ["nobody.taskNumber=3"]}, "override"),
    ],
)
def test_settings_that_cannot_be_meant(arguments: dict[str, Any], setting: str) -> None:
    with pytest.raises(fcompile.SettingError) as refused:
        fcompile.compile(text=good(), **arguments)
    assert refused.value.setting == setting
    assert str(refused.value).startswith(f"{setting} {refused.value.value}: ")
    assert "--" not in str(refused.value)


def test_settings_that_can() -> None:
    text = good().replace("  namespace: default\n", "")
    compilation = fcompile.compile(text=text, namespace="ml", overrides=["worker.taskNumber=-1"])
    (problem,) = compilation.problems
    assert problem.message.startswith("override worker.taskNumber=-1: ")
    (made,) = fcompile.compile(text=text, namespace="ml", overrides=["worker.taskNumber=3"], kubernetes_version="v1.30.2").frameworks
    assert made.framework["spec"]["taskRoles"][0]["taskNumber"] == 3


def test_what_is_wanted_of_the_objects() -> None:
    compilation = fcompile.compile(text=good(), overrides=["worker.taskNumber=3"])
    (pod,) = compilation.expected("pods", only=["train/worker[2]"])
    assert pod["metadata"]["name"] == "train-worker-2"
    for kinds, only, says in (
        ("pod", (), "kinds pod: "),
        ("pods", ["worker[3]"], "only: role `worker` has 3 tasks"),
        ("pods", ["a/b/c"], "only a/b/c: "),
    ):
        with pytest.raises(fcompile.SettingError, match=says):
            compilation.expected(kinds, only=only)


def test_no_waivers_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".fcompile-waivers.yaml").write_text("[{code: FC101, reason: it is meant}]\n")
    monkeypatch.chdir(tmp_path)
    assert [problem.rule.code for problem in fcompile.compile(text=misspelt()).problems] == ["FC101"]
    named = fcompile.compile(text=misspelt(), waivers=tmp_path / ".fcompile-waivers.yaml")
    assert named.problems == ()
    assert [(one.problem.rule.code, one.reason) for one in named.waived] == [("FC101", "it is meant")]
    assert named.frameworks
    in_a_comment = fcompile.compile(text=misspelt().replace("    taskNumbr", f"    {WAIVED}    taskNumbr"))
    assert (in_a_comment.problems, len(in_a_comment.waived)) == ((), 1)
    with pytest.raises(FileNotFoundError):
        fcompile.compile(text=good(), waivers="no.yaml")


def test_what_lacks_what_it_is_made_from_is_refused_whoever_asks() -> None:
    (unit,) = fcompile.compile(text=good().replace("name: worker", "name: null")).units()
    with pytest.raises(fcompile.CompileError) as refused:
        unit.compiled()
    assert str(refused.value) == "<text>:1: without `spec.taskRoles[0].name` nothing can be built; no waiver helps"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("name: train", f"name: {'t' * 254}", "`metadata.name` has 254 characters, and no object's name has more than 253"),
        ("name: train", f"name: train, namespace: {'n' * 254}", "`metadata.namespace` has 254 characters"),
        ("name: worker", f"name: {'w' * 254}", "`spec.taskRoles[0].name` has 254 characters"),
        ("containers:\n", f"initContainers: [{'{}, ' * 13_981}]\n          containers:\n", "it has 13,982 containers, and no intent holds"),
    ],
)
def test_what_would_take_all_memory_is_refused_whoever_asks(old: str, new: str, says: str) -> None:
    """Names go into each container. With 20,000 roles, a name of megabytes took all memory of Argo CD's sidecar, once it was waived."""
    (unit,) = fcompile.compile(text=good("train").replace(old, new, 1)).units()
    with pytest.raises(fcompile.CompileError, match=f"^{re.escape(f'<text>:1: {says}')}.*; no waiver helps$"):
        unit.compiled()


def test_no_more_containers_are_compiled_than_an_intent_can_hold() -> None:
    sizes = []
    for containers in ("{name: a}", "{name: a}, {name: b}"):
        text = good().replace("containers:\n", f"initContainers: [{containers}]\n          containers:\n")
        (unit,) = fcompile.compile(text=text).units()
        compiled = unit.compiled()
        assert isinstance(compiled, Compiled)
        sizes.append(len(canonical(compiled.intent.document())))
    assert sizes[1] - sizes[0] >= _CONTAINER_BYTES


def test_what_is_passed_over_is_named(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("patches:\n- path: patch.yaml\n")
    (tmp_path / "patch.yaml").write_text(good())
    compilation = fcompile.compile(tmp_path)
    assert (compilation.problems, compilation.frameworks) == ((), ())
    assert list(compilation.skipped) == [str(tmp_path / "patch.yaml")]


def test_what_was_made_is_the_callers_own() -> None:
    compilation = fcompile.compile(text=good())
    before = compilation.expected()
    (made,) = compilation.frameworks
    made.framework["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"].clear()
    before[-1]["spec"].clear()
    assert compilation.expected()[-1]["spec"]["containers"]


def test_the_process_stays_as_it_is() -> None:
    settings = gc.get_threshold(), gc.isenabled(), gc.get_freeze_count(), os.getcwd(), dict(os.environ)
    fcompile.compile(text=good()).expected()
    assert (gc.get_threshold(), gc.isenabled(), gc.get_freeze_count(), os.getcwd(), dict(os.environ)) == settings


def test_a_problem_prints_harmlessly() -> None:
    (problem, *_) = fcompile.compile(text=good().replace("taskNumber", '"\\e]0;x\\a"')).problems
    assert "\x1b" not in str(problem)
    assert "\x1b" in problem.message or "\x1b" not in repr(str(problem))


def test_the_first_call_needs_no_other_import(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(good())
    script = "import fcompile; print(fcompile.compile('train.yaml').frameworks[0].name)"
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "train\n", "")


def _within_itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf"), 10**5000, _within_itself()], ids=range(5))
def test_what_has_no_form_in_a_manifest_is_a_type_error(value: Any) -> None:
    framework = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "a"}, "spec": value}
    with pytest.raises(TypeError, match=r"frameworks\[0\]: "):
        fcompile.compile(frameworks=[framework])


EVIL = "\x1b]0;a\x07\u202e\r\n::error::b"
NO_PATHS = ["a\0b", "a\ud800b", f"{EVIL}\udfff"]


@pytest.mark.parametrize("path", NO_PATHS, ids=range(3))
def test_what_can_be_no_path(path: str) -> None:
    (problem,) = fcompile.compile(path).problems
    assert problem.rule.code == "FC031"
    assert "no NUL character, and no half of a surrogate pair" in str(problem)
    with pytest.raises(OSError, match="no NUL character, and no half of a surrogate pair"):
        fcompile.compile(text=good(), waivers=path)


def test_a_path_in_bytes(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(good())
    (made,) = fcompile.compile(os.fsencode(tmp_path / "train.yaml")).frameworks  # type: ignore[arg-type]
    assert made.name == "train"


@pytest.mark.parametrize("path", ["a" * 5_000, "a/" * 5_000, "", "."], ids=["a long name", "a long path", "nothing", "a folder"])
def test_paths_that_cannot_be_opened(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (problem,) = fcompile.compile(path).problems
    assert problem.severity is fcompile.Severity.ERROR
    with pytest.raises(OSError, match=r"\[Errno "):
        fcompile.compile(text=good(), waivers=path)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fcompile.compile(text=good(), namespace=EVIL),
        lambda: fcompile.compile(text=good(), kubernetes_version=EVIL),
        lambda: fcompile.compile(text=good(), overrides=[EVIL]),
        lambda: fcompile.compile(text=good(), overrides=[f"{EVIL}.taskNumber=1"]),
        lambda: fcompile.compile(text=good(), overrides=[f'worker.task.pod.metadata.labels["{EVIL}"].x=1']),
        lambda: fcompile.compile(text=good(), overrides=[f"worker.taskNumber={EVIL}"]),
        lambda: fcompile.compile(text=good(), waivers=EVIL),
        lambda: fcompile.compile(text=good()).expected(EVIL),
        lambda: fcompile.compile(text=good()).expected("pods", only=[EVIL]),
        lambda: fcompile.compile(text=good()).expected("pods", only=["\x1b[31m"]),
        lambda: fcompile.compile(text=good().replace("taskNumber", json.dumps(EVIL))).frameworks,
        lambda: fcompile.compile(frameworks=[{**framework(role()), EVIL: object()}]),
        lambda: fcompile.compile(frameworks=[{**framework(role()), EVIL: {1: 2}}]),
        lambda: fcompile.compile(frameworks=[{**framework(role()), "kind": EVIL}]),
    ],
)
def test_no_exception_prints_what_acts_on_a_terminal(call: Callable[[], object]) -> None:
    with pytest.raises((TypeError, fcompile.SettingError, fcompile.CompileError, OSError)) as refused:
        call()
    lines = str(refused.value).split("\n") if refused.type is fcompile.CompileError else [str(refused.value)]
    assert all(line.isprintable() and not line.startswith("::") for line in lines)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: fcompile.compile(text=good(), overrides="worker.taskNumber=1"), "overrides= takes several strings"),
        (lambda: fcompile.compile(text=good(), overrides=[b"worker.taskNumber=1"]), "overrides= takes several strings"),  # type: ignore[list-item]
        (lambda: fcompile.compile(text=good(), overrides=3), "overrides= takes several strings"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(text=good(), namespace=b"a"), "namespace= takes a string"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(text=good(), kubernetes_version=1.36), "kubernetes_version= takes a string"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(text=3), "text= takes a str or bytes"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(frameworks=good()), "frameworks= takes several Frameworks"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(frameworks=3), "frameworks= takes several Frameworks"),  # type: ignore[arg-type]
        (
            lambda: fcompile.compile(frameworks=fcompile.compile(text=good()).frameworks),  # type: ignore[arg-type]
            r"is compiled: write `\[one\.framework for one in …\]`",
        ),
        (lambda: fcompile.compile(text="jobs/train.yaml"), "text= takes what is in a file: write `compile\\(path\\)`"),
        (lambda: fcompile.compile(text=b"train.json\n"), "text= takes what is in a file: write `compile\\(path\\)`"),
        (lambda: fcompile.compile({"kind": "Framework"}), "takes Frameworks by name"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(fcompile.Framework(name="a")), "takes Frameworks by name"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(3), "str, bytes or os.PathLike"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(good()), "takes the paths of files: write `compile\\(text=…\\)`"),
        (lambda: fcompile.compile('{"apiVersion": "a/v1"}'), "takes the paths of files: write `compile\\(text=…\\)`"),
        (lambda: fcompile.compile(text=good()).expected(b"pods"), "kinds= takes a string"),  # type: ignore[arg-type]
        (lambda: fcompile.compile(text=good()).expected("pods", only="worker"), "only= takes several strings"),
        (lambda: fcompile.compile(text=good()).expected("pods", only=[0]), "only= takes several strings"),  # type: ignore[list-item]
    ],
)
def test_other_types_are_type_errors_that_say_what_is_taken(call: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        call()


@pytest.mark.parametrize("text", ["# made from train.yaml\n", "- train.yaml", "file: train.yaml", "", "train"])
def test_a_text_that_names_a_file_is_a_text(text: str) -> None:
    assert fcompile.compile(text=text).problems == ()


def test_a_part_that_stands_in_ever_more_places_is_refused() -> None:
    """As aliases make it, when another reader has read the YAML."""
    part: list[Any] = ["x"]
    for _ in range(40):
        part = [part, part]
    with pytest.raises(TypeError, match="more than 500,000 values"):
        fcompile.compile(frameworks=[{"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "spec": part}])


@pytest.mark.parametrize("as_key", [False, True])
def test_a_long_text_that_stands_in_many_places_is_refused(as_key: bool) -> None:
    """Written at each of them, it took all memory before it was found to be too large."""
    part = "x" * 1_000_000
    spec = [{part: 1} if as_key else part] * 40
    with pytest.raises(TypeError, match="more than 32 MiB of text"):
        fcompile.compile(frameworks=[{"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "spec": spec}])
