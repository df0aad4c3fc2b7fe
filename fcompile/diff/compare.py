"""Two plain values compared field by field; the items of lists are matched by what identifies them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import field_path
from fcompile.model.fields import Field
from fcompile.schema.filled_in import FILLED_IN
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types


class Absent:
    """The type of ABSENT."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()
"""There is no such field."""
ANY = Field("any")
_MOST_ITEMS, _MOST_PAIRS = 10_000, 50_000
"""The most items in two lists, and the most pairs of equal items in them, that can be matched quickly."""
_MOST_LEVELS = 10
"""Of lists within each other, as paths name them, whose items are matched: each level writes out all that is in an item for that."""
_UNORDERED = frozenset({"tolerations", "add", "drop"})
"""Lists of Pods whose items have no key and whose order means nothing. In an object of others, nobody here knows what order means."""
_ORDERED = frozenset({"containers", "env", "hostAliases", "initContainers", "volumeMounts"})
"""Lists of Pods that have a key and whose order matters too: what starts first, which variable can refer to which, which address a host has
that is there twice, which volume is seen of two at one place (`/data` and `/data/`)."""


class Difference(NamedTuple):
    """A field that differs. `before` or `after` is ABSENT when the field is not there."""

    field: str
    before: Any
    after: Any


def differences(before: Any, after: Any, field: Field = ANY, path: str = "") -> Iterator[Difference]:
    """Yield what differs between two values of a field, each difference at the innermost field that holds it."""
    if before is after:
        return
    if field.kind == "list" and field.map_keys and (before is ABSENT or after is ABSENT):  # each item is something of its own
        before, after = ([] if side is ABSENT else side for side in (before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _mappings(before, after, field, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(before, after, field, path)
    elif before != after or type(before) is not type(after):  # `True` is not 1
        yield Difference(path, before, after)


def _mappings(before: dict[str, Any], after: dict[str, Any], field: Field, path: str) -> Iterator[Difference]:
    type_name = field.ref if field.kind == "object" else ""
    fields = types(NEWEST)[type_name] if type_name else {}
    usual = {name: value for name, value in FILLED_IN.get(type_name, {}).items() if not isinstance(value, dict)}
    inner = field._replace(kind=field.items, items="") if field.kind == "map" else ANY
    for key in before | after:
        # What is left out, or was dropped since it only repeats the default, is shown as what it means.
        filled_in = usual.get(key, ABSENT)
        yield from differences(before.get(key, filled_in), after.get(key, filled_in), fields.get(key, inner), join(path, key))


def _lists(before: list[Any], after: list[Any], field: Field, path: str) -> Iterator[Difference]:
    keys = field.map_keys or (("name",) if field.kind == "any" else ())
    name = path.rpartition(".")[2]
    item = field._replace(kind=field.items, items="") if field.kind == "list" else ANY
    old, new = _keyed(before, keys), _keyed(after, keys)
    if old is not None and new is not None:
        yield from _by_key(old, new, item, path, name in _ORDERED or field.kind == "any")
    else:
        matters = name not in _UNORDERED or field.kind == "any"
        if matters or sorted(map(_text, before)) != sorted(map(_text, after)):
            yield from _by_place(before, after, item, path, matters)


def _keyed(items: list[Any], keys: tuple[str, ...]) -> dict[tuple[str, int], Any] | None:
    """Return the items of a list by their map keys and how often these came before, or None where an item has none.

    A name that comes a second time, as of env, is an item of its own. Its number is not part of the name: `A #2` is a name, too.
    """
    keyed: dict[tuple[str, int], Any] = {}
    seen: Counter[str] = Counter()
    for item in items:
        if not keys or not isinstance(item, dict) or keys[0] not in item:
            return None
        label = "/".join(str(item[key]) for key in keys if key in item)
        seen[label] += 1
        keyed[label, seen[label]] = item
    return keyed


def _by_key(
    old: dict[tuple[str, int], Any], new: dict[tuple[str, int], Any], item: Field, path: str, ordered: bool
) -> Iterator[Difference]:
    for key in old | new:
        yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), item, f"{path}[{_shown(*key)}]")
    stay = [key for key in old if key in new], [key for key in new if key in old]
    if ordered and stay[0] != stay[1]:
        moved = [index for index, (one, other) in enumerate(zip(*stay, strict=True)) if one != other]
        yield Difference(f"{path} (order)", *(", ".join(_shown(*key) for key in keys[moved[0] : moved[-1] + 1]) for keys in stay))


def _shown(label: str, number: int) -> str:
    return label if number == 1 else f"{label} #{number}"


def _by_place(before: list[Any], after: list[Any], item: Field, path: str, matters: bool) -> Iterator[Difference]:
    if not matters:
        before, after = sorted(before, key=_text), sorted(after, key=_text)
    if path.count("[") < _MOST_LEVELS:
        ranges = blocks(list(map(_text, before)), list(map(_text, after)))
    else:
        ranges = [(0, len(before), 0, len(after))]
    for first, end, new_first, new_end in ranges:
        for step in range(max(end - first, new_end - new_first)):
            left = before[first + step] if first + step < end else ABSENT
            right = after[new_first + step] if new_first + step < new_end else ABSENT
            at = new_first + step if left is ABSENT else first + step
            yield from differences(left, right, item, f"{path}[{at}]" if matters else f"{path}[]")


def blocks(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Return the ranges in which two lists differ, as (start, end, new start, new end). What is too costly to match up is one range."""
    from difflib import SequenceMatcher

    start = alike(before, after)
    end = alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if not old and not new:
        return []
    times = Counter(new)
    if len(old) + len(new) > _MOST_ITEMS or sum(times[item] for item in old) > _MOST_PAIRS:
        return [(start, start + len(old), start, start + len(new))]
    operations = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(start + i1, start + i2, start + j1, start + j2) for what, i1, i2, j1, j2 in operations if what != "equal"]


def alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two lists, or characters two texts, have in common at their beginning."""
    return next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def join(path: str, key: str) -> str:
    """Return the path of the field `key` below `path`."""
    step = field_path((key,))
    return f"{path}.{step}" if path and not step.startswith("[") else f"{path}{step}"
