"""Text of others within our own sentences, safe in every format: in Markdown too, of which these are the code spans."""

from __future__ import annotations

import re

from fcompile.diagnostics.visible import visible

PLAIN = re.compile(r"[A-Za-z0-9/-]+")
"""Names in which nothing acts anywhere."""


def code(text: str, table: bool = False) -> str:
    """Return a code span of any text: nothing in it is formatting, a link or a mention."""
    text = visible(text)
    text = text.replace("|", "\\|") if table else text
    around = fence(text, 1)
    return f"{around} {text} {around}" if len(around) > 1 or not text.strip() or text[:1] == " " else f"{around}{text}{around}"


def fence(text: str, least: int) -> str:
    """Return more backticks than stand in the text together."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def name(text: str) -> str:
    """Return a valid name as it is, and any other as code: the rule about names can be waived."""
    return text if PLAIN.fullmatch(text) else code(text)
