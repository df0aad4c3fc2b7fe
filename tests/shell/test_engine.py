"""`__complete`: what is offered, and that it never waits, writes, or says that something is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import click
import pytest

from fcompile import cli
from fcompile.commands.argocd import ACTIONS
from fcompile.commands.completion import values
from fcompile.commands.completion.engine import FILES_ENDING, NO_FILES, NO_SPACE, ONLY_FOLDERS, complete
from fcompile.commands.completion.words import split
from fcontroller import cli as controller_cli
from tests.laws import run

PROGRAMS = {"fcompile": cli.group(), "fcontroller": controller_cli.group()}
COMMANDS = [
    *(("fcompile", name) for name in cli.COMMANDS),
    *(("fcompile", "argocd", action) for action in ACTIONS),
    *(("fcontroller", name) for name in controller_cli.COMMANDS),
]
WHATEVER = {"NAME", "N", "LABEL", "SECONDS", "NAME=VALUE", "URL", "HOST:PORT", "PATHS"}
"""Values that nobody can know; PATHS are several in one word, from the application's folder."""
METADATA = (".name", ".namespace", ".annotations", ".labels")
NAME_LABEL = '["app.kubernetes.io/name"]'


@pytest.fixture(autouse=True)
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(values, "SECONDS", 60)  # On a machine that is busy, files and git take long.


def offered(*words: str, program: str = "fcompile") -> list[str]:
    return [word for word, _ in complete(words, PROGRAMS[program]).candidates]


def test_every_command_is_offered_with_what_it_does() -> None:
    assert complete([""], PROGRAMS["fcompile"]).candidates == list(cli.COMMANDS.items())
    assert complete([""], PROGRAMS["fcontroller"]).candidates == [(name, about) for name, (_, about) in controller_cli.COMMANDS.items()]
    assert offered("argocd", "") == list(ACTIONS)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_option_in_the_help_is_offered(command: tuple[str, ...], programs: Path, environment: dict[str, str]) -> None:
    program, *words = command
    shown = subprocess.run([programs / program, *words, "--help"], env=environment, capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"(?:^  |, | / )(--?[a-z][a-z-]*)", shown, re.MULTILINE))
    assert "--help" in options
    assert set(offered(*words, "-", program=program)) == options


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_value_is_known_or_cannot_be(command: tuple[str, ...]) -> None:
    program, *words = command
    context = click.Context(PROGRAMS[program])
    for word in words:
        assert isinstance(context.command, click.Group)
        found = context.command.get_command(context, word)
        assert found is not None
        context = click.Context(found, parent=context)
    taken = [param for param in context.command.params if not isinstance(param.type, click.Choice)]
    taken = [param for param in taken if not (isinstance(param, click.Option) and param.is_flag)]
    unknown = {param.make_metavar(context) for param in taken if param._custom_shell_complete is None} - WHATEVER
    assert not unknown, "say with shell_complete=completed(…) what these can be, or in WHATEVER that nobody can know"


def test_the_options_of_the_program_itself() -> None:
    assert offered("--") == ["--version", "--help"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["validate", "--strict", "--str"], []),
        (["validate", "-n", "--strict", "--str"], ["--strict"]),  # it was a value
        (["validate", "-nx", "--names"], []),
        (["validate", "--name", "x", "-n"], []),  # abbreviated
        (["build", "--set", "a.b=c", "--se"], ["--set"]),  # may be given again
        (["validate", "-", "--str"], ["--strict"]),
        (["validate", "--format=json", "--color", "al"], ["always"]),
        (["build", "-o", ""], ["yaml", "json", "name", "dir="]),
        (["build", "--emit", "framework,se"], ["framework,services"]),
        (["build", "--format", ""], ["yaml", "json", "name"]),
        (["build", "--output=dir=s"], ["dir=sub/"]),
        (["build", "--emit", "frameworks,c"], ["frameworks,configmaps"]),
        (["build", "train.yaml", "--bogus", "--only", ""], ["worker"]),  # whatever is wrong elsewhere
        (["rule", "-o", "j"], ["json"]),
        (["rule", "FC101", "FC10"], ["FC102", "FC103"]),
        (["argocd", "bundle", "he"], ["helm"]),
        (["argocd", "bundle", "helm", ""], []),
        (["diff", "--git", "v"], ["v1"]),
        (["diff", "--git", "v1...ma"], ["v1...main"]),
        (["crd", "--kubernetes-version", "1.3"], [f"1.{minor}" for minor in range(37, 29, -1)]),
        (["build", "train.yaml", "--only", ""], ["worker"]),
        (["build", "train.yaml", "--only", "resnetddp/worker[3"], ["resnetddp/worker[3]"]),
        (["build", "train.yaml", "--set", "worker.task."], ["worker.task.pod.spec.containers[pytorch].image="]),
        (["build", "--only", ""], []),  # no file is named
        (["build", "nowhere", "train.yaml", "--only", ""], ["worker"]),
        (["explain", "resn"], [f"resnetddp-worker-{index}" for index in range(4)]),  # without a file: the current folder
        (["explain", "vision/resnetddp-worker-3"], ["vision/resnetddp-worker-3"]),
        (["explain", "resnetddp-worker-1.m"], [f"resnetddp-worker-1.metadata{step}" for step in ("", *METADATA)]),
        (["explain", "resnetddp-worker-1.metadata.labels[\"app.kubernetes.io/n"], [f"resnetddp-worker-1.metadata.labels{NAME_LABEL}"]),
        (["explain", "resnetddp-worker-9.m"], []),
        (["explain", "resnetddp-nobody-1.m"], []),
        (["frobnicate", ""], []),
    ],
    ids=lambda value: " ".join(value) or "-",
)  # fmt: skip
def test_what_is_offered(words: list[str], found: list[str]) -> None:
    assert offered(*words) == found


