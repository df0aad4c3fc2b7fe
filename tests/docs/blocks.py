"""The code blocks of a page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_FENCED = re.compile(r'^( *)```(\w*)(?: title="([^"\n]+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One fenced block."""

    #: The heading above it, without its #s.
    section: str
    language: str
    #: Empty when it has none.
    title: str
    text: str
    #: That of its first line of text.
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """All of them, as they stand."""
    text = page.read_text("utf-8")
    for found in _FENCED.finditer(text):
        before = _FENCED.sub("", text[: found.start()])
        section = re.findall(r"^#+ (.*)$", before, re.MULTILINE)[-1]
        yield Block(section, found[2], found[3] or "", textwrap.dedent(found[4]), text.count("\n", 0, found.start()) + 2)


def file(page: Path, title: str) -> str:
    """The text of the only block with a title."""
    (text,) = [block.text for block in blocks(page) if block.title == title]
    return text
