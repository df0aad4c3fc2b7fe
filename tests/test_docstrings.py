"""What a docstring begins with: a function does or returns something, so that its first word is a verb."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

NO_VERB = re.compile(r"(A|All|An|As|Each|Every|For|How|In|It|Of|On|One|The|This|Those|What|Where|Whether|Which|Who|Why|With|Without)\b")


@pytest.mark.parametrize("folder", ["fcompile", "controller/fcontroller"])
def test_docstrings_of_functions_begin_with_a_verb(folder: str, repository: Path) -> None:
    wrong = [
        f"{file.relative_to(repository)}:{node.lineno}: {docstring.splitlines()[0]}"
        for file in sorted((repository / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (docstring := ast.get_docstring(node)) and NO_VERB.match(docstring)
    ]
    assert wrong == []
