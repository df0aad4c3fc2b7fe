"""Say why google-re2 refuses a regular expression, and what to write instead, to somebody who knows those of Perl or Python.

A pattern is checked when the configuration is read. Nobody should find out from a Pod that failed that it means something else here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

MOST_REPEATED: Final = 1000
"""How often `{n,m}` may repeat, those within each other multiplied."""

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
_POSIX: Final = "alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, space, upper, word, xdigit"
_ELSEWHERE: Final = frozenset("AzbBQdDsSwWpP")
"""Escapes that RE2 has, but not at every place in brackets."""


class RegexError(ValueError):
    """A regular expression that RE2 does not have. The message quotes the part that it means."""


def explain(error: str, pattern: str) -> str:
    """Return what is wrong with a pattern.

    :param error: what google-re2 says: a fixed text and, mostly, the part of the pattern that it means.
    """
    reason, _, part = error.partition(": ")
    say = _REASONS.get(reason)
    return error if say is None else say(part, pattern)


def foreign_escape(source: str) -> str:
    """Return what to write instead of an escape that RE2 does not have."""
    following = source[1:]
    if following.isdecimal():
        return f"`{source}` would refer to what a group has matched; RE2 does not have backreferences"
    if following in _ELSEWHERE:
        return f"`{source}` stands for no single character, which this place in brackets needs"
    advice = _ESCAPES.get(following, "write the character without the backslash, or its code as `\\x{...}`")
    return f"`{source}` is not an escape of RE2; {advice}"


def too_often(count: str) -> str:
    """Return what is wrong with the numbers of `{n,m}`."""
    # Of a number that is too long even for Python, the beginning is too much already.
    numbers = [int(number[:9]) for number in re.findall("[0-9]+", count)]
    if numbers[0] > numbers[-1]:
        return f"`{count[:20]}` has the greater number first"
    within = "" if numbers[-1] > MOST_REPEATED else ", with the repetitions in it"
    return f"`{count[:20]}` repeats more than {MOST_REPEATED} times{within}"


def bad_name(opening: str) -> str:
    """Return what is wrong with `(?P<name>`, which may lack its end."""
    if opening.endswith(">"):
        return f"`{opening}` has a name with more than letters, digits and `_` of ASCII"
    return _foreign_group(opening)


def _foreign_group(rest: str) -> str:
    for start, name in _GROUPS:
        if rest.startswith(start):
            return f"`{start}` is of other kinds of regular expressions; RE2 does not have {name}"
    return f"`{rest[:20]}` is not a group of RE2; there are `(`, `(?:`, `(?P<name>` and flags such as `(?i)` of `i`, `m`, `s`, `U`"


def _group(part: str, pattern: str) -> str:
    # The part may be as short as `(?P`, which also begins names.
    found = re.search(re.escape(part) + "(?!<)", pattern)
    return _foreign_group(pattern[found.start() :] if found else part)


def _escape(part: str, pattern: str) -> str:
    complete = part + "}" if part.startswith("\\x{") and part + "}" in pattern else part
    return foreign_escape(complete)


def _class(part: str, _: str) -> str:
    if part.startswith("[:"):
        return f"`{part}` is not a class of characters; there are {_POSIX}"
    if not part.startswith(("\\p", "\\P")):
        return f"the range `{part}` has the greater character first"
    if re.fullmatch(r"\\.(\{.*\}|[^{])", part, re.DOTALL):
        return f"`{part}` is not a category or script of Unicode; they are written as in `\\p{{Lu}}` and `\\p{{Greek}}`"
    return f"`{part[:20]}` is not complete; a category of Unicode is written `\\p{{Lu}}`"


_REASONS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "invalid escape sequence": _escape,
    "invalid character class range": _class,
    "missing ]": lambda part, _: f"the `[` of `{part[:20]}` is not closed; write `\\[` for the character",
    "missing )": lambda *_: "a `(` is not closed; write `\\(` for the character",
    "unexpected )": lambda *_: "a `)` has no `(`; write `\\)` for the character",
    "trailing \\": lambda *_: "there is nothing after the last `\\`; write `\\\\` for the character",
    "no argument for repetition operator": lambda part, _: (
        f"there is nothing before `{part}` to repeat; write `\\{part}` for the character"
    ),
    "invalid repetition size": lambda part, _: too_often(part),
    "bad repetition operator": lambda part, _: f"`{part}` repeats a repetition, which RE2 does not have; put the first into `(?:...)`",
    "invalid perl operator": _group,
    "invalid named capture group": lambda part, _: bad_name(part),
    # It says so of `\\x{` at the end alone: the pattern that it gets is UTF-8.
    "invalid UTF-8": lambda *_: foreign_escape("\\x"),
    "pattern too large - compile failed": lambda *_: "it is too long, with its repetitions written out; repeat less often",
}
"""By the fixed text with which each of google-re2's errors begins."""
