"""A Pod as the YAML that `build` prints, line by line, each line with the leaf that it begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Path
from fcompile.emit.yaml import dump


class Line(NamedTuple):
    """A line, and the path of the leaf that begins in it; None: none does."""

    text: str
    leaf: Path | None


def lines(value: Any, root: Path = ()) -> Iterator[Line]:
    """Yield the lines of a value that stands at `root`."""
    texts = iter(dump(value).splitlines())
    for path, count in _entries(value, root):
        for number in range(count):
            yield Line(next(texts), path if number == 0 else None)


def _entries(value: Any, path: Path) -> Iterator[tuple[Path | None, int]]:
    """Yield how many lines each part takes, and its path if it is a leaf."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            if isinstance(item, dict | list) and item:
                yield None, dump({key: 0}).count("\n")
                yield from _entries(item, (*path, key))
            else:
                yield (*path, key), dump({key: item}).count("\n")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            if isinstance(item, dict | list) and item:
                yield from _entries(item, (*path, index))
            else:
                yield (*path, index), dump([item]).count("\n")
    else:
        yield path, dump(value).count("\n")
