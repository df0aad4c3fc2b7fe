"""A shell on a terminal: what becomes of a line when somebody presses Tab."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path

PATIENCE = 60
"""Seconds that one answer may take on a machine that is busy."""

# Each of these types what it was asked for, presses Tab and then a key that prints the line as it is now.
_SETUP = {
    "bash": """bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; bind 'set page-completions off'; PS1=
source <(fcompile completion bash); bind -x '"\\C-x\\C-p": printf "<<%s>>\\n" "$READLINE_LINE"'""",
    "zsh": """autoload -Uz compinit; compinit -D -u; PS1=; unsetopt beep; source <(fcompile completion zsh)
show() { print -r -- "<<$BUFFER>>" }; zle -N show; bindkey '^X^P' show""",
}
_COMMANDS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


class Tabbed(str):
    """The line after Tab; `shown` is all that was on the terminal."""

    shown: str


class Terminal:
    """`bash` or `zsh`, waiting for somebody to type. `more` is done at its start."""

    def __init__(self, shell: str, folder: Path, environment: dict[str, str], more: str = "") -> None:
        self._terminal, other_side = pty.openpty()
        self._shell = subprocess.Popen(
            _COMMANDS[shell], cwd=folder, env=environment, stdin=other_side, stdout=other_side, stderr=other_side, start_new_session=True
        )
        os.close(other_side)
        os.write(self._terminal, f"{_SETUP[shell]}\n{more}\necho rea''dy\n".encode())
        self._until(r"ready\r?\n")

    def tab(self, typed: str) -> Tabbed:
        """What the line becomes."""
        os.write(self._terminal, b"\x15" + typed.encode() + b"\t\x18\x10")
        shown = self._until(r"<<.*>>")
        line = Tabbed(re.findall(r"<<(.*)>>", shown)[-1])
        line.shown = shown
        return line

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._terminal)
        self._shell.kill()
        self._shell.wait()

    def _until(self, mark: str) -> str:
        got = ""
        while not re.search(mark, got):
            ready, _, _ = select.select([self._terminal], [], [], PATIENCE)
            assert ready, f"no answer after {PATIENCE} s: {got!r}"
            got += os.read(self._terminal, 65536).decode(errors="replace")
        return got


def fish(lines: Sequence[str], folder: Path, environment: dict[str, str], program: str = "fcompile") -> list[dict[str, str]]:
    """What fish offers for each line, with the descriptions."""
    script = f"{program} completion fish | source; for line in $argv; complete -C $line; echo ==; end"
    command = ["fish", "--no-config", "-c", script, *lines]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stderr == ""
    answers = done.stdout.split("==\n")[:-1]
    return [{word: about for word, _, about in (line.partition("\t") for line in answer.splitlines())} for answer in answers]
