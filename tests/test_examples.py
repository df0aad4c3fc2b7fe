"""Every example compiles without a word, and what comes of it is in `tests/snapshots/` for people to read."""

from __future__ import annotations

import json
from itertools import takewhile
from pathlib import Path

import pytest
from jsonschema.validators import validator_for
from syrupy.assertion import SnapshotAssertion

from fcompile.check.objects import is_framework
from fcompile.cli import main
from fcompile.load import values

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SWEEP = EXAMPLES / "sweep"
SINGLE = sorted(path for path in EXAMPLES.iterdir() if path.suffix == ".yaml")
COMPILED = [*SINGLE, SWEEP]
FILES = [*SINGLE, *sorted(SWEEP.iterdir())]

Capture = pytest.CaptureFixture[str]


def in_words(path: Path) -> str:
    """A test's id: the example's name."""
    return path.relative_to(EXAMPLES).with_suffix("").as_posix()


def output(capsys: Capture, *arguments: str) -> str:
    """What a command that must succeed prints on stdout."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    """Paths in the output are the same on every machine."""
    monkeypatch.chdir(repository)


@pytest.mark.parametrize("path", FILES, ids=in_words)
def test_says_what_it_shows(path: Path) -> None:
    """Two to six lines of comment first; right above each Framework, the line that gives editors its schema."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = [line for line in takewhile(lambda line: line.startswith("#"), lines) if "yaml-language-server" not in line]
    assert 2 <= len(comment) <= 6
    depth = "../" * len(path.relative_to(EXAMPLES).parts)
    modeline = f"# yaml-language-server: $schema={depth}schemas/framework.schema.json"
    above = [lines[place - 2] for place, line in enumerate(lines) if line == "kind: Framework"]
    assert above
    assert set(above) == {modeline}


@pytest.mark.parametrize("path", FILES, ids=in_words)
def test_leaves_nothing_to_chance(path: Path) -> None:
    """What differs between clusters or over time is written out: restart policies, namespaces, requests, tags of images."""
    for framework in filter(is_framework, values(path.read_bytes())):
        assert framework["metadata"]["namespace"]
        for role in framework["spec"]["taskRoles"]:
            spec = role["task"]["pod"]["spec"]
            assert spec["restartPolicy"] in ("Never", "OnFailure", "Always")
            for container in [*spec.get("initContainers", []), *spec["containers"]]:
                assert ":" in container["image"].rpartition("/")[2]
                assert {"requests", "limits"} <= set(container["resources"])


@pytest.mark.parametrize("path", FILES, ids=in_words)
def test_editors_accept_it(path: Path, repository: Path) -> None:
    """The schema of the modeline finds nothing, placeholders included."""
    schema = json.loads((repository / "schemas" / "framework.schema.json").read_text(encoding="utf-8"))
    validator = validator_for(schema)(schema)
    for framework in filter(is_framework, values(path.read_bytes())):
        assert [error.message for error in validator.iter_errors(framework)] == []


@pytest.mark.parametrize("path", COMPILED, ids=in_words)
def test_validate(path: Path, repository: Path, capsys: Capture) -> None:
    relative = str(path.relative_to(repository))
    code = main(["validate", "--strict", relative])
    captured = capsys.readouterr()
    assert code == 0, captured.out
    assert "FC" not in captured.out + captured.err


@pytest.mark.parametrize("path", COMPILED, ids=in_words)
def test_build(path: Path, repository: Path, capsys: Capture, yaml_file: SnapshotAssertion) -> None:
    assert output(capsys, "build", str(path.relative_to(repository))) == yaml_file


@pytest.mark.parametrize("path", COMPILED, ids=in_words)
def test_expected(path: Path, repository: Path, capsys: Capture, yaml_file: SnapshotAssertion) -> None:
    assert output(capsys, "build", "--emit", "expected", str(path.relative_to(repository))) == yaml_file


def test_sweep_together(repository: Path, capsys: Capture) -> None:
    """A folder's output is that of its files, one after the other."""
    one_by_one = "".join(output(capsys, "build", str(path.relative_to(repository))) for path in sorted(SWEEP.iterdir()))
    assert output(capsys, "build", str(SWEEP.relative_to(repository))) == one_by_one


def test_build_twice(repository: Path, capsys: Capture, tmp_path: Path) -> None:
    """What is built builds to itself."""
    once = output(capsys, "build", *(str(path.relative_to(repository)) for path in COMPILED))
    built = tmp_path / "built.yaml"
    built.write_text(once, encoding="utf-8")
    assert output(capsys, "build", str(built)) == once
