"""What the tests of the KRM function share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fcompile.load import values
from tests.argocd.conftest import pytest_runtest_makereport as pytest_runtest_makereport
from tests.laws import run


class Answer(NamedTuple):
    """What the function said to a list."""

    code: int
    out: str
    said: str

    @property
    def value(self) -> Any:
        (value,) = values(self.out.encode())
        return value

    @property
    def results(self) -> list[Any]:
        found: list[Any] = self.value.get("results", [])
        return found


Call = Callable[[str | bytes], Answer]


@pytest.fixture
def krm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    """Calls the function in an empty folder with a text on stdin."""
    monkeypatch.chdir(tmp_path)

    def call(text: str | bytes) -> Answer:
        ran = run(["krm"], text.encode() if isinstance(text, str) else text)
        return Answer(ran.code, ran.out.decode(), ran.err)

    return call


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of kustomize and kpt: with `fcompile` in the PATH, and a home of their own."""
    home = tmp_path_factory.mktemp("home")
    program = home / "bin" / "fcompile"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fcompile "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "HOME": str(home), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
