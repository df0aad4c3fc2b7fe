"""docs/python.md: its examples, and what it promises."""

from __future__ import annotations

import doctest
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import fcompile
from tests.docs.blocks import blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_examples_print_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE):
        if block.title:
            Path(block.title).write_text(block.text)
    shown = "".join(block.text for block in blocks(PAGE) if block.language == "pycon").replace("…", "...")
    example = doctest.DocTestParser().get_doctest(shown, {}, PAGE.name, str(PAGE), 0)
    assert len(example.examples) > 20
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert not said, "".join(said)


def test_every_public_name_is_there_and_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    assert {name for names in fcompile._MODULES.values() for name in names} | {"compile"} == set(fcompile.__all__) <= set(dir(fcompile))
    for name in fcompile.__all__:
        assert getattr(fcompile, name)
        assert f"`{name}`" in text or f"fcompile.{name}" in text or name == "__version__", name
    with pytest.raises(AttributeError, match="no attribute 'Compilations'"):
        fcompile.Compilations  # type: ignore[attr-defined]  # noqa: B018


def test_every_argument_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    arguments = set(typing.get_type_hints(fcompile.compile, vars(typing) | _names()))
    assert arguments >= {"paths", "text", "frameworks", "overrides"}
    for name in arguments - {"return", "paths"}:
        assert f"`{name}`" in text or f"compile({name}=" in text, name


def _names() -> dict[str, object]:
    import os
    from collections.abc import Iterable, Mapping

    return {"os": os, "Iterable": Iterable, "Mapping": Mapping, "Compilation": fcompile.Compilation, "Framework": fcompile.Framework}


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = "import sys; before = set(sys.modules); import fcompile; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=PAGE.parents[1], capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()) <= {"__future__", "fcompile"}
