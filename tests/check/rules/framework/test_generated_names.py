"""ConfigMaps and Secrets that kustomize has renamed, while Pods call them by their old names: FC504."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fcompile import compile as compile_text
from fcompile.cli import main

HASH = "4h2mbtbbt6"


def found(*objects: tuple[str, str], name: str = "train", namespace: str = "", **spec: Any) -> list[str]:
    """The names that are called and were replaced, of a Framework beside ConfigMaps and Secrets."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.37"}], **spec}
    framework = {
        "apiVersion": "frameworkcontroller.microsoft.com/v1",
        "kind": "Framework",
        "metadata": {"name": name, "namespace": "lab"},
        "spec": {"taskRoles": [{"name": "worker", "taskNumber": 2, "task": {"pod": {"spec": pod}}}]},
    }
    others = [{"apiVersion": "v1", "kind": kind, "metadata": {"name": one, "namespace": namespace or "lab"}} for kind, one in objects]
    text = "\n---\n".join(json.dumps(one) for one in (framework, *others))
    problems = compile_text(text=text).problems
    assert {problem.rule.code for problem in problems} <= {"FC504"}, problems
    return [problem.field.removeprefix("spec.taskRoles[0].task.pod.spec.") for problem in problems]


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "main", "image": "busybox:1.37", **fields}


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "volumes[0].configMap.name": ("ConfigMap", {"volumes": [{"name": "a", "configMap": {"name": "conf"}}]}),
    "volumes[0].secret.secretName": ("Secret", {"volumes": [{"name": "a", "secret": {"secretName": "conf"}}]}),
    "volumes[0].projected.sources[1].secret.name": (
        "Secret",
        {"volumes": [{"name": "a", "projected": {"sources": [{"configMap": {"name": "x"}}, {"secret": {"name": "conf"}}]}}]},
    ),
    "imagePullSecrets[0].name": ("Secret", {"imagePullSecrets": [{"name": "conf"}]}),
    "containers[0].envFrom[0].configMapRef.name": ("ConfigMap", {"containers": [container(envFrom=[{"configMapRef": {"name": "conf"}}])]}),
    "containers[0].env[0].valueFrom.secretKeyRef.name": (
        "Secret",
        {"containers": [container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "conf", "key": "a"}}}])]},
    ),
    "initContainers[0].envFrom[0].secretRef.name": (
        "Secret",
        {"initContainers": [{**container(envFrom=[{"secretRef": {"name": "conf"}}]), "name": "first"}]},
    ),
}


@pytest.mark.parametrize("field", CALLS)
def test_the_old_name_is_told_wherever_a_pod_may_have_it(field: str) -> None:
    kind, spec = CALLS[field]
    assert found((kind, f"conf-{HASH}"), **spec) == [field]
    assert found(("Secret" if kind == "ConfigMap" else "ConfigMap", f"conf-{HASH}"), **spec) == [], "of another kind"
    assert found((kind, f"conf-{HASH}"), (kind, "conf"), **spec) == [], "the old one is there as well"
    assert found((kind, f"conf-{HASH}"), namespace="other", **spec) == []


@pytest.mark.parametrize(
    ("name", "made", "told"),
    [
        ("devtrain", f"devconf-{HASH}", True),
        ("traindev", f"confdev-{HASH}", True),
        ("train", f"confdev-{HASH}", False),
        ("devtrain", f"conf-{HASH}", True),
        ("train", f"devconf-{HASH}", False),
        ("train", "conf-settings", False),
        ("train", "conf-4h2mbtbbta", False),
        ("train", f"conf2-{HASH}", False),
        ("train", "conf", False),
    ],
)
def test_what_is_taken_for_a_name_that_kustomize_made(name: str, made: str, told: bool) -> None:
    assert bool(found(("ConfigMap", made), name=name, volumes=[{"name": "a", "configMap": {"name": "conf"}}])) is told


def test_it_is_told_across_files_by_each_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rendered = Path(__file__).parents[4] / "examples" / "bad" / "FC504-generated-name.yaml"
    made, framework = rendered.read_text("utf-8").split("---\n")
    (tmp_path / "made.yaml").write_text(made, "utf-8")
    (tmp_path / "train.yaml").write_text(framework, "utf-8")
    for command in ("validate", "build"):
        assert main([command, "--strict", str(tmp_path)]) == 1
        streams = capsys.readouterr()
        assert "[FC504] the input has no ConfigMap `settings`" in streams.out + streams.err
    (tmp_path / "other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n", "utf-8")
    for command in ("validate", "build"):
        assert main([command, "--strict", str(tmp_path)]) == 0


def test_a_name_that_is_called_often_is_told_once() -> None:
    calls = [{"configMapRef": {"name": "conf"}}, {"configMapRef": {"name": "conf"}}]
    assert len(found(("ConfigMap", f"conf-{HASH}"), containers=[container(envFrom=calls)])) == 1
