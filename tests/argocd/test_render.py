"""Applications that kustomize or Helm must render first: what comes out, where problems are said to be, and what is refused beforehand."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fcompile.check.document import Options
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import settings
from fcompile.commands.argocd.source_mapper import SourceMapper
from fcompile.commands.argocd.sources import Source
from fcompile.diagnostics.problem import Problem, Severity, Span
from fcompile.diagnostics.writer import Writer
from fcompile.errors import UsageError
from fcompile.load import values
from fcompile.load.rules import FILE_UNREADABLE, MAX_FILE_BYTES
from fcompile.pipeline.compiled import compile_framework
from tests.argocd.server import Answer, call, environment, inside
from tests.argocd.tools import tool
from tests.test_cli import good

TEMPLATE = (
    good("{{ .Release.Name }}")
    .replace("taskNumber: 3", "taskNumber: {{ .Values.workers }}")
    .replace("busybox", '{{ .Values.image }}\n            workingDir: "{{ .Values.folder }}"')
)


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    """A kustomization that changes a base outside of its folder, in a repository."""
    base, folder = tmp_path / "repository" / "base", tmp_path / "repository" / "overlays" / "prod"
    for one in (base, folder):
        one.mkdir(parents=True)
    (base / "train.yaml").write_text(good())
    (base / "kustomization.yaml").write_text("resources: [train.yaml]\n")
    (folder / "more.yaml").write_text("- op: replace\n  path: /spec/taskRoles/0/taskNumber\n  value: 9\n")
    (folder / "kustomization.yaml").write_text("resources: [../../base]\npatches:\n- path: more.yaml\n  target: {kind: Framework}\n")
    return folder


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "repository" / "chart"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: lab-chart\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text("workers: 2\nimage: busybox\nfolder: /\n")
    (folder / "templates" / "train.yaml").write_text(TEMPLATE)
    return folder


def rendered(folder: Path, program: str, parameters: Any = None) -> Answer:
    """What the plugin makes of it with this program, and no other."""
    env = environment(folder.relative_to(folder.parents[1] if program == "helm" else folder.parents[2]).as_posix(), parameters)
    return call("generate", folder, {**env, "PATH": os.path.dirname(tool(program))})


def test_a_kustomization(overlay: Path) -> None:
    answer = rendered(overlay, "kustomize")
    assert (answer.code, answer.said) == (0, "")
    (source,) = values(good().replace("taskNumber: 3", "taskNumber: 9").encode())
    assert answer.objects == [compile_framework(source, "research").framework]


def test_a_kustomization_by_kubectl(overlay: Path) -> None:
    answer = rendered(overlay, "kubectl")
    assert answer.objects[0]["spec"]["taskRoles"][0]["taskNumber"] == 9


def test_problems_of_a_kustomization_are_shown_where_they_come_from(overlay: Path) -> None:
    base = overlay.parents[1] / "base" / "train.yaml"
    base.write_text(good().replace("image: busybox", "imago: busybox"))
    (overlay / "more.yaml").write_text("- op: add\n  path: /spec/taskRoles/0/task/pod/spec/priorityClassName\n  value: Very-High\n")
    answer = rendered(overlay, "kustomize")
    assert answer.code == 1
    assert "../../base/train.yaml:14:13: error[FC101]" in answer.said
    assert "more.yaml:3:10: error[FC151]" in answer.said
    (overlay / "second.yaml").write_text(good("second").replace("busybox", "Very-High"))
    (overlay / "kustomization.yaml").write_text(
        "resources: [../../base, second.yaml]\npatches: [{path: more.yaml, target: {name: train}}]\n"
    )
    assert "kustomization.yaml, document 2 as rendered:" in rendered(overlay, "kustomize").said


def test_what_is_missing_is_missing_where_it_is_said_to_be(overlay: Path) -> None:
    """A strategic merge patch replaces lists of a custom resource, so that the base's `task` goes, and the base is right."""
    patch = "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nmetadata: {name: train}\n"
    (overlay / "more.yaml").write_text(patch + "spec: {taskRoles: [{name: worker, taskNumber: 9}]}\n")
    answer = rendered(overlay, "kustomize")
    assert "train.yaml" not in answer.said
    assert "kustomization.yaml, document 1 as rendered:7:5: error[FC121] `taskRoles[0]` lacks `task`" in answer.said
    base = overlay.parents[1] / "base" / "train.yaml"
    base.write_text(good().replace("            image: busybox\n", ""))
    (overlay / "more.yaml").write_text("- op: replace\n  path: /spec/taskRoles/0/taskNumber\n  value: 9\n")
    assert "../../base/train.yaml:13:13: error[FC121]" in rendered(overlay, "kustomize").said


