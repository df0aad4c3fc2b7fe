"""What a reader knows from Perl or Python and RE2 does not have, and what to write instead."""

from __future__ import annotations

from typing import Final

_ESCAPES: Final = {
    "Z": "write `\\z` for the end of the text, or `\\n?\\z`",
    "C": "RE2 looks at characters, not at bytes",
    "K": "what was matched before it cannot be left out",
    "G": "there is no previous match",
    "R": "write `(?:\\r\\n|[\\n\\v\\f\\r])`",
    "h": "write `[ \\t]`",
    "u": "write `\\x{...}` with the code point in hexadecimal",
    "X": "write `.`",
    "N": "write `[^\\n]`",
    "E": "there is no `\\Q` before it",
}
_GROUPS: Final = (
    ("(?=", "lookahead"),
    ("(?!", "lookahead"),
    ("(?<=", "lookbehind"),
    ("(?<!", "lookbehind"),
    ("(?>", "atomic groups"),
    ("(?|", "branch reset"),
    ("(?#", "comments"),
    ("(?P=", "backreferences"),
    ("(?P>", "subroutines"),
    ("(?R", "recursion"),
    ("(?&", "subroutines"),
    ("(?(", "conditions"),
)


def foreign_group(rest: str) -> str:
    for start, name in _GROUPS:
        if rest.startswith(start):
            return f"`{start}` is of other kinds of regular expressions; RE2 does not have {name}"
    return f"`{rest[:20]}` is no group of RE2; there are `(`, `(?:`, `(?P<name>` and flags such as `(?i)` of `i`, `m`, `s`, `U`"


def foreign_escape(source: str) -> str:
    following = source[1:]
    if following.isdecimal():
        return f"`{source}` would refer to what a group has matched; RE2 does not have backreferences"
    advice = _ESCAPES.get(following, "write the character without the backslash, or its code as `\\x{...}`")
    return f"`{source}` is no escape of RE2; {advice}"
