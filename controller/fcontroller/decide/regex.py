"""The regular expressions of a `podFailureSpec`: RE2's, as Go's regexp package has them, run by google-re2.

Configurations that were written for upstream's controller must mean the same here, and the texts come from anyone's containers: RE2 takes
time that is linear in the text, whatever the pattern. Where google-re2 differs from Go it is made to agree: docs/adr/0007-google-re2.md.
"""

from __future__ import annotations

import re
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from fcontroller.decide.regex_errors import RegexError, bad_name, explain, foreign_escape, too_often

__all__ = ["Regex", "RegexError"]

MOST_NESTED: Final = 100
"""Parentheses within parentheses. Go allows a tree of 1,000 levels, of which each pair makes up to five; google-re2 sets no limit."""

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
# Only the extent of the whole match matters; without groups it is found several times faster.
_OPTIONS.never_capture = True

_TOKEN: Final = re.compile(
    r"""(?P<quoted>\\Q.*?(?:\\E|\Z))
    | (?P<escape>\\.)
    | (?P<set>\[\^?+\]?+(?:\[:\^?\w+:\]|\\.|[^\]\\])*+\])
    | (?P<flags>\(\?[imsU-]+\))
    | (?P<named>\(\?P?<(?P<name>[^>]*)>)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<count>\{[1-9][0-9]{4,}(?:,[0-9]*)?\}|\{[0-9]+,[1-9][0-9]{4,}\})""",
    re.DOTALL | re.VERBOSE,
)
"""What matters of a pattern that google-re2 takes."""
_NAME: Final = re.compile("[0-9A-Za-z_]+")


class Regex:
    """A compiled expression. Raises RegexError when Go would refuse it."""

    def __init__(self, pattern: str) -> None:
        try:
            # Half a surrogate pair, which JSON can contain, matches nothing.
            self._compiled = re2.compile(pattern.encode("utf-8", "surrogatepass"), _OPTIONS)
        except re2.error as error:
            raise RegexError(explain(error.args[0].decode(), pattern)) from None
        _refuse_what_go_refuses(pattern)

    def span(self, text: str) -> tuple[int, int] | None:
        """Return where the leftmost match is, or None. Of matches that begin together it is the one that Perl would find."""
        data = text.encode()
        match: Any = self._compiled.search(data, 0)
        while match is not None and _within_character(data, match.start()):
            match = self._compiled.search(data, match.start() + 1)
        return match and (len(data[: match.start()].decode()), len(data[: match.end()].decode()))

    def find(self, text: str) -> str | None:
        """Return the text of that match, or None."""
        span = self.span(text)
        return None if span is None else text[slice(*span)]


def _within_character(data: bytes, at: int) -> bool:
    """Return whether a place is between the bytes of one character, where google-re2 finds `\\B` and Go does not look."""
    return at < len(data) and data[at] & 0xC0 == 0x80


def _refuse_what_go_refuses(pattern: str) -> None:
    """Raise RegexError for what google-re2 takes and Go does not."""
    depth = 0
    for token in _TOKEN.finditer(pattern):
        depth += {"open": 1, "named": 1, "close": -1}.get(token.lastgroup or "", 0)
        if depth > MOST_NESTED:
            raise RegexError(f"more than {MOST_NESTED} parentheses within each other")
        if token["escape"] == r"\C":
            raise RegexError(foreign_escape(r"\C"))
        if token["count"]:
            raise RegexError(too_often(token["count"]))
        if token["named"] and not _NAME.fullmatch(token["name"]):
            raise RegexError(bad_name(token["named"]))
