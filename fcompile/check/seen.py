"""What must be there only once: a name, a path, a port. A finding on the second one points to the first."""

from __future__ import annotations

from collections.abc import Hashable

from fcompile.diagnostics.problem import Path, Related


class Seen:
    """The places of keys that must not come twice."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: dict[Hashable, Path] = {}

    def again(self, key: Hashable, path: Path, message: str = "the first one") -> tuple[Related, ...]:
        """Return where the key was seen first, for a finding to point to. If the key is new, remember its place and return nothing."""
        first = self._first.setdefault(key, path)
        return () if first is path else (Related(message, first),)
