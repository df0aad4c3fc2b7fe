"""The tasks, neither first nor last, whose own names meet a fixed one: `data{{FC_TASK_INDEX}}` and `data5` are the same for task 5."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from fcompile.model import names
from fcompile.model.patterns import lazy

_MARK = lazy(rf"\{{\{{({names.SUM}|{names.TASK_INDEX})\}}\}}")
_NUMBER = lazy("[0-9]+")
_DIGITS = 5
"""Of the highest sum of an index and a number that is looked for."""
_LONGEST, _RUNS = 253, 8
"""Characters of the longest name that there is, and the numbers in one that are looked at."""
_PAIRS = 1_000_000
"""Of a fixed name and one with the index, that are looked at: nobody writes so many, and a file can hold thousands of millions."""
_MOST = 8
"""Tasks that are looked at: each costs as much as the first one."""


def met_indices(template: Any, last: int) -> tuple[int, ...]:
    """Return the indices between 0 and `last` for which two names become the same, the lowest first, and not more than a few.

    :param template: the role's, with all placeholders filled in but the index, and sums with it.
    """
    texts = list(_names(template))
    marked: dict[tuple[str, str], set[int]] = {}
    for text in texts:
        parts = _MARK.split(text)  # Before, the index or a sum with it, after.
        if len(parts) == 3:
            marked.setdefault((parts[0], parts[2]), set()).add(int(parts[1].removeprefix(names.TASK_INDEX) or 0))
    fixed = [text for text in texts if marked and len(text) <= _LONGEST and not _MARK.search(text)]
    met = (number - added for text in fixed for around, number in _numbers(text) for added in marked.get(around, ()))
    return tuple(sorted({index for index in islice(met, _PAIRS) if 0 < index < last})[:_MOST])


def _numbers(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the numbers in a text, with what stands before and after each."""
    for run in islice(_NUMBER.finditer(text), _RUNS):
        if run[0] == str(int(run[0][:_DIGITS])):
            yield (text[: run.start()], text[run.end() :]), int(run[0])


def _names(value: Any, parent: str = "") -> Iterator[str]:
    """Yield the strings of a template, keys included, but for free text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _names(item, parent)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            if not is_free_text(parent, key, item):
                yield from _names(item, key)


def is_free_text(parent: str, key: str, item: Any) -> bool:
    """Return whether a value of a template is free text: a command, its arguments, the value of a variable, or an annotation."""
    if isinstance(item, str):
        return parent == "annotations" or (parent == "env" and key == "value")
    return isinstance(item, list) and key in ("command", "args")
