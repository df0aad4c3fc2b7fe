"""`kubectl fcompile` with the real kubectl: what it passes on, and what it completes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.shell.terminal import Terminal, fish

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl here")


def run(folder: Path, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--help"], 0, "Usage: kubectl fcompile [OPTIONS] COMMAND"),
        (["validate", "--help"], 0, "Usage: kubectl fcompile validate [OPTIONS] PATH..."),
        (["argocd", "bundle", "--help"], 0, "Usage: kubectl fcompile argocd bundle [OPTIONS] [FORM]"),
        (["rule", "--help"], 0, "`kubectl fcompile rule FC101`"),
        (["rule", "FC101"], 0, "FC101 unknown-field (error)"),
        (["validate", "nowhere"], 2, "kubectl fcompile: nowhere: no such file or folder"),
        (["validate"], 2, "kubectl fcompile: Missing argument 'PATH...': files, folders (their *.yaml, "),
        (["valid"], 2, "kubectl fcompile: No such command 'valid'. Did you mean 'validate'?\n`kubectl fcompile --help` says more.\n"),
        (["rule", "FC000"], 2, "kubectl fcompile: there is no rule `FC000`: `kubectl fcompile rule --all`"),
        (["validate", "--format", "json", "train.yaml"], 0, "kubectl fcompile: 1 Framework in 1 file: no problems"),
        (["build", "train.yaml", "-o", "dir=out"], 0, "kubectl fcompile: wrote 1 file to out"),
    ],
)
@pytest.mark.parametrize("plugin", [["kubectl-fcompile"], pytest.param(["kubectl", "fcompile"], marks=needs_kubectl)], ids=" ".join)
def test_it_comes_through(plugin: list[str], words: list[str], code: int, says: str, folder: Path, environment: dict[str, str]) -> None:
    done = run(folder, environment, *plugin, *words)
    assert done.returncode == code
    assert says in done.stdout + done.stderr


def test_the_script_that_kubectl_looks_for(folder: Path, environment: dict[str, str]) -> None:
    done = run(folder, environment, "kubectl_complete-fcompile", "ru")
    assert (done.returncode, done.stdout, done.stderr) == (0, "rule\texplain a diagnostic\n:4\n", "")


@needs_kubectl
def test_kubectl_asks_us_for_completions(folder: Path, environment: dict[str, str]) -> None:
    def completed(*words: str) -> list[str]:
        done = run(folder, environment, "kubectl", "__complete", "fcompile", *words)
        assert done.returncode == 0
        assert all(line.startswith(("[Debug]", "Completion ended")) for line in done.stderr.splitlines())
        return done.stdout.splitlines()

    assert completed("val") == ["validate\tfind every problem in Frameworks", ":4"]
    assert completed("validate", "--stric") == ["--strict\ttreat warnings as errors", ":4"]
    assert completed("build", "two words.yaml", "--only", "") == ["worker\t4 tasks of resnetddp", ":4"]
    assert completed("validate", "") == ["yaml", "yml", "json", ":8"]
    assert completed("argocd", "generate", "") == [":16"]


TYPED = {
    "kubectl fcompile va": "kubectl fcompile validate ",
    "kubectl fcompile validate --format=sa": "kubectl fcompile validate --format=sarif ",
    "kubectl fcompile build two\\ words.yaml --only wor": "kubectl fcompile build two\\ words.yaml --only worker ",
    "kubectl fcompile build -o dir=s": "kubectl fcompile build -o dir=sub/",
    "kubectl fcompile validate two": "kubectl fcompile validate two\\ words.yaml ",
}


@needs_kubectl
@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_in_zsh(folder: Path, environment: dict[str, str]) -> None:
    with Terminal("zsh", folder, environment, "source <(kubectl completion zsh)") as zsh:
        assert {typed: str(zsh.tab(typed)) for typed in TYPED} == TYPED


@needs_kubectl
@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_in_fish(folder: Path, environment: dict[str, str]) -> None:
    typed = ["kubectl fcompile va", "kubectl fcompile validate --format=sa", "kubectl fcompile build train.yaml --only wor"]
    answers = fish(typed, folder, environment, "kubectl")
    assert [list(answer) for answer in answers] == [["validate"], ["--format=sarif"], ["worker"]]
