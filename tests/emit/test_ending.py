"""A process that is told to end clears up what it has begun to write, and then ends by the signal."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fcompile.emit import files, folder
from tests.emit.test_files import content

BEGIN = """
import os, signal, sys
from fcompile.emit import files
from fcompile.emit import folder

out, number = sys.argv[1], int(sys.argv[2])
signal.signal(number, signal.SIG_DFL)  # Under nohup a test run has SIGHUP ignored, and what it starts inherits that.


def told():
    os.kill(os.getpid(), number)
"""
BELOW = """
class Text(str):
    def encode(self):
        told()
        return b""


files.write(out, {"a.yaml": "new", "b/c/d.yaml": Text("new")})
"""
AS_A_WHOLE = """
def objects():
    yield {"kind": "Pod", "metadata": {"name": "a"}}
    told()
    yield {"kind": "Pod", "metadata": {"name": "b"}}


folder.write(out, objects())
"""
CLEARING = """
unlink = os.unlink


def told_first(path):
    told()
    unlink(path)


os.unlink = told_first
os.replace = lambda old, new: print(end="")
files.write(out, {"a.yaml": "new", "b.yaml": "new"})
"""


def run(script: str, out: Path, number: int) -> int:
    return subprocess.run([sys.executable, "-c", BEGIN + script, str(out), str(number)], check=False, timeout=60).returncode


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("script", [BELOW, AS_A_WHOLE, CLEARING], ids=["files", "folder", "clearing"])
def test_what_was_there_stays_and_nothing_else(script: str, number: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if script == AS_A_WHOLE:
        folder.write(str(out), [{"kind": "Pod", "metadata": {"name": "old"}}])
    else:
        files.write(str(out), {"a.yaml": "old"})
    before = content(tmp_path)
    assert run(script, out, number) == -number
    assert content(tmp_path) == before
    assert {path.name for path in tmp_path.rglob("*") if path.is_dir()} == {"out"}


def test_a_handler_of_the_callers_stays(tmp_path: Path) -> None:
    calls: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: calls.append(number))
    try:
        files.write(str(tmp_path / "out"), {"a.yaml": Told("new")})
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert calls == [signal.SIGTERM] * 2
    assert content(tmp_path) == {"out/a.yaml": "new"}


class Told(str):
    """A text during whose writing the process is told to end."""

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        signal.raise_signal(signal.SIGTERM)
        return super().encode(encoding, errors)
