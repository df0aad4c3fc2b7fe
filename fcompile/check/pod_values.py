"""Small readers for Pod fields, beside those of `fcompile.model.values`: presence as the API server sees it, booleans, lists of objects."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Any

from fcompile.diagnostics.problem import Path
from fcompile.diagnostics.suggestions import closest
from fcompile.model.values import sequence, text

_SOME = 10
_FEW_PORTS = 200
"""With more ports than this, no similar name is searched for."""


def given(value: dict[str, Any], key: str) -> bool:
    """Return whether the API server sees the field: an empty object counts, a null does not. A wrong type counts too."""
    return value.get(key) is not None


def flag(value: dict[str, Any], key: str) -> bool | None:
    """Return the boolean under `key`, or None."""
    found = value.get(key)
    return found if isinstance(found, bool) else None


def entries(owner: dict[str, Any], path: Path, key: str) -> list[tuple[dict[str, Any], Path]]:
    """Return the objects in the list under `key` of the object at `path`, each with its own path. A null is an object without fields."""
    listed = sequence(owner, key)
    if not listed:
        return []  # As nearly always: most fields are not there.
    return [(entry or {}, (*path, key, index)) for index, entry in enumerate(listed) if entry is None or isinstance(entry, dict)]


def some(names: Collection[str]) -> str:
    """Return the names for a message; of many names only a few, as they come: sorting them takes too long for a message each."""
    if len(names) > _SOME:
        return f"{', '.join(islice(names, _SOME))} and {len(names) - _SOME:,} more"
    return ", ".join(sorted(names)) or "none"


def port_hint(name: str, known: Collection[str], where: str) -> str:
    """Return what to write in place of the name of a port that is not among the known ones.

    :param where: the list of ports into which it might be put.
    """
    near = closest(name, sorted(known)) if len(known) <= _FEW_PORTS else None
    return f"did you mean `{near.word}`?" if near else f"name a port in {where}, or write the number"


def texts(owner: dict[str, Any], path: Path, key: str) -> list[tuple[str, Path]]:
    """Return the strings in the list under `key` of the object at `path`, each with its own path."""
    listed = sequence(owner, key)
    return [(entry, (*path, key, index)) for index, entry in enumerate(listed) if isinstance(entry, str)] if listed else []


def empty_list(value: dict[str, Any], key: str) -> bool:
    """Return whether there is no list under `key`, or one with nothing in it. A wrong type is none of these."""
    found = value.get(key)
    return found is None or (isinstance(found, list) and not found)


def choice(value: dict[str, Any], key: str, default: str) -> str:
    """Return the string under `key`, or what the API server puts there when it is missing, null or empty."""
    return text(value, key) or default


def size(written: str) -> int:
    """Return the length in bytes, as the API server counts."""
    return len(written.encode("utf-8", "replace"))
