"""Runs what a page tells its reader to type, in order, in one shell, and compares what is printed with what is shown."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.docs.blocks import Block

LEFT_OUT = "…"
"""On a line of its own: lines that are not shown."""
HOME = "/home/me"
"""The folder where a page's reader begins."""
_VARIES = {
    "seconds": r" *\b\d+\.\d+ s\b",
    "memory": r"\b\d+\.\d MiB\b",
    # Of kubectl, in the last column.
    "age": r"(?<= )(?:\d+m)?\d+s$",
}
"""What is otherwise each time, and nothing else is."""


class Command(NamedTuple):
    """One that is typed, and what the page shows of its output."""

    text: str
    shown: str
    #: Of the page.
    line: int


def commands(block: Block) -> Iterator[Command]:
    """Of a console block: each begins with `$ `, and goes on after `> `."""
    for found in re.finditer(r"^\$ (.*(?:\n> .*)*)\n?((?:(?!\$ ).*(?:\n|\Z))*)", block.text, re.MULTILINE):
        yield Command(found[1].replace("\n> ", "\n"), found[2], block.line + block.text.count("\n", 0, found.start()))


def agree(shown: str, printed: str) -> bool:
    """Whether the output is as the page shows it."""
    pattern = "".join(r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line + "\n") for line in _steady(shown).splitlines())
    return re.fullmatch(pattern, _steady(printed)) is not None


def _steady(text: str) -> str:
    for name, pattern in _VARIES.items():
        text = re.sub(pattern, f"<{name}>", text, flags=re.MULTILINE)
    return text


class Reader:
    """Somebody who follows a page: creates its files, makes its changes, types its commands."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._home = folder
        pipe = subprocess.PIPE
        command = ["bash", "--norc"]
        self._shell = subprocess.Popen(command, cwd=folder, env=dict(environment), stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)
        #: Asked before each command.
        self.before: Callable[[str], None] = lambda command: None

    def type(self, command: str) -> tuple[str, int]:
        """What is printed, and the exit code."""
        assert self._shell.stdin
        assert self._shell.stdout
        self.before(command)
        self._shell.stdin.write(f"{{ {command}\n}} </dev/null; printf '\\0%s\\n' $?\n".encode())
        self._shell.stdin.flush()
        printed = b""
        while b"\0" not in printed:
            line = self._shell.stdout.readline()
            assert line, f"the shell has ended: {command}"
            printed += line
        text, code = printed.decode().split("\0")
        return text.replace(str(self._home), HOME), int(code)

    def follow(self, block: Block) -> None:
        """Do what one block says, whatever it is; AssertionError where it is not as it says."""
        if block.language == "console":
            for command in commands(block):
                printed, code = self.type(command.text)
                said = f"line {command.line}: $ {command.text}\n{printed}\nwith exit code {code}, but the page shows\n{command.shown}"
                assert agree(command.shown, printed), said
                assert code in (0, 1), said
        elif block.language == "diff":
            self._change(block)
        elif block.title:
            (self.folder / block.title).write_text(block.text, "utf-8")

    @property
    def folder(self) -> Path:
        """Where the shell is."""
        return self._home / Path(self.type("pwd")[0].strip()).relative_to(HOME)

    def _change(self, block: Block) -> None:
        """Lines of a file with `-` become those with `+`, between the others."""
        lines = block.text.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        path = self.folder / block.title
        text = path.read_text("utf-8")
        assert text.count(before) == 1, f"line {block.line}: {block.title} has not once\n{before}"
        path.write_text(text.replace(before, after), "utf-8")

    @contextlib.contextmanager
    def beside(self, block: Block) -> Iterator[None]:
        """The only command of a block runs on in another terminal."""
        ((command, *_),) = commands(block)
        log = self._home / "other-terminal.log"
        number = self.type(f"{command} >'{log}' 2>&1 & echo $!")[0].strip()
        try:
            yield
        finally:
            _, code = self.type(f"kill {number}; wait {number}")
        assert code == 0, log.read_text()

    def leave(self) -> None:
        """End the shell."""
        self._shell.communicate()
