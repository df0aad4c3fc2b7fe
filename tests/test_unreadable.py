"""What every command makes of the same input: which file is a Framework's is decided once.

Commands that look for Frameworks pass over what cannot be read of others. Commands that print all that they were given refuse it: whoever
applies the output would miss what is in it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

import pytest

import fcompile
from fcompile.load import rules
from tests.laws import Ran, run
from tests.test_cli import good

HEAD: Final = "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n"
SERVICE: Final = "apiVersion: v1\nkind: Service\nmetadata: {name: train-worker}\nspec: {ports: [{port: 80}]}\n"
NEAR: Final = "apiVersion: frameworkcontroler.microsoft.com/v1\nkind: Framework\nmetadata: {name: near}\nspec: {taskroles: []}\n"
LARGE: Final = 100_000
POINTER: Final = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3\n"
PATCHES: Final = "patches:\n- path: other.yaml\n"


class Case(NamedTuple):
    """What is beside a good Framework in a folder, by the names of the files, and what is said of it."""

    files: dict[str, str | bytes]
    looking: str
    """By the commands that look for Frameworks: the code of an error, `skipped`, or nothing."""
    printing: str
    """By the commands that print everything."""
    is_compared: bool = False
    """Whether `diff` compares it as a file, since kubectl may find objects in it."""


CASES: Final = {
    "values of another tool": Case({"other.yaml": "image: {tag: 1}\n"}, "", ""),
    "another kind that cannot be read": Case({"other.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\n"}, "", "FC006", True),
    "a template of another kind": Case({"other.yaml": "kind: ConfigMap\n{{- if .Values.a }}\n  a: {{ .b }}\n{{- end }}\n"}, "", "FC001"),
    "what is not UTF-8": Case({"other.yaml": b"a: \xe9\n"}, "", "FC012"),
    "our words in what cannot be read": Case({"other.yaml": "env: FC_TASK_INDEX\ntaskRoles: [\n"}, "", "FC006"),
    "duplicate keys in another kind": Case({"other.yaml": "kind: Job\nenv: FC_TASK_INDEX\nkind: Job\n"}, "", "FC003"),
    "a Framework that cannot be read": Case({"other.yaml": f"{HEAD}metadata: {{name: b\n"}, "FC006", "FC006"),
    "only its API group can be read": Case({"other.yaml": f"{HEAD.splitlines()[0]}\nkind: [\n"}, "FC006", "FC006"),
    "a Framework before what cannot be read": Case({"other.yaml": f"{good('b')}---\na: [\n"}, "FC006", "FC006"),
    "a Framework in a template": Case({"other.yaml": f"{HEAD}{{{{- if .Values.a }}}}\na: {{{{ .b }}}}\n"}, "skipped", "skipped"),
    "a patch": Case({"kustomization.yaml": PATCHES, "other.yaml": f"{HEAD}metadata: {{name: b}}\n"}, "skipped", "skipped"),
    "a misspelt Framework": Case({"other.yaml": NEAR}, "FC163", "FC163"),
    "a misspelt Framework that cannot be read": Case({"other.yaml": f"{NEAR}a: [\n"}, "", "FC006", True),
    "a misspelt Framework in a patch": Case({"kustomization.yaml": PATCHES, "other.yaml": NEAR}, "skipped", "skipped"),
    "nothing behind a link": Case({"other.yaml": ""}, "FC030", "FC030"),
    "a pointer of Git LFS": Case({"other.yaml": POINTER}, "skipped", "skipped"),
    "a large file": Case({"other.yaml": b"a" * LARGE}, "", "FC033"),
    "a large file with a Framework": Case({"other.yaml": HEAD.encode() + b"a" * LARGE}, "FC033", "FC033"),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / ".git").mkdir()  # above it nothing is looked at
    monkeypatch.chdir(tmp_path / "app")
    monkeypatch.setattr(rules, "MAX_FILE_BYTES", LARGE - 1)
    found = CASES[request.param]
    Path("train.yaml").write_text(good())
    for name, text in found.files.items():
        if request.param == "nothing behind a link":
            Path(name).symlink_to("nothing")
        else:
            Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return found


def expect(ran: Ran, said: str, failed: int = 1, skipped: int = 0, nothing: int = 0) -> None:
    """:param failed: the exit code for an error. :param skipped, nothing: the same where it is skipped, or nothing is said."""
    is_error = said.startswith("FC")
    assert ran.code == (failed if is_error else skipped if said == "skipped" else nothing), ran.err
    assert ("skipped other.yaml: " in ran.err.replace("./", "")) == (said == "skipped")
    assert set(re.findall(r"FC\d{3}", ran.out.decode() + ran.err)) == ({said} if is_error else set())


def test_validate(case: Case) -> None:
    expect(run(["validate", "."]), case.looking)


def test_diff(case: Case, tmp_path: Path) -> None:
    """A patch or a template that is new is a difference, though what is made of it is not compared."""
    (tmp_path / "train.yaml").write_text(good())
    expect(run(["diff", str(tmp_path / "train.yaml"), "."]), case.looking, failed=2, skipped=1, nothing=int(case.is_compared))


def test_diff_of_commits(case: Case) -> None:
    """git gives files in another way."""
    shutil.rmtree(".git")
    for arguments in (["init", "-q"], ["add", "train.yaml"], ["commit", "-qm", "a"], ["add", "."], ["commit", "-qm", "b"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments], check=True)
    is_link = Path("other.yaml").is_symlink()  # It is not a file for git: where it leads is shown.
    said = "" if is_link else case.looking
    ran = run(["diff", "--git", "HEAD~1..HEAD"])
    assert ran.code == (2 if said.startswith("FC") else said == "skipped" or is_link or case.is_compared), ran.err
    assert said != "FC033" or "--git: other.yaml: the file is larger than" in ran.err


def test_explain(case: Case) -> None:
    """What one Framework comes to can be said whatever is wrong with others."""
    expect(run(["explain", "train-worker-0"]), "")
    ran = run(["explain", "absent-worker-0"])
    if case.looking.startswith("FC0"):
        expect(ran, case.looking)  # it may be in there
    else:
        assert (ran.code, "there is no Framework `absent`" in ran.err) == (2, True)


def test_build(case: Case) -> None:
    ran = run(["build", "."])
    expect(ran, case.printing)
    assert (b"name: train\n" in ran.out) == (ran.code == 0), "everything or nothing"
    others = not case.looking and bool(case.printing)
    assert ("other.yaml: no Framework is recognized in it, but" in ran.err) == others


def test_python(case: Case) -> None:
    """It compiles what it is given, as `build` does."""
    compilation = fcompile.compile(".")
    assert [problem.rule.code for problem in compilation.problems] == ([case.printing] if case.printing.startswith("FC") else [])
    assert bool(compilation.skipped) == (case.printing == "skipped")


def test_plugin(case: Case) -> None:
    if "kustomization.yaml" in case.files:
        pytest.skip("kustomize reads these")
    ran = run(["argocd", "generate", "."])
    assert (ran.code == 0) == (not case.printing), ran.err
    assert bool(ran.out) == (not case.printing)


@pytest.mark.parametrize(("name", "claimed"), [("our words in what cannot be read", False), ("a Framework that cannot be read", True)])
def test_the_plugin_claims_what_would_be_refused_as_a_framework(
    name: str, claimed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.yaml").write_text(str(CASES[name].files["other.yaml"]))
    monkeypatch.chdir(tmp_path)
    assert run(["argocd", "discover"]).out.decode() == ("other.yaml\n" if claimed else "")


@pytest.mark.parametrize("command", ["validate", "build"])
def test_a_service_of_the_name_that_a_role_asks_for(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not there is anything else of ours in its file."""
    monkeypatch.chdir(tmp_path)
    Path("train.yaml").write_text(good().replace("    taskNumber: 3\n", "    taskNumber: 3\n    service: {}\n"))
    Path("web.yaml").write_text(SERVICE)
    ran = run([command, "--strict", "."])
    assert (ran.code, "FC502" in ran.out.decode() + ran.err) == (1, True)
