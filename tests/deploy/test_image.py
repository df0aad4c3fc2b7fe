"""The image's steps, done by hand: there is no container engine here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from fcompile import __version__

TARGET = "/opt/fcontroller"


def instructions(repository: Path) -> list[tuple[str, str]]:
    """Of the Dockerfile, with continued lines joined, without what is copied from one stage to the next."""
    text = (repository / "deploy" / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = [(instruction, rest.strip()) for instruction, _, rest in (line.partition(" ") for line in lines)]
    return [(instruction, rest) for instruction, rest in pairs if not rest.startswith("--from=")]


def test_what_is_copied_is_sent_to_the_builder(repository: Path) -> None:
    sent = [line[1:] for line in (repository / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    sources = [source for instruction, rest in instructions(repository) if instruction == "COPY" for source in rest.split()[:-1]]
    assert [source for source in sources if not any(fnmatch(source, pattern) for pattern in sent)] == []
    assert all((repository / source).exists() for source in sources)


@pytest.mark.network
def test_the_steps_make_a_command_that_works(repository: Path, tmp_path: Path) -> None:
    source, made, system = tmp_path / "src", tmp_path / "fcontroller", tmp_path / "system"
    subprocess.run([sys.executable, "-m", "venv", system], check=True, timeout=120)
    environment = {**os.environ, "PATH": f"{system / 'bin'}:{os.environ['PATH']}"}
    source.mkdir()
    for instruction, rest in instructions(repository):
        if instruction == "COPY":
            *sources, target = rest.split()
            for name in sources:
                copy(repository / name, source / target)
        elif instruction == "RUN":
            done = subprocess.run(
                ["sh", "-c", rest.replace(TARGET, str(made))], cwd=source, env=environment, capture_output=True, text=True, timeout=600
            )
            assert done.returncode == 0, done.stdout + done.stderr
    clean = {"PATH": f"{made / 'bin'}:/nowhere", "HOME": "/"}
    printed = subprocess.run(["fcontroller", "--version"], env=clean, cwd="/", capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout == f"fcontroller {__version__}\n"
    failed = subprocess.run(["fcontroller", "run"], env=clean, cwd="/", capture_output=True, text=True, check=False, timeout=60)
    assert "no kubeconfig, and no cluster around this process" in failed.stderr  # It has come as far as to ask for one.


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.mkdir(exist_ok=True)
        shutil.copy(source, target)