def test_a_chart(chart: Path) -> None:
    (chart / "big.yaml").write_text("workers: 8\n")
    parameters = [
        {"name": "values-files", "array": ["big.yaml"]},
        {"name": "helm-parameters", "map": {"image": "train:1", "folder": "/a,workers=99"}},
        {"name": "lab/worker.task.pod.spec.priorityClassName", "string": "batch"},
    ]
    answer = rendered(chart, "helm", parameters)
    assert answer.code == 0, answer.said
    (framework,) = answer.objects
    role = framework["spec"]["taskRoles"][0]
    assert (framework["metadata"]["name"], framework["metadata"]["namespace"]) == ("lab", "research")
    assert (role["taskNumber"], role["task"]["pod"]["spec"]["priorityClassName"]) == (8, "batch")
    (container,) = role["task"]["pod"]["spec"]["containers"]
    assert (container["image"], container["workingDir"]) == ("train:1", "/a,workers=99")


def test_values_of_a_chart_can_stand_in_a_text(chart: Path) -> None:
    """A variable of `plugin.env`, and `doctor --parameter`, are texts: no map fits into them."""
    written = "image=train:2\n\n folder=/a=b,workers=99 \n"
    (framework,) = rendered(chart, "helm", [{"name": "helm-parameters", "string": written}]).objects
    (container,) = framework["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"]
    assert (container["image"], container["workingDir"]) == ("train:2", "/a=b,workers=99")
    assert settings({"ARGOCD_ENV_FCOMPILE_HELM_PARAMETERS": written}).helm_parameters == (
        ("folder", "/a=b,workers=99"),
        ("image", "train:2"),
    )
    for wrong in ("image", '{"image": "train:2"}', "=1"):
        with pytest.raises(UsageError, match="`helm-parameters`: write a map of strings, or in a text one name=value a line"):
            settings({"ARGOCD_ENV_FCOMPILE_HELM_PARAMETERS": wrong})


def test_a_path_of_values_is_one_path(chart: Path) -> None:
    """Helm reads a list that commas separate: `a,/etc/passwd` would be two files, one of them outside of the repository."""
    odd = ("a,/etc/passwd", "-", '"b".yaml', "c d", "--debug", "e='x'")
    (chart / "a").write_text("")
    for number, name in enumerate(odd, 2):
        (chart / name).parent.mkdir(parents=True, exist_ok=True)
        (chart / name).write_text(f"workers: {number}\n")
        answer = rendered(chart, "helm", [{"name": "values-files", "array": [name]}])
        assert answer.code == 0, answer.said
        assert answer.objects[0]["spec"]["taskRoles"][0]["taskNumber"] == number


@pytest.mark.parametrize("name", ["image,workers", "workers=9,image", "image={a", "a\nb", ""])
def test_a_name_of_a_value_is_one_name(chart: Path, name: str) -> None:
    answer = inside("generate", chart, {**environment("chart", [{"name": "helm-parameters", "map": {name: "1"}}]), "PATH": "/nonexistent"})
    assert (answer.code, answer.out) == (1, "")
    assert "is not a name of a value" in answer.said


def test_a_value_is_one_value(chart: Path) -> None:
    for value in ("a,workers=99", "a\\,workers=99", "{a", "--debug", "a\nb"):
        answer = rendered(chart, "helm", [{"name": "helm-parameters", "map": {"other": value}}])
        assert answer.code == 0, answer.said
        assert "99" not in answer.out
    for name, value in (("other", "a\0b"), ("other", "\ud800"), ("\udfff", "a")):
        assert (
            "holds a NUL character or half a surrogate pair"
            in rendered(chart, "helm", [{"name": "helm-parameters", "map": {name: value}}]).said
        )


def test_problems_of_a_chart_are_shown_in_its_template(chart: Path) -> None:
    (chart / "templates" / "train.yaml").write_text(TEMPLATE.replace("restartPolicy", "restartPolice"))
    assert "templates/train.yaml:11:11: error[FC101]" in rendered(chart, "helm").said
    (chart / "templates" / "train.yaml").write_text(TEMPLATE)
    (chart / "values.yaml").write_text("workers: -7\nimage: busybox\n")
    assert "templates/train.yaml:7:5: error[FC131] `taskNumber` is -7" in rendered(chart, "helm").said
    (chart / "templates" / "train.yaml").write_text(
        TEMPLATE.replace("    taskNumber: {{ .Values.workers }}", '{{ print "    task" "Number: -7" }}')
    )
    assert "templates/train.yaml, as rendered:8:" in rendered(chart, "helm").said
    (chart / "templates" / "train.yaml").write_text("{{ fail `no workers` }}")
    assert "no workers" in rendered(chart, "helm").said


def test_without_the_program_it_says_what_is_missing(overlay: Path, chart: Path) -> None:
    for folder, program in ((overlay, "kustomize"), (chart, "helm")):
        answer = inside("generate", folder, {**environment(), "PATH": "/nonexistent"})
        assert answer.code != 0
        assert f"no `{program}` in the PATH" in answer.said or "leads out" in answer.said


