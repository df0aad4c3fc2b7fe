"""Letters and signs that pass for ASCII ones, written as escapes: both sides of a difference could look the same."""

from __future__ import annotations

import re

from fcompile.diagnostics.visible import visible
from fcompile.model.patterns import lazy

_LATIN = "A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_PASSING = (
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03f2\u03f3\u03f9"  # Greek
    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0423\u0425\u0430\u0435\u043e\u0440\u0441\u0443\u0445"  # Cyrillic
    "\u0455\u0456\u0458\u0474\u0475\u04ae\u04af\u04ba\u04bb\u04c0\u04cf\u0501\u050c\u051a-\u051d"
    "\u054d\u054f\u0555\u0566\u0570\u0578\u057d\u0581\u0585"  # Armenian
    "\u0251\u0261\u13a0-\u13fd\uab70-\uabbf\u2c80-\u2ce3\ua4d0-\ua4fd\u1d00-\u1d22"  # phonetic, Cherokee, Coptic, Lisu
    "\U0001d400-\U0001d7ff"  # mathematical
)
"""What looks like a Latin letter, or a digit, wherever it stands."""
_ODD = "\u2160-\u217f\u03b9\u03ba\u03bd\u03c1\u03c5\uff21-\uff3a\uff41-\uff5a"
"""What does so only among Latin letters: elsewhere these are numbers, signs of mathematics, and letters in Chinese text."""
_OTHER = "\u0370-\u03ff\u0400-\u052f\u0531-\u0587"
_SIGN = "\u0300-\u036f\u1100-\u11ff\u2010\u2011\u2024\u2044\u212a\u212b\u2212\u2215\u2236\ua789\uf900-\ufaff\ufb00-\ufb06"
"""Hyphens, a minus, a dot, slashes and colons that are not those of ASCII; and what Unicode has twice, as `e\u0301` for `\u00e9`."""
_WORD = lazy(f"(?<![{_LATIN}{_OTHER}{_PASSING}{_ODD}])[{_LATIN}{_PASSING}{_ODD}]++(?![{_OTHER}])|[{_SIGN}]")
"""A word in which each letter is a Latin one, or may look like one: a letter more of its own script, and a reader sees what it is."""
_IN_WORD, _STRONG, _OF_LATIN, _IS_SIGN = (lazy(f"[{letters}]") for letters in (_PASSING + _ODD, _PASSING, _LATIN, _SIGN))
_UNMISTAKABLE = lazy(f"(?![{_PASSING}{_ODD}])[{_OTHER}]")
_JOINED = lazy("[A-Za-z0-9_=/:@.\"'-]")
"""What stands right before a word, or a value, of a command. A word of a sentence stands after a space."""


def readable(text: str) -> str:
    """Return a text of the author's on one line, with letters that pass for others written as escapes, too."""
    if text.isascii():
        return visible(text)
    is_foreign = _UNMISTAKABLE.search(text) is not None

    def escaped(match: re.Match[str]) -> str:
        word = match[0]
        if _IS_SIGN.match(word):
            return _escape(match)
        if _OF_LATIN.search(word):
            return _IN_WORD.sub(_escape, word)
        # In a sentence of Russian there are words, such as `\u0441`, whose letters all look like Latin ones.
        if is_foreign and not _JOINED.match(text[match.start() - 1 : match.start()]):
            return word
        return _STRONG.sub(_escape, word)

    return visible(_WORD.sub(escaped, text))


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("ascii", "backslashreplace").decode()
