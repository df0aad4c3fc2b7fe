"""Ask git, so that nothing in the repository that it reads makes it run a program or reach a network.

A repository can come with a configuration: in an archive, a cache of CI, a shared folder. Through dozens of its keys git runs programs.
Only commands are asked that need few of them: those look at objects and the index, never at the content of the working tree, for which git
would run filters. What is left is switched off here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from subprocess import CompletedProcess

COMMAND: Final = (
    "git",
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.quotePath=false",
    # A program that tells which files have changed, asked for whenever the index is read.
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    # Objects that a partial clone lacks are fetched by the program that `remote.*.uploadpack` names, through whatever protocol.
    "-c",
    "protocol.allow=never",
    "-c",
    "credential.helper=",
    # Said whenever a graft file is named, even the empty one below: it would stand where the reason is looked for.
    "-c",
    "advice.graftFileDeprecated=false",
)
_OFF: Final = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_SSH_COMMAND": "false",
    "GIT_PROXY_COMMAND": "false",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
}


def environment() -> dict[str, str]:
    """Return the environment for git."""
    return {**os.environ, **_OFF}


def ask(*arguments: str, seconds: float | None = None) -> CompletedProcess[bytes]:
    """Return what git says, and how it ends. Raises OSError where there is no git, and TimeoutExpired."""
    import subprocess

    return subprocess.run(
        [*COMMAND, *arguments], env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=seconds
    )


def holder(folder: str) -> str:
    """Return the nearest folder from this one up that holds `.git`; empty if there is none."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return ""
    return folder


def top_of_working_tree(bare: bool) -> str:
    """Return the nearest folder from the current one up that holds `.git`; empty if there is none, or git was told where to look.

    :param bare: git found a bare repository. One within a working tree has come with that, as files.
    """
    if "GIT_DIR" in os.environ or "GIT_WORK_TREE" in os.environ:
        return ""
    folder = holder(os.getcwd())
    if not folder or (bare and os.getcwd() == os.path.join(folder, ".git")):
        return ""
    return os.path.realpath(folder)
