"""What Argo CD is told: that the files say what they must, and that what is in plugins/argocd fits together."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.commands.argocd import bundle
from fcompile.emit import yaml
from fcompile.load import values
from tests.argocd.lua import run
from tests.argocd.tools import tool


@pytest.fixture
def plugin(repository: Path) -> Path:
    return repository / "plugins" / "argocd"


def read(path: Path) -> Any:
    (value,) = values(path.read_bytes())
    return value


def test_all_of_it_is_written(tmp_path: Path, plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is in the repository is what the command writes, and the tests for Argo CD's own repository beside it."""
    assert main(["argocd", "bundle", "all", "-o", str(tmp_path / "new")]) == 0
    assert capsys.readouterr() == ("", f"fcompile: wrote {len(list(bundle.files()))} files to {tmp_path / 'new'}\n")
    written = {path.relative_to(tmp_path / "new"): path.read_text() for path in (tmp_path / "new").rglob("*") if path.is_file()}
    assert {name: (plugin / name).read_text() for name in written} == written
    others = {path.relative_to(plugin).as_posix() for path in plugin.rglob("*") if path.is_file()} - {path.as_posix() for path in written}
    assert {name for name in others if not name.startswith(bundle.LAYOUT) or not name.endswith(".yaml")} == {"Dockerfile"}


def test_what_a_link_points_to_is_not_overwritten(tmp_path: Path) -> None:
    new, precious = tmp_path / "new", tmp_path / "precious"
    new.mkdir()
    precious.write_text("mine")
    (new / "plugin.yaml").symlink_to(precious)
    assert main(["argocd", "bundle", "plugin", "--to", str(new)]) == 0
    assert precious.read_text() == "mine"
    assert (new / "plugin.yaml").read_text() == bundle.FORMS["plugin"][1]("")


def test_each_form_is_printed(capsys: pytest.CaptureFixture[str], plugin: Path) -> None:
    for form, (name, _) in bundle.FORMS.items():
        assert main(["argocd", "bundle", form]) == 0
        assert capsys.readouterr().out == (plugin / name).read_text()
    assert main(["argocd", "bundle", "all"]) == 2
    assert "--to FOLDER" in capsys.readouterr().err


def test_the_helm_values_hold_the_same(plugin: Path) -> None:
    helm = read(plugin / "values.yaml")
    assert helm["configs"]["cm"] == read(plugin / "argocd-cm.yaml")["data"]
    pod = read(plugin / "repo-server-patch.yaml")["spec"]["template"]["spec"]
    assert (helm["repoServer"]["extraContainers"], helm["repoServer"]["volumes"]) == (pod["containers"], pod["volumes"])


def test_what_argo_cd_puts_on_a_pod_that_it_compares_is_no_difference(plugin: Path) -> None:
    """With `application.resourceTrackingMethod: label`, each expected Pod has that label and no live one: all of them differed."""
    ignored = values(read(plugin / "argocd-cm.yaml")["data"]["resource.customizations.ignoreDifferences.Pod"].encode())
    names = {"annotations/argocd.argoproj.io~1hook", "annotations/argocd.argoproj.io~1tracking-id", "labels/app.kubernetes.io~1instance"}
    assert set(ignored[0]["jsonPointers"]) == {f"/metadata/{name}" for name in names}


def test_the_settings_hold_the_scripts(plugin: Path) -> None:
    """Text within YAML within YAML: what Argo CD reads from it in the end are the scripts."""
    data = read(plugin / "argocd-cm.yaml")["data"]
    (actions,) = values(data["resource.customizations.actions.frameworkcontroller.microsoft.com_Framework"].encode())
    scripts = {definition["name"]: definition["action.lua"] for definition in actions["definitions"]}
    assert scripts == {name: bundle.script(f"actions/{name}/action.lua") for name in bundle.ACTION_NAMES}
    assert set(run(actions["discovery.lua"], {"spec": {}})) == set(scripts)
    assert {path.parent.name for path in (bundle.SCRIPTS / "actions").glob("*/action.lua")} == set(scripts)


@pytest.mark.parametrize("form", ["config-map", "helm"])
def test_what_is_not_to_run_can_be_healthy(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stopped = {"metadata": {}, "spec": {"executionType": "Create"}}
    key = "resource.customizations.health.frameworkcontroller.microsoft.com_Framework"
    for options, expected in (([], "Suspended"), (["--at-rest", "Suspended"], "Suspended"), (["--at-rest", "Healthy"], "Healthy")):
        assert main(["argocd", "bundle", form, *options]) == 0
        (value,) = values(capsys.readouterr().out.encode())
        data = value["data"] if form == "config-map" else value["configs"]["cm"]
        assert run(data[key], stopped)["status"] == expected
    assert main(["argocd", "bundle", "all", "--at-rest", "Healthy", "-o", str(tmp_path)]) == 0
    assert run((tmp_path / bundle.LAYOUT / "health.lua").read_text(), stopped)["status"] == "Healthy"
    assert main(["argocd", "bundle", form, "--at-rest", "Progressing"]) == 2


def test_forms_without_health(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("plugin", "repo-server"):
        assert main(["argocd", "bundle", form, "--at-rest", "Healthy"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert f"--at-rest is about health, of which {form} says nothing" in captured.err


def test_the_sidecar_is_as_argo_cd_wants_it(plugin: Path) -> None:
    (sidecar,) = read(plugin / "repo-server-patch.yaml")["spec"]["template"]["spec"]["containers"]
    assert sidecar["command"] == ["/var/run/argocd/argocd-cmp-server"]
    assert (sidecar["securityContext"]["runAsUser"], sidecar["securityContext"]["runAsNonRoot"]) == (999, True)
    assert {mount["mountPath"] for mount in sidecar["volumeMounts"]} == {"/var/run/argocd", "/home/argocd/cmp-server/plugins", "/tmp"}


def test_argo_cd_takes_the_settings_and_ignores_what_they_say(plugin: Path, tmp_path: Path) -> None:
    def ask(*arguments: str) -> str:
        command = [tool("argocd"), "admin", "settings", *arguments, "--argocd-cm-path", str(plugin / "argocd-cm.yaml")]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout

    assert "✅ resource-overrides\n3 resource overrides" in ask("validate", "--group", "resource-overrides")
    annotations = {"argocd.argoproj.io/hook": "Skip", "argocd.argoproj.io/tracking-id": "lab:/Pod:a/b", "other": "kept"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "annotations": annotations}, "spec": {}}
    (tmp_path / "pod.yaml").write_text(yaml.dump(pod))
    said = ask("resource-overrides", "ignore-differences", str(tmp_path / "pod.yaml"))
    ignored = [line.split(":")[0].removeprefix("<").strip() for line in said.splitlines() if line.startswith("<")]
    assert ignored == ["argocd.argoproj.io/hook", "argocd.argoproj.io/tracking-id"]
