"""The function where it is used: by kustomize and kpt themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fcompile.load import values
from fcompile.pipeline.compiled import compile_framework
from tests.argocd.tools import tool
from tests.krm.lists import FRAMEWORK

TRAIN = (
    "# by hand\n"
    + FRAMEWORK.replace("taskNumber: 3", "taskNumber: 3 # of them")
    + "---\n"
    + "apiVersion: v1\nkind: Secret\nmetadata: {name: s} # keep\n"
)
BROKEN = TRAIN.replace("image:", "imago:")
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: fcompile
  annotations:
    config.kubernetes.io/function: |
      exec: {path: fcompile, args: [krm]}
data:
  worker.taskNumber: "4"
"""
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: lab}
pipeline:
  LIST:
  - exec: fcompile krm
    configMap: {strict: 'true'}
"""


class Ran(NamedTuple):
    code: int
    out: str
    said: str


class Programs:
    """Runs programs in a folder of files."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = environment

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.folder / (name if name == "Kptfile" else f"{name}.yaml")
            path.write_text(text)

    def run(self, program: str, *arguments: str, cwd: Path | None = None) -> Ran:
        done = subprocess.run(
            [tool(program), *arguments],
            cwd=cwd or self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def build(self) -> Ran:
        return self.run("kustomize", "build", "--enable-alpha-plugins", "--enable-exec", ".")


@pytest.fixture
def programs(tmp_path: Path, environment: dict[str, str]) -> Programs:
    return Programs(tmp_path, environment)


def compiled(text: str, **role: Any) -> Any:
    value = values(text.encode())[0]
    value["spec"]["taskRoles"][0].update(role)
    return compile_framework(value, "default").framework


def kustomization(field: str = "transformers", more: str = "") -> str:
    return f"resources: [train.yaml]\n{field}: [fcompile.yaml]\n{more}"


def test_kustomize_transforms_with_it(programs: Programs) -> None:
    programs.write(train=TRAIN, fcompile=CONFIG, kustomization=kustomization(more="namespace: lab\n"))
    ran = programs.build()
    assert (ran.code, ran.said) == (0, "")
    framework = compiled(TRAIN.replace("research", "lab"), taskNumber=4)
    assert {item["kind"]: item for item in values(ran.out.encode())} == {
        "Framework": framework,
        "Secret": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "lab"}},
    }


def test_kustomize_shows_the_line_of_a_problem(programs: Programs) -> None:
    programs.write(train=BROKEN, fcompile=CONFIG, kustomization=kustomization(more="buildMetadata: [originAnnotations]\nnamespace: lab\n"))
    ran = programs.build()
    assert (ran.code, ran.out) == (1, "")
    assert ran.said.startswith("train.yaml:17:13: error[FC101]")
    programs.write(kustomization=kustomization())
    assert programs.build().said.startswith("<stdin>:")


def test_kustomize_calls_a_script_too(programs: Programs) -> None:
    """Before 5.7 it passes no arguments."""
    programs.write(
        train=TRAIN, kustomization=kustomization(), fcompile=CONFIG.replace("{path: fcompile, args: [krm]}", "{path: ./fcompile-krm}")
    )
    script = programs.folder / "fcompile-krm"
    script.write_text("#!/bin/sh\nexec fcompile krm\n")
    script.chmod(0o755)
    assert "intent-digest" in programs.build().out


def test_no_function_at_all_passes_as_a_validator_of_kustomize(programs: Programs) -> None:
    """It annotates what a function gives back, and then says that the function has changed it. docs/krm.md says so."""
    programs.write(train=BROKEN, fcompile=CONFIG, kustomization=kustomization("validators"))
    assert "error[FC101]" in programs.build().said
    programs.write(train=TRAIN, fcompile=CONFIG.replace("{path: fcompile, args: [krm]}", "{path: cat}"))
    assert "validator shouldn't modify the resource map" in programs.build().said


