"""A tree of syntax as a program: instructions that a set of threads runs through side by side, in the order of preference."""

from __future__ import annotations

from typing import Final, NamedTuple

from fcontroller.decide.re2.classes import CharSet
from fcontroller.decide.re2.tree import Assertion, Choice, Node, RegexError, Repeat, Sequence, Step

MOST_INSTRUCTIONS: Final = 50_000
"""Only counted repetition of something long gets there. (Go allows 3 million.)"""

_TURNED: Final = {"text start": "text end", "text end": "text start", "line start": "line end", "line end": "line start"}


class Take(NamedTuple):
    """Go on behind a character of the set."""

    set: CharSet
    next: int


class Check(NamedTuple):
    """Go on if this is such a position."""

    kind: str
    next: int


class Split(NamedTuple):
    """Go on in two places, of which the first is preferred."""

    first: int
    second: int


class Match(NamedTuple):
    """A match ends here."""


Instruction = Take | Check | Split | Match


class Program(NamedTuple):
    instructions: list[Instruction]
    start: int

    @property
    def checks(self) -> bool:
        """Whether anything depends on the characters around a position."""
        return any([isinstance(instruction, Check) for instruction in self.instructions])


def program(tree: Node, *, backwards: bool = False) -> Program:
    """The program for a tree, to read a text from left to right, or from right to left. Raises RegexError when it is too long."""
    builder = _Builder(backwards)
    return Program(builder.instructions, builder.build(tree, 0))


class _Builder:
    """Builds from the end: each part is told which instruction comes after it."""

    def __init__(self, backwards: bool) -> None:
        self.backwards = backwards
        self.instructions: list[Instruction] = [Match()]

    def build(self, node: Node, after: int) -> int:
        """The number of the first instruction for the node."""
        if isinstance(node, Step):
            return self.add(Take(node.set, after))
        if isinstance(node, Assertion):
            return self.add(Check(_TURNED.get(node.kind, node.kind) if self.backwards else node.kind, after))
        if isinstance(node, Sequence):
            for item in node.nodes if self.backwards else reversed(node.nodes):
                after = self.build(item, after)
        elif isinstance(node, Choice):
            first, *others = [self.build(item, after) for item in reversed(node.nodes)]
            for start in others:
                first = self.add(Split(start, first))
            return first
        elif isinstance(node, Repeat):
            return self.repeat(node, after)
        return after

    def repeat(self, node: Repeat, after: int) -> int:
        copies = node.least
        if node.most is not None:
            # x{2,4} is xx(x(x)?)?
            end = after
            for _ in range(node.most - node.least):
                after = self.split(node, self.build(node.node, after), end)
        elif copies == 0:
            after = self.any_number(node, after)
        else:
            after = self.one_or_more(node, after)
            copies -= 1
        for _ in range(copies):
            after = self.build(node.node, after)
        return after

    def any_number(self, node: Repeat, after: int) -> int:
        if _may_be_empty(node.node):
            # A loop that is entered by its split would prefer the end to an empty round.
            return self.split(node, self.one_or_more(node, after), after)
        loop = self.add(Match())
        self.instructions[loop] = self.either(node, self.build(node.node, loop), after)
        return loop

    def one_or_more(self, node: Repeat, after: int) -> int:
        loop = self.add(Match())
        body = self.build(node.node, loop)
        self.instructions[loop] = self.either(node, body, after)
        return body

    def split(self, node: Repeat, more: int, end: int) -> int:
        return self.add(self.either(node, more, end))

    def either(self, node: Repeat, more: int, end: int) -> Split:
        return Split(more, end) if node.greedy else Split(end, more)

    def add(self, instruction: Instruction) -> int:
        if len(self.instructions) >= MOST_INSTRUCTIONS:
            raise RegexError("it is too long, with its repetitions written out; repeat less often")
        self.instructions.append(instruction)
        return len(self.instructions) - 1


def _may_be_empty(node: Node) -> bool:
    if isinstance(node, Sequence):
        return all([_may_be_empty(item) for item in node.nodes])
    if isinstance(node, Choice):
        return any([_may_be_empty(item) for item in node.nodes])
    if isinstance(node, Repeat):
        return node.least == 0 or _may_be_empty(node.node)
    return not isinstance(node, Step)
