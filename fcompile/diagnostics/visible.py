"""Text of unknown origin made safe to print: nothing in it can move a cursor, recolour, reorder or hide."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Return `text` on one line, with characters that act or cannot be seen written as escapes (`\\x1b`, `\\u202e`).

    Some CI runners look for commands anywhere in a line (`##vso[`); these are escaped too.
    """
    if "##" in text:
        text = text.replace("##[", "#\\x23[").replace("##vso[", "#\\x23vso[").replace("##teamcity[", "#\\x23teamcity[")
    if text.isascii() and text.isprintable():
        return text
    return _hidden().sub(_escape, text)


def without_commands(json: str) -> str:
    """Return JSON without what CI runners take for a command (`##vso[`). Who reads the JSON gets the original text."""
    return json.replace("##", "#\\u0023")


def harmless(line: str) -> str:
    """Return a line of JSON with the characters that `visible` escapes written as JSON's own escapes."""
    line = without_commands(line)
    return line if line.isascii() and line.isprintable() else _hidden().sub(_escape_in_json, line)


def at_line_start(text: str) -> str:
    """Return a text, already made visible, for the beginning of a line, where a CI runner would take `::` for a command.

    GitHub's takes away any white space before it; the ideographic space is one that `visible` leaves as it is.
    """
    return f'"{text}"' if text.lstrip().startswith("::") else text


@cache
def _hidden() -> re.Pattern[str]:
    """Return the pattern of one character to escape. Compiling it takes milliseconds, and most runs never need it."""
    import re

    noncharacters = "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17))
    # Spelt out rather than asked of `unicodedata`, whose answers differ between versions of Python: controls (C0, DEL, C1),
    # soft hyphen, spaces that look like the ordinary one and are another, bidirectional and other format characters, line and
    # paragraph separators, surrogates, noncharacters, tags; and letters, marks and signs of which nothing is seen: fillers of
    # Hangul, selectors of variants (a whole text can be written in them), an empty pattern of Braille.
    return re.compile(
        "[\x00-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680"
        "\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
        f"\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff{noncharacters}]"
    )


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is no UTF-8, as `os.fsdecode` gives it
        code -= 0xDC00
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def _escape_in_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def width(text: str) -> int:
    """Return the terminal columns that `text`, already made visible, takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    columns = 0
    for character in text:
        if category(character) in ("Mn", "Me") or "\u1160" <= character <= "\u11ff":
            continue  # combining marks, and Hangul vowels and finals that join the syllable before them
        columns += 2 if east_asian_width(character) in "WF" else 1
    return columns


def listed(names: Sequence[str], most: int) -> str:
    """Return names for a message; of more than so many only the first."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first names for a message, and `…` for all others."""
    return ", ".join([*names[:most], "…"] if len(names) > most else names)


def joined(words: Sequence[str], conjunction: str = "and") -> str:
    """Return `a`, `a and b` or `a, b and c`."""
    return f" {conjunction} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def encodable(text: str, encoding: str | None) -> str:
    """Return `text` with what `encoding` cannot express written as escapes."""
    if not encoding or encoding.lower().replace("-", "") == "utf8":
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


def clean(text: str) -> str:
    """Return `text` without lone surrogates, which no UTF-8 output can hold: each becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
