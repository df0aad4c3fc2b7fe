"""RE2's regular expressions, as Go has them: those of a `podFailureSpec`.

Python's `re` has another syntax and another meaning for part of what they share (`$`, `\\d`, `(?i)`), and on some texts it takes for ever:
the texts come from anyone's containers, and a controller that hangs has lost its lease. See docs/adr for what else was considered.
"""

from __future__ import annotations

from fcontroller.decide.re2.classes import ANY, CharSet, Group
from fcontroller.decide.re2.program import program
from fcontroller.decide.re2.search import Automaton
from fcontroller.decide.re2.syntax import parse
from fcontroller.decide.re2.tree import RegexError, Repeat, Step

__all__ = ["Regex", "RegexError"]

_EVERYTHING = Repeat(Step(CharSet((Group(ANY),))), 0, None, True)


class Regex:
    """A compiled expression. Raises RegexError when RE2 would refuse it."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        tree = parse(pattern)
        self._takes_all = tree == _EVERYTHING
        if not self._takes_all:
            self._ends = Automaton(program(tree), search=True)
            self._starts = Automaton(program(tree, backwards=True), search=False)

    def __repr__(self) -> str:
        return f"Regex({self.pattern!r})"

    def span(self, text: str) -> tuple[int, int] | None:
        """Where the leftmost match is, or None. Of matches that begin together, the one that Perl would find."""
        if self._takes_all:
            return 0, len(text)
        end = self._ends.end(text)
        if end is None:
            return None
        # Of all matches with this end the longest is the leftmost one. Another leftmost one would have ended here as well.
        length = self._starts.end(reversed(text[:end]), text[end : end + 1])
        return (end - (length or 0)), end

    def find(self, text: str) -> str | None:
        """The text of that match, or None."""
        span = self.span(text)
        return None if span is None else text[slice(*span)]
