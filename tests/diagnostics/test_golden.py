"""What each format looks like."""

from __future__ import annotations

import io
import json
import re

import pytest
from syrupy.assertion import SnapshotAssertion

from fcompile.diagnostics import FORMATS, open_writer
from fcompile.diagnostics.problem import Problem
from fcompile.diagnostics.writer import Style, Waived
from tests.diagnostics.told import tell


def printed(name: str, problems: list[Problem], waived: list[Waived], style: Style | None = None) -> str:
    stream = io.StringIO()
    files = [(problems[0].file, ["default/ddp", "default/fine"]), ("fine.yaml", ["default/also"])]
    tell(open_writer(name, stream, style), problems, waived, files, skipped=1)
    return stream.getvalue()


@pytest.mark.parametrize("name", FORMATS)
def test_format(name: str, problems: list[Problem], waived: list[Waived], text_file: SnapshotAssertion) -> None:
    output = printed(name, problems, waived)
    if name == "sarif":
        output = json.dumps(json.loads(re.sub(r'("name": "fcompile", "version": )"[^"]*"', r'\1"0"', output)), indent=2) + "\n"
    assert output == text_file


def test_colored_narrow_text(problems: list[Problem], text_file: SnapshotAssertion) -> None:
    output = printed("text", problems, [], Style(color=True, width=60))
    assert output.replace("\x1b", "ESC") == text_file
