"""What all commands of both programs have in common: how they are found, spelt, helped, refused, and when they are imported."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from fcompile import cli
from fcompile.commands.group import WIDTH, Command
from fcompile.commands.parsing import Former
from tests.laws import run
from tests.pseudo_terminal import PseudoTerminal
from tests.test_cli import good
from tools.cli_page import commands

COMMANDS = list(commands())
PROGRAMS = [context for context in COMMANDS if context.parent is None]
EVERY = pytest.mark.parametrize("context", COMMANDS, ids=lambda context: context.command_path)


def command_of(context: click.Context) -> Command:
    assert isinstance(context.command, Command)
    return context.command


@EVERY
def test_every_command_has_examples_and_a_page(context: click.Context, repository: Path) -> None:
    command = command_of(context)
    assert len(command.examples) >= 2
    page, _, anchor = command.page.partition("#")
    text = (repository / "docs" / page).read_text("utf-8")
    headings = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    assert not anchor or anchor in headings


@EVERY
def test_examples_are_understood(context: click.Context) -> None:
    """Each is of this command, or of one below it, and its options are there, in their present spelling."""
    name, *words = context.command_path.split()
    root = context.find_root().command
    for example in command_of(context).examples:
        assert name in example
        parts = [part for part in re.split(r"[|&]+| [<>] |<\(|\)", example) if re.search(rf"(?:^|\s){name}\s", part)]
        for part in parts:
            arguments = shlex.split(part)
            arguments = arguments[arguments.index(name) + 1 :] if name in arguments else []
            assert arguments[: len(words)] == words
            here = click.Context(root, info_name=name)
            while isinstance(here.command, click.Group) and arguments:
                found = here.command.get_command(here, arguments.pop(0))
                assert found is not None
                here = found.context_class(found, here, found.name)
            assert not [param for param in here.command.params if isinstance(param, Former) and set(param.opts) & set(arguments)]
            here.command.parse_args(here, arguments)


@EVERY
def test_examples_are_for_every_shell(context: click.Context) -> None:
    """For zsh a word with `[` or `*` that is not quoted is a pattern, and no file that fits it ends the command."""
    for example in command_of(context).examples:
        assert not re.search(r"[\[*?]", re.sub(r"'[^']*'", "", example)), example


@EVERY
@pytest.mark.parametrize("columns", [40, WIDTH])
def test_help_fits_and_has_one_form(context: click.Context, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcompile.commands.group.WIDTH", columns)
    text = context.command.get_help(context)
    body = text.partition("\nExamples:\n")[0]
    assert not [line for line in body.splitlines() if len(line) > columns and len(max(line.split(), key=len)) < columns // 3]
    assert re.search(r"\n\nDocumentation: docs/\S+$", text)
    for param in context.command.params:
        about = param.help or ""
        assert not isinstance(param, Former) or all(name not in text for name in (f" {param.opts[0]},", param.opts[1]))
        assert about, param
        assert not about[0].isupper() or about.split()[0].isupper(), about
        assert not about.endswith("."), about


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["valdate", "x"], "No such command 'valdate'. Did you mean 'validate'?\n`fcompile --help` says more.\n"),
        (["argocd", "genrate"], "No such command 'genrate'. Did you mean 'generate'?\n`fcompile argocd --help` says more.\n"),
        (
            ["build", "--kubernets-version=1.30", "x"],
            "No such option '--kubernets-version'. Did you mean '--kubernetes-version'?\n`fcompile build --help` says more.\n",
        ),
        (["diff", "--only", "a", "x", "y"], "No such option '--only'.\n`fcompile diff --help` says more.\n"),
        (["diff", "--emit", "pods", "x", "y"], "No such option '--emit'.\n`fcompile diff --help` says more.\n"),
        (["validate", "--waver", "x"], "No such option '--waver'. Did you mean '--waivers'?\n`fcompile validate --help` says more.\n"),
        (["validate", "--json", "x"], "No such option '--json': `--format json`\n`fcompile validate --help` says more.\n"),
        (["validate", "--no-color", "x"], "No such option '--no-color': `--color never`\n`fcompile validate --help` says more.\n"),
        (["-n", "ml", "validate", "x"], "No such option '-n': write it after `validate`\n`fcompile --help` says more.\n"),
        (["argocd", "-p=a=1", "doctor"], "No such option '-p': write it after `doctor`\n`fcompile argocd --help` says more.\n"),
        (["-x", "validate", "x"], "No such option '-x'.\n`fcompile --help` says more.\n"),
        (["-V", "validate", "x"], "No such option '-V': `--version`\n`fcompile --help` says more.\n"),
        (["build", "--st=1", "x"], "Option '--strict' does not take a value.\n`fcompile build --help` says more.\n"),
        (["build", "--fo", "x"], "Option '--fo' can be --format or --force.\n`fcompile build --help` says more.\n"),
        (["validate", "--jobs", "300", "x"], "Invalid value for '-j' / '--jobs': 300 is not in the range 1<=x<=256.\n"),
        (["validate", "--jobs", "two", "x"], "Invalid value for '-j' / '--jobs': 'two' is not a valid number.\n"),
        (["argocd", "doctor", "--deadline", "nan"], "Invalid value for '--deadline': 'nan' is not a number of seconds.\n"),
        (["validate"], "Missing argument 'PATH...': files, folders (their *.yaml, *.yml and *.json, subfolders too) or - for stdin\n"),
        (["explain"], "Missing argument 'POD[.FIELD]': [namespace/]name of the Pod, and a field of it\n"),
        (["completion"], "Missing argument 'SHELL'. Choose from: bash, zsh, fish\n"),
        (["krm", "x"], "Got unexpected extra argument (x)\n"),
        (["diff", "--context", "x", "A", "B"], "--context names a cluster: it goes with --live\n"),
        (
            ["diff", "--live", "--git", "HEAD", "A"],
            "--live compares files with the cluster, --git with a revision: give one of the two\n",
        ),
        (["diff", "--live"], "--live compares files with the cluster: name the files\n"),
        (["build", "--force", "x"], "--force replaces files in a folder: name it with --to FOLDER\n"),
        (["build", "--to", "x", "--format", "json", "y"], "--to writes YAML into a folder: --format goes with the standard output\n"),
        (["build", "--to", "", "y"], "--to: name a folder\n"),
        *(
            ([*command, "--to", "out.yaml"], "--to names a folder, for a file each: name another, or write `> out.yaml` for one file\n")
            for command in (["build", "y"], ["convert", "y"], ["argocd", "bundle"])
        ),
        (["build", "--format", "json", "-o", "name", "y"], "Option '--format' is there twice: '-o' is its old spelling.\n"),
        (["argocd", "bundle", "--to", "a", "-o", "b"], "Option '--to' is there twice: '-o' is its old spelling.\n"),
        (
            ["argocd", "bundle", "plugin", "--at-rest", "Healthy"],
            "--at-rest is about health, of which plugin says nothing: leave it out, or ask for config-map or helm\n",
        ),
        (["rule", "--all", "FC101"], "a code or `--all`, not both\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_refused_in_two_lines_at_most(arguments: list[str], says: str) -> None:
    ran = run(arguments)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith(f"fcompile: {says}")
    assert ran.err.count("\n") <= 2


def test_options_stand_anywhere_and_can_be_cut(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(good("train"))
    folder, one, image = str(tmp_path), "train-worker-0.spec.containers[0].image", "worker.task.pod.spec.containers[0].image=b:2"
    whole = run(["explain", one, folder, "--set", image, "--namespace", "x", "--kubernetes-version", "1.30"])
    assert (whole.code, b"b:2" in whole.out) == (0, True)
    assert run(["explain", one, "--set", image, "-nx", folder, "--kube=1.30"]) == whole
    assert run(["explain", one, "--set", image, "-n=x", folder, "--kube=1.30"]) == whole
    assert run(["explain", "--se", image, "--names", "x", "--kube", "1.30", "--", one, folder]) == whole


SPELLINGS = [
    ("build -o json", "build --format json", "-o json is written --format json now"),
    ("build --output=name", "build --format=name", "--output name is written --format name now"),
    ("build -oyaml", "build", "-o yaml is written --format yaml now"),
    ("build --emit framework,configmap", "build --emit frameworks,configmaps", ""),
    ("rule --all -o json", "rule --all --format json", "-o json is written --format json now"),
]


@pytest.mark.parametrize(("old", "new", "note"), SPELLINGS)
def test_old_spellings_do_the_same_without_a_word(old: str, new: str, note: str, tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(good("train"))
    paths = [str(tmp_path), "-nx"] if old.startswith("build") else []
    done = run([*old.split(), *paths])
    assert done == run([*new.split(), *paths])
    assert (done.code, done.err) == (0, "")


def test_folders_are_written_by_both_spellings(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(good("train"))
    for words in (["-o", f"dir={tmp_path / 'a'}"], ["--to", str(tmp_path / "b")]):
        assert run(["build", "-nx", *words, str(tmp_path / "train.yaml")]).code == 0
    assert run(["argocd", "bundle", "plugin", "-o", str(tmp_path / "a")]).code == 0
    assert run(["argocd", "bundle", "plugin", "--to", str(tmp_path / "b")]).code == 0
    a, b = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert a == b
    assert set(a) == {".fcompile-manifest", "framework_x_train.yaml", "plugin.yaml"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("old", "new", "note"), [one for one in SPELLINGS if one[2]])
def test_at_a_terminal_one_line_says_how_it_is_written_now(old: str, new: str, note: str, tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(good("train"))
    paths = [str(tmp_path), "-nx"] if old.startswith("build") else []
    with PseudoTerminal([sys.executable, "-m", "fcompile", *old.split(), *paths], 200, 60) as terminal:
        assert terminal.end() == 0
        lines = [*terminal.scrolled_away, *terminal.lines]
    assert [line for line in lines if "now" in line.split()[-1:]] == [f"fcompile: {note}"]


def imported(program: str, *arguments: str) -> set[str]:
    """The modules that a command imports."""
    code = f"import sys; from {program}.cli import main; main({list(arguments)}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stderr.split())


def test_a_command_is_imported_when_it_is_called() -> None:
    helped = imported("fcompile", "--help")
    assert "click" in helped
    machinery = {"fcompile.commands.group", "fcompile.commands.parsing"}
    assert {name for name in helped if name.startswith(("fcompile.commands.", "fcompile.check"))} == machinery
    ruled = imported("fcompile", "rule", "FC101")
    assert "fcompile.commands.rule" in ruled
    assert not ruled & {f"fcompile.commands.{name}" for name in cli.COMMANDS if name != "rule"}


@pytest.mark.parametrize("program", ["fcompile", "fcontroller"])
def test_the_version_is_said_without_click(program: str) -> None:
    assert "click" not in imported(program, "--version")


@pytest.mark.parametrize("command", ["--help", "demo --help", "barrier --help", "--version"])
def test_help_needs_no_extra(command: str, repository: Path) -> None:
    """Of the packages that come with the extra; `run` has its options from the settings, which are made with pydantic."""
    extra = ["google", "httptools", "kubernetes", "msgspec", "prometheus_client", "pydantic", "re2", "rich", "uvloop"]
    code = f"import sys; sys.modules.update(dict.fromkeys({extra})); from fcontroller.cli import main; sys.exit(main({command.split()}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