def test_a_path_as_it_is_typed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir("/")
    assert offered("build", "~/train.yaml", "--only", "") == offered("build", "$HOME/train.yaml", "--only", "") == ["worker"]


def test_pods_of_the_demo() -> None:
    assert offered("demo", "train.yaml", "--exit", "resnetddp-worker-2", program="fcontroller") == ["resnetddp-worker-2="]


@pytest.mark.parametrize(
    ("words", "directive"),
    [
        (["validate", ""], FILES_ENDING),
        (["validate", "--", "--x"], FILES_ENDING),
        (["validate", "--waivers="], FILES_ENDING),
        (["argocd", "generate", ""], ONLY_FOLDERS),
        (["argocd", "bundle", "-o", ""], ONLY_FOLDERS),
        (["build", "--to", ""], ONLY_FOLDERS),
        (["build", "-o", "dir=s"], NO_FILES | NO_SPACE),
        (["validate", "-n", ""], NO_FILES),
        (["build", "-o", "d"], NO_FILES | NO_SPACE),
        (["validate", "--format", ""], NO_FILES),
    ],
)
def test_directives(words: list[str], directive: int) -> None:
    assert complete(words, PROGRAMS["fcompile"]).directive == directive


def test_what_kubectl_reads() -> None:
    assert run(["__complete", "ru"]) == (0, b"rule\texplain a diagnostic\n:4\n", "")
    assert run(["__complete", "validate", "--format=sa"]) == (0, b"sarif\n:4\n", "")
    assert run(["__complete", "validate", ""]) == (0, b"yaml\nyml\njson\n:8\n", "")
    assert run(["__complete"]).out == run(["__complete", ""]).out


def test_a_name_with_a_line_end_or_a_colour_in_it_is_not_offered(folder: Path) -> None:
    text = json.dumps(
        {
            "apiVersion": "frameworkcontroller.microsoft.com/v1",
            "kind": "Framework",
            "metadata": {"name": "a\x1b[31m\tb"},
            "spec": {"taskRoles": [{"name": "evil\n:0\nx"}, {"name": "good", "taskNumber": 2}]},
        }
    )
    (folder / "evil.json").write_text(text)
    assert complete(["build", "evil.json", "--only", ""], PROGRAMS["fcompile"]).candidates == [("good", "2 tasks of a[31m b")]


@pytest.mark.parametrize("name", ["$(touch x)", "`touch x`", "x;touch x", "x&touch x", "x'", "x|y", "x>y", "!x", "x\\", "x*"])
def test_a_name_that_a_shell_could_run_is_not_offered(name: str, folder: Path) -> None:
    roles = [{"name": name}, {"name": "none", "taskNumber": 0}]
    framework = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "a"}}
    (folder / "evil.json").write_text(json.dumps({**framework, "spec": {"taskRoles": roles}}))
    assert offered("build", "evil.json", "--only", "") == ["none"]
    assert offered("build", "evil.json", "--only", "none[") == []
    assert offered("demo", "evil.json", "--exit", "", program="fcontroller") == []
    assert offered("build", "evil.json", "--set", "") == ["none.taskNumber="]


def test_a_branch_that_a_shell_could_run_is_not_offered(folder: Path) -> None:
    subprocess.run(["git", "branch", "$(touch-x)"], cwd=folder, check=True)
    assert offered("diff", "--git", "") == ["HEAD", "feature", "main", "v1"]


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"taskRoles: [", b"\xff\xfe taskRoles", b"taskRoles: " + b"[" * 100_000, b"taskRoles\n" + b"x" * 3_000_000],
    ids=["empty", "zero", "open", "encoding", "deep", "large"],
)
def test_nothing_is_said_of_files_that_cannot_be_read(content: bytes, folder: Path) -> None:
    (folder / "broken").write_bytes(content)
    assert run(["__complete", "build", "broken", "--only", ""]) == (0, b":4\n", "")
    assert offered("build", "broken", "train.yaml", "--only", "") == ["worker"]


def test_a_fifo_is_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "fifo.yaml")
    try:
        assert offered("build", "fifo.yaml", "train.yaml", "--only", "") == ["worker"]
        with pytest.raises(OSError, match="No such device"):  # as long as nobody reads it
            os.open(folder / "fifo.yaml", os.O_WRONLY | os.O_NONBLOCK)
    finally:
        (folder / "fifo.yaml").unlink()


def test_what_takes_long_is_given_up(folder: Path, programs: Path, environment: dict[str, str]) -> None:
    """A git that never answers: only the revision that is always there is offered."""
    (folder / "sub" / "git").write_text("#!/bin/sh\nexec sleep 600\n")
    (folder / "sub" / "git").chmod(0o755)
    slow = {**environment, "PATH": f"{folder}/sub:{environment['PATH']}"}
    done = subprocess.run([programs / "fcompile", "__complete", "diff", "--git", ""], env=slow, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "HEAD\twhat is checked out\n:4\n", "")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fcompile ", ["fcompile", ""]),
        ("fcompile 'a b", ["fcompile", "a b"]),
        ('fcompile "a b" c\\ d', ["fcompile", "a b", "c d"]),
        ("fcompile a\\", ["fcompile", "a"]),
        ("fcompile --x='", ["fcompile", "--x="]),
        ("fcompile 'it'\"'\"'s", ["fcompile", "it's"]),
        ("", [""]),
    ],
)
def test_the_words_of_a_line(line: str, words: list[str]) -> None:
    assert split(line) == words
