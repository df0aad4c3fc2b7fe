"""What stops the reading of one document, in offsets of its own text. A `Problem` says the same in lines of the file."""

from __future__ import annotations

from fcompile.diagnostics.problem import Rule

from . import rules
from .scalars import shorten

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


def duplicate_key(key: str, start: int, end: int, related: tuple[Region, ...] = ()) -> DuplicateKey:
    message = f"the key `{shorten(key)}` is already in this mapping: remove one of the two"
    return DuplicateKey(rules.DUPLICATE_KEY, message, start, end, key, related)


def too_deep(start: int, end: int | None = None) -> Fault:
    message = f"lists and mappings are nested more than {rules.MAX_DEPTH} levels deep, as no Kubernetes object is: remove what is too much"
    return Fault(rules.TOO_DEEP, message, start, end)


def too_large(start: int, end: int | None = None) -> Fault:
    return Fault(rules.TOO_LARGE, f"the document is larger than {rules.MAX_BYTES // 1024 // 1024} MiB: split it", start, end)
