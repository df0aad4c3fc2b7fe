"""Progress is for people who wait: on a terminal, after a while, and out of the way of everything else."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator

import pytest

from fcompile.commands import progress as module
from fcompile.commands.progress import clear, progress


def on_a_terminal(code: str) -> str:
    """What a Python program prints on a terminal of its own."""
    imports = "import sys, time\nfrom fcompile.commands import progress as module\nfrom fcompile.commands.progress import clear, progress\n"
    printed = b""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("CI", None)
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-c", imports + code])
    while True:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # Linux: the child has closed the terminal
            break
        if not read:
            break
        printed += read
    os.waitpid(child, 0)
    os.close(terminal)
    return printed.decode()


def test_nothing_is_shown_to_those_who_need_not_wait() -> None:
    assert on_a_terminal("print(sum(progress(range(100), 'steps')), file=sys.stderr)") == "4950\r\n"


def test_a_line_comes_and_goes() -> None:
    printed = on_a_terminal(
        "module.PATIENCE = 0\n"
        "for step in progress(range(1500), 'files checked'):\n"
        "    if step == 3:\n"
        "        time.sleep(0.3)\n"
        "print('done', file=sys.stderr)"
    )
    assert printed.startswith("\r\x1b[K1 files checked")
    assert "\r\x1b[K4 files checked" in printed
    assert printed.endswith("\r\x1b[Kdone\r\n")


def test_whoever_prints_takes_the_line_away_first() -> None:
    printed = on_a_terminal(
        "module.PATIENCE = 0\n"
        "for step in progress(range(2), 'steps'):\n"
        "    if step == 1:\n"
        "        clear()\n"
        "        print('problem', file=sys.stderr)\n"
    )
    assert printed == "\r\x1b[K1 steps\r\x1b[Kproblem\r\n"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "PATIENCE", 0)
    yield
    clear()


@pytest.mark.usefixtures("impatient")
def test_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress(range(3), "steps")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
