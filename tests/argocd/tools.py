"""Programs of others that tests use where they are: on the PATH, or named by an environment variable."""

from __future__ import annotations

import os
import shutil

import pytest

NONE = "NO PROGRAM"


def tool(name: str) -> str:
    """The path of `argocd`, `kustomize` or `helm`, or what ARGOCD_BINARY and the like name. Skips the test without it."""
    variable = f"{name.upper()}_BINARY"
    found = os.environ.get(variable) or shutil.which(name)
    if not found:
        pytest.skip(f"{NONE} {name}: it is not in the PATH, and {variable} does not name it")
    return os.path.abspath(found)
