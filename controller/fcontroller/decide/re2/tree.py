"""What a regular expression is once it has been read."""

from __future__ import annotations

from typing import NamedTuple

from fcontroller.decide.re2.classes import CharSet


class RegexError(ValueError):
    """A regular expression that RE2 does not have. The message quotes the part that it means."""


class Empty(NamedTuple):
    """Nothing."""


class Step(NamedTuple):
    """One character."""

    set: CharSet


class Assertion(NamedTuple):
    """A position: `text start`, `text end`, `line start`, `line end`, `word boundary` or `no word boundary`."""

    kind: str


class Sequence(NamedTuple):
    nodes: tuple[Node, ...]


class Choice(NamedTuple):
    """The first that leads to a match."""

    nodes: tuple[Node, ...]


class Repeat(NamedTuple):
    node: Node
    least: int
    most: int | None
    greedy: bool


Node = Empty | Step | Assertion | Sequence | Choice | Repeat
