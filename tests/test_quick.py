"""The quick tests (`pytest -m quick`) leave out no package of the product."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import SLOW


def packages(root: Path) -> set[str]:
    """The packages of the product, by the names by which they are imported."""
    folders = [path.parent for name in ("fcompile", "controller/fcontroller") for path in (root / name).rglob("__init__.py")]
    return {".".join(folder.relative_to(root).parts).removeprefix("controller.") for folder in folders}


def used(file: Path) -> Iterator[str]:
    """Yield what a file imports, with the packages that it is in, and the packages of the commands that it names."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [f"fcompile.commands.{node.value}", f"fcontroller.{node.value}"]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def test_every_package_has_a_quick_test(repository: Path) -> None:
    slow = [repository / name for name in SLOW]
    folders = {file.parent for file in (repository / "tests").rglob("test_*.py") if not any(file.is_relative_to(path) for path in slow)}
    files = [file for folder in folders for file in folder.glob("*.py") if not any(file.is_relative_to(path) for path in slow)]
    assert packages(repository) - {name for file in files for name in used(file)} == set()


def test_what_is_called_slow_is_there(repository: Path) -> None:
    assert [name for name in SLOW if not (repository / name).exists()] == []
    assert list(SLOW) == sorted(SLOW)
