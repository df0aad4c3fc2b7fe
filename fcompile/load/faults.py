"""What stops the reading of one document, in offsets of its own text. `LoadError` says the same in lines of the file."""

from __future__ import annotations

from fcompile.diagnostics.problem import Rule

Region = tuple[str, int, int]
"""Another place of the same text: what to say of it, its start and its end."""


class Fault(Exception):
    """`start` and `end` are offsets in code points, the end exclusive."""

    def __init__(self, rule: Rule, message: str, start: int, end: int | None = None, related: tuple[Region, ...] = ()) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.start = start
        self.end = start + 1 if end is None else max(end, start)
        self.related = related


class DuplicateKey(Fault):
    """A key that its mapping has already. `key` is the key as kubectl sees it."""

    def __init__(self, rule: Rule, message: str, start: int, end: int, key: str, related: tuple[Region, ...] = ()) -> None:
        super().__init__(rule, message, start, end, related)
        self.key = key
