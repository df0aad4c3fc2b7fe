"""Where in a source the parts of a value stand that was put together of several, as a runtime is of its patches."""

from __future__ import annotations

from typing import Any

from fcompile.convert.merge import KEYS
from fcompile.diagnostics.problem import Path
from fcompile.model.values import at


class Origins:
    """The parts, in the order in which they were put in: the last that has a field is what it comes from.

    A path within the whole has the names of items in place of their numbers where lists are merged by names.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Path, Any, Path]] = []

    def add(self, within: Path, part: Any, path: Path) -> None:
        """Take in a part.

        :param within: its path in the whole, with the names of items.
        :param path: of the part, in the source.
        """
        self._parts.append((within, part, path))

    def find(self, within: Path, value: Any) -> Path | None:
        """Return where in the source the value stands that is at a path of the whole, with the names of items; None: in no part."""
        for start, part, path in reversed(self._parts):
            if within[: len(start)] == start:
                steps = _numbered(within[len(start) :], part, str(start[-1]) if start else "")
                if steps is not None and _same(at(part, steps), value):
                    return (*path, *steps)
        return None


def with_names(steps: Path, whole: Any) -> Path:
    """Return a path with the names of items in place of their numbers, where lists are merged by names."""
    made: list[str | int] = []
    field = ""
    for step in steps:
        key = text if isinstance(step, int) and field in KEYS and isinstance(text := at(whole, (step, KEYS[field])), str) else step
        made.append(key)
        whole, field = at(whole, (step,)), str(step)
    return tuple(made)


def _numbered(steps: Path, part: Any, field: str) -> Path | None:
    """Return a path with the numbers that items have in a part; None: the part has no such field."""
    made: list[str | int] = []
    for step in steps:
        if isinstance(part, list) and isinstance(step, str):
            step = next((number for number, item in enumerate(part) if at(item, (KEYS.get(field, ""),)) == step), -1)
        if not (step in part if isinstance(part, dict) else isinstance(part, list) and isinstance(step, int) and 0 <= step < len(part)):
            return None
        made.append(step)
        part, field = at(part, (step,)), str(step)
    return tuple(made)


def _same(found: Any, value: Any) -> bool:
    """Return whether one is the other, as far as nothing is put into it: texts get the names of tasks, and mappings are merged."""
    return type(found) is type(value) and (isinstance(value, str | dict | list) or bool(found == value))