@pytest.mark.parametrize(
    "written",
    [
        "resources: [https://example.com/framework.yaml]",
        "resources: ['github.com/kubernetes-sigs/kustomize//examples/multibases?ref=v1.0.6']",
        "resources: ['git@github.com:owner/repository.git']",
        "resources: [../../../outside]",
        "resources: [/etc]",
        "resources: [../../loop, missing.yaml]",
        "resources: [pipe.yaml]",
        "resources: [huge.yaml]",
        "components: [../../../outside]",
        "bases: [../../../outside]",
        "generators: [https://example.com/a.yaml]",
        "transformers: [../../../outside]",
        "crds: [../../../outside/secret.yaml]",
        "openapi: {path: https://example.com/a.json}",
        "patches: [{path: ../../../outside/secret.yaml}]",
        "patchesStrategicMerge: [https://example.com/a.yaml]",
        "replacements: [{path: ../../../outside/secret.yaml}]",
        "configMapGenerator: [{name: a, files: ['b=../../../outside/secret.yaml']}]",
        "secretGenerator: [{name: a, envs: [/etc/passwd]}]",
        "resources: [",
    ],
)
def test_what_a_kustomization_must_not_refer_to_is_refused(overlay: Path, written: str) -> None:
    """Before kustomize is run at all: there is none here."""
    outside = overlay.parents[2] / "outside"
    outside.mkdir()
    (outside / "secret.yaml").write_text(good("secret"))
    (outside / "kustomization.yaml").write_text("resources: [secret.yaml]\n")
    os.mkfifo(overlay / "pipe.yaml") if "pipe" in written else None
    if "huge" in written:
        with open(overlay / "huge.yaml", "wb") as file:
            file.truncate(MAX_FILE_BYTES + 1)
    (overlay / "kustomization.yaml").write_text(written)
    answer = inside("generate", overlay, {**environment("overlays/prod"), "PATH": "/nonexistent"})
    assert answer.code == 1
    assert answer.out == ""
    assert "in the PATH" not in answer.said


def _values_outside(chart: Path) -> Any:
    return [{"name": "values-files", "array": ["../../secret.yaml"]}]


def _remote_values(chart: Path) -> Any:
    return [{"name": "values-files", "array": ["https://example.com/values.yaml"]}]


def _template_link(chart: Path) -> None:
    (chart / "templates" / "link.yaml").symlink_to("/etc/passwd")


def _hidden_link(chart: Path) -> None:
    (chart / ".hidden").mkdir()
    (chart / ".hidden" / "link").symlink_to("/etc/passwd")


def _pipe(chart: Path) -> None:
    os.mkfifo(chart / "templates" / "NOTES.txt")


@pytest.mark.parametrize("make", [_values_outside, _remote_values, _template_link, _hidden_link, _pipe])
def test_a_hostile_chart_is_refused(chart: Path, make: Callable[[Path], Any]) -> None:
    (chart.parents[1] / "secret.yaml").write_text("image: secret\n")
    answer = inside("generate", chart, {**environment("chart", make(chart)), "PATH": "/nonexistent"})
    assert (answer.code, answer.out) == (1, "")


def test_a_program_gets_nothing_of_ours(overlay: Path, tmp_path: Path) -> None:
    """Neither variables, which can hold a password, nor a PATH to find git in."""
    program = tmp_path / "kustomize"
    program.write_text("#!/bin/sh\nexport -p >&2\nexit 1\n")
    program.chmod(0o755)
    env = environment("overlays/prod", ARGOCD_ENV_TOKEN="hunter2", GIT_ASKPASS="/bin/ask")
    answer = call("generate", overlay, {**env, "PATH": str(tmp_path)})
    assert answer.code == 1
    assert "ARGOCD" not in answer.said
    assert "GIT" not in answer.said
    assert str(tmp_path) not in answer.said.replace(str(overlay), "")


def test_discovery_looks_into_bases_and_templates(overlay: Path, chart: Path) -> None:
    assert inside("discover", overlay, environment("overlays/prod")).out == "../../base/train.yaml"
    assert inside("discover", chart, environment("chart")).out == "templates/train.yaml"
    (chart / "templates" / "train.yaml").write_text("# apiVersion: frameworkcontroller.microsoft.com/v1\na: {{ .b }}\n")
    assert inside("discover", chart, environment("chart")).out == ""


def test_a_source_of_line_ends_takes_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list was made of all lines of all sources, for each problem: 56 MiB of line ends, some KB in a repository, took 10 GB."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fw.yaml").write_text("\n" * 2_000_000 + "  taskRolesX: []\r\n" + "\n" * 2_000_000)
    (tmp_path / "twice.yaml").write_text("  twice: a\n" * 2)
    found: list[Problem] = []

    class Kept(Writer):
        def problem(self, problem: Problem) -> None:
            found.append(problem)

    mapper = SourceMapper(Kept(), [Source("rendered", templates=("fw.yaml", "twice.yaml"))], Repository(str(tmp_path)), Options(36, "x"))
    tracemalloc.start()
    for line in ("taskRolesX: []", "twice: a", "is nowhere"):
        mapper.problem(Problem(FILE_UNREADABLE, Severity.ERROR, "", "rendered", Span(1, 1, 1, 2, 0, 1), line))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(one.file, one.span.line, one.span.column) for one in found] == [
        ("fw.yaml", 2_000_001, 3),
        ("rendered", 1, 1),
        ("rendered", 1, 1),
    ]
    assert most < 64 << 20
