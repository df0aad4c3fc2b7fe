"""What must be there only once: a name, a path, a port. A finding on the second one points to the first."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from fcompile.check.pod_values import entries
from fcompile.diagnostics.problem import Path, Related
from fcompile.model.values import text


class Seen:
    """The places of keys that must not come twice."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: dict[Hashable, Path] = {}

    def again(self, key: Hashable, path: Path, message: str = "the first one") -> tuple[Related, ...]:
        """Return where the key was seen first, for a finding to point to. If the key is new, remember its place and return nothing."""
        first = self._first.setdefault(key, path)
        return () if first is path else (Related(message, first),)


def repeated(
    owner: dict[str, Any], path: Path, field: str, key: str, message: str = "the first one"
) -> Iterator[tuple[str, Path, tuple[Related, ...]]]:
    """Yield the string `key` of each item of the list `field` that one before it has too: the string, its path, and where it is first."""
    seen = Seen()
    for item, item_path in entries(owner, path, field):
        written, here = text(item, key), (*item_path, key)
        if written and (first := seen.again(written, here, message)):
            yield written, here, first
