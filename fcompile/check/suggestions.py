"""What the writer of an unknown word may have meant. Only looked for once something is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache
from typing import NamedTuple

from fcompile.diagnostics.problem import Path
from fcompile.model.fields import Field, Type
from fcompile.schema.types import types


class Closest(NamedTuple):
    word: str
    certain: bool
    """Nobody can have meant anything else: only case, `-` and `_` differ, or a single letter of a long word."""


def closest(word: str, known: Iterable[str]) -> Closest | None:
    """The known word that is most like `word`, or the only one that contains it; None when none is near or two are equally so."""
    plain = _plain(word)
    best: list[tuple[int, str]] = []
    longer = []
    for candidate in known:
        if _plain(candidate) == plain:
            return Closest(candidate, True)
        if len(plain) > 4 and plain in _plain(candidate):
            longer.append(candidate)
        distance = edits(word.lower(), candidate.lower())
        if distance <= max(1, min(len(word), len(candidate)) // 3):
            best.append((distance, candidate))
    best.sort()
    if not best or (len(best) > 1 and best[0][0] == best[1][0]):
        return Closest(longer[0], False) if len(longer) == 1 else None
    distance, candidate = best[0]
    return Closest(candidate, distance == 1 and len(word) >= 6)


def _plain(word: str) -> str:
    return word.replace("-", "").replace("_", "").lower()


def edits(one: str, other: str) -> int:
    """How many letters must be added, dropped, changed or swapped with the next to make one word of the other; 9 when it is too many."""
    if abs(len(one) - len(other)) > 4 or len(one) > 60:
        return 9
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def home(name: str, root: str, path: Path, version: int) -> str | None:
    """Where a field that is not one of the object at `path` (seen from an object of type `root`) belongs, in words; None: nowhere near.

    Fields are often indented one step too far or too little, so the objects around and below are looked at first.
    """
    steps = [step for step in path if isinstance(step, str)]
    chain = _types_along(root, steps, version)
    for depth in range(len(chain) - 2, -1, -1):
        if name in types(version)[chain[depth]]:
            up = len(chain) - 1 - depth
            owner = f"`{steps[depth - 1]}`" if depth else f"the {root}"
            return f"it is a field of {owner}, {_count(up)} up"
    if chain:
        for field, below in types(version)[chain[-1]].items():
            if below.ref and name in types(version)[below.ref]:
                return f"it belongs in `{field}`, one level down"
    place = _places(root, version).get(name)
    return None if place is None else f"it is a field of `{place}`"


def _count(levels: int) -> str:
    return f"{levels} levels" if levels > 1 else "one level"


def _types_along(root: str, steps: Collection[str], version: int) -> list[str]:
    """The object types from the root to the end of a path; empty when the path leaves them (into a map)."""
    chain = [root]
    for step in steps:
        field = types(version)[chain[-1]].get(step)
        if field is None or not field.ref:
            return []
        chain.append(field.ref)
    return chain


@cache
def _places(root: str, version: int) -> dict[str, str]:
    """Fields that only one type has, with the shortest way to it from the root: `mountPath` → `spec.containers[].volumeMounts[]`."""
    ways: dict[str, str] = {root: ""}
    owners: dict[str, set[str]] = {}
    for name in _breadth_first(root, version, ways):
        for field in types(version)[name]:
            owners.setdefault(field, set()).add(name)
    return {field: ways[next(iter(names))] for field, names in owners.items() if len(names) == 1 and ways[next(iter(names))]}


def _breadth_first(root: str, version: int, ways: dict[str, str]) -> list[str]:
    order = [root]
    for name in order:
        here: Type = types(version)[name]
        for field, form in here.items():
            if form.ref and form.ref not in ways:
                ways[form.ref] = _below(ways[name], field, form)
                order.append(form.ref)
    return order


def _below(way: str, field: str, form: Field) -> str:
    step = field + ("[]" if form.kind == "list" else "")
    return f"{way}.{step}" if way else step
