"""Every diagnostic has a file under `examples/bad/` that shows it, and each of these shows nothing else.

A file is named after its rule. `# <- FC123` at the end of a line says that this is found there; where no comment can stand, the
line is in `LINES`. The first line may name a Kubernetes version to check for. Rules that are about files, or whose file would be
very large, have their input made in `MADE`.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fcompile.cli import main
from fcompile.diagnostics.catalog import all_rules

BAD = Path(__file__).resolve().parent.parent / "examples" / "bad"
FILES = sorted(path for path in BAD.iterdir() if not path.name.startswith("."))
RULES = {rule.code: rule for rule in all_rules()}
MARK = re.compile(rb"# <-((?: FC\d{3})+)")

VERSION = re.compile(rb"\A# .*(?P<option>--kubernetes-version) (?P<version>1\.\d+)")
LINES = {
    "FC002-json-syntax.json": [(10, "FC002")],
    "FC005-unclosed-quote.yaml": [(16, "FC005")],
    "FC006-unclosed-bracket.yaml": [(16, "FC006")],
    "FC009-too-many-values.yaml": [(16, "FC009")],
    "FC010-too-deep.yaml": [(16, "FC010")],
    "FC012-not-utf-8.yaml": [(7, "FC012")],
    "FC013-forbidden-character.yaml": [(16, "FC013")],
}
"""What is found in a file that can say nothing of it itself: lines and codes."""

Capture = pytest.CaptureFixture[str]


def framework(script: str = "python train.py", log: str = "") -> str:
    """A Framework without a fault, as long as its two texts are not too long."""
    return json.dumps(
        {
            "apiVersion": "frameworkcontroller.microsoft.com/v1",
            "kind": "Framework",
            "metadata": {"name": "resnet", "annotations": {"example.com/log": log}},
            "spec": {
                "taskRoles": [
                    {
                        "name": "worker",
                        "task": {
                            "pod": {
                                "spec": {
                                    "restartPolicy": "Never",
                                    "containers": [{"name": "train", "image": "train:1.0", "command": ["sh", "-c", script]}],
                                }
                            }
                        },
                    }
                ]
            },
        }
    )


def marked(path: Path) -> list[tuple[int, str]]:
    """What the file says is found in it: lines, counted from 1, and codes."""
    if path.name in LINES:
        return LINES[path.name]
    data = path.read_bytes()
    return [(data.count(b"\n", 0, match.start()) + 1, code.decode()) for match in MARK.finditer(data) for code in match[1].split()]


def arguments(path: Path, repository: Path) -> list[str]:
    """The file as `validate` gets it, for the Kubernetes version that its first line names."""
    version = VERSION.match(path.read_bytes())
    named = [version["option"].decode(), version["version"].decode()] if version else []
    return [*named, str(path.relative_to(repository))]


def found(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    """The problems that `validate` prints as JSON."""
    main(["validate", "--format", "json", *arguments])
    problems: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["problems"]
    return problems


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    """Paths in the output are the same on every machine."""
    monkeypatch.chdir(repository)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shows_its_rule(path: Path, repository: Path, capsys: Capture) -> None:
    code = path.name[:5]
    assert path.stem == f"{code}-{RULES[code].name}"
    expected = marked(path)
    assert code in [marked_code for _, marked_code in expected]
    problems = found(capsys, *arguments(path, repository))
    assert sorted((problem["line"], problem["code"]) for problem in problems) == sorted(expected)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_text(path: Path, repository: Path, capsys: Capture, text_file: SnapshotAssertion) -> None:
    main(["validate", *arguments(path, repository)])
    assert capsys.readouterr().out == text_file


def _missing(folder: Path) -> Path:
    # A link to nothing; a path to nothing is no input at all.
    path = folder / "resnet.yaml"
    path.symlink_to("gone.yaml")
    return path


def _unreadable(folder: Path) -> Path:
    # A link to itself: not even root can read it.
    path = folder / "resnet.yaml"
    path.symlink_to(path)
    return path


def _without_files(folder: Path) -> Path:
    (folder / "README.md").write_text("# Jobs\n")
    return folder


def _written(text: Callable[[], str]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "resnet.yaml"
        path.write_text(text(), encoding="utf-8")
        return path

    return make


def _noise(length: int) -> str:
    """Text that hardly compresses, the same in every run."""
    return base64.b64encode(random.Random(0).randbytes(length * 3 // 4)).decode()


MADE: dict[str, Callable[[Path], Path]] = {
    "FC011": _written(lambda: "#" + " " * (8 << 20) + "\n" + framework()),
    "FC030": _missing,
    "FC031": _unreadable,
    "FC032": _without_files,
    "FC033": _written(lambda: "#" + " " * (32 << 20) + "\n" + framework()),
    "FC034": _written(lambda: "a: b\n---\n" * 100_001 + framework()),
    "FC035": _written(lambda: "- {\n---\n" * 1_001 + framework()),
    "FC153": _written(lambda: framework(log="#" * 270_000)),
    "FC601": _written(lambda: framework("#" * 1_600_000)),
    "FC602": _written(lambda: framework("#" * 300_000)),
    "FC603": _written(lambda: framework(_noise(1_450_000))),
}
"""Rules whose input is made on the spot: it is not a file of ours, or far too large to be kept."""


@pytest.mark.parametrize("code", MADE)
def test_made(code: str, tmp_path: Path, capsys: Capture) -> None:
    assert code in [problem["code"] for problem in found(capsys, str(MADE[code](tmp_path)))]


def test_every_rule_is_shown() -> None:
    shown = {path.name[:5] for path in FILES}
    assert not shown & MADE.keys()
    assert shown | MADE.keys() == RULES.keys()


def test_files_are_small() -> None:
    """A reader opens them; the documentation prints them."""
    assert max(path.stat().st_size for path in FILES) < 4_000