def test_as_a_generator_it_has_nothing_to_do(programs: Programs) -> None:
    programs.write(train=TRAIN, fcompile=CONFIG.replace('  worker.taskNumber: "4"', "  {}"), kustomization=kustomization("generators"))
    ran = programs.build()
    assert ran.code == 0
    assert "no Framework among the 1 items" in ran.said


def test_kustomize_fn_run_writes_into_the_files(programs: Programs) -> None:
    programs.write(train=TRAIN, fcompile=CONFIG)
    assert programs.run("kustomize", "fn", "run", ".", "--enable-exec").code == 0
    _check_written(programs.folder / "train.yaml", taskNumber=4)
    programs.write(train=BROKEN)
    assert programs.run("kustomize", "fn", "run", ".", "--enable-exec").code == 1
    assert (programs.folder / "train.yaml").read_text() == BROKEN


def _check_written(path: Path, **role: Any) -> None:
    text = path.read_text()
    assert values(text.encode()) == [compiled(TRAIN, **role), *values(TRAIN.encode())[1:]]
    assert text.startswith("# by hand\n")
    assert "# of them\n" in text
    assert "{name: s} # keep\n" in text


@pytest.mark.parametrize("arguments", [("render", "--allow-exec"), ("eval", "--exec", "fcompile krm")])
def test_kpt_writes_into_the_files(programs: Programs, arguments: tuple[str, ...]) -> None:
    programs.write(train=TRAIN, Kptfile=KPTFILE.replace("LIST", "mutators"))
    ran = programs.run("kpt", "fn", *arguments)
    assert ran.code == 0, ran.said
    _check_written(programs.folder / "train.yaml")
    once = (programs.folder / "train.yaml").read_bytes()
    assert programs.run("kpt", "fn", *arguments).code == 0
    assert (programs.folder / "train.yaml").read_bytes() == once


@pytest.mark.parametrize("pipeline", ["mutators", "validators"])
def test_kpt_shows_results_with_lines(programs: Programs, pipeline: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    programs.write(train=BROKEN, Kptfile=KPTFILE.replace("LIST", pipeline))
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    ran = programs.run("kpt", "fn", "render", str(programs.folder), "--allow-exec", "--results-dir", str(elsewhere), cwd=elsewhere)
    assert ran.code == 1
    assert (
        "[error] frameworkcontroller.microsoft.com/v1/Framework/research/train spec.taskRoles[0].task.pod.spec.containers[0].imago: "
        in ran.said
    )
    assert '"train.yaml:17:13: error[FC101]' in ran.said
    (listed,) = values((elsewhere / "results.yaml").read_bytes())
    (result,) = listed["items"][0]["results"]
    assert (result["file"]["path"], result["tags"]["code"], result["tags"]["line"]) == ("train.yaml", "FC101", "17")
    assert (programs.folder / "train.yaml").read_text() == BROKEN


def test_kpt_checks_only_with_a_validator(programs: Programs) -> None:
    programs.write(train=TRAIN, Kptfile=KPTFILE.replace("LIST", "validators"))
    assert programs.run("kpt", "fn", "render", "--allow-exec").code == 0
    assert "intent-digest" not in (programs.folder / "train.yaml").read_text()


def test_kpt_passes_settings_as_arguments(programs: Programs) -> None:
    programs.write(train=TRAIN)
    ran = programs.run("kpt", "fn", "eval", "--exec", "fcompile krm", "--", "worker.taskNumber=4", "kubernetes-version=1.30")
    assert ran.code == 0, ran.said
    _check_written(programs.folder / "train.yaml", taskNumber=4)
    ran = programs.run("kpt", "fn", "eval", "--exec", "fcompile krm", "--", "strickt=true")
    assert ran.code == 1
    assert "[error] v1/ConfigMap/function-input data.strickt: functionConfig: `strickt` is unknown" in ran.said
