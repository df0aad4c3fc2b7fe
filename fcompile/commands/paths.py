"""The paths that a user names."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError


def check_paths(paths: Sequence[str]) -> None:
    """Raise UsageError for paths that lead to nothing: a command that was called for the wrong thing has nothing to report on."""
    missing = [visible(path) for path in paths if path != "-" and not _is_there(path)]
    if missing:
        listed = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise UsageError(f"{listed}: no such file or folder{'' if all(map(os.path.isabs, paths)) else _here()}")


def _here() -> str:
    try:
        return f" in {visible(os.getcwd())}"
    except OSError:  # somebody has removed it
        return ""


def _is_there(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # it is told with its reason when it is read
    return True
