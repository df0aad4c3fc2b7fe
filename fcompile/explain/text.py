"""The Pod as YAML, and at the right of each line where its value comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Path, field_path
from fcompile.diagnostics.visible import at_line_start, visible, width
from fcompile.diagnostics.writer import Style
from fcompile.emit.yaml import dump
from fcompile.explain.origins import CONTROLLER, DEFAULT, OVERRIDE, PLACEHOLDER, LifetimeField, Origin

_WIDEST = 60
"""The column of the origins, unless all lines are shorter."""
_FOLDED = 4
"""So many lines in a row that the controller adds by one rule are folded."""
_COLORS = {CONTROLLER: "35", DEFAULT: "36", PLACEHOLDER: "33", OVERRIDE: "32"}


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
    """Yield how many lines each part takes, after its path where it is a leaf, or else after None."""
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


def write(value: Any, root: Path, origins: dict[Path, Origin], file: str, style: Style, fold: bool) -> Iterator[str]:
    """Yield the lines of the value at `root`; with `fold` without what is the same in every Pod."""
    shown = list(lines(value, root))
    column = min(max(width(line.text) for line in shown), _WIDEST) + 2
    if root:
        yield style.paint(f"# {visible(field_path(root))}", "2") + "\n"
    for line, folded in _folded(shown, origins) if fold else ((line, 0) for line in shown):
        if folded:
            indent = " " * (len(line.text) - len(line.text.lstrip(" -")))
            text = f"{indent}# {folded} lines of the controller's: {origins[line.leaf or ()].rule}"
            yield style.paint(text, _COLORS[CONTROLLER]) + "\n"
            continue
        text = at_line_start(visible(line.text))
        if line.leaf is None:
            yield f"{text}\n"
        else:
            origin = origins[line.leaf]
            gap = " " * max(column - width(text), 2)
            yield f"{text}{gap}{style.paint(f'# {said(origin, file)}', _COLORS.get(origin.kind, '2'))}\n"


def write_lifetime(lifetime: Iterable[LifetimeField], file: str, style: Style) -> Iterator[str]:
    """Yield what becomes of the Pod by fields of the whole Framework, one line each."""
    for one in lifetime:
        text = f"# {one.field} {one.value}: {one.meaning} ({visible(file)}:{one.span.line}:{one.span.column})"
        yield style.paint(text, _COLORS[CONTROLLER]) + "\n"


def said(origin: Origin, file: str) -> str:
    """Return an origin as text: `train.yaml:23:18`, `default: …`, `controller: …`."""
    location = f"{visible(file)}:{origin.span.line}:{origin.span.column}" if origin.span else ""
    if origin.kind == PLACEHOLDER:
        template = origin.rule if len(origin.rule) <= 60 and "\n" not in origin.rule else ""
        return visible(f"{location}  {template}" if template else f"{location}  with placeholders")
    if origin.kind in (CONTROLLER, DEFAULT):
        return visible(f"{origin.kind}: {origin.rule}") + (f" ({location})" if location else "")
    return visible("  ".join(filter(None, (location, origin.rule))))


def _folded(shown: list[Line], origins: dict[Path, Origin]) -> Iterator[tuple[Line, int]]:
    """Yield each line with 0. Of several lines by one rule of the controller's, yield only the first, with their number."""
    rules = [""]
    for line in reversed(shown):  # A line without a leaf has the rule of the next one with a leaf.
        origin = None if line.leaf is None else origins[line.leaf]
        rules.append(rules[-1] if origin is None else origin.rule if origin.kind == CONTROLLER else "")
    for rule, group in groupby(zip(shown, rules[:0:-1], strict=True), itemgetter(1)):
        lines = [line for line, _ in group]
        first = next((number for number, line in enumerate(lines) if line.leaf is not None), len(lines))
        fold = len(lines) - first >= _FOLDED and rule != ""
        yield from ((line, 0) for line in (lines[:first] if fold else lines))
        if fold:
            yield lines[first], len(lines) - first
