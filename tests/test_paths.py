"""Paths in backticks name what there is: in the pages, in CONTRIBUTING.md, in docstrings and in comments."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

FOLDERS = ("benchmarks", "controller", "deploy", "docs", "examples", "fcompile", "plugins", "schemas", "tests", "tools")
IN_BACKTICKS = re.compile(r"(?<!`)`([\w./-]+)`(?!`)")
OTHERS = ("_downloads/", "build/")
"""Folders that builds make, of which decision records speak."""


@cache
def paths(repository: Path) -> frozenset[str]:
    """Return every file and folder of the project, relative to it and with each of its trailing parts: `fcompile/load/`, `load/`."""
    own = [repository / folder for folder in FOLDERS]
    there = [*own, *repository.glob("*.*"), *(path for folder in own for path in folder.rglob("*") if "__pycache__" not in path.parts)]
    found = set()
    for path in there:
        parts = path.relative_to(repository).parts
        found |= {"/".join(parts[start:]) for start in range(len(parts))}
    return frozenset(found)


def names_a_path(text: str) -> bool:
    """Return whether a text in backticks is a path of this project: a file in Python, a folder, or what is in one of ours."""
    inside = text.partition("/")[0] in FOLDERS and "/" in text
    return inside or text.endswith(".py") or re.fullmatch(r"[a-z_]+(/[a-z_]+)*/", text) is not None


def missing(text: str, repository: Path) -> list[str]:
    """Return the paths in a text that do not exist."""
    found = [word for word in IN_BACKTICKS.findall(text) if names_a_path(word) and word not in OTHERS]
    return [word for word in found if word.rstrip("/") not in paths(repository) and not list(repository.glob(f"{word}*"))]


@pytest.mark.parametrize(
    "pattern", ["*.md", "docs/*.md", "docs/adr/*.md", *(f"{folder}/**/*.py" for folder in ("fcompile", "controller", "tools"))]
)
def test_the_paths_exist(pattern: str, repository: Path) -> None:
    files = [path for path in repository.glob(pattern) if path.name != "CHANGELOG.md"]
    assert files
    wrong = {str(path.relative_to(repository)): absent for path in files if (absent := missing(path.read_text("utf-8"), repository))}
    assert not wrong


def test_a_path_that_is_gone_is_found(repository: Path) -> None:
    assert missing("`fcompile/compile.py` and `shared/`, but `fcompile/load/` and `fcompile/default.py`", repository) == [
        "fcompile/compile.py",
        "shared/",
    ]
