"""What the pages for users say is so: codes that they name exist, and messages that they quote are printed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from fcompile.cli import main
from fcompile.diagnostics.catalog import all_rules
from fcompile.schema.pod_schemas import DEFAULT_VERSION, NEWEST, OLDEST
from tests.argocd.tools import tool
from tests.docs.blocks import blocks
from tests.test_cli import good

Capture = pytest.CaptureFixture[str]
PAGES = ("troubleshooting", "faq", "glossary", "upgrade", "comparison", "install", "sizing", "backup")


@pytest.mark.parametrize("page", PAGES)
def test_the_codes_exist(page: str, repository: Path) -> None:
    text = (repository / "docs" / f"{page}.md").read_text("utf-8")
    assert set(re.findall(r"FC\d{3}", text)) <= {rule.code for rule in all_rules()}


def test_commands_are_for_every_shell(repository: Path) -> None:
    """For zsh a word with `[` that is not quoted is a pattern, and no file that fits it ends the command."""
    for page in (repository / "README.md", *(repository / "docs").glob("*.md")):
        for block in blocks(page):
            if block.language in ("sh", "console"):
                commands = re.findall(r"^(?:\$ )?((?:fcompile|fcontroller) .*)$", block.text, re.MULTILINE)
                wrong = [command for command in commands if "[" in re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", command)]
                assert not wrong, page


def test_the_versions(repository: Path) -> None:
    text = (repository / "docs" / "upgrade.md").read_text("utf-8")
    assert f"| 1.{OLDEST} to 1.{NEWEST} (`--kubernetes-version`, default 1.{DEFAULT_VERSION}) |" in text
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert "| Python | 3.11 or newer |" in text


PATCHED = "kind: Kustomization\npatches:\n- path: train.yaml\n"
SAID: dict[str, tuple[dict[str, str], list[str]]] = {
    "nope.yaml: no such file or folder in …": ({}, ["validate", "nope.yaml"]),
    "No Framework found in 3 files.": (dict.fromkeys(("a.yaml", "b.yaml", "c.yaml"), "kind: A\n"), ["validate", "."]),
    "skipped …: a template of a Helm chart": ({"Chart.yaml": "name: x\n", "templates/train.yaml": good()}, ["validate", "."]),
    "skipped …: a kustomize patch": ({"kustomization.yaml": PATCHED, "train.yaml": good()}, ["validate", "."]),
    "`pod` is empty: indent `spec` below `pod`": ({"train.yaml": good().replace("        spec:", "      spec:")}, ["validate", "."]),
    "no runtime can pull the image": ({"train.yaml": good().replace("busybox", "b:${TAG}")}, ["validate", "."]),
}


@pytest.mark.parametrize("message", SAID)
def test_the_messages_are_printed(message: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert message in (repository / "docs" / "troubleshooting.md").read_text("utf-8")
    files, arguments = SAID[message]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    main(arguments)
    captured = capsys.readouterr()
    for part in message.split("…"):
        assert part in captured.out + captured.err


def test_a_chart_prints_a_placeholder_as_the_pages_say(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: x\nversion: 0.1.0\n")
    template, written = tmp_path / "templates" / "train.yaml", '{{ "{{FC_TASK_INDEX}}" }}'
    for index, said in (("{{FC_TASK_INDEX}}", 'function "FC_TASK_INDEX" not defined'), (written, "args: ['--rank={{FC_TASK_INDEX}}']")):
        template.write_text(f"args: ['--rank={index}']\n")
        done = subprocess.run([tool("helm"), "template", tmp_path], capture_output=True, text=True, timeout=60)
        assert said in done.stdout + done.stderr
    for page in ("troubleshooting", "framework"):
        assert f"`{written}`" in (repository / "docs" / f"{page}.md").read_text("utf-8")
    assert '`function "FC_TASK_INDEX" not defined`' in (repository / "docs" / "troubleshooting.md").read_text("utf-8")


def test_sizing_names_what_there_is(repository: Path) -> None:
    """The page's requests and limits are those of the manifests, and what it says to look at is in /metrics."""
    text = (repository / "docs" / "sizing.md").read_text("utf-8")
    controller = (repository / "deploy" / "base" / "deployment.yaml").read_text("utf-8")
    sidecar = (repository / "plugins" / "argocd" / "repo-server-patch.yaml").read_text("utf-8")
    said = {
        "asks for 100m CPU and 256Mi, limits memory to 1536Mi": controller,
        "asks for 100m CPU and 128Mi, and limits memory to 1Gi": sidecar,
    }
    for words, place in said.items():
        assert words in text
        assert all(value in place for value in re.findall(r"\b\d+(?:m|Mi|Gi)\b", words))
    metrics = (repository / "docs" / "operations.md").read_text("utf-8")
    assert all(name in metrics for name in re.findall(r"fcontroller_\w+", text))
    for module in re.findall(r"python -m ([\w.]+)", text):
        path = repository / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists()
