"""One walk over a value and the table of its type: its findings so far, its inputs, and how its messages name fields and values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fcompile.diagnostics.problem import Finding, Fix, Part, Path, Rule
from fcompile.load.rules import MAX_PROBLEMS


class Enough(Exception):
    """There are so many findings that the walk stops."""


class Walk:
    """One walk over one value: its findings and its inputs."""

    __slots__ = ("findings", "plain", "prefix", "root", "version")

    def __init__(self, version: int, plain: Callable[[Path, Part], str | None] | None, root: str, prefix: Path) -> None:
        self.version = version
        """Kubernetes 1.x minor."""
        self.plain = plain
        """The source text of an unquoted scalar at a path, or None when there is none."""
        self.root = root
        """The type of the value that the walk began with."""
        self.prefix = prefix
        """The path of that value."""
        self.findings: list[Finding] = []

    def report(
        self, rule: Rule, path: Path, message: str, part: Part = "value", fix: Fix | None = None, *, is_beyond_type: bool = False
    ) -> None:
        """Add a finding. Raises Enough when there are too many."""
        self.findings.append(Finding(rule, path, message, part, fix, is_beyond_type=is_beyond_type))
        if len(self.findings) > MAX_PROBLEMS:
            raise Enough

    def when(self, versions: tuple[int, int]) -> str:
        """Return why what is in these versions of Kubernetes, the first and the last, is not in the one that is checked for."""
        since, until = versions
        return f"came with Kubernetes 1.{since}" if self.version < since else f"was last in Kubernetes 1.{until}"

    def source(self, path: Path, part: Part = "value") -> str | None:
        """Return the unquoted source text of the value at the path, where the source is known."""
        return None if self.plain is None else self.plain(path, part)


Check = Callable[[Any, Path, "str | int", Walk], None]
"""Looks at a value, given the path of its owner and its own last step, and adds its findings to the walk."""


def called(path: Path, step: str | int) -> str:
    """Return a field as messages call it: `` `image` ``, `` `args[0]` ``."""
    if isinstance(step, int):
        return f"`{path[-1] if path else ''}[{step}]`"
    return f"`{step}`"


def shown(value: Any) -> str:
    """Return a value as messages show it, cut when it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"
