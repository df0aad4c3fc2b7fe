"""Patterns with wildcards. Matching takes no longer than the length of the pattern times that of the text."""

from __future__ import annotations

import re
from functools import lru_cache


def fits(pattern: str, text: str, single: str = "") -> bool:
    """Return whether the whole text fits a pattern, in which `*` stands for any text and `single`, if given, for any one character."""
    if not single or single not in pattern:
        return _fits_pieces(pattern.split("*"), text)
    at = in_pattern = 0
    star, tried = -1, 0
    while at < len(text):
        wanted = pattern[in_pattern : in_pattern + 1]
        if wanted == "*":
            # A `*` first matches nothing. When the rest fails, it matches one character more; only the last `*` ever has to.
            star, tried = in_pattern, at
            in_pattern += 1
        elif wanted and wanted in (text[at], single):
            at += 1
            in_pattern += 1
        elif star >= 0:
            tried += 1
            at, in_pattern = tried, star + 1
        else:
            return False
    return not pattern[in_pattern:].strip("*")


def _fits_pieces(pieces: list[str], text: str) -> bool:
    """Return whether a text is these pieces with any text between each two. Each is best taken where it first comes."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in pieces[1:-1]:
        at = text.find(piece, at, end) + len(piece)
        if at < len(piece):
            return False
    return True


@lru_cache(maxsize=10_000)  # A file may have thousands of problems.
def path_fits(glob: str, path: str) -> bool:
    """Return whether a path with slashes fits a pattern as in .gitignore: `*` and `?` stay within a folder, and `**/` is any folders.

    A pattern without a slash before its end fits at any depth, and a folder stands for all in it.
    """
    parts = path.split("/")
    steps = glob.removeprefix("./").strip("/").split("/")
    if len(steps) == 1 and not glob.startswith(("/", "./")):
        steps = ["**", *steps]
    reached = {0}  # how many parts of the path the steps so far can have taken
    for step in steps:
        if step == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {taken + 1 for taken in reached if taken < len(parts) and fits(step, parts[taken], single="?")}
        if not reached:
            return False
    return True


def field_fits(pattern: str, field: str) -> bool:
    """Return whether a field path fits a pattern, with or without the `items[3].` of a list of objects before it."""
    return fits(pattern, field) or (field.startswith("items[") and fits(pattern, re.sub(r"^items\[\d+\]\.?", "", field)))
