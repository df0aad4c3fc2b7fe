"""The syntax of RE2, as Go's regexp package reads it: text → tree, or the reason why not.

What a reader knows from Perl or Python and RE2 does not have is refused, with its name: an expression that means something else here, or
nothing, must not be found out only when a Pod has failed.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from fcontroller.decide.re2.classes import ANY, CATEGORIES, PERL, POSIX, CharSet, Group, single
from fcontroller.decide.re2.foreign import foreign_escape, foreign_group
from fcontroller.decide.re2.tree import Assertion, Choice, Empty, Node, RegexError, Repeat, Sequence, Step

MOST_NESTED: Final = 100
"""Parentheses within parentheses. (Go allows 1,000.)"""
MOST_REPEATED: Final = 1000
"""How often `{n,m}` may repeat, those within each other multiplied."""


class _Flags(NamedTuple):
    i: bool = False
    """Ignore case."""
    m: bool = False
    """`^` and `$` also match at the ends of lines."""
    s: bool = False
    """`.` matches a line end."""
    U: bool = False
    """`*` is as `*?`, and the other way round."""


class _Group:
    """Parentheses that are still open."""

    def __init__(self, flags: _Flags) -> None:
        self.flags = flags
        """To go back to after them."""
        self.choices: list[Node] = []
        self.nodes: list[Node] = []

    def next_choice(self) -> None:
        self.choices.append(self.nodes[0] if len(self.nodes) == 1 else Sequence(tuple(self.nodes)) if self.nodes else Empty())
        self.nodes = []

    def close(self) -> Node:
        self.next_choice()
        return self.choices[0] if len(self.choices) == 1 else Choice(tuple(self.choices))


_ASSERTIONS: Final = {"A": "text start", "z": "text end", "b": "word boundary", "B": "no word boundary"}
_CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_COUNT: Final = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")
_OPEN: Final = re.compile(r"\((?:\?(?:P?<([^>]*)>|([imsU]*)(?:-([imsU]+))?([:)])))?")
_NAME: Final = re.compile(r"[0-9A-Za-z_]+\Z")
_POSIX: Final = re.compile(r"\[:(\^?)(.*?):\]", re.DOTALL)
_UNICODE: Final = re.compile(r"\\([pP])(?:\{(\^?)([^}]*)\}|([^{]))", re.DOTALL)
_HEXADECIMAL: Final = re.compile(r"\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_OCTAL: Final = re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")


def parse(text: str) -> Node:
    """The tree of an expression. Raises RegexError."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags = _Flags()
        self.groups = [_Group(self.flags)]
        self.repeated_from = -1
        """Where the repetition begins that ends here; -1: none does."""

    def parse(self) -> Node:
        while self.at < len(self.text):
            before, character = self.at, self.text[self.at]
            repeats = character in "*+?" or (character == "{" and _COUNT.match(self.text, self.at) is not None)
            if repeats:
                self.repeat()
            elif character == "(":
                self.open()
            elif character == ")":
                self.close()
            elif character == "[":
                self.add(Step(self.set()))
            elif character == "\\":
                self.escape()
            else:
                self.plain(character)
            self.repeated_from = before if repeats else -1
        if len(self.groups) > 1:
            raise RegexError("a `(` is not closed; write `\\(` for the character")
        return self.groups[0].close()

    def add(self, node: Node) -> None:
        self.groups[-1].nodes.append(node)

    def plain(self, character: str) -> None:
        """A character without syntax of its own, or nearly."""
        self.at += 1
        if character == "|":
            self.groups[-1].next_choice()
        elif character == "^":
            self.add(Assertion("line start" if self.flags.m else "text start"))
        elif character == "$":
            self.add(Assertion("line end" if self.flags.m else "text end"))
        elif character == ".":
            self.add(Step(CharSet((Group(ANY),) if self.flags.s else (Group("\n\n", negated=True),))))
        else:
            self.add(Step(single(character, self.flags.i)))

    def repeat(self) -> None:
        text, start = self.text, self.at
        least, most = self.bounds()
        greedy = not self.flags.U
        if text.startswith("?", self.at):
            self.at += 1
            greedy = not greedy
        sign = text[start : self.at]
        if self.repeated_from >= 0:
            whole = text[self.repeated_from : self.at]
            raise RegexError(f"`{whole}` repeats a repetition, which RE2 does not have; put the first into `(?:...)`")
        nodes = self.groups[-1].nodes
        if not nodes:
            raise RegexError(f"there is nothing before `{sign}` to repeat; write `\\{sign}` for the character")
        node = Repeat(nodes[-1], least, most, greedy)
        if (least > 1 or (most or 0) > 1) and not _within(node, MOST_REPEATED):
            raise RegexError(f"`{sign}` repeats more than {MOST_REPEATED} times, with the repetitions in it")
        nodes[-1] = node

    def bounds(self) -> tuple[int, int | None]:
        """How often `*`, `+`, `?` or `{n,m}` repeats."""
        count = _COUNT.match(self.text, self.at)
        if count is None:
            self.at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[self.text[self.at - 1]]
        self.at = count.end()
        if max(len(count[1]), len(count[3] or "")) > len(str(MOST_REPEATED)):
            raise RegexError(f"`{count[0]}` repeats more than {MOST_REPEATED} times")
        least = int(count[1])
        most = int(count[3]) if count[3] else None if count[2] else least
        if max(least, most or 0) > MOST_REPEATED:
            raise RegexError(f"`{count[0]}` repeats more than {MOST_REPEATED} times")
        if most is not None and least > most:
            raise RegexError(f"`{count[0]}` has the greater number first")
        return least, most

    def open(self) -> None:
        """`(`, `(?:`, `(?flags:`, `(?P<name>`, `(?<name>`; or `(?flags)`, which opens nothing."""
        match = _OPEN.match(self.text, self.at)
        rest = self.text[self.at :]
        if match is None or (match[0] == "(" and rest.startswith("(?")):
            raise RegexError(foreign_group(rest))
        self.at = match.end()
        name, on, off, end = match.groups()
        if name is not None:
            _check_name(name, match[0])
        before = self.flags
        if end:
            self.flags = before._replace(**dict.fromkeys(on, True) | dict.fromkeys(off or "", False))
        if end != ")":
            self.groups.append(_Group(before))
            if len(self.groups) > MOST_NESTED:
                raise RegexError(f"more than {MOST_NESTED} parentheses within each other")

    def close(self) -> None:
        if len(self.groups) == 1:
            raise RegexError("a `)` has no `(`; write `\\)` for the character")
        self.at += 1
        group = self.groups.pop()
        self.flags = group.flags
        self.add(group.close())

    def escape(self) -> None:
        """`\\` and what comes after it, outside of brackets."""
        following = self.text[self.at + 1 : self.at + 2]
        if following in _ASSERTIONS:
            self.at += 2
            self.add(Assertion(_ASSERTIONS[following]))
        elif following == "Q":
            literal, _, _ = self.text[self.at + 2 :].partition("\\E")
            self.at += 2 + len(literal) + (2 if "\\E" in self.text[self.at + 2 :] else 0)
            for character in literal:
                self.add(Step(single(character, self.flags.i)))
        elif (group := self.group()) is not None:
            self.add(Step(CharSet((group,), fold=self.flags.i)))
        else:
            self.add(Step(single(self.character(), self.flags.i)))

    def set(self) -> CharSet:
        """`[...]`."""
        start = self.at
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        first = self.at
        groups: list[Group] = []
        while self.at == first or not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise RegexError(f"the `[` of `{self.text[start : start + 20]}` is not closed; write `\\[` for the character")
            groups.append(self.posix() or self.group() or self.range())
        self.at += 1
        return CharSet(tuple(groups), negated, self.flags.i)

    def range(self) -> Group:
        """One character in brackets, or `a-z`."""
        start = self.at
        low = high = self.set_character()
        if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at) and self.at + 1 < len(self.text):
            self.at += 1
            high = self.set_character()
            if high < low:
                raise RegexError(f"the range `{self.text[start : self.at]}` has the greater character first")
        return Group(low + high)

    def set_character(self) -> str:
        if self.at >= len(self.text):
            raise RegexError("a `[` is not closed; write `\\[` for the character")
        if self.text[self.at] == "\\":
            return self.character()
        self.at += 1
        return self.text[self.at - 1]

    def posix(self) -> Group | None:
        """`[:alpha:]` within brackets, or nothing."""
        match = _POSIX.match(self.text, self.at)
        if match is None:
            return None
        if match[2] not in POSIX:
            raise RegexError(f"`{match[0]}` is no class of characters; there are {', '.join(POSIX)}")
        self.at = match.end()
        return Group(POSIX[match[2]], negated=bool(match[1]))

    def group(self) -> Group | None:
        """`\\d`, `\\pL`, `\\p{Lu}` and their like, or nothing."""
        following = self.text[self.at : self.at + 2]
        if following[:1] == "\\" and following[1:].lower() in PERL:
            self.at += 2
            return Group(PERL[following[1].lower()], negated=following[1].isupper())
        if following not in ("\\p", "\\P"):
            return None
        match = _UNICODE.match(self.text, self.at)
        if match is None:
            raise RegexError(f"`{self.text[self.at : self.at + 20]}` is not complete; a category of Unicode is written `\\p{{Lu}}`")
        self.at = match.end()
        return _unicode_group(match[0], match[4] or match[3], (match[1] == "P") != (match[2] == "^"))

    def character(self) -> str:
        """A character that is written with `\\`."""
        text, start = self.text, self.at
        if start + 1 >= len(text):
            raise RegexError("there is nothing after the last `\\`; write `\\\\` for the character")
        following = text[start + 1]
        self.at += 2
        if following in _CONTROLS:
            return _CONTROLS[following]
        if following.isascii() and not following.isalnum():
            return following
        if (octal := _OCTAL.match(text, start)) is not None:
            self.at = octal.end()
            return chr(int(octal[1], 8))
        if (hexadecimal := _HEXADECIMAL.match(text, start)) is not None:
            self.at = hexadecimal.end()
            if (code := int(hexadecimal[1] or hexadecimal[2], 16)) <= 0x10FFFF:
                return chr(code)
        raise RegexError(foreign_escape(text[start : self.at]))


def _check_name(name: str, source: str) -> None:
    if _NAME.match(name) is None:
        foreign = foreign_group(source)
        raise RegexError(foreign if "RE2 does not have" in foreign else f"`{source}` has a name with more than letters, digits and `_`")


def _unicode_group(source: str, name: str, negated: bool) -> Group:
    if name == "Any":
        return Group(ANY, negated=negated)
    if CATEGORIES.fullmatch(name):
        return Group("", name, negated)
    from fcontroller.decide.re2.scripts import script

    ranges = script(name) if name.isidentifier() else None
    if ranges is None:
        raise RegexError(f"`{source}` is no category or script of Unicode; they are written as in `\\p{{Lu}}` and `\\p{{Greek}}`")
    return Group(ranges, negated=negated)


def _within(node: Node, limit: int) -> bool:
    """Whether the counts of repetitions within each other multiply to no more than that."""
    if isinstance(node, Repeat):
        if node.most == 0:
            return True
        times = node.least if node.most is None else node.most
        return times <= limit and _within(node.node, limit // times if times else limit)
    return not isinstance(node, Sequence | Choice) or all([_within(item, limit) for item in node.nodes])
