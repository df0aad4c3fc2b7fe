"""Where in a source the parts of a value stand that was put together of several, as a runtime is of its patches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.convert.merge import KEYS
from fcompile.diagnostics.problem import Path
from fcompile.model.values import at, text


class _Node:
    """What the parts have at a path of the whole. What they have below it is looked at only when it is asked for."""

    def __init__(self, field: str = "") -> None:
        """:param field: the last name on the way to it."""
        self._field = field
        self.found: list[tuple[int, Any, Path]] = []
        """The number of each part, the value that it has, and where that stands in the source."""
        self._below: dict[str | int, _Node] = {}
        self._looked_at = 0
        """How many of what was found have been."""

    def below(self, step: str | int) -> _Node:
        """Return what is below it, which may be nothing yet."""
        return self._below.setdefault(step, _Node(str(step)))

    def look(self, step: str | int) -> _Node | None:
        """Return what the parts have below it; None: nothing."""
        for number, value, path in self.found[self._looked_at :]:
            for name, place, item in _items(value, KEYS.get(self._field)):
                self.below(name).found.append((number, item, (*path, place)))
        self._looked_at = len(self.found)
        return self._below.get(step)


class Origins:
    """The parts, in the order in which they were put in: the last that has a field is what it comes from.

    A path within the whole has the names of items in place of their numbers where lists are merged by names.
    """

    def __init__(self) -> None:
        self._root = _Node()
        self._count = 0

    def add(self, within: Path, part: Any, path: Path) -> None:
        """Take in a part.

        :param within: its path in the whole, with the names of items.
        :param path: of the part, in the source.
        """
        node = self._root
        for step in within:
            node = node.below(step)
        node.found.append((self._count, part, path))
        self._count += 1

    def find(self, within: Path, value: Any) -> Path | None:
        """Return where in the source the value stands that is at a path of the whole, with the names of items; None: in no part."""
        node: _Node | None = self._root
        for step in within:
            node = None if node is None else node.look(step)
        same = (one for one in (() if node is None else node.found) if _same(one[1], value))
        last = max(same, key=lambda one: one[0], default=None)
        return None if last is None else last[2]


def with_names(steps: Path, whole: Any) -> Path:
    """Return a path with the names of items in place of their numbers, where lists are merged by names."""
    made: list[str | int] = []
    field = ""
    for step in steps:
        name = text(at(whole, (step,)), KEYS[field]) if isinstance(step, int) and field in KEYS else None
        made.append(step if name is None else name)
        whole, field = at(whole, (step,)), str(step)
    return tuple(made)


def _items(value: Any, key: str | None) -> Iterator[tuple[str | int, str | int, Any]]:
    """Yield what is in a mapping or list: its name, or its number where it has none, its step in the source, and itself.

    :param key: what has the names of items, where the list is merged by these. Of a name that is there twice the first counts.
    """
    if isinstance(value, dict):
        yield from ((step, step, item) for step, item in value.items())
        return
    met: set[str] = set()
    for number, item in enumerate(value if isinstance(value, list) else ()):
        name = None if key is None else text(item, key)
        if name not in met:
            yield number if name is None else name, number, item
        if name is not None:
            met.add(name)


def _same(found: Any, value: Any) -> bool:
    """Return whether one is the other, as far as nothing is put into it: texts get the names of tasks, and mappings are merged."""
    return type(found) is type(value) and (isinstance(value, str | dict | list) or bool(found == value))
