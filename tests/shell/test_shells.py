"""Completion in real shells, as somebody at a keyboard has it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shell.terminal import Terminal, fish

# What is typed, and what the line is after Tab in bash and zsh.
BECOMES = {
    "fcompile va": "fcompile validate ",
    "fcompile validate --form": "fcompile validate --format ",
    "fcompile validate --format sa": "fcompile validate --format sarif ",
    "fcompile validate --format=sa": "fcompile validate --format=sarif ",
    "fcompile validate --strict --stric": "fcompile validate --strict --stric",
    "fcompile build -ojs": "fcompile build -ojson ",
    "fcompile build -o di": "fcompile build -o dir=",
    "fcompile build -o dir=s": "fcompile build -o dir=sub/",
    "fcompile build --output=dir=s": "fcompile build --output=dir=sub/",
    "fcompile build --form=js": "fcompile build --form=json ",
    "fcompile build --to s": "fcompile build --to sub/",
    "fcompile rule unknown-f": "fcompile rule unknown-field ",
    "fcompile diff --git main..fea": "fcompile diff --git main..feature ",
    "fcompile argocd gen": "fcompile argocd generate ",
    "fcompile argocd generate mor": "fcompile argocd generate more\\ files/",
    "fcompile completion z": "fcompile completion zsh ",
    "fcompile validate trai": "fcompile validate train.yaml ",
    "fcompile validate not": "fcompile validate notes.txt ",
    "fcompile validate two\\ ": "fcompile validate two\\ words.yaml ",
    "fcompile validate 'two w": "fcompile validate 'two words.yaml' ",
    "fcompile validate more\\ files/": "fcompile validate more\\ files/x.json ",
    "fcompile build --waivers=two": "fcompile build --waivers=two\\ words.yaml ",
    "fcompile build -- trai": "fcompile build -- train.yaml ",
    "fcompile build two\\ words.yaml --only wor": "fcompile build two\\ words.yaml --only worker ",
    "fcompile build 'two words.yaml' --only 'worker[1": "fcompile build 'two words.yaml' --only 'worker[1]' ",
    "fcompile build train.yaml --only worker\\[1": "fcompile build train.yaml --only worker\\[1\\] ",
    "fcompile explain resnetddp-worker-1.spec.restart": "fcompile explain resnetddp-worker-1.spec.restartPolicy ",
    "fcontroller dem": "fcontroller demo ",
    "fcontroller run --log-level=w": "fcontroller run --log-level=warning ",
    "kubectl-fcompile va": "kubectl-fcompile validate ",
    "~/bin/fcompile build ~/train.yaml --only wo": "~/bin/fcompile build ~/train.yaml --only worker ",
    "fcompile frobnicate --form": "fcompile frobnicate --form",
}
# And the words that fish offers, unquoted.
OFFERED = {
    "fcompile va": ["validate"],
    "fcompile validate --form": ["--format"],
    "fcompile validate --format sa": ["sarif"],
    "fcompile validate --format=sa": ["--format=sarif"],
    "fcompile build -o di": ["dir="],
    "fcompile build --form=js": ["--form=json"],
    "fcompile build --to s": ["sub/"],
    "fcompile diff --git main..fea": ["main..feature"],
    "fcompile argocd generate mor": ["more files/"],
    "fcompile validate ": ["more files/", "sub/", "train.yaml", "two words.yaml"],
    "fcompile validate not": ["notes.txt"],
    "fcompile validate 'two w": ["two words.yaml"],
    "fcompile validate two\\ ": ["two words.yaml"],
    "fcompile build --waivers=two": ["--waivers=two words.yaml"],
    "fcompile build two\\ words.yaml --only wor": ["worker"],
    "fcompile build 'two words.yaml' --only 'worker[1": ["worker[1]"],
    "fcontroller dem": ["demo"],
    "kubectl-fcompile va": ["validate"],
    "~/bin/fcompile build ~/train.yaml --only wo": ["worker"],
    "fcompile frobnicate --form": [],
}


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")


@pytest.fixture(scope="module", params=["bash", "zsh"])
def terminal(request: pytest.FixtureRequest, folder: Path, environment: dict[str, str]) -> Iterator[Terminal]:
    """Each shell in turn, in the folder."""
    needs(request.param)
    with Terminal(request.param, folder, environment) as opened:
        yield opened


@pytest.mark.parametrize("typed", BECOMES)
def test_the_line_after_tab(terminal: Terminal, typed: str) -> None:
    line = terminal.tab(typed)
    if line == typed != BECOMES[typed]:
        line = terminal.tab(typed)  # on a machine that is busy, a file or git may have taken too long
    assert line == BECOMES[typed], line.shown


def test_what_fish_offers(folder: Path, environment: dict[str, str]) -> None:
    needs("fish")
    assert dict(zip(OFFERED, map(list, fish(list(OFFERED), folder, environment)), strict=True)) == OFFERED


def test_tasks_are_listed_in_the_order_of_their_numbers(terminal: Terminal, folder: Path) -> None:
    (folder / "many").write_text((folder / "train.yaml").read_text("utf-8").replace("taskNumber: 4", "taskNumber: 12"), "utf-8")
    shown = terminal.tab("fcompile build many --only 'worker").shown
    assert shown.index("worker[2]") < shown.index("worker[10]")


def test_zsh_and_fish_say_what_it_means(folder: Path, environment: dict[str, str]) -> None:
    needs("fish")
    offered = fish(["fcompile ru", "fcompile validate --stric"], folder, environment)
    assert offered == [{"rule": "explain a diagnostic"}, {"--strict": "treat warnings as errors"}]
    needs("zsh")
    with Terminal("zsh", folder, environment) as zsh:
        assert "treat warnings as errors" in zsh.tab("fcompile validate --").shown


def test_zsh_finds_the_function_in_a_folder_of_fpath(folder: Path, environment: dict[str, str]) -> None:
    needs("zsh")
    ready = "unfunction _fcompile; fcompile completion zsh > sub/_fcompile; fpath=($PWD/sub $fpath); compinit -D -u"
    with Terminal("zsh", folder, environment, ready) as zsh:
        assert zsh.tab("fcontroller dem") == "fcontroller demo "
        assert zsh.tab("fcontroller dem") == "fcontroller demo "


def test_nothing_is_said_when_the_program_is_not_there_or_broken(terminal: Terminal, folder: Path) -> None:
    # It may have been killed before its last line, and what bash takes for a number it evaluates.
    (folder / "sub" / "fcompile").write_text("#!/bin/sh\necho nonsense; echo trouble >&2; echo 'x[$(touch run)]'; exit 3\n")
    (folder / "sub" / "fcompile").chmod(0o755)
    for typed in ("sub/fcompile va", "sub/nowhere/fcompile va"):
        line = terminal.tab(typed)
        assert line == typed
        assert not [word for word in ("trouble", "nonsense", "not found", "No such") if word in line.shown]
    assert not (folder / "run").exists()
