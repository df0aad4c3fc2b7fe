"""docs/krm.md: its files and commands, and what these print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.argocd.tools import tool

_BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+)\n")
_VARIES = re.compile(r"\bin [\d.]+m?s|sha256:\S+|lab\S*(?=\": )|Package \"\S+\"")


def test_every_command_prints_what_is_shown(repository: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    for name in ("kustomize", "kpt"):
        (bin / name).symlink_to(tool(name))
    environment = {**environment, "PATH": f"{bin}{os.pathsep}{environment['PATH']}"}
    folder = tmp_path / "lab"
    folder.mkdir()
    shutil.copy(repository / "examples" / "hello.yaml", folder)
    shown = ran = 0
    for kind, text in _BLOCK.findall((repository / "docs" / "krm.md").read_text(encoding="utf-8")):
        if kind == "yaml":
            file = _FILE.match(text)
            assert file is not None
            (folder / file[1]).write_text(text, encoding="utf-8")
            shown += 1
            continue
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
            )
            assert _VARIES.sub("…", done.stdout.replace(" \n", "\n")).rstrip() == _VARIES.sub("…", output).rstrip(), command
            ran += 1
    assert (shown, ran) == (3, 5)
