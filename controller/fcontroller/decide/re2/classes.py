"""Sets of characters in a regular expression, and which characters are the same when case is ignored."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

PERL: Final = {"d": "09", "s": "\t\n\f\r  ", "w": "09AZ__az"}
"""What `\\d`, `\\s` and `\\w` stand for: ASCII only. As everywhere here, pairs of characters are closed ranges."""
POSIX: Final = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "ascii": "\0\x7f",
    "blank": "\t\t  ",
    "cntrl": "\0\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "word": "09AZ__az",
    "xdigit": "09AFaf",
}
CATEGORIES: Final = re.compile("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")
"""Of Unicode: `L`, `Lu` and so on."""
ANY: Final = "\0\U0010ffff"

_BEYOND_ASCII: Final = {"k": "\u212a", "s": "\u017f"}
"""The Kelvin sign and the long s: the only characters outside ASCII that are an ASCII letter when case is ignored."""
_CASED: Final = 0x20000
"""No character from here on has an upper or lower case."""


class Group(NamedTuple):
    """A part of a set: ranges, or a category of Unicode."""

    ranges: str
    category: str = ""
    negated: bool = False

    def has(self, characters: str) -> bool:
        """Whether one of these characters is in the group; `negated` is not looked at."""
        if self.category:
            return any([unicodedata.category(item).startswith(self.category) for item in characters])
        pairs = [self.ranges[index : index + 2] for index in range(0, len(self.ranges), 2)]
        return any([pair[0] <= item <= pair[1] for item in characters for pair in pairs])


class CharSet(NamedTuple):
    """What one step of an expression takes: a character that is in one of the groups, or in none when negated."""

    groups: tuple[Group, ...]
    negated: bool = False
    fold: bool = False
    """Ignore case."""

    def has(self, character: str) -> bool:
        characters = same_letter(character) if self.fold else character
        return any([group.has(characters) != group.negated for group in self.groups]) != self.negated


def single(character: str, fold: bool) -> CharSet:
    """The set of one character, or of that character in every case."""
    return CharSet((Group(character * 2),), fold=fold)


def same_letter(character: str) -> str:
    """All characters that are this one when case is ignored, itself included."""
    if character.isascii():
        lower = character.lower()
        return lower + character.upper() + _BEYOND_ASCII.get(lower, "") if character.isalpha() else character
    return _letters().get(_folded(character), character)


@lru_cache(maxsize=1)
def _letters() -> dict[str, str]:
    # Takes some 20 ms, so it is made only for a text that is not ASCII.
    letters: dict[str, str] = {}
    for code in range(_CASED):
        character = chr(code)
        folded = _folded(character)
        letters[folded] = letters.get(folded, "") + character
    return {folded: same for folded, same in letters.items() if len(same) > 1}


def _folded(character: str) -> str:
    """Unicode's simple case folding. Python has only the full one, which makes two letters of some."""
    folded = character.casefold()
    if len(folded) > 1:
        folded = character.lower()
    return folded if len(folded) == 1 else character
