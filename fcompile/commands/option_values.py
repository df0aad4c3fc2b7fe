"""What the values of shared options and arguments mean to the compiler, and what its settings are called as options."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.diagnostics.suggestions import closest
from fcompile.diagnostics.visible import listed, visible
from fcompile.errors import UsageError
from fcompile.load.files import SUFFIXES
from fcompile.pipeline import settings

if TYPE_CHECKING:
    from fcompile.pipeline.overrides import Override

_OPTIONS = {"override": "--set", "kinds": "--emit"}


def option_of(setting: str) -> str:
    """Return what a setting of the compiler is called on the command line."""
    return _OPTIONS.get(setting, f"--{setting}")


def checked_with(kubernetes_version: str, namespace: str | None) -> Options:
    """Return what a check depends on besides its input. Raises SettingError."""
    return settings.options(kubernetes_version, DEFAULT_NAMESPACE if namespace is None else namespace)


def meant(name: str, known: Sequence[str]) -> str:
    """Return what a setting that is unknown was meant to be, where settings come by name: from Argo CD, kustomize and kpt."""
    near = closest(name, known)
    return f"did you mean `{near.word}`?" if near else f"there are {', '.join(known)}, and fields of roles, such as worker.taskNumber"


def parsed(overrides: Sequence[str]) -> list[Override]:
    """Return the overrides that are asked for. Raises SettingError."""
    if not overrides:
        return []
    from fcompile.pipeline.overrides import parse

    return [parse(written, option_of("override")) for written in overrides]


def check_paths(paths: Sequence[str]) -> None:
    """Raise UsageError for paths that lead to nothing: a command that was called for the wrong thing has nothing to report on."""
    if "" in paths:
        raise UsageError("a path is empty: is a variable not set? `.` is this folder")
    missing = [visible(path) for path in paths if path != "-" and not is_there(path)]
    if missing:
        if missing[0].startswith(("http://", "https://")):
            raise UsageError(f"{missing[0]}: nothing is fetched: `curl -fsSL URL | fcompile … -` reads it from stdin")
        other = _other_ending(missing[0]) if len(missing) == 1 else ""
        if other:
            raise UsageError(f"{missing[0]}: no such file: there is {other}")
        raise UsageError(f"{listed(missing, 3)}: no such file or folder{'' if all(map(os.path.isabs, paths)) else _here()}")


def check_folder(to: str) -> None:
    """Raise UsageError for what cannot be meant as the folder into which files are written."""
    if not to:
        raise UsageError("--to: name a folder")
    if to.endswith(SUFFIXES) and not os.path.exists(to):
        raise UsageError(f"--to names a folder, for a file each: name another, or write `> {visible(to)}` for one file")


def _other_ending(path: str) -> str:
    """Return the file of the same name with another ending, if there is one; else the empty string."""
    name, ending = os.path.splitext(path)
    return next((name + other for other in SUFFIXES if ending in SUFFIXES and os.path.isfile(name + other)), "")


def _here() -> str:
    try:
        return f" in {visible(os.getcwd())}"
    except OSError:  # somebody has removed it
        return ""


def is_there(path: str) -> bool:
    """Return whether something has this path, be it a link that leads nowhere."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # it is told with its reason when it is read
    return True
