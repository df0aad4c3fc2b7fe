"""The same bytes on every machine: hash seeds, time zones, locales, folders, versions of Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = [
    ["build", "examples"],
    ["build", "--emit", "framework,expected", "-o", "json", "examples/rl.yaml", "examples/sweep"],
    ["validate", "--format", "sarif", "examples/bad"],
    ["validate", "examples/bad", "-j", "3"],
    ["schema"],
]


def output(python: str, arguments: list[str], **environment: str) -> tuple[int, bytes]:
    """Exit code and stdout of a run in an environment that is otherwise the same every time."""
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(yaml.__file__).parent.parent)])}
    done = subprocess.run(
        [python, "-m", "fcompile", *arguments], cwd=ROOT, env=clean | environment, capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_environments(arguments: list[str]) -> None:
    code, expected = output(sys.executable, arguments, PYTHONHASHSEED="0")
    assert expected
    for environment in (
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"PYTHONOPTIMIZE": "2", "PYTHONUTF8": "1"},
    ):
        assert output(sys.executable, arguments, **environment) == (code, expected), environment


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_versions_of_python(version: str, tmp_path: Path) -> None:
    python = shutil.which(f"python{version}")
    # Usual YAML is read without PyYAML, whose compiled part belongs to one version: so any interpreter will do for the examples.
    if python is None or subprocess.run([python, "-c", "pass"], capture_output=True, check=False).returncode:
        pytest.skip(f"python{version} is not installed")
    # click is of Python alone, and nothing else is imported.
    (tmp_path / "click").symlink_to(Path(click.__file__).parent)
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = ["-m", "fcompile", "build", "--emit", "framework,expected", "examples/pytorch-ddp.yaml", "examples/sweep"]
    done = subprocess.run([python, *arguments], cwd=ROOT, env=clean, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == output(sys.executable, arguments[2:])[1]
